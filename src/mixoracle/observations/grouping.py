"""Which columns make which observed variable.

Columns named ``name[0], name[1], …`` belong together; any other grouping is said in words, and
covers every column that is not dropped on purpose. A width-1 variable is written under its plain
name, unless that name itself looks like ``name[0]``: so the names of columns and the names of
variables determine each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import NO_REMARKS, Spelling, check_text
from mixoracle.observations.described import Columns
from mixoracle.observations.input_columns import (
    IN_A_PIPELINE,
    SHOWN,
    ColumnRef,
    InputColumns,
    did_you_mean,
    shown,
)

# Leading zeros are not an index: "X[00]" and "X[0]" would be the same column.
_INDEXED = re.compile(r"(.+)\[(0|[1-9][0-9]*)\]", re.DOTALL)
# groups="prefix": columns belong together whose names begin alike, up to the first of these.
PREFIX = "prefix"
_PREFIX_ENDS = re.compile(r"[_.:/ \-]")

Groups = (
    int
    | str
    | Callable[[str], str | None]
    | Mapping[str, ColumnRef | Sequence[ColumnRef]]
    | Sequence[ColumnRef | Sequence[ColumnRef]]
    | None
)


@dataclass(frozen=True)
class Plan:
    """The variables to make: their names, and the input columns of each in order."""

    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def order(self) -> tuple[int, ...]:
        """All input columns in the order in which the record holds them."""
        return tuple(position for block in self.members for position in block)

    @property
    def widths(self) -> tuple[int, ...]:
        """How many columns each variable has."""
        return tuple(map(len, self.members))


def column_names(names: Sequence[str], widths: Sequence[int]) -> tuple[str, ...]:
    """Name each column of each variable."""
    return tuple(
        name if width == 1 and not _INDEXED.fullmatch(name) else f"{name}[{c}]"
        for name, width in zip(names, widths, strict=True)
        for c in range(width)
    )


def checked_names(names: Iterable[object]) -> tuple[str, ...]:
    """Names of observed variables: distinct, not empty, fit for a file."""
    if isinstance(names, str):
        raise InvalidInputError("names should be a sequence of strings; got one string")
    checked = tuple(check_text(name, "the name of an observed variable") for name in names)
    repeated = [name for name, times in Counter(checked).items() if times > 1]
    if repeated:
        raise InvalidInputError(
            f"observed variables should have distinct names; {shown(repeated)} occurs more than "
            "once: rename one"
        )
    return checked


@dataclass(frozen=True)
class Choices:
    """The caller's choices about the columns; see :meth:`Observations.from_array`."""

    groups: Groups = None
    names: Sequence[str] | None = None
    categorical: bool | ColumnRef | Iterable[ColumnRef] = ()
    drop: ColumnRef | Iterable[ColumnRef] = ()
    keep: bool | ColumnRef | Iterable[ColumnRef] = ()
    id: ColumnRef | None = None
    spelling: Spelling = NO_REMARKS
    # Columns or variables of which the caller said something that only measurements have.
    described: Iterable[str] = ()
    # What the caller said in one place; all but variables and units is in the choices above too.
    said: Columns = field(default_factory=Columns)
    # Columns that are no measurements, and why.
    aside: Mapping[str, str] = field(default_factory=dict)

    def applied(self, columns: InputColumns) -> tuple[Plan, frozenset[int]]:
        """Return the plan for these columns, and which of them were declared categorical."""
        left_out, variables = self.left_out(columns), self.said.variables
        plan = plan_groups(columns, self.groups, self.names, (), left_out, variables)
        return plan, declared_categorical(columns, plan, self.categorical)

    def left_out(self, columns: InputColumns) -> frozenset[int]:
        """The columns that the caller leaves out, the one that names the rows among them."""
        dropped = {columns.position(ref, "drop") for ref in as_refs(self.drop)}
        own = self.id_position(columns)
        return frozenset(dropped if own is None else {*dropped, own})

    def id_position(self, columns: InputColumns) -> int | None:
        """The column that names the rows, if any."""
        return None if self.id is None else columns.position(self.id, "id")

    @property
    def in_blocks(self) -> bool:
        """Whether columns are put together by place or name, not one by one."""
        return self.groups is not None and not _is_listed(self.groups)

    def unsettled(self, columns: InputColumns) -> list[int]:
        """The columns of which the caller did not say that they are measurements, or are not."""
        if self.keep is True or self.categorical is True:
            return []
        settled = set(self.left_out(columns))
        kept = () if isinstance(self.keep, bool) else as_refs(self.keep)
        settled.update(columns.position(ref, "keep") for ref in kept)
        if _is_listed(self.groups):
            _, members = _listed(columns, self.groups)
            settled.update(position for block in members for position in block)
        labels = columns.labels or ()
        settled.update(p for p, label in enumerate(labels) if _INDEXED.fullmatch(label))
        widths = Counter(columns.groups or ())
        settled.update(p for p, group in enumerate(columns.groups or ()) if widths[group] > 1)
        settled.update(declared_columns(columns, self.categorical))
        settled.update(declared_columns(columns, self.described))
        return [position for position in range(columns.count) if position not in settled]


