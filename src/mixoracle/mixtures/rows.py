"""One observed variable in some rows, as its family sees them: what every search starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.families.base import Family, Patterns
from mixoracle.mixtures.dependence import whitened
from mixoracle.mixtures.shape import WholeRows
from mixoracle.model import ComponentSet


@dataclass(frozen=True)
class VariableRows:
    """The rows of one observed variable.

    ``block`` (N, width) are its coordinates, ``features`` (N, f) what its family makes of them,
    with 0 for missing values, and ``patterns`` which of them are missing. ``shows_shape`` tells
    that the components may have another shape than the family's, which the rows would show.
    """

    family: Family
    block: Floats
    features: Floats
    patterns: Patterns | None
    shows_shape: bool

    @cached_property
    def embedding(self) -> Floats:
        """Coordinates in which rows of one component lie close together."""
        return self.family.embedding(self.block)

    @cached_property
    def whole(self) -> WholeRows | None:
        """The rows without missing values, where they can show a shape."""
        return WholeRows.of(self.block) if self.shows_shape else None

    @cached_property
    def whitened(self) -> Floats:
        """The rows as uncorrelated coordinates."""
        alone = np.zeros(len(self.block), dtype=np.int64)
        return whitened(self.embedding, alone, np.asarray(np.isnan(self.block).any(axis=1)))

    def completed(self, labels: Integers, components: ComponentSet | None = None) -> Floats:
        """Features that may be added up, each row completed by the component of its label."""
        if self.patterns is None:
            return self.features
        return self.family.completed(self.features, labels, components, self.patterns)

    def log_density(self, components: ComponentSet) -> Floats:
        """The log density of each row in each component, (N, k)."""
        return self.family.log_density(self.features, components, self.patterns)

    def take(self, rows: Integers) -> VariableRows:
        """Some of the rows."""
        patterns = None if self.patterns is None else self.patterns.take(rows)
        return VariableRows(
            self.family, self.block[rows], self.features[rows], patterns, self.shows_shape
        )


def unit_variance(embedding: Floats) -> Floats:
    """Coordinates in which all variables weigh the same, however many columns they have."""
    total = float(embedding.var(axis=0).sum())
    return np.asarray(embedding / np.sqrt(total)) if total > 0 else embedding
