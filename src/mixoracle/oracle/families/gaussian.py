"""Normal components with full covariances, judged by the Normal–inverse-Wishart evidence.

The features of a row are 1, its coordinates and their products, so the statistics of a piece are
its size, its sum and its raw second moment. The prior is centred on the data: its mean has the
spread of the components' means and its scale is the pooled scatter within the pieces, so that no
unit of measurement enters. It expects columns with unit variance (see ``preparation``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.special import gammaln

from mixoracle.model import ComponentSet, GaussianComponents
from mixoracle.oracle.families.base import Floats, Prior

# How many rows the prior mean is worth. Component means spread about sqrt(1/0.05) = 4.5 times as
# far as the rows within a component, which is where clusters begin to be told apart.
PRIOR_MEAN_ROWS = 0.05
# Degrees of freedom beyond the width. More would force one covariance on all components, fewer
# let two stray rows pass as a wide component; 4 to 8 did best on the paper's problems (N=1000).
PRIOR_EXTRA_ROWS = 6.0
# Smallest within-component variance of a column with unit variance. Rounded or discrete columns
# have components without any scatter, whose density would be infinite.
VARIANCE_FLOOR = 1e-6


@dataclass(frozen=True)
class NormalInverseWishart:
    """The prior of one component: mean ~ N(0, covariance / mean_rows), covariance ~ IW."""

    mean_rows: float  # κ_0
    degrees: float  # ν_0
    scale: Floats  # Ψ_0, (width, width)

    @cached_property
    def log_normaliser(self) -> float:
        """The part of the evidence that no data enter; thousands of pieces share it."""
        width = len(self.scale)
        log_volume = float(np.linalg.slogdet(self.scale)[1])
        log_gamma = float(gammaln(0.5 * (self.degrees - np.arange(width))).sum())
        log_mean_rows = float(np.log(self.mean_rows))
        return 0.5 * (self.degrees * log_volume + width * log_mean_rows) - log_gamma


class GaussianFamily:
    """Multivariate normal components over ``width`` columns."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows, self._columns = np.triu_indices(width)

    @property
    def n_parameters(self) -> int:
        return self.width + len(self._rows)

    def features(self, block: Floats) -> Floats:
        products = block[:, self._rows] * block[:, self._columns]
        return np.hstack([np.ones((len(block), 1)), block, products])

    def prior(self, statistics: Floats) -> NormalInverseWishart:
        counts, sums, moments = self._split(statistics)
        occupied = counts > 0
        counts, sums, moments = counts[occupied], sums[occupied], moments[occupied]
        scatter = (moments - sums[:, :, None] * sums[:, None, :] / counts[:, None, None]).sum(
            axis=0
        )
        within = scatter / max(counts.sum() - len(counts), 1.0)
        within[np.diag_indices(self.width)] += VARIANCE_FLOOR
        degrees = self.width + 1.0 + PRIOR_EXTRA_ROWS
        return NormalInverseWishart(PRIOR_MEAN_ROWS, degrees, PRIOR_EXTRA_ROWS * within)

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        prior = cast(NormalInverseWishart, prior)
        counts, sums, moments = self._split(statistics)
        mean_rows = prior.mean_rows + counts
        degrees = prior.degrees + counts
        scale = (
            prior.scale + moments - sums[:, :, None] * sums[:, None, :] / mean_rows[:, None, None]
        )
        log_volume = np.linalg.slogdet(scale)[1]
        log_gamma = gammaln(0.5 * (degrees[:, None] - np.arange(self.width))).sum(axis=1)
        return np.asarray(
            prior.log_normaliser
            + log_gamma
            - 0.5 * degrees * log_volume
            - 0.5 * self.width * (np.log(mean_rows) + counts * np.log(np.pi))
        )

    def components(self, statistics: Floats, prior: Prior) -> GaussianComponents:
        prior = cast(NormalInverseWishart, prior)
        counts, sums, moments = self._split(statistics)
        rows = np.maximum(counts, np.finfo(float).tiny)[:, None]
        # The maximum-likelihood mean, not the shrunken one: shrinking by PRIOR_MEAN_ROWS rows is
        # invisible for all but single rows, and a component without rows sits at the origin.
        means = sums / rows
        scatter = moments - sums[:, :, None] * means[:, None, :]
        weight = counts + prior.degrees - self.width - 1.0
        covariances = (scatter + prior.scale) / weight[:, None, None]
        return GaussianComponents(means, 0.5 * (covariances + np.swapaxes(covariances, 1, 2)))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        components, prior = cast(GaussianComponents, components), cast(NormalInverseWishart, prior)
        log_volume = np.linalg.slogdet(components.covariances)[1]
        precisions = np.linalg.inv(components.covariances)
        spread = np.einsum("kab,ab->k", precisions, prior.scale)
        return float(-0.5 * ((prior.degrees - self.width - 1.0) * log_volume + spread).sum())

    def log_density(self, features: Floats, components: ComponentSet) -> Floats:
        components = cast(GaussianComponents, components)
        precisions = np.linalg.inv(components.covariances)
        log_volume = np.linalg.slogdet(components.covariances)[1]
        linear = np.einsum("kab,kb->ka", precisions, components.means)
        constant = -0.5 * (
            np.einsum("ka,ka->k", linear, components.means)
            + log_volume
            + self.width * np.log(2.0 * np.pi)
        )
        off_diagonal = np.where(self._rows == self._columns, 0.5, 1.0)
        quadratic = -off_diagonal * precisions[:, self._rows, self._columns]
        natural = np.hstack([constant[:, None], linear, quadratic])
        return np.asarray(features @ natural.T)

    def _split(self, statistics: Floats) -> tuple[Floats, Floats, Floats]:
        """Sizes (k,), sums (k, width) and raw second moments (k, width, width)."""
        counts = statistics[:, 0]
        sums = statistics[:, 1 : self.width + 1]
        moments = np.empty((len(statistics), self.width, self.width))
        moments[:, self._rows, self._columns] = statistics[:, self.width + 1 :]
        moments[:, self._columns, self._rows] = statistics[:, self.width + 1 :]
        return counts, sums, moments