def _is_listed(groups: Groups) -> bool:
    """Whether the groups list their columns."""
    return isinstance(groups, Mapping) or (
        isinstance(groups, Iterable) and not isinstance(groups, str)
    )


def _listed(columns: InputColumns, groups: Any) -> tuple[list[str] | None, list[tuple[int, ...]]]:
    if isinstance(groups, Mapping):
        return list(groups), [_group(columns, refs) for refs in groups.values()]
    return None, [_group(columns, refs) for refs in groups]


def plan_groups(
    columns: InputColumns,
    groups: Groups = None,
    names: Sequence[str] | None = None,
    drop: ColumnRef | Iterable[ColumnRef] = (),
    left_out: Iterable[int] = (),
    variables: Mapping[str, str] | None = None,
) -> Plan:
    """Decide which columns make which variable, refusing what is left over or used twice.

    ``drop`` names columns as the caller does, ``left_out`` by their position. Where there are no
    groups, ``variables`` are those of some columns.
    """
    dropped = {*left_out, *(columns.position(ref, "drop") for ref in as_refs(drop))}
    kept = [position for position in range(columns.count) if position not in dropped]
    if groups is None:
        given, members = _with_variables(columns, kept, variables or {})
    elif isinstance(groups, (int, np.integer)) and not isinstance(groups, bool):
        given, members = None, _equal_widths(kept, int(groups))
    elif groups == PREFIX or callable(groups):
        given, members = _by_name(columns, kept, groups if callable(groups) else _prefix)
    elif _is_listed(groups):
        given, members = _listed(columns, groups)
    else:
        raise InvalidInputError(
            "groups should be a width, 'prefix', a function of a column's name, a sequence of "
            f"column sequences, or a mapping from names to columns; got {groups!r}"
        )
    plan = Plan(checked_names(_choose_names(names, given, len(members))), tuple(members))
    _check_cover(columns, plan, dropped)
    return plan


def _choose_names(
    names: Sequence[str] | None, given: Sequence[str] | None, count: int
) -> Sequence[str]:
    if names is None:
        return [f"X{i + 1}" for i in range(count)] if given is None else given
    if not isinstance(names, str) and len(names) != count:
        raise InvalidInputError(
            f"names should hold one name for each of the {count} observed variables; "
            f"got {len(names)}"
        )
    return names


def _with_variables(
    columns: InputColumns, kept: Sequence[int], variables: Mapping[str, str]
) -> tuple[list[str] | None, list[tuple[int, ...]]]:
    """Columns in their variables, in the order in which they are named; the others by themselves.

    Variables stand in the order of the table.
    """
    labels = columns.labels or ()
    free = [p for p in kept if not variables or labels[p] not in variables]
    names, members = _by_itself(columns, free)
    if names is None:
        return None, members
    found: dict[str, list[int]] = {}
    for label, variable in variables.items():
        if label in labels and labels.index(label) in kept:
            found.setdefault(variable, []).append(labels.index(label))
    for name, block in zip(names, members, strict=True):
        if name in found:
            raise InvalidInputError(
                f"the column {labels[block[0]]!r} stands beside columns of the variable {name!r}: "
                "say the variable of each of them in columns"
            )
        found[name] = list(block)
    ordered = sorted(found.items(), key=lambda item: min(item[1]))
    return [name for name, _ in ordered], [tuple(block) for _, block in ordered]


def _by_itself(
    columns: InputColumns, kept: Sequence[int]
) -> tuple[list[str] | None, list[tuple[int, ...]]]:
    """Group columns ``name[0], name[1], …`` in index order; all others stand alone.

    Where the table has groups of its own, those are taken.
    """
    if columns.labels is None:
        return None, [(position,) for position in kept]
    if columns.groups is not None:
        blocks: dict[str, list[int]] = {}
        for position in kept:
            blocks.setdefault(columns.groups[position], []).append(position)
        return list(blocks), [tuple(block) for block in blocks.values()]
    found: dict[str, dict[int, int]] = {}
    plain: set[str] = set()
    for position in kept:
        label = columns.labels[position]
        match = _INDEXED.fullmatch(label)
        name, index = (match[1], int(match[2])) if match else (label, 0)
        if (match is None and name in found) or name in plain:
            raise InvalidInputError(
                f"the column {name!r} stands beside columns {name + '[…]'!r} of the same "
                "variable: rename it, or say which belong together by groups"
            )
        if match is None:
            plain.add(name)
        found.setdefault(name, {})[index] = position
    return list(found), [tuple(block[index] for index in sorted(block)) for block in found.values()]


