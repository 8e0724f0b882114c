"""The components of a variable in numbers: a column for each, a line for each mean or level.

Whatever the family, a component is shown by what it is on average: the mean of a column of
numbers, the probability of each level of a column of levels, by name. Mixed blocks show both, in
the order of their columns.

Assumes evidence that was gathered for the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixoracle.families import Entry
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.report.profiles import is_item

# More lines or more components than this are for a program to read; the model holds them all.
MAX_LINES = 40
MAX_COMPONENTS = 24


@dataclass(frozen=True)
class Line:
    """The mean of a column, or the probability of one of its levels, in each component."""

    title: str
    is_share: bool
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class ComponentTable:
    """The components of one observed variable.

    ``states`` has for each parent its name and its state in each component; ``weights`` are the
    probabilities of the components. ``more_lines`` and ``more_components`` are not shown.
    """

    states: tuple[tuple[str, tuple[str, ...]], ...]
    weights: tuple[float, ...]
    lines: tuple[Line, ...]
    more_lines: int
    more_components: int


def component_table(
    model: LatentModel, columns: Sequence[Column], observed: int
) -> ComponentTable | None:
    """The components of a variable in numbers; None where the model has none."""
    if model.components is None:
        return None
    parents = model.parents(observed)
    sizes = tuple(model.domain_sizes[j] for j in parents)
    n_components = model.components[observed].n_components
    shown = min(n_components, MAX_COMPONENTS)
    # Without parents there is one component and nothing to tell apart.
    states = np.unravel_index(np.arange(shown), sizes) if parents else ()
    averages = model.components[observed].averages()
    own = [column for column in columns if column.observed == observed]
    lines = tuple(
        Line(
            _title(entry, own[entry.column]),
            entry.level is not None,
            tuple(float(v) if np.isfinite(v) else None for v in averages.values[:shown, place]),
        )
        for place, entry in enumerate(averages.entries[:MAX_LINES])
    )
    weights = model.joint.marginal(parents).table.ravel()[:shown]
    return ComponentTable(
        states=tuple(
            (model.latent_names[j], tuple(model.states_of(j)[s] for s in row))
            for j, row in zip(parents, states, strict=True)
        ),
        weights=tuple(float(w) for w in weights),
        lines=lines,
        more_lines=len(averages.entries) - len(lines),
        more_components=n_components - shown,
    )


def item_tables(model: LatentModel, columns: Sequence[Column]) -> tuple[ComponentTable, ...]:
    """The measurements of two levels in numbers: one table for all with the same parents.

    Each has one line, the probability of its second level.
    """
    groups: dict[tuple[int, ...], list[ComponentTable]] = {}
    for i in range(model.n_observed):
        table = component_table(model, columns, i) if is_item(columns, i) else None
        if table is not None:
            groups.setdefault(model.parents(i), []).append(table)
    return tuple(
        replace(held[0], lines=tuple(table.lines[-1] for table in held)) for held in groups.values()
    )


def _title(entry: Entry, column: Column) -> str:
    if entry.level is None:
        return column.heading
    # A model that was made elsewhere may have codes that no label was ever seen for.
    levels = column.levels or ()
    label = levels[entry.level] if entry.level < len(levels) else entry.level
    return f"{column.heading} = {label}"
