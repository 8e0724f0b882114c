"""Which counts are out of which exposure, and observations that hold it.

The exposure of a row is a variable of one column (a depth, a time), or the total of all its counts.
It is no measurement: each variable with counts gets it as its last column, on which its components
condition (:mod:`~mixoracle.families.exposure`), and it goes from the variables.
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import InvalidInputError
from mixoracle.families.choice import Families
from mixoracle.families.counts import COUNTS
from mixoracle.mixtures.columns import are_counts, declared_families
from mixoracle.model.exposure import TOTAL, Exposure
from mixoracle.observations import Observations
from mixoracle.observations.exposure import exposure_of, with_exposure
from mixoracle.observations.input_columns import did_you_mean


def exposed(
    observations: Observations, exposure: str | None, families: Families
) -> tuple[Observations, Exposure | None]:
    """The observations with what their counts are out of, where that was said."""
    exposure = said_exposure(observations, exposure)
    if exposure is None:
        return observations, None
    found = find_exposure(observations, exposure, families)
    return with_exposure(observations, found), found


def said_exposure(observations: Observations, exposure: str | None) -> str | None:
    """The exposure that the caller names, or who described the columns of the table."""
    described = None if observations.columns is None else observations.columns.exposure
    if exposure is not None and described not in (None, exposure):
        raise InvalidInputError(
            f"there may be one exposure: columns says {described!r}, and exposure= names "
            f"{exposure!r}; leave one of them out"
        )
    return described if exposure is None else exposure


def find_exposure(observations: Observations, exposure: str, families: Families) -> Exposure:
    """What ``exposure`` says about these observations: the total, or the name of a variable."""
    if not isinstance(exposure, str):
        raise InvalidInputError(
            f"exposure should be {TOTAL!r} or the name of a column; got {exposure!r}"
        )
    column = exposure if exposure in observations else None
    if column is None and exposure != TOTAL:
        raise InvalidInputError(
            f"exposure names {exposure!r}, which is no column"
            + did_you_mean(exposure, observations.names)
        )
    if column is not None and observations.widths[observations.index(column)] != 1:
        raise InvalidInputError(
            f"an exposure should be one column; {column!r} has several: take it out of its group"
        )
    own, totalled = [], []
    owners = np.repeat(observations.names, observations.widths).tolist()
    levels = [held for block in observations.levels for held in block]
    declared = declared_families(observations, families)
    for place, name in enumerate(owners):
        family = declared.get(observations.titles[place], declared.get(name, COUNTS.name))
        may_be = levels[place] is None and family == COUNTS.name
        if may_be and name != column and are_counts(observations.values[:, place]):
            own.append(name)
            totalled.append(observations.column_names[place])
    if not own:
        raise InvalidInputError(
            f"exposure={exposure!r} needs columns of counts, whole numbers from 0 on; there are "
            "none: leave it out"
        )
    found = Exposure(column, tuple(dict.fromkeys(own)), () if column else tuple(totalled))
    seen = exposure_of(observations, found)
    return Exposure(found.column, found.variables, found.totalled, _typical(seen, exposure))


def _typical(exposure: Floats, name: str) -> float:
    seen = without_missing(exposure)
    if not len(seen):
        raise InvalidInputError(f"the exposure {name!r} has no value in any row; leave it out")
    return float(seen.mean())
