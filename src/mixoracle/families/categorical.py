"""Levels: a probability for each level of each column, Dirichlet–multinomial evidence.

Levels are codes 0, 1, …, one less than their number; a yes-or-no column (Bernoulli) has two. The
features of a row mark the level that was seen in each column, so statistics are tables of counts.
The prior expects of a component what all rows together show, with the weight of a few rows: a
level that is rare everywhere is rare in each component too, and hardly matters. No level has
probability 0 in any learned component, so a level that it never showed stays possible.

Assumes that columns are independent within a component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from mixoracle._arrays import Floats, Integers, frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import (
    Averages,
    ComponentSet,
    Entry,
    Family,
    IndependentColumns,
    LinearFamily,
    Prior,
    parameters,
)
from mixoracle.families.units import Columns, FamilyEntry, Part
from mixoracle.settings import Priors

# Rounding of a sum of a thousand levels; more is a mistake of the caller's.
_SUM_TOLERANCE = 1e-9
# Added to each level's count before the prior's shares are taken, because a declared level may
# occur nowhere.
_UNSEEN_COUNT = 0.5
# A mixture of products of levels needs so many columns to be identifiable (Kruskal's condition).
_COLUMNS_TO_IDENTIFY = 3


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalComponents(IndependentColumns):
    """Components over columns with levels.

    Parameters
    ----------
    probabilities : (n_components, n_levels.sum()) array
        The levels of the first column, then those of the second, and so on; each column's sum
        to 1.
    n_levels : (width,) whole numbers
        How many levels each column has.

    Examples
    --------
    >>> coin = CategoricalComponents(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([2]))
    >>> np.exp(coin.log_density(np.array([[0.0], [1.0]]))).round(3).tolist()
    [[0.9, 0.2], [0.1, 0.8]]
    """

    probabilities: Floats
    n_levels: Integers

    family: ClassVar[str] = "categorical"
    shared: ClassVar[frozenset[str]] = frozenset({"n_levels"})

    def __post_init__(self) -> None:
        probabilities = parameters(self.probabilities, "level probabilities")
        n_levels = _checked_levels(self.n_levels)
        if probabilities.shape[1] != n_levels.sum():
            raise InvalidInputError(
                f"columns with {n_levels.tolist()} levels need {int(n_levels.sum())} "
                f"probabilities in each component; got {probabilities.shape[1]}"
            )
        sums = np.add.reduceat(probabilities, _level_starts(n_levels), axis=1)
        if np.any(probabilities < 0) or np.any(np.abs(sums - 1.0) > _SUM_TOLERANCE):
            raise InvalidInputError(
                "level probabilities should not be negative, and those of each column should sum "
                f"to 1; got a smallest of {probabilities.min():.3g} and sums from "
                f"{sums.min():.9g} to {sums.max():.9g}"
            )
        self._keep(probabilities=probabilities, n_levels=n_levels)

    @classmethod
    def of_shares(cls, probabilities: Floats, n_levels: Integers) -> CategoricalComponents:
        """The same without a check, for shares that were computed; EM makes thousands of these."""
        made = object.__new__(cls)
        probabilities.setflags(write=False)
        made._keep(probabilities=probabilities, n_levels=n_levels)
        return made

    @property
    def n_components(self) -> int:
        return int(self.probabilities.shape[0])

    @property
    def width(self) -> int:
        return len(self.n_levels)

    def of_column(self, column: int) -> Floats:
        """The probabilities of one column's levels, (n_components, levels)."""
        start = int(_level_starts(self.n_levels)[column])
        return self.probabilities[:, start : start + int(self.n_levels[column])]

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        codes = _level_codes(values, int(self.n_levels[column]), column)
        with np.errstate(divide="ignore"):  # a level of probability 0 has log density -inf
            return np.asarray(np.log(self.of_column(column)).T[codes])

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rows = np.empty((len(labels), self.width))
        for column in range(self.width):
            # The last bound is left out: rounding may put it below a drawn number.
            bounds = np.cumsum(self.of_column(column), axis=1)[:, :-1]
            rows[:, column] = (rng.random((len(labels), 1)) >= bounds[labels]).sum(axis=1)
        return rows

    def averages(self) -> Averages:
        entries = (Entry(c, level) for c, size in enumerate(self.n_levels) for level in range(size))
        return Averages(tuple(entries), self.probabilities)

    def __repr__(self) -> str:
        levels = ", ".join(str(size) for size in self.n_levels)
        return f"CategoricalComponents({self.n_components} components, levels {levels})"


