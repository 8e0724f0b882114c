"""A description of columns and the caller's other choices, brought together; what was then read.

The arguments of a reader and a description of columns may say the same thing. Where they do not,
the reader refuses to choose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mixoracle.errors import InvalidInputError
from mixoracle.families.registry import LEVELS
from mixoracle.observations.columns import Spelling
from mixoracle.observations.described import DROP, EXPOSURE, ID, MEASUREMENT, Columns, Described
from mixoracle.observations.dialects import TextOptions
from mixoracle.observations.grouping import Choices, Plan, as_refs
from mixoracle.observations.input_columns import InputColumns


def with_description(choices: Choices, said: Columns) -> Choices:
    """The choices with all that a description of columns says, which must not contradict them."""
    if not said.described and not said.table:
        return choices
    if choices.groups is not None and said.variables:
        raise InvalidInputError(
            "groups= and columns both say which columns make one variable; leave one of them out"
        )
    measured = [
        name for name, held in said.described.items() if held.taken_as not in (DROP, ID, EXPOSURE)
    ]
    levels = [name for name in measured if said.described[name].taken_as == LEVELS]
    _agree(said, choices.drop, (DROP,), "drop= leaves it out")
    _agree(said, choices.keep, measured, "keep= makes it a measurement")
    _agree(said, choices.id, (ID,), "id= makes it the names of the rows")
    _agree(said, choices.categorical, levels, "categorical= makes it levels")
    own = said.taken(ID)[0] if said.taken(ID) else None
    if own is not None and choices.id not in (None, own):
        raise InvalidInputError(
            f"one column may name the rows: columns says {own!r}, and id= names {choices.id!r}; "
            "leave one of them out"
        )
    as_text = levels if choices.categorical is not True else True
    return replace(
        choices,
        drop=[*as_refs(choices.drop), *said.taken(DROP)],
        keep=choices.keep is True or [*_listed(choices.keep), *measured],
        id=own if choices.id is None else choices.id,
        categorical=as_text is True or [*_listed(choices.categorical), *levels],
        described=[*choices.described, *said.taken(EXPOSURE)],
        spelling=_spelling(choices.spelling, said.table),
        said=said,
    )


def text_options(options: TextOptions, said: Columns) -> TextOptions:
    """How a text file is written, as the caller says it or the description of its columns."""
    return TextOptions(
        *(
            _same(key, getattr(options, key), said.table.get(key))
            for key in ("sep", "header", "encoding")
        )
    )


def _listed(refs: Any) -> list[Any]:
    return [] if isinstance(refs, bool) else as_refs(refs)


def _agree(said: Columns, refs: Any, allowed: Collection[str], otherwise: str) -> None:
    """Refuse a column that an argument names and the description takes for something else."""
    for ref in () if refs is None else _listed(refs):
        held = said.described.get(ref)
        if held is not None and ref not in allowed and held.taken_as not in allowed:
            raise InvalidInputError(
                f"{ref!r} is said to be two things: columns takes it as {held.taken_as!r}, and "
                f"{otherwise}; leave one of them out"
            )


def _spelling(spelling: Spelling, table: Mapping[str, Any]) -> Spelling:
    decimal = _same("decimal", spelling.decimal, table.get("decimal"))
    return Spelling.of(decimal, [*spelling.na, *table.get("na", ())])


def _same(key: str, given: Any, said: Any) -> Any:
    if given is not None and said is not None and given != said:
        raise InvalidInputError(
            f"{key}= and columns should say the same; got {given!r} and {said!r}: leave one of "
            "them out"
        )
    return said if given is None else given


def read_as(
    columns: InputColumns,
    choices: Choices,
    plan: Plan,
    declared: Collection[int],
    units: Sequence[str],
) -> Columns | None:
    """What the columns of a table were read as, as far as reading tells it.

    ``units`` are those of the columns of the plan, in its order.
    """
    if columns.labels is None:
        return None
    own = choices.id_position(columns)
    unit = dict(zip(plan.order, units, strict=True))
    owner = {
        position: (name, len(block))
        for name, block in zip(plan.names, plan.members, strict=True)
        for position in block
    }
    # The columns of a variable keep their order, also where that is not the one of the table.
    ordered = {name: iter(block) for name, block in zip(plan.names, plan.members, strict=True)}
    described = {}
    for position, label in enumerate(columns.labels):
        if position not in owner:
            taken_as = ID if position == own else DROP
            described[label] = Described(taken_as, remark=choices.aside.get(label, ""))
            continue
        name, width = owner[position]
        place = next(ordered[name])
        called = columns.labels[place]
        said = choices.said.described.get(called, Described()).taken_as
        taken_as = LEVELS if place in declared and said == MEASUREMENT else said
        variable = name if width > 1 or name != called else ""
        described[called] = Described(taken_as, variable, unit[place])
    return Columns(described, {**choices.said.table, **_written(choices.spelling)})


def _written(spelling: Spelling) -> dict[str, Any]:
    """How the cells of the table are spelled, as far as somebody said it."""
    said = {"decimal": spelling.decimal, "na": sorted(spelling.na)}
    return {key: value for key, value in said.items() if value}
