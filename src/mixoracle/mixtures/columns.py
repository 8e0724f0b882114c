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

from mixoracle._arrays import Bools, Floats, column_ranges, without_missing
from mixoracle.errors import InvalidInputError
from mixoracle.families import registry
from mixoracle.families.choice import Families, checked_families, column_kinds
from mixoracle.families.counts import COUNTS
from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.ties import repeated_values
from mixoracle.model.reading import Repeated, with_unit
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
    far more often than their neighbours, which were treated as missing; ``agreed`` are such numbers
    that other variables agree on, and that are values like others. ``n_repeated`` rows have either.
    ``shown_by`` are the variables that depend on which rows have them, without being agreed.
    ``unit`` is that of its numbers, empty where it has none.
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
    unit: str = ""
    agreed: tuple[float, ...] = ()
    n_repeated: int = 0
    shown_by: tuple[int, ...] = ()

    @property
    def heading(self) -> str:
        """The title with the unit, as it stands above numbers."""
        return with_unit(self.title, self.unit)

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
    declared = declared_families(observations, families)
    recognised = recognise_answers(observations, keep={*declared, *exposed})
    columns: list[Column] = []
    units, lowest, highest = observations.units, *column_ranges(recognised.values)
    n_missing = np.isnan(recognised.values).sum(axis=0)
    for i, name in enumerate(observations.names):
        own_levels = recognised.levels[i]
        has_levels = [levels is not None for levels in own_levels]
        own = slice(None, -1 if name in exposed else None)
        titles = observations.titles[len(columns) :][: len(own_levels)]
        said = [declared.get(title, declared.get(name)) for title in titles]
        kinds = column_kinds(name, recognised[i][:, own], has_levels[own], said[own])
        if name in exposed:
            counts = [
                levels is None and family in (None, COUNTS.name) and are_counts(values)
                for levels, values, family in zip(
                    own_levels[own], recognised[i].T[own], said[own], strict=True
                )
            ]
            kinds = [COUNTS.name if c else kind for c, kind in zip(counts, kinds, strict=True)]
            kinds.append(EXPOSURE.name)
        for c, (family, levels) in enumerate(zip(kinds, own_levels, strict=True)):
            place, was_text = len(columns), observations.levels[i][c] is not None
            low, high = _range(lowest[place], highest[place], levels)
            columns.append(
                Column(
                    title=titles[c],
                    observed=i,
                    family=family,
                    levels=levels,
                    guessed=not was_text and said[c] is None and family not in _NEVER_GUESSED,
                    missing=int(n_missing[place]),
                    low=low,
                    high=high,
                    unit=units[place],
                )
            )
    return recognised, tuple(columns)


def declared_families(observations: Observations, families: Families) -> dict[str, str]:
    """The declared family of each variable or column that has one.

    The caller declares them, and so does who described the columns of the table; of one column
    they must not say different things.
    """
    names, titles = observations.names, observations.titles
    declared = checked_families(families, names, titles)
    described = {} if observations.columns is None else observations.columns.families
    owners = dict(zip(titles, np.repeat(names, observations.widths).tolist(), strict=True))
    levels = dict(
        zip(titles, (held for block in observations.levels for held in block), strict=True)
    )
    for title, family in described.items():
        if levels.get(title) is not None and family != registry.LEVELS:
            raise InvalidInputError(
                f"columns takes {title!r} as {family}, but it holds text; correct the cells, or "
                f"take it as {registry.LEVELS}"
            )
        for name in (title, owners.get(title, title)):
            if not isinstance(families, str) and declared.get(name, family) != family:
                raise InvalidInputError(
                    f"the family of {name!r} is declared twice: columns says {family}, families "
                    f"says {declared[name]}; leave one of them out"
                )
    return {**declared, **{title: f for title, f in described.items() if title in owners}}


def are_counts(values: Floats) -> bool:
    """Whether numbers are counts if there are any: whole, from 0 on, and more than yes and no."""
    seen = without_missing(values)
    distinct = np.unique(seen)
    return len(distinct) > 2 and distinct[0] >= 0 and np.array_equal(distinct, np.floor(distinct))


def with_repeated(
    columns: Sequence[Column], observations: Observations, tied: Bools
) -> tuple[Column, ...]:
    """The columns with the numbers that occur far more often than those next to them.

    Only in ``tied`` columns some number occurs twice.
    """

    def looked_at(column: Column, values: Floats) -> Column:
        repeated = repeated_values(values)
        n_repeated = int(np.isin(values, repeated).sum())
        return replace(column, repeated=repeated, n_repeated=n_repeated)

    return tuple(
        looked_at(column, values) if column.family == registry.NUMBERS and has_ties else column
        for column, values, has_ties in zip(columns, observations.values.T, tied, strict=True)
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


def _range(low: float, high: float, levels: tuple[str, ...] | None) -> tuple[str, str]:
    if levels is not None:
        return (levels[0], levels[-1]) if levels else ("", "")
    return f"{low:.4g}", f"{high:.4g}"
