"""Normal components with full covariances.

The density of a row with gaps is that of the marginal normal over the cells that were seen, so
rows are taken together by which cells those are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mixoracle.errors import InvalidInputError
from mixoracle.model._arrays import frozen_array
from mixoracle.model.components.base import ComponentSet, Floats, rows_by_pattern

_LOG_2PI = float(np.log(2.0 * np.pi))
_SYMMETRY_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class GaussianComponents(ComponentSet):
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

    @property
    def n_components(self) -> int:
        return int(self.means.shape[0])

    @property
    def width(self) -> int:
        return int(self.means.shape[1])

    @property
    def _cholesky(self) -> Floats:
        factors: Floats = self.__dict__["_factors"]
        return factors

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


def checked_ellipsoids(
    means: Any, matrices: Any, family: str, what: str
) -> tuple[Floats, Floats, Floats]:
    """Means, symmetric positive definite matrices, and the matrices' Cholesky factors."""
    means = frozen_array(means, np.float64, "component means")
    matrices = frozen_array(matrices, np.float64, f"component {what}")
    if means.ndim != 2 or matrices.shape != (*means.shape, means.shape[-1]):
        raise InvalidInputError(
            f"{family} components need means of shape (k, d) and {what} of shape "
            f"(k, d, d); got {means.shape} and {matrices.shape}"
        )
    if means.size == 0:
        raise InvalidInputError(
            f"{family} components need at least one component and one column; got means of "
            f"shape {means.shape}"
        )
    if not (np.all(np.isfinite(means)) and np.all(np.isfinite(matrices))):
        raise InvalidInputError(f"{family} components need finite means and {what}")
    scale = np.abs(matrices).max()
    asymmetry = np.abs(matrices - np.swapaxes(matrices, 1, 2)).max()
    if asymmetry > _SYMMETRY_TOLERANCE * scale:
        raise InvalidInputError(f"component {what} should be symmetric")
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError as error:
        raise InvalidInputError(
            f"component {what} should be positive definite; at least one is not"
        ) from error
    return means, matrices, factors


def marginal(means: Floats, matrices: Floats, columns: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The means over some columns, and the Cholesky factors of the matrices over them."""
    factors = np.linalg.cholesky(matrices[:, columns[:, None], columns])
    return means[:, columns], np.asarray(factors, dtype=np.float64)


def squared_distances(block: Floats, means: Floats, factors: Floats) -> tuple[Floats, Floats]:
    """Squared Mahalanobis distances (N, k) by Cholesky factors, and half their log volumes (k,)."""
    squared = np.empty((len(block), len(means)))
    for j, (mean, factor) in enumerate(zip(means, factors, strict=True)):
        whitened = solve_triangular(factor, (block - mean).T, lower=True, check_finite=False)
        squared[:, j] = np.einsum("dn,dn->n", whitened, whitened)
    return squared, np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)


def placed(standard: Floats, labels: NDArray[np.int64], means: Floats, factors: Floats) -> Floats:
    """Standard rows, changed in place to rows of their components."""
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(len(means) + 1))
    for j in range(len(means)):
        members = order[bounds[j] : bounds[j + 1]]
        standard[members] = standard[members] @ factors[j].T + means[j]
    return standard


def _log_normal(squared: Floats, half_log_volume: Floats, width: int) -> Floats:
    return np.asarray(-0.5 * squared - half_log_volume - 0.5 * width * _LOG_2PI)
