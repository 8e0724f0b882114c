"""From own units to the coordinates that learning uses, and back: one part of a block.

A family comes with its kind of part, and :class:`FamilyEntry` says which.

Numbers are centred and scaled, amounts are divided by their mean, counts and levels stay as they
are, so that no unit of measurement enters. Components that were learned over coordinates are
brought back into the units that they came in. Missing values stay missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers, column_moments, column_ranges, row_sums
from mixoracle.families.base import ComponentSet, Family
from mixoracle.settings import Priors

Columns = Integers
# A column whose range is below this share of its size, a few of the steps between neighbouring
# numbers of that size, differs by rounding only.
_CONSTANT_SHARE = 16.0 * float(np.finfo(np.float64).eps)
# Standard deviation given to a constant column, relative to its size, where a density is needed.
_CONSTANT_SPREAD = 1e-3


def differ_by_rounding(block: Floats) -> Bools:
    """Which columns (N, w) of numbers vary by no more than rounding does, (w,)."""
    return _differ_by_rounding(*column_ranges(block))


def _differ_by_rounding(low: Floats, high: Floats) -> Bools:
    return np.asarray(high - low <= _CONSTANT_SHARE * np.maximum(np.abs(low), np.abs(high)))


@dataclass(frozen=True)
class Part(ABC):
    """The columns of a block that share a family; ``columns`` (w,) are their places in it.

    Coordinates stand in the order of ``columns``, components in own units in ascending order.
    """

    # Makes the family of so many coordinates.
    made: ClassVar[Callable[..., Family]]

    columns: Columns
    priors: Priors = field(default=Priors(), kw_only=True)

    @classmethod
    def fit(cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors) -> Part:
        """Learn the units of a block (N, w) whose columns have ``n_levels`` levels, 0 for numbers.

        Where there is nothing to learn this will do.
        """
        return cls(columns, priors=priors)

    @cached_property
    def family(self) -> Family:
        """The family of the components over coordinates."""
        return self.made(self.n_coordinates, priors=self.priors)

    @abstractmethod
    def decode(self, components: ComponentSet) -> ComponentSet:
        """Components over coordinates to components in own units."""

    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, w) to (N, n_coordinates)."""
        return block

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        return 0.0

    def left_out(self, block: Floats, coordinates: Floats) -> Floats:
        """The same for each row (N,), up to what is the same for all whole rows."""
        return np.zeros(len(block))

    @property
    def n_coordinates(self) -> int:
        """How many coordinates the part has."""
        return len(self.columns)

    @property
    def is_identifiable(self) -> bool:
        """Whether the components can be told from these columns alone."""
        return True

    @property
    def is_shape_judged(self) -> bool:
        """Whether other shapes of components than the family's are worth looking for."""
        return False

    def for_search(self) -> Part:
        """The same part with a family whose evidence is exact, as the search needs."""
        return self

    def moved(self, order: Columns) -> Self:
        """The same part of a block whose columns stand in another order."""
        return replace(self, columns=order[self.columns])

    @property
    def _ascending(self) -> Columns:
        return np.argsort(self.columns)


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
        # Sums of numbers that are large beside their differences would lose these.
        lowest, highest = column_ranges(block)
        means, spread = column_moments(block - lowest)
        size = np.maximum(np.abs(lowest), np.abs(highest))
        constant = _differ_by_rounding(lowest, highest)
        fallback = np.where(size > 0, size, 1.0) * _CONSTANT_SPREAD
        # One coordinate that is always 0, so that all variables can be treated alike.
        chosen = [0] if constant.all() else np.flatnonzero(~constant)
        return cls(
            columns,
            shift=lowest + means,
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
        counts = np.ones(len(block)) @ seen  # a product adds up rows far more quickly
        volume = float(counts @ np.log(self.scale))
        if coordinates.shape == block.shape:
            return -volume  # coordinates leave nothing out
        n_outside = float(seen.sum() - (~np.isnan(coordinates)).sum())
        volume += 0.5 * n_outside * np.log(2.0 * np.pi * self.leftover)
        return float(self.left_out(block, coordinates).sum() - volume)

    def left_out(self, block: Floats, coordinates: Floats) -> Floats:
        if coordinates.shape == block.shape:
            return np.zeros(len(block))
        scaled = np.nan_to_num((block - self.shift) / self.scale)
        energy = row_sums(scaled**2) - row_sums(np.nan_to_num(coordinates) ** 2)
        return np.asarray(-0.5 * np.maximum(energy, 0.0) / self.leftover)


def _accept(_seen: Floats, _variable: str) -> None:
    """Any numbers will do."""


def _never(_seen: Floats) -> bool:
    """Values alone do not show this family."""
    return False


@dataclass(frozen=True)
class FamilyEntry:
    """A family as users declare it and as the report shows it.

    Parameters
    ----------
    name : str
        As it is declared, and as its components are stored.
    purpose : str
        What it is for.
    words : str
        Its columns in the report, in words that need no statistics.
    part : subclass of Part
        Learns the units of such columns, and makes the family.
    check : (values, name of the variable) -> None
        Refuses values that such a column cannot have where the family was declared.
    recognises : values -> bool
        Whether a column of numbers is taken for one of this family where nothing was declared.
    """

    name: str
    purpose: str
    words: str
    part: type[Part]
    check: Callable[[Floats, str], None] = _accept
    recognises: Callable[[Floats], bool] = _never
