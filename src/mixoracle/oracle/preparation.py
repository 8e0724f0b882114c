"""Observations made ready for learning: units removed, order removed, families chosen.

Every column is centred and brought to unit variance, so that shifting or rescaling a variable
changes nothing. Rows, columns and variables are put into an order that depends on the data alone,
so that the same seed gives the same answer for any order in which they came. Constant columns say
nothing and are set aside; blocks wider than :data:`MAX_WIDTH` are seen through their leading
principal directions, because a full covariance over more columns than that cannot be estimated
for each component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.model import ComponentSet, GaussianComponents
from mixoracle.observations import ColumnKind, Observations
from mixoracle.oracle.families import Family, GaussianFamily
from mixoracle.oracle.families.base import Floats
from mixoracle.oracle.families.gaussian import VARIANCE_FLOOR

MAX_WIDTH = 24
# Variances square the data and densities divide by them; both must stay within double precision.
LARGEST = 1e100
# Columns are told apart by these quantiles of theirs, relative to their spread, to so many digits:
# fewer than rounding disturbs when a column is rescaled.
_KEY_QUANTILES = (0.03, 0.11, 0.24, 0.37, 0.5, 0.61, 0.74, 0.87, 0.97)
_KEY_DIGITS = 9
# A column whose spread is below this share of its size differs by rounding only.
_CONSTANT_SHARE = 1e-12
# Standard deviation given to a constant column, relative to its size, where a density is needed.
_CONSTANT_SPREAD = 1e-3


@dataclass(frozen=True)
class Encoder:
    """The affine map from one variable's own units to the coordinates used for learning.

    ``coordinates = ((block - shift) / scale) @ rotation``, where ``rotation`` is (width, d) with
    orthonormal columns, and ``leftover`` the variance of each scaled column outside of them.
    """

    shift: Floats
    scale: Floats
    rotation: Floats
    leftover: float

    @property
    def family(self) -> Family:
        """The family of this variable's components."""
        return GaussianFamily(self.rotation.shape[1])

    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, width) to (N, d)."""
        return np.asarray((block - self.shift) / self.scale) @ self.rotation

    def decode(self, components: ComponentSet) -> GaussianComponents:
        """Components over coordinates to components in the variable's own units."""
        if not isinstance(components, GaussianComponents):
            raise TypeError(f"expected Gaussian components; got {components!r}")
        means = components.means @ self.rotation.T * self.scale + self.shift
        covariances = self.rotation @ components.covariances @ self.rotation.T
        outside = np.eye(len(self.scale)) - self.rotation @ self.rotation.T
        covariances = covariances + self.leftover * outside
        covariances = covariances * self.scale[:, None] * self.scale[None, :]
        return GaussianComponents(means, 0.5 * (covariances + np.swapaxes(covariances, 1, 2)))

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        scaled = (block - self.shift) / self.scale
        outside = self.rotation.shape[0] - self.rotation.shape[1]
        energy = max(float((scaled**2).sum() - (coordinates**2).sum()), 0.0)
        volume = len(block) * (
            0.5 * outside * np.log(2.0 * np.pi * self.leftover) + np.log(self.scale).sum()
        )
        return float(-0.5 * energy / self.leftover - volume)


@dataclass(frozen=True)
class Prepared:
    """What the learning stages see of the observations.

    ``variables`` and ``rows`` give the canonical order: entry p is the position, in the
    observations, of what stands at place p here. ``encoders`` and ``blocks`` are in that order.
    ``log_units`` added to a log-likelihood over the coordinates gives it in the original units.
    """

    variables: NDArray[np.int64]
    rows: NDArray[np.int64]
    encoders: tuple[Encoder, ...]
    blocks: tuple[Floats, ...]
    log_units: float

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def features(self, place: int, rows: NDArray[np.int64] | slice) -> Floats:
        """The family's features of some rows of the variable at ``place``."""
        return self.encoders[place].family.features(self.blocks[place][rows])


