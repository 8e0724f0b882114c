"""How each column was read: as levels, counts, amounts or numbers, and how much of it is missing.

What a column is taken for decides what a component of it is, so a reader has to be able to see it
and to object. Columns of text are levels; numbers are judged by their values (see
``observations.answers`` and ``families.choice``) unless a family was declared.

Assumes observations without empty columns, as the learner does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.families import registry
from mixoracle.families.choice import Families, checked_families, column_kinds
from mixoracle.observations import Observations
from mixoracle.observations.answers import recognise_answers


@dataclass(frozen=True)
class Column:
    """One column of one observed variable.

    ``levels`` are its labels by code, None where it has none; ``guessed`` says that its numbers
    were taken as levels or counts without anybody having said so. ``low`` and ``high`` are the
    smallest and largest number, or the first and last level.
    """

    title: str
    observed: int
    family: str
    levels: tuple[str, ...] | None
    guessed: bool
    missing: int
    low: str
    high: str

    @property
    def kind(self) -> str:
        """The family in plain words."""
        return registry.entry(self.family).words


@dataclass(frozen=True)
class KindOfColumns:
    """All columns that were read alike."""

    kind: str
    titles: tuple[str, ...]
    # The smallest and the largest number of levels, where there are any.
    n_levels: tuple[int, int] | None
    guessed: int
    missing: int
    cells: int


def read_columns(observations: Observations, families: Families = None) -> tuple[Column, ...]:
    """Say of each column what the learner takes it for."""
    declared = checked_families(families, observations.names)
    recognised = recognise_answers(observations, keep=declared)
    columns: list[Column] = []
    for i, name in enumerate(observations.names):
        own_levels = recognised.levels[i]
        has_levels = [levels is not None for levels in own_levels]
        kinds = column_kinds(name, recognised[i], has_levels, declared.get(name))
        for c, (family, levels) in enumerate(zip(kinds, own_levels, strict=True)):
            cells = recognised[i][:, c]
            was_text = observations.levels[i][c] is not None
            low, high = _range(cells, levels)
            columns.append(
                Column(
                    title=observations.column_names[len(columns)],
                    observed=i,
                    family=family,
                    levels=levels,
                    guessed=not was_text and name not in declared and family != registry.NUMBERS,
                    missing=int(np.isnan(cells).sum()),
                    low=low,
                    high=high,
                )
            )
    return tuple(columns)


def by_kind(columns: Iterable[Column], n_samples: int) -> tuple[KindOfColumns, ...]:
    """The columns taken together by how they were read; a short table for any number of them."""
    held = list(columns)
    groups = []
    # The least general first: levels, counts, amounts, numbers.
    for family in reversed(registry.entries()):
        own = [column for column in held if column.family == family.name]
        if not own:
            continue
        sizes = [len(column.levels) for column in own if column.levels is not None]
        groups.append(
            KindOfColumns(
                kind=family.words,
                titles=tuple(column.title for column in own),
                n_levels=(min(sizes), max(sizes)) if sizes else None,
                guessed=sum(column.guessed for column in own),
                missing=sum(column.missing for column in own),
                cells=n_samples * len(own),
            )
        )
    return tuple(groups)


def missing_note(columns: Sequence[Column], n_samples: int) -> str:
    """How many cells are missing; empty where none is."""
    missing, cells = sum(column.missing for column in columns), n_samples * len(columns)
    if not missing:
        return ""
    share = missing / cells
    shown = "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
    return (
        f"{missing:,} of {cells:,} cells are missing ({shown}); what is there is used, and "
        "nothing is filled in"
    )


def _range(cells: NDArray[np.float64], levels: tuple[str, ...] | None) -> tuple[str, str]:
    if levels is not None:
        return (levels[0], levels[-1]) if levels else ("", "")
    known = cells[~np.isnan(cells)]
    return f"{known.min():.4g}", f"{known.max():.4g}"