def _prefix(label: str) -> str:
    """The name up to the first mark that ends a word; the whole name where there is none."""
    return _PREFIX_ENDS.split(label, maxsplit=1)[0] or label


def _by_name(
    columns: InputColumns, kept: Sequence[int], group_of: Callable[[str], str | None]
) -> tuple[list[str], list[tuple[int, ...]]]:
    """Columns belong together whose names give the same group; None stands alone."""
    if columns.labels is None:
        raise InvalidInputError(
            "columns can be grouped by their names only where they have names; an array has none: "
            f"give numbers of columns, or a frame{IN_A_PIPELINE}"
        )
    found: dict[str, list[int]] = {}
    for position in kept:
        label = columns.labels[position]
        group = group_of(label)
        found.setdefault(label if group is None else group, []).append(position)
    # A group of one keeps the name of its column.
    names = [columns.labels[held[0]] if len(held) == 1 else name for name, held in found.items()]
    return names, [tuple(held) for held in found.values()]


def _equal_widths(kept: Sequence[int], width: int) -> list[tuple[int, ...]]:
    if width < 1 or len(kept) % width:
        raise InvalidInputError(
            f"groups={width} should divide the {len(kept)} columns into equal widths; name the "
            "columns of each variable instead"
        )
    return [tuple(kept[start : start + width]) for start in range(0, len(kept), width)]


def as_refs(refs: Any) -> list[ColumnRef]:
    """One column or several; a string is one column, not its letters."""
    if isinstance(refs, str):
        return [refs]
    if isinstance(refs, (int, np.integer)):
        return [int(refs)]
    if not isinstance(refs, Iterable):
        raise InvalidInputError(f"columns should be listed by name or number; got {refs!r}")
    return list(refs)


def _group(columns: InputColumns, refs: ColumnRef | Sequence[ColumnRef]) -> tuple[int, ...]:
    return tuple(columns.position(ref, "groups") for ref in as_refs(refs))


def _check_cover(columns: InputColumns, plan: Plan, dropped: set[int]) -> None:
    for name, block in zip(plan.names, plan.members, strict=True):
        if not block:
            raise InvalidInputError(
                f"each observed variable needs a column; {name!r} has none: leave it out of groups"
            )
    times = Counter(plan.order)
    twice = [columns.describe(position) for position, used in times.items() if used > 1]
    if twice:
        raise InvalidInputError(
            f"each column should belong to one observed variable; {', '.join(twice[:SHOWN])} "
            "is listed in groups more than once"
        )
    both = [columns.describe(position) for position in sorted(dropped & set(times))]
    if both:
        raise InvalidInputError(f"{', '.join(both[:SHOWN])} is in groups and in drop; choose one")
    unlisted = [p for p in range(columns.count) if p not in times and p not in dropped]
    if unlisted:
        labels = unlisted if columns.labels is None else [columns.labels[p] for p in unlisted]
        raise InvalidInputError(
            f"groups should list every column; {shown(labels)} is in none: add it to a group, or "
            "leave it out on purpose with drop="
        )
    if not plan.names:
        raise InvalidInputError("there should be at least one observed variable; got none")


def declared_columns(
    columns: InputColumns, refs: bool | ColumnRef | Iterable[ColumnRef]
) -> frozenset[int]:
    """Input columns that the caller declared categorical by their own name."""
    if isinstance(refs, bool):
        return frozenset(range(columns.count)) if refs else frozenset()
    known = columns.keys or {}
    return frozenset(
        known[ref] for ref in as_refs(refs) if isinstance(ref, Hashable) and ref in known
    )


def declared_categorical(
    columns: InputColumns, plan: Plan, refs: bool | ColumnRef | Iterable[ColumnRef]
) -> frozenset[int]:
    """Input columns that the caller declared categorical.

    A reference is an input column's label or number, the name that a column gets
    (``X1[0]``), or the name of a variable, which means all its columns. True means all.
    """
    if isinstance(refs, bool):
        return frozenset(plan.order) if refs else frozenset()
    given = dict(zip(column_names(plan.names, plan.widths), plan.order, strict=True))
    blocks = dict(zip(plan.names, plan.members, strict=True))
    declared: set[int] = set()
    for ref in as_refs(refs):
        if isinstance(ref, Hashable) and ref in (columns.keys or {}):
            declared.add(columns.position(ref, "categorical"))
        elif isinstance(ref, str) and ref in given:
            declared.add(given[ref])
        elif isinstance(ref, str) and ref in blocks:
            declared.update(blocks[ref])
        elif isinstance(ref, str):
            known = [*(columns.labels or ()), *given, *plan.names]
            raise InvalidInputError(
                f"categorical names {ref!r}, which is not there"
                + did_you_mean(ref, list(dict.fromkeys(known)))
            )
        else:
            declared.add(columns.position(ref, "categorical"))
    return frozenset(declared)
