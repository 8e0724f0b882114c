"""What the components of a variable are on average, whatever their family.

A column of numbers has its mean; a column of levels has the probability of each level, which is
the mean of "is it this level?". So an average over components, weighted by how likely they are, is
right for every column of every family. Entries stand in the order of the columns, and within a
column in the order of its levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
class Averages:
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

    @classmethod
    def of_means(cls, means: NDArray[np.float64]) -> Averages:
        """Columns of numbers, ``means`` (n_components, width)."""
        return cls(tuple(map(Entry, range(means.shape[1]))), means)

    def of_levels(self) -> list[NDArray[np.float64]] | None:
        """The probabilities of each column, (n_components, levels), if all columns have levels."""
        if any(entry.level is None for entry in self.entries):
            return None
        columns = np.array([entry.column for entry in self.entries])
        return [self.values[:, columns == column] for column in np.unique(columns)]
