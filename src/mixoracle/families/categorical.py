"""Columns with levels, judged by Dirichlet–multinomial evidence.

The features of a row mark the level that was seen in each column, so statistics are tables of
counts. The prior expects of a component what all rows together show, with the weight of a few
rows: a level that is rare everywhere is rare in each component too, and hardly matters. No level
has probability 0 in any component, so a level that a component never showed stays possible.

Assumes that columns are independent within a component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import gammaln

from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Floats, LinearFamily, Prior
from mixoracle.model import CategoricalComponents, ComponentSet
from mixoracle.model._arrays import frozen_whole_numbers
from mixoracle.model.components.categorical import level_codes, level_starts

# Rows that the prior is worth in each column, for each of its levels. Half of it and a quarter
# judged whole pieces as well, but cut components of five four-level items into more pieces.
PRIOR_ROWS_PER_LEVEL = 1.0
# Added to each level's count before the prior's shares are taken, because a declared level may
# occur nowhere.
_UNSEEN_COUNT = 0.5


@dataclass(frozen=True)
class Dirichlet:
    """The prior of each column: ``concentration`` (total_levels,) of its levels."""

    concentration: Floats


class CategoricalFamily(LinearFamily):
    """Components over columns with ``n_levels`` levels each; two levels are Bernoulli.

    The features are 1, then for each column one mark for each of its levels.
    """

    def __init__(self, n_levels: Sequence[int]) -> None:
        self.n_levels = frozen_whole_numbers(n_levels, "numbers of levels")
        if self.n_levels.ndim != 1 or len(self.n_levels) == 0 or np.any(self.n_levels < 1):
            raise InvalidInputError(
                f"numbers of levels should be at least 1, one for each column; got {n_levels!r}"
            )
        self._starts = level_starts(self.n_levels)

    @property
    def n_parameters(self) -> int:
        return int((self.n_levels - 1).sum())

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        features = np.zeros((len(block), 1 + int(self.n_levels.sum())))
        features[:, 0] = seen.any(axis=1)
        for column, start in enumerate(self._starts):
            rows = np.flatnonzero(seen[:, column])
            codes = level_codes(block[rows, column], int(self.n_levels[column]), column)
            features[rows, 1 + start + codes] = 1.0
        return features

    def embedding(self, block: Floats) -> Floats:
        """Marks of the levels, centred; a column's total variance is 1, or 0 if constant."""
        marks = self.features(block)[:, 1:]
        seen = np.repeat(~np.isnan(block), self.n_levels, axis=1)
        shares = marks.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
        centred = np.where(seen, marks - shares, 0.0)
        variance = np.add.reduceat(centred.var(axis=0), self._starts)
        return np.asarray(
            centred / np.sqrt(np.repeat(np.where(variance > 0, variance, 1.0), self.n_levels))
        )

    def prior(self, statistics: Floats) -> Dirichlet:
        counts = statistics[:, 1:].sum(axis=0) + _UNSEEN_COUNT
        shares = counts / self._spread(self._by_column(counts[None]))[0]
        return Dirichlet(shares * np.repeat(PRIOR_ROWS_PER_LEVEL * self.n_levels, self.n_levels))

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        concentration = cast(Dirichlet, prior).concentration
        counts = statistics[:, 1:]
        totals = self._by_column(concentration[None])
        by_column = gammaln(totals) - gammaln(totals + self._by_column(counts))
        by_level = gammaln(concentration + counts) - gammaln(concentration)
        return np.asarray(by_column.sum(axis=1) + by_level.sum(axis=1))

    def components(self, statistics: Floats, prior: Prior) -> CategoricalComponents:
        weights = statistics[:, 1:] + cast(Dirichlet, prior).concentration
        return CategoricalComponents(
            weights / self._spread(self._by_column(weights)), self.n_levels
        )

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        probabilities = cast(CategoricalComponents, components).probabilities
        return float((np.log(probabilities) @ cast(Dirichlet, prior).concentration).sum())

    def natural(self, components: ComponentSet) -> Floats:
        probabilities = cast(CategoricalComponents, components).probabilities
        return np.hstack([np.zeros((len(probabilities), 1)), np.log(probabilities)])

    def _by_column(self, by_level: Floats) -> Floats:
        """Sums over the levels of each column, (k, total_levels) to (k, width)."""
        return np.asarray(np.add.reduceat(by_level, self._starts, axis=1))

    def _spread(self, by_column: Floats) -> Floats:
        """Each column's number repeated for its levels."""
        return np.repeat(by_column, self.n_levels, axis=1)
