"""How each column was read: as levels, counts, amounts or numbers, and how much of it is missing.

What a column is taken for decides what a component of it is, so a reader has to be able to see it
and to object. Columns of text are levels; numbers are judged by their values (see
``observations.answers`` and ``families.choice``) unless a family was declared.

Assumes observations without empty columns, as the learner does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.families import registry
from mixoracle.families.choice import Families, checked_families, column_kinds
from mixoracle.families.counts import COUNTS
from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.ties import repeated_values
from mixoracle.model.reading import Repeated
from mixoracle.observations import Observations
from mixoracle.observations.answers import recognise_answers

# Numbers are taken as they are, and what is an exposure was said.
_NEVER_GUESSED = (registry.NUMBERS, EXPOSURE.name)


@dataclass(frozen=True)
class Column:
    """One column of one observed variable.

    ``levels`` are its labels by code, None where it has none; ``guessed`` says that its numbers
    were taken as levels or counts without anybody having said so. ``low`` and ``high`` are the
    smallest and largest number, or the first and last level. ``repeated`` are numbers that occur
    far more often than their neighbours, which were treated as missing.
    """

    title: str
    observed: int
    family: str
    levels: tuple[str, ...] | None
    guessed: bool
    missing: int
    low: str
    high: str
    repeated: tuple[float, ...] = ()

    @property
    def n_levels(self) -> int:
        """How many levels it has, 0 for numbers."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def kind(self) -> str:
        """The family in plain words."""
        return registry.entry(self.family).words


def read_columns(
    observations: Observations, families: Families = None, exposed: Collection[str] = ()
) -> tuple[Observations, tuple[Column, ...]]:
    """Observations with their answers as levels, and what each column is taken for.

    The last column of the variables ``exposed`` is the exposure that their counts are out of.
    """
    declared = checked_families(families, observations.names)
    recognised = recognise_answers(observations, keep={*declared, *exposed})
    columns: list[Column] = []
    for i, name in enumerate(observations.names):
        own_levels = recognised.levels[i]
        has_levels = [levels is not None for levels in own_levels]
        own = slice(None, -1 if name in exposed else None)
        kinds = column_kinds(name, recognised[i][:, own], has_levels[own], declared.get(name))
        if name in exposed:
            counts = [
                levels is None and are_counts(values)
                for levels, values in zip(own_levels[own], recognised[i].T[own], strict=True)
            ]
            kinds = [COUNTS.name if c else kind for c, kind in zip(counts, kinds, strict=True)]
            kinds.append(EXPOSURE.name)
        for c, (family, levels) in enumerate(zip(kinds, own_levels, strict=True)):
            values = recognised[i][:, c]
            was_text = observations.levels[i][c] is not None
            low, high = _range(values, levels)
            columns.append(
                Column(
                    title=observations.titles[len(columns)],
                    observed=i,
                    family=family,
                    levels=levels,
                    guessed=not was_text and name not in declared and family not in _NEVER_GUESSED,
                    missing=int(np.isnan(values).sum()),
                    low=low,
                    high=high,
                )
            )
    return recognised, tuple(columns)


def are_counts(values: Floats) -> bool:
    """Whether numbers are counts if there are any: whole, from 0 on, and more than yes and no."""
    seen = values[~np.isnan(values)]
    distinct = np.unique(seen)
    return len(distinct) > 2 and distinct[0] >= 0 and np.array_equal(distinct, np.floor(distinct))


def with_repeated(columns: Sequence[Column], observations: Observations) -> tuple[Column, ...]:
    """The columns with the numbers that occur far more often than those next to them."""
    return tuple(
        replace(column, repeated=repeated_values(values))
        if column.family == registry.NUMBERS
        else column
        for column, values in zip(columns, observations.values.T, strict=True)
    )


def of_the_table(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Each column of the table once: several variables hold the same exposure."""
    held = list(columns)
    exposures = {column.title: column for column in held if column.family == EXPOSURE.name}
    return (*(c for c in held if c.family != EXPOSURE.name), *exposures.values())


def repeated_numbers(columns: Iterable[Column]) -> Repeated:
    """For each observed variable the repeated numbers of each of its columns."""
    return tuple(
        tuple(column.repeated for column in own)
        for _, own in groupby(columns, key=lambda column: column.observed)
    )


def _range(values: Floats, levels: tuple[str, ...] | None) -> tuple[str, str]:
    if levels is not None:
        return (levels[0], levels[-1]) if levels else ("", "")
    known = values[~np.isnan(values)]
    return f"{known.min():.4g}", f"{known.max():.4g}"
