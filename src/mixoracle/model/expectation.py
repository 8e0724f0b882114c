"""What the components of a variable are on average, whatever their family.

A column of numbers has its mean; a column of levels has the probability of each level, which is
the mean of "is it this level?". So an average over components, weighted by how likely they are, is
right for every column of every family. Entries stand in the order of the columns, and within a
column in the order of its levels.

Assumes nothing of a family that this module does not know but that its ``means``, if it has any,
are means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.model.components import (
    CategoricalComponents,
    ComponentSet,
    ProductComponents,
    StudentComponents,
)

# With so few degrees of freedom or fewer the tails are so heavy that the mean does not exist.
_DEGREES_WITHOUT_MEAN = 1.0


@dataclass(frozen=True)
class Entry:
    """What one average is of: a column, or one of its levels, by code."""

    column: int
    level: int | None = None

    def title(self, name: str, width: int) -> str:
        """``X1``, ``X1[2]`` if it is wider than a column, ``X1[2] = 0`` for a level."""
        column = name if width == 1 else f"{name}[{self.column}]"
        return column if self.level is None else f"{column} = {self.level}"


@dataclass(frozen=True, eq=False)
class Expectation:
    """The averages of components.

    Parameters
    ----------
    entries : tuple of Entry
        By column, then by level.
    values : (n_components, n_entries) array
        NaN where a component has no mean.
    """

    entries: tuple[Entry, ...]
    values: NDArray[np.float64]


def expectation(components: ComponentSet) -> Expectation:
    """The mean of each column of numbers, the probability of each level of the others."""
    parts = (
        zip(components.parts, components.columns, strict=True)
        if isinstance(components, ProductComponents)
        else [(components, tuple(range(components.width)))]
    )
    by_column = {
        column: averages
        for part, columns in parts
        for column, averages in zip(columns, _by_column(part), strict=True)
    }
    entries = [
        Entry(column, level) for column in sorted(by_column) for level in by_column[column][0]
    ]
    values = np.hstack([by_column[column][1] for column in sorted(by_column)])
    return Expectation(tuple(entries), values)


_Averages = tuple[tuple[int | None, ...], NDArray[np.float64]]


def _by_column(part: ComponentSet) -> list[_Averages]:
    """For each column its levels (or None) and their averages, (n_components, levels)."""
    if isinstance(part, ProductComponents):
        held = expectation(part)
        return [_of_column(held, column) for column in range(part.width)]
    if isinstance(part, CategoricalComponents):
        return [
            (tuple(range(int(size))), part.of_column(column))
            for column, size in enumerate(part.n_levels)
        ]
    means = part.arrays().get("means")
    if means is None or (
        isinstance(part, StudentComponents) and float(part.degrees) <= _DEGREES_WITHOUT_MEAN
    ):
        means = np.full((part.n_components, part.width), np.nan)
    return [((None,), np.asarray(means[:, [column]])) for column in range(part.width)]


def _of_column(held: Expectation, column: int) -> _Averages:
    """One column of a product within a product."""
    places = [place for place, entry in enumerate(held.entries) if entry.column == column]
    return tuple(held.entries[place].level for place in places), held.values[:, places]
