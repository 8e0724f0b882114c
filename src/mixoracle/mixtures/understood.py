"""What each column of a table is taken for, in the form in which it can be corrected.

Reading tells which columns are left out, which names the rows and which belong together; their
values tell the families. Together they are what the learner understood, before it learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mixoracle.families.choice import Families
from mixoracle.families.registry import LEVELS
from mixoracle.mixtures.columns import Column, of_the_table, read_columns
from mixoracle.mixtures.exposure import exposed, said_exposure
from mixoracle.model.exposure import TOTAL
from mixoracle.observations import Columns, Observations
from mixoracle.observations.described import MEASUREMENT, Described

_BY_VALUES = "by its values"


def understood(
    observations: Observations, families: Families = None, exposure: str | None = None
) -> Columns:
    """What the columns of the table behind these observations are taken for."""
    held, found = exposed(observations, exposure, families)
    columns = read_columns(held, families, () if found is None else found.variables)[1]
    return with_families(observations, columns, said_exposure(observations, exposure))


def with_families(
    observations: Observations, columns: Sequence[Column], exposure: str | None = None
) -> Columns:
    """What the columns were read as, with the families that they were then taken for."""
    read = observations.columns or Columns()
    changes = {}
    for column in of_the_table(columns):
        if exposure == TOTAL and column.title == TOTAL and TOTAL not in read.described:
            continue
        held = read.described.get(column.title, Described())
        taken_as, remark = column.family, _BY_VALUES if column.guessed else ""
        if column.guessed and column.family == LEVELS:
            # Declared, its labels would be the cells as they are spelled: '1.0', where it is 1.
            taken_as, remark = MEASUREMENT, f"{LEVELS}, {_BY_VALUES}"
        changes[column.title] = replace(held, taken_as=taken_as, remark=remark)
    described = read.updated(changes)
    if exposure != TOTAL:
        return described
    return replace(described, table={**described.table, "exposure": TOTAL})
