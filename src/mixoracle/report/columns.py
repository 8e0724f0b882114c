"""The columns in a few words: those that were read alike together, and how much is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mixoracle.families import registry
from mixoracle.mixtures.columns import Column


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
