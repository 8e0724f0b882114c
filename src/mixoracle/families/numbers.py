"""The units of numbers of any size: each column centred and scaled, constant ones left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from mixoracle.families.base import Floats
from mixoracle.families.units import Columns, Part
from mixoracle.settings import Priors

# A column whose spread is below this share of its size differs by rounding only.
_CONSTANT_SHARE = 1e-12
# Standard deviation given to a constant column, relative to its size, where a density is needed.
_CONSTANT_SPREAD = 1e-3


@dataclass(frozen=True)
class NumberPart(Part):
    """Numbers of any size.

    ``coordinates = ((block - shift) / scale) @ rotation``, where ``rotation`` is (w, d) with
    orthonormal columns, and ``leftover`` the variance of each scaled column outside of them. It
    selects columns unless there are too many of them.
    """

    shift: Floats
    scale: Floats
    rotation: Floats
    leftover: float

    @classmethod
    def fit(
        cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors
    ) -> NumberPart:
        return cls._fit_columns(block, columns, priors)

    @classmethod
    def _fit_columns(cls, block: Floats, columns: Columns, priors: Priors) -> Self:
        """Each column that varies is a coordinate."""
        spread = np.nanstd(block, axis=0)
        size = np.nanmax(np.abs(block), axis=0)
        constant = spread <= _CONSTANT_SHARE * size
        fallback = np.where(size > 0, size, 1.0) * _CONSTANT_SPREAD
        # One coordinate that is always 0, so that all variables can be treated alike.
        chosen = [0] if constant.all() else np.flatnonzero(~constant)
        return cls(
            columns,
            shift=np.nanmean(block, axis=0),
            scale=np.where(constant, fallback, spread),
            rotation=np.eye(block.shape[1])[:, chosen],
            leftover=1.0,
            priors=priors,
        )

    @property
    def n_coordinates(self) -> int:
        return int(self.rotation.shape[1])

    @cached_property
    def selected(self) -> Columns | None:
        """The columns that are the coordinates, if nothing is rotated."""
        chosen = self.rotation.argmax(axis=0)
        plain = np.eye(len(self.rotation))[:, chosen]
        return chosen if np.array_equal(plain, self.rotation) else None

    def encode(self, block: Floats) -> Floats:
        scaled = np.asarray((block - self.shift) / self.scale)
        if self.selected is not None:
            return scaled if len(self.selected) == scaled.shape[1] else scaled[:, self.selected]
        return scaled @ self.rotation

    def decoded_means(self, means: Floats) -> Floats:
        """Means over coordinates to means in own units."""
        return np.asarray(means @ self.rotation.T * self.scale + self.shift)[:, self._ascending]

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        seen = ~np.isnan(block)
        scaled = np.where(seen, (block - self.shift) / self.scale, 0.0)
        n_outside = float(seen.sum() - (~np.isnan(coordinates)).sum())
        energy = max(float((scaled**2).sum() - np.nansum(coordinates**2)), 0.0)
        volume = 0.5 * n_outside * np.log(2.0 * np.pi * self.leftover)
        volume += float((seen.sum(axis=0) * np.log(self.scale)).sum())
        return float(-0.5 * energy / self.leftover - volume)
