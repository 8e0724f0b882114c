"""Normal components whose columns are independent, judged by Normal–inverse-gamma evidence.

Each column brings its own count of seen cells, sum and sum of squares, so that gaps need no
further care. Priors are those of ``elliptical`` for one column at a time: the prior variance of a
column is its pooled scatter within the pieces.

It expects columns with mean 0 and unit variance (see ``preparation``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from scipy.special import gammaln

from mixoracle.families.base import Floats, LinearFamily, Prior
from mixoracle.families.elliptical import PRIOR_EXTRA_ROWS, PRIOR_MEAN_ROWS, VARIANCE_FLOOR
from mixoracle.families.gaps import filled_with_means
from mixoracle.model import ComponentSet, DiagonalComponents

# The inverse-Wishart prior of one column has 2 degrees of freedom beyond those that count as rows.
_DEGREES = 2.0 + PRIOR_EXTRA_ROWS


@dataclass(frozen=True)
class NormalInverseGamma:
    """The prior of each column: mean ~ N(0, variance / κ_0), scale / variance ~ χ²(_DEGREES)."""

    scale: Floats  # (width,)

    @cached_property
    def log_normaliser(self) -> Floats:
        """The part of the evidence that no data enter, (width,)."""
        return np.asarray(
            0.5 * (_DEGREES * np.log(self.scale) + np.log(PRIOR_MEAN_ROWS))
            - gammaln(0.5 * _DEGREES)
        )


class DiagonalFamily(LinearFamily):
    """Normal components over ``width`` independent columns.

    The features are 1, then for all columns whether the cell was seen, x, and x².
    """

    def __init__(self, width: int) -> None:
        self.width = width

    @property
    def n_parameters(self) -> int:
        return 2 * self.width

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        values = np.where(seen, block, 0.0)
        return np.hstack([seen.any(axis=1, keepdims=True), seen, values, values**2])

    def embedding(self, block: Floats) -> Floats:
        return filled_with_means(block)

    def prior(self, statistics: Floats) -> NormalInverseGamma:
        counts, sums, squares = self._split(statistics)
        scatter = (squares - sums**2 / np.maximum(counts, 1.0)).sum(axis=0)
        spare = counts.sum(axis=0) - (counts > 0).sum(axis=0)
        within = np.maximum(scatter, 0.0) / np.maximum(spare, 1.0) + VARIANCE_FLOOR
        return NormalInverseGamma(PRIOR_EXTRA_ROWS * within)

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        prior = cast(NormalInverseGamma, prior)
        counts, sums, squares = self._split(statistics)
        mean_rows = PRIOR_MEAN_ROWS + counts
        degrees = _DEGREES + counts
        scale = prior.scale + np.maximum(squares - sums**2 / mean_rows, 0.0)
        by_column = (
            prior.log_normaliser
            + gammaln(0.5 * degrees)
            - 0.5 * (degrees * np.log(scale) + np.log(mean_rows) + counts * np.log(np.pi))
        )
        return np.asarray(by_column.sum(axis=1))

    def components(self, statistics: Floats, prior: Prior) -> DiagonalComponents:
        prior = cast(NormalInverseGamma, prior)
        counts, sums, squares = self._split(statistics)
        # A column that a piece never saw sits at the origin, with the prior's variance.
        means = sums / np.maximum(counts, np.finfo(float).tiny)
        scatter = np.maximum(squares - sums * means, 0.0)
        return DiagonalComponents(means, (scatter + prior.scale) / (counts + PRIOR_EXTRA_ROWS))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        variances = cast(DiagonalComponents, components).variances
        scale = cast(NormalInverseGamma, prior).scale
        return float(-0.5 * (PRIOR_EXTRA_ROWS * np.log(variances) + scale / variances).sum())

    def natural(self, components: ComponentSet) -> Floats:
        held = cast(DiagonalComponents, components)
        precisions = 1.0 / held.variances
        linear = held.means * precisions
        constant = -0.5 * (held.means * linear + np.log(2.0 * np.pi * held.variances))
        nothing = np.zeros((held.n_components, 1))
        return np.hstack([nothing, constant, linear, -0.5 * precisions])

    def _split(self, statistics: Floats) -> tuple[Floats, Floats, Floats]:
        """Cells seen, sums and sums of squares of each column, each (k, width)."""
        counts, sums, squares = np.split(statistics[:, 1:], 3, axis=1)
        return counts, sums, squares
