"""Numbers: normal components with full covariances, judged by Normal–inverse-Wishart evidence.

The density of a row with missing values is that of the marginal normal over the values that were
seen, so rows are taken together by which those are. The features of a row are 1, its coordinates
and their products. The log density is linear in them, and so is that of any of its values; see
``elliptical`` for the evidence and for rows with missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from mixoracle._arrays import Floats, Integers, rows_of_each
from mixoracle.families.base import ComponentSet, Prior
from mixoracle.families.ellipsoids import Ellipsoids, EllipticalPart
from mixoracle.families.elliptical import EllipticalFamily
from mixoracle.families.units import FamilyEntry

_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False, repr=False)
class GaussianComponents(Ellipsoids):
    """Normal components with full covariances.

    ``means`` are (n_components, width), ``covariances`` (n_components, width, width), symmetric
    and positive definite.

    Examples
    --------
    >>> held = GaussianComponents(np.array([[0.0, 0.0], [3.0, 3.0]]), np.stack([np.eye(2)] * 2))
    >>> held.n_components, held.width
    (2, 2)
    """

    covariances: Floats

    family: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        self._keep_checked("Gaussian", "covariances")

    @property
    def matrices(self) -> Floats:
        return self.covariances

    def _log_density_at(self, squared: Floats, half_log_volume: Floats, width: int) -> Floats:
        density = np.asarray(-0.5 * squared)
        density -= half_log_volume + 0.5 * width * _LOG_2PI
        return density

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rows = rng.standard_normal((len(labels), self.width))
        return self._placed(rows, labels)

    def __repr__(self) -> str:
        return f"GaussianComponents({self.n_components} components in R^{self.width})"


class GaussianFamily(EllipticalFamily):
    """Multivariate normal components over ``width`` columns."""

    weighs_rows = False

    def components(self, statistics: Floats, prior: Prior) -> GaussianComponents:
        return GaussianComponents(*self._best(statistics, prior))

    def pooled(self, block: Floats, labels: Integers, n_labels: int) -> Floats:
        """The sums of the features of whole rows with each label, without the features."""
        statistics = np.zeros((n_labels, self._end_of_products))
        for label, rows in enumerate(rows_of_each(labels, n_labels)):
            own = block[rows]
            products = (own.T @ own)[self._rows, self._columns]
            statistics[label] = np.concatenate([[len(own)], own.sum(axis=0), products])
        return statistics

    def _log_density_of_whole(self, features: Floats, components: ComponentSet) -> Floats:
        distance, log_volume = self._squared_distance(*self._parameters(components))
        natural = -0.5 * distance
        natural[:, 0] -= 0.5 * (log_volume + self.width * _LOG_2PI)
        return np.asarray(features @ natural.T)

    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        return np.asarray(-0.5 * (squared + n_seen * _LOG_2PI))


@dataclass(frozen=True)
class GaussianPart(EllipticalPart):
    """Numbers for normal components."""

    made = GaussianFamily

    def decode(self, components: ComponentSet) -> GaussianComponents:
        known = cast(GaussianComponents, components)
        return GaussianComponents(
            self.decoded_means(known.means), self.decoded_matrices(known.covariances)
        )


GAUSSIAN = FamilyEntry(
    name=GaussianComponents.family,
    purpose="numbers, with any dependence between the columns",
    words="numbers",
    part=GaussianPart,
)
