"""One observed variable in some rows, as its family sees them: what every search starts from.

References
----------
.. [1] J. W. Miller, D. B. Dunson. Robust Bayesian inference via coarsening. Journal of the American
   Statistical Association 114 (2019).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mixoracle._arrays import Floats, Integers, rows_with_missing
from mixoracle.families.base import Family, Patterns
from mixoracle.mixtures.dependence import whitened
from mixoracle.model import ComponentSet


@dataclass(frozen=True)
class VariableRows:
    """The rows of one observed variable.

    ``block`` (N, width) are its coordinates, ``features`` (N, f) what its family makes of them,
    with 0 for missing values, and ``patterns`` which of them are missing. ``shows_shape`` tells
    that the components may have another shape than the family's, which the rows would show.
    ``weight`` is what a row counts for as evidence: less than 1 where the family is believed up
    to a misfit only.
    """

    family: Family
    block: Floats
    features: Floats
    patterns: Patterns | None
    shows_shape: bool
    weight: float = 1.0

    @property
    def counted(self) -> Floats:
        """The features as evidence counts them, still with 0 for missing values."""
        return self.features if self.weight == 1.0 else self.weight * self.features

    @cached_property
    def embedding(self) -> Floats:
        """Coordinates in which rows of one component lie close together."""
        return self.family.embedding(self.block)

    @cached_property
    def whitened(self) -> Floats:
        """The rows as uncorrelated coordinates."""
        alone = np.zeros(len(self.block), dtype=np.int64)
        return whitened(self.embedding, alone, rows_with_missing(self.block))

    def completed(self, labels: Integers, components: ComponentSet | None = None) -> Floats:
        """Counted features that may be added up, rows completed by the component of their label."""
        if self.patterns is None:
            return self.counted
        whole = self.family.completed(self.features, labels, components, self.patterns)
        return whole if self.weight == 1.0 else self.weight * whole

    def log_density(self, components: ComponentSet) -> Floats:
        """The log density of each row in each component, (N, k)."""
        return self.family.log_density(self.features, components, self.patterns)

    def coarsened(self, resolution: float) -> VariableRows:
        """The same rows as so many effective ones at most, however many they are [1]_."""
        return replace(self, weight=1.0 / (1.0 + len(self.block) / resolution))

    def take(self, rows: Integers) -> VariableRows:
        """Some of the rows."""
        patterns = None if self.patterns is None else self.patterns.take(rows)
        return replace(
            self, block=self.block[rows], features=self.features[rows], patterns=patterns
        )


def unit_variance(embedding: Floats) -> Floats:
    """Coordinates in which all variables weigh the same, however many columns they have."""
    total = float(embedding.var(axis=0).sum())
    return np.asarray(embedding / np.sqrt(total)) if total > 0 else embedding