def prepare(observations: Observations) -> Prepared:
    """Bring observations into canonical order and units."""
    _refuse_unusable(observations)
    keyed = [_order_columns(observations[i]) for i in range(observations.n_observed)]
    variables = np.array(sorted(range(len(keyed)), key=lambda i: keyed[i][1]), dtype=np.int64)
    ordered = [observations[int(i)][:, keyed[i][0]] for i in variables]
    rows = _order_rows(ordered)
    encoders, blocks = [], []
    log_units = 0.0
    for i, block in zip(variables, ordered, strict=True):
        encoder = _fit_encoder(block[rows])
        blocks.append(encoder.encode(block[rows]))
        log_units += encoder.log_units(block[rows], blocks[-1])
        encoders.append(_in_own_order(encoder, keyed[i][0]))
    return Prepared(variables, rows, tuple(encoders), tuple(blocks), log_units)


def _refuse_unusable(observations: Observations) -> None:
    if observations.n_samples < 2:
        raise InvalidInputError(
            f"learning needs at least 2 rows; got {observations.n_samples}: collect more cases"
        )
    for name, kinds in zip(observations.names, observations.kinds, strict=True):
        if any(kind is not ColumnKind.CONTINUOUS for kind in kinds):
            raise InvalidInputError(
                f"{name} is categorical; this version learns from numbers only: drop it, or give "
                "its levels as numbers"
            )
        size = float(np.nanmax(np.abs(observations[name]), initial=0.0))
        spread = float(np.ptp(observations[name], axis=0).max())
        if size > LARGEST or 0 < spread < 1.0 / LARGEST:
            raise InvalidInputError(
                f"{name} has numbers of size {size:.3g} that differ by {spread:.3g}; squares of "
                f"such numbers cannot be computed: rescale it to between {1 / LARGEST:.0e} and "
                f"{LARGEST:.0e}"
            )
        missing = int(np.isnan(observations[name]).any(axis=1).sum())
        if missing:
            raise InvalidInputError(
                f"{name} has missing values in {missing} of {observations.n_samples} rows; this "
                "version learns from complete rows: drop or fill them first"
            )


def _order_columns(block: Floats) -> tuple[NDArray[np.int64], tuple[tuple[float, ...], ...]]:
    """Columns in an order that their values alone decide, and the variable's own key."""
    keys = []
    for column in block.T:
        quantiles = np.quantile(column, _KEY_QUANTILES, method="lower")
        spread = quantiles[-1] - quantiles[0]
        relative = (quantiles - quantiles[len(quantiles) // 2]) / (spread if spread > 0 else 1.0)
        keys.append(tuple(float(value) for value in np.round(relative, _KEY_DIGITS)))
    order = np.array(sorted(range(len(keys)), key=lambda j: keys[j]), dtype=np.int64)
    return order, tuple(keys[j] for j in order)


def _order_rows(blocks: list[Floats]) -> NDArray[np.int64]:
    """Rows by their first column, then by the next where they tie."""
    order = np.argsort(blocks[0][:, 0], kind="stable")
    if np.any(np.diff(blocks[0][order, 0]) == 0):
        order = np.lexsort(np.hstack(blocks).T[::-1])
    return order.astype(np.int64)


def _fit_encoder(block: Floats) -> Encoder:
    shift = block.mean(axis=0)
    spread = block.std(axis=0)
    size = np.abs(block).max(axis=0)
    constant = spread <= _CONSTANT_SHARE * size
    fallback = np.where(size > 0, size, 1.0) * _CONSTANT_SPREAD
    scale = np.where(constant, fallback, np.where(constant, 1.0, spread))
    varying = np.flatnonzero(~constant)
    if len(varying) == 0:
        # One coordinate that is always 0, so that all variables can be treated alike.
        return Encoder(shift, scale, np.eye(block.shape[1])[:, :1], 1.0)
    if len(varying) <= MAX_WIDTH:
        return Encoder(shift, scale, np.eye(block.shape[1])[:, varying], 1.0)
    scaled = (block[:, varying] - shift[varying]) / scale[varying]
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    rotation = np.zeros((block.shape[1], MAX_WIDTH))
    rotation[varying] = vectors[:, ::-1][:, :MAX_WIDTH]
    leftover = float(np.maximum(values[::-1][MAX_WIDTH:].mean(), VARIANCE_FLOOR))
    return Encoder(shift, scale, rotation, leftover)


def _in_own_order(encoder: Encoder, order: NDArray[np.int64]) -> Encoder:
    """Undo the canonical order of the columns, so that a block can be encoded as it comes."""
    back = np.argsort(order)
    return Encoder(
        encoder.shift[back], encoder.scale[back], encoder.rotation[back], encoder.leftover
    )
