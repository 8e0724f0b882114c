"""The components of a variable in numbers: a column for each, a line for each mean or level.

Whatever the family, a component is shown by what it is on average: the mean of a column of
numbers, the probability of each level of a column of levels, by name. Mixed blocks show both, in
the order of their columns.

Assumes evidence that was gathered for the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle.families import Entry
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel

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


@dataclass(frozen=True)
class LevelBars:
    """Probabilities of levels: for each column its title, labels and (components, levels)."""

    titles: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    shares: tuple[tuple[tuple[float, ...], ...], ...]


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


def level_bars(model: LatentModel, columns: Sequence[Column], observed: int) -> LevelBars | None:
    """The probabilities of all levels of a variable that has nothing but levels, else None."""
    shares = None if model.components is None else model.components[observed].averages().of_levels()
    if shares is None:
        return None
    own = [column for column in columns if column.observed == observed]
    return LevelBars(
        tuple(column.heading for column in own),
        tuple(column.levels or () for column in own),
        tuple(
            tuple(tuple(float(p) for p in row) for row in by_level[:MAX_COMPONENTS])
            for by_level in shares
        ),
    )


def _title(entry: Entry, column: Column) -> str:
    if entry.level is None:
        return column.heading
    # A model that was made elsewhere may have codes that no label was ever seen for.
    levels = column.levels or ()
    label = levels[entry.level] if entry.level < len(levels) else entry.level
    return f"{column.heading} = {label}"
