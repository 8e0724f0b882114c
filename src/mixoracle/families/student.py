"""Student components for heavy tails, with degrees of freedom that are given.

A Student row is a normal row stretched by a factor of its own. Given the factor all is as for
normal components with rows of unequal weight: (ν + d) / (ν + squared distance), so that a row far
out hardly counts. The features are those of a normal row and, at the end, its weight, which is 1
until :meth:`StudentFamily.statistics` or :meth:`StudentFamily.completed` knows a component to
measure the distance from.

The evidence is that of normal components given these weights, but for a constant: it compares
pieces, and is not comparable with the evidence of other families.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Floats, Patterns, Prior
from mixoracle.families.elliptical import EllipticalFamily, Moments
from mixoracle.model import ComponentSet, StudentComponents
from mixoracle.model.components.student import log_student


class StudentFamily(EllipticalFamily):
    """Multivariate Student components over ``width`` columns with ``degrees`` of freedom."""

    def __init__(self, width: int, degrees: float) -> None:
        if not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                f"the degrees of freedom should be a number above 0; got {degrees!r}"
            )
        super().__init__(width)
        self.degrees = float(degrees)

    @property
    def _n_features(self) -> int:
        return self._end_of_products + 1

    def features(self, block: Floats) -> Floats:
        features = super().features(block)
        return np.hstack([features, features[:, :1]])

    def components(self, statistics: Floats, prior: Prior) -> StudentComponents:
        means, scales = self._best(statistics, prior)
        return StudentComponents(means, scales, np.array(self.degrees))

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        """The log density of what was seen of each row.

        Not linear in the features: for the sum over a piece it is a lower bound, that of as many
        rows at their mean squared distance.
        """
        if patterns is not None:
            return self._log_density_of_seen(features, components, patterns)
        distance, log_volume = self._squared_distance(*self._parameters(components))
        rows = features[:, :1]
        typical = features @ distance.T / np.where(rows > 0, rows, 1.0)
        return np.asarray(rows * (self._log_radial(typical, self.width) - 0.5 * log_volume))

    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        known = patterns if patterns is not None else self._whole(len(features))
        return self._expected_statistics(features, share, components, known)

    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        known = patterns if patterns is not None else self._whole(len(features))
        return self._completed_rows(features, labels, components, known)

    def _whole(self, n_rows: int) -> Patterns:
        """The patterns of a block without gaps."""
        return Patterns(np.ones((1, self.width), dtype=bool), np.zeros(n_rows, dtype=np.int64))

    def _parameters(self, components: ComponentSet) -> tuple[Floats, Floats]:
        held = cast(StudentComponents, components)
        return held.means, held.scales

    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        # Rounding may leave a row at its component's centre with a distance just below 0.
        return log_student(np.maximum(squared, 0.0), self.degrees, n_seen)

    def _row_weights(
        self, features: Floats, means: Floats, matrices: Floats, seen: NDArray[np.bool_]
    ) -> Floats:
        distance, _ = self._squared_distance(means, matrices, seen)
        squared = np.maximum(features @ distance.T, 0.0)
        return np.asarray((self.degrees + seen.sum()) / (self.degrees + squared))

    def _split(self, statistics: Floats) -> Moments:
        sums = statistics[:, 1 : self.width + 1]
        return Moments(statistics[:, 0], statistics[:, -1], sums, self._products(statistics))

    def _joined(self, counts: Floats, weights: Floats, sums: Floats, products: Floats) -> Floats:
        return np.hstack([counts[:, None], sums, products, weights[:, None]])