@dataclass(frozen=True)
class Dirichlet:
    """The prior of each column: ``concentration`` (total_levels,) of its levels."""

    concentration: Floats


class CategoricalFamily(LinearFamily):
    """Components over columns with ``n_levels`` levels each; two levels are Bernoulli.

    The features are 1, then for each column one mark for each of its levels.
    """

    def __init__(self, n_levels: ArrayLike, *, priors: Priors = Priors()) -> None:
        self.n_levels = _checked_levels(n_levels)
        self.priors = priors
        self._starts = _level_starts(self.n_levels)

    @property
    def n_parameters(self) -> int:
        return int((self.n_levels - 1).sum())

    def joined_with(self, other: Family) -> CategoricalFamily | None:
        """All columns together; nothing is lost, since they are independent in any case."""
        if not isinstance(other, CategoricalFamily):
            return None
        levels = np.concatenate([self.n_levels, other.n_levels])
        return CategoricalFamily(levels, priors=self.priors)

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        features = np.zeros((len(block), 1 + int(self.n_levels.sum())))
        features[:, 0] = seen.any(axis=1)
        for column, start in enumerate(self._starts):
            rows = np.flatnonzero(seen[:, column])
            codes = _level_codes(block[rows, column], int(self.n_levels[column]), column)
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
        rows = self.priors.rows_per_level * self.n_levels
        return Dirichlet(shares * np.repeat(rows, self.n_levels))

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        concentration = cast(Dirichlet, prior).concentration
        counts = statistics[:, 1:]
        totals = self._by_column(concentration[None])
        by_column = gammaln(totals) - gammaln(totals + self._by_column(counts))
        by_level = gammaln(concentration + counts) - gammaln(concentration)
        return np.asarray(by_column.sum(axis=1) + by_level.sum(axis=1))

    def components(self, statistics: Floats, prior: Prior) -> CategoricalComponents:
        weights = statistics[:, 1:] + cast(Dirichlet, prior).concentration
        shares = weights / self._spread(self._by_column(weights))
        return CategoricalComponents.of_shares(shares, self.n_levels)

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


@dataclass(frozen=True)
class LevelPart(Part):
    """Codes of levels as they are."""

    n_levels: tuple[int, ...]

    @classmethod
    def fit(
        cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors
    ) -> LevelPart:
        return cls(columns, tuple(n_levels), priors=priors)

    @cached_property
    def family(self) -> CategoricalFamily:
        return CategoricalFamily(self.n_levels, priors=self.priors)

    @property
    def is_identifiable(self) -> bool:
        return len(self.columns) >= _COLUMNS_TO_IDENTIFY

    def decode(self, components: ComponentSet) -> CategoricalComponents:
        known = cast(CategoricalComponents, components)
        by_column = [known.of_column(int(column)) for column in self._ascending]
        return CategoricalComponents(np.hstack(by_column), known.n_levels[self._ascending])


def _checked_levels(n_levels: ArrayLike) -> Integers:
    checked = frozen_whole_numbers(n_levels, "numbers of levels")
    if checked.ndim != 1 or len(checked) == 0 or np.any(checked < 1):
        raise InvalidInputError(
            "numbers of levels should be at least 1, one for each column; got "
            f"{np.asarray(n_levels)!r}"
        )
    return checked


def _level_starts(n_levels: Integers) -> Integers:
    """Where the levels of each column begin, when they stand side by side."""
    return np.cumsum(n_levels) - n_levels


def _level_codes(values: Floats, n_levels: int, column: int) -> Integers:
    """Codes as whole numbers; what is no code of this column is refused."""
    wrong = values[(values < 0) | (values >= n_levels) | (values != np.floor(values))]
    if len(wrong):
        raise InvalidInputError(
            f"column {column} has codes 0 to {n_levels - 1}; got {float(wrong[0]):g}: recode it, "
            "or make an unknown level a missing value (NaN)"
        )
    return values.astype(np.int64)


def _check(_seen: Floats, variable: str) -> None:
    raise InvalidInputError(
        f"{variable} is declared categorical, but holds numbers: make Observations with "
        f"categorical=[{variable!r}]"
    )


CATEGORICAL = FamilyEntry(
    name=CategoricalComponents.family,
    purpose="levels",
    words="levels",
    part=LevelPart,
    check=_check,
)
