"""Normal components with full covariances, judged by the Normal–inverse-Wishart evidence.

The features of a row are 1, its coordinates and their products. The log density is linear in them,
and so is that of any of its cells; see ``elliptical`` for the evidence and for rows with gaps.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mixoracle.families.base import Floats, LinearFamily, Patterns, Prior
from mixoracle.families.elliptical import (
    VARIANCE_FLOOR,
    EllipticalFamily,
    Moments,
    NormalInverseWishart,
)
from mixoracle.model import ComponentSet, GaussianComponents

__all__ = ["VARIANCE_FLOOR", "GaussianFamily", "NormalInverseWishart"]

_LOG_2PI = float(np.log(2.0 * np.pi))


class GaussianFamily(EllipticalFamily, LinearFamily):
    """Multivariate normal components over ``width`` columns."""

    def components(self, statistics: Floats, prior: Prior) -> GaussianComponents:
        return GaussianComponents(*self._best(statistics, prior))

    def natural(self, components: ComponentSet) -> Floats:
        distance, log_volume = self._squared_distance(*self._parameters(components))
        natural = -0.5 * distance
        natural[:, 0] -= 0.5 * (log_volume + self.width * _LOG_2PI)
        return np.asarray(natural)

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        if patterns is None:
            return super().log_density(features, components)
        return self._log_density_of_seen(features, components, patterns)

    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        if patterns is None:
            return super().statistics(features, share, components)
        return self._expected_statistics(features, share, components, patterns)

    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        if patterns is None:
            return features
        return self._completed_rows(features, labels, components, patterns)

    def _parameters(self, components: ComponentSet) -> tuple[Floats, Floats]:
        held = cast(GaussianComponents, components)
        return held.means, held.covariances

    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        return np.asarray(-0.5 * (squared + n_seen * _LOG_2PI))

    def _row_weights(
        self, features: Floats, means: Floats, matrices: Floats, seen: NDArray[np.bool_]
    ) -> Floats:
        return np.ones((len(features), len(means)))

    def _split(self, statistics: Floats) -> Moments:
        counts, sums = statistics[:, 0], statistics[:, 1 : self.width + 1]
        return Moments(counts, counts, sums, self._products(statistics))

    def _joined(self, counts: Floats, weights: Floats, sums: Floats, products: Floats) -> Floats:
        return np.hstack([counts[:, None], sums, products])
