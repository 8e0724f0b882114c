"""From own units to the coordinates that learning uses, and back: one part of a block.

Numbers are centred and scaled, amounts are divided by their mean, counts and levels stay as they
are, so that no unit of measurement enters. Components that were learned over coordinates are
brought back into the units that they came in. Missing values stay missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixoracle.families.base import ComponentSet, Family, Floats
from mixoracle.settings import Priors

Columns = NDArray[np.int64]


@dataclass(frozen=True)
class Part(ABC):
    """The columns of a block that share a family; ``columns`` (w,) are their places in it.

    Coordinates stand in the order of ``columns``, components in own units in ascending order.
    """

    columns: Columns
    priors: Priors = field(default=Priors(), kw_only=True)

    @classmethod
    def fit(cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors) -> Part:
        """Learn the units of a block (N, w) whose columns have ``n_levels`` levels, 0 for numbers.

        Where there is nothing to learn this will do.
        """
        return cls(columns, priors=priors)

    @property
    @abstractmethod
    def family(self) -> Family:
        """The family of the components over coordinates."""

    @abstractmethod
    def decode(self, components: ComponentSet) -> ComponentSet:
        """Components over coordinates to components in own units."""

    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, w) to (N, n_coordinates)."""
        return block

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        return 0.0

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
