"""Normal components with full covariances.

The density of a row with gaps is that of the marginal normal over the cells that were seen, so
rows are taken together by which cells those are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.model.components.base import Floats, rows_by_pattern
from mixoracle.model.components.ellipsoids import (
    Ellipsoids,
    checked_ellipsoids,
    marginal,
    placed,
    squared_distances,
)

_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False, repr=False)
class GaussianComponents(Ellipsoids):
    """Normal components with full covariances.

    Parameters
    ----------
    means : (n_components, width) array
    covariances : (n_components, width, width) array
        Symmetric and positive definite.
    """

    means: Floats
    covariances: Floats

    family: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        means, covariances, factors = checked_ellipsoids(
            self.means, self.covariances, "Gaussian", "covariances"
        )
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", covariances)
        object.__setattr__(self, "_factors", factors)

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        if not np.isnan(block).any():
            return _log_normal(*squared_distances(block, self.means, self._cholesky), self.width)
        result = np.zeros((len(block), self.n_components))
        for rows, columns in rows_by_pattern(block):
            means, factors = marginal(self.means, self.covariances, columns)
            seen = block[np.ix_(rows, columns)]
            result[rows] = _log_normal(*squared_distances(seen, means, factors), len(columns))
        return result

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rows = rng.standard_normal((len(labels), self.width))
        return placed(rows, labels, self.means, self._cholesky)

    def same_component(self, first: int, second: int) -> bool:
        return np.array_equal(self.means[first], self.means[second]) and np.array_equal(
            self.covariances[first], self.covariances[second]
        )

    def take(self, order: NDArray[np.int64]) -> GaussianComponents:
        return GaussianComponents(self.means[order], self.covariances[order])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "covariances": self.covariances}

    def __repr__(self) -> str:
        return f"GaussianComponents({self.n_components} components in R^{self.width})"


def _log_normal(squared: Floats, half_log_volume: Floats, width: int) -> Floats:
    return np.asarray(-0.5 * squared - half_log_volume - 0.5 * width * _LOG_2PI)
