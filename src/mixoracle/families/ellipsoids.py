"""What normal and Student components share: a centre and a symmetric positive matrix for each.

Where there are many columns they are seen through their leading directions. If some values of a
row are missing they are taken as independent within a component instead, because a rotation would
spread each missing value over all coordinates.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats, Integers, frozen_array, rows_of_each
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Patterns, WithMeans
from mixoracle.families.diagonal import DiagonalPart
from mixoracle.families.products import squared_distance, with_products
from mixoracle.families.units import Columns, NumberPart
from mixoracle.settings import Priors

# The covariance of 24 columns has 300 entries; few components have rows for more.
MAX_WIDTH = 24

_SYMMETRY_TOLERANCE = 1e-8
# Numbers of one array of rows, which stays in the cache: 512 kB.
_ENTRIES = 65_536
# While products are smaller, their differences are known to a millionth.
_KEEPS_DIGITS = 1e9


class Ellipsoids(WithMeans):
    """Components with Cholesky factors of their matrices beside their means."""

    _factors: Floats  # (n_components, width, width), set with the fields

    @property
    @abstractmethod
    def matrices(self) -> Floats:
        """The matrices, (n_components, width, width)."""

    @abstractmethod
    def _log_density_at(self, squared: Floats, half_log_volume: Floats, width: int) -> Floats:
        """The log density at squared distances in ``width`` columns."""

    def _keep_checked(self, family: str, what: str) -> None:
        """Keep the means, the symmetric positive definite matrices ``what``, and their factors."""
        means = frozen_array(self.means, np.float64, "component means")
        matrices = frozen_array(self.matrices, np.float64, f"component {what}")
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
        self._keep(**{"means": means, what: matrices, "_factors": factors})

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        patterns = Patterns.of(block)
        if patterns is None:
            distances = _squared_distances(block, self.means, self._factors)
            return self._log_density_at(*distances, self.width)
        result = np.zeros((len(block), self.n_components))
        for pattern, rows in patterns.with_rows():
            columns = np.flatnonzero(pattern)
            # The values that were seen of a row have the marginal distribution over them.
            factors = np.linalg.cholesky(self.matrices[:, columns[:, None], columns])
            seen = block[np.ix_(rows, columns)]
            distances = _squared_distances(seen, self.means[:, columns], factors)
            result[rows] = self._log_density_at(*distances, len(columns))
        return result

    def _placed(self, standard: Floats, labels: Integers) -> Floats:
        """Standard rows, changed in place to rows of their components."""
        own = rows_of_each(labels, self.n_components)
        for members, mean, factor in zip(own, self.means, self._factors, strict=True):
            standard[members] = standard[members] @ factor.T + mean
        return standard


def _squared_distances(
    block: Floats, means: Floats, factors: NDArray[Any]
) -> tuple[Floats, Floats]:
    """Squared Mahalanobis distances (N, k) by Cholesky factors, and half their log volumes (k,)."""
    # Around the middle of the means: far away from 0, differences would lose their digits.
    middle, whitening = means.mean(axis=0), np.linalg.inv(factors)
    centres = means - middle
    # The largest product that a distance is the difference of, for rows that are as far out as 1.
    sharpest = float((whitening**2).sum(axis=(1, 2)).max())
    is_narrow = block.shape[1] <= MAX_WIDTH
    by_products = _by_products(centres, whitening) if is_narrow else None
    by_whitening: Callable[[Floats], Floats] | None = None
    squared = np.empty((len(block), len(means)))
    # What a row takes: its distances and a few times its columns, or all whitened coordinates.
    step = max(1, _ENTRIES // (len(means) + 3 * means.shape[1] if is_narrow else centres.size))
    for begin in range(0, len(block), step):
        rows = slice(begin, begin + step)
        apart = block[rows] - middle
        furthest = max(np.abs(apart).max(), np.abs(centres).max())
        if by_products is not None and furthest**2 * sharpest < _KEEPS_DIGITS:
            squared[rows] = by_products(apart)
        else:
            by_whitening = by_whitening or _by_whitening(centres, whitening)
            squared[rows] = by_whitening(apart)
    return squared, np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)


def _by_products(means: Floats, whitening: Floats) -> Callable[[Floats], Floats]:
    """The distances of rows with few columns, all of which are near."""
    coefficients = squared_distance(means, np.swapaxes(whitening, 1, 2) @ whitening).T
    return lambda block: np.maximum(with_products(block) @ coefficients, 0.0)


def _by_whitening(means: Floats, whitening: Floats) -> Callable[[Floats], Floats]:
    """The distances of wide rows, or of rows to means that are very far apart."""
    n_components, width = means.shape
    # One coordinate of all components after the other, rows last: so they add up quickest.
    centres = np.einsum("kij,kj->ik", whitening, means).reshape(-1, 1)
    stacked = whitening.transpose(1, 0, 2).reshape(width * n_components, width)

    def distances(block: Floats) -> Floats:
        whitened = stacked @ block.T
        whitened -= centres
        whitened *= whitened
        return np.asarray(whitened.reshape(width, n_components, -1).sum(axis=0).T)

    return distances


@dataclass(frozen=True)
class EllipticalPart(NumberPart):
    """Numbers with dependence between the columns; more than :data:`MAX_WIDTH` are rotated."""

    @classmethod
    def fit(
        cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors
    ) -> NumberPart:
        plain = cls._fit_columns(block, columns, priors)
        if plain.n_coordinates <= MAX_WIDTH or plain.selected is None:
            return plain
        missing = np.isnan(block)
        if np.any(missing.any(axis=1) & ~missing.all(axis=1)):
            return DiagonalPart.fit(block, columns, n_levels, priors)
        varying = plain.selected
        whole = block[~missing[:, 0]]
        scaled = (whole[:, varying] - plain.shift[varying]) / plain.scale[varying]
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        rotation = np.zeros((block.shape[1], MAX_WIDTH))
        rotation[varying] = vectors[:, ::-1][:, :MAX_WIDTH]
        leftover = float(np.maximum(values[::-1][MAX_WIDTH:].mean(), priors.variance_floor))
        return replace(plain, rotation=rotation, leftover=leftover)

    @property
    def is_shape_judged(self) -> bool:
        return True

    def decoded_matrices(self, matrices: Floats) -> Floats:
        """Matrices over coordinates to matrices in own units."""
        outside = np.eye(len(self.scale)) - self.rotation @ self.rotation.T
        whole = self.rotation @ matrices @ self.rotation.T + self.leftover * outside
        whole = whole * self.scale[:, None] * self.scale[None, :]
        whole = 0.5 * (whole + np.swapaxes(whole, 1, 2))
        return np.asarray(whole[:, self._ascending][:, :, self._ascending])
