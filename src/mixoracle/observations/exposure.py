"""Observations whose counts hold the exposure that they are out of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.model.exposure import TOTAL, Exposure
from mixoracle.observations.gathering import frozen
from mixoracle.observations.record import Observations


def with_own_group(groups: Any, exposure: str | None) -> Any:
    """The groups with one for the column of the exposure, where they list columns without it."""
    if not isinstance(groups, Mapping) or exposure is None or exposure == TOTAL:
        return groups
    listed = (column for own in groups.values() for column in np.atleast_1d(own))
    if exposure in groups or any(column == exposure for column in listed):
        return groups
    return {**groups, exposure: [exposure]}


def exposure_of(observations: Observations, exposure: Exposure) -> Floats:
    """The exposure of each row, (N,); raise unless all are above 0."""
    if exposure.column is not None:
        if exposure.column not in observations:
            raise InvalidInputError(
                f"these counts are out of the exposure {exposure.column!r}, which is missing"
            )
        held = observations[exposure.column][:, 0]
        if observations.levels[observations.index(exposure.column)][0] is not None:
            raise InvalidInputError(
                f"the exposure {exposure.column!r} should hold numbers; it holds text"
            )
    else:
        places = [observations.column_names.index(name) for name in exposure.totalled]
        counts = observations.values[:, places]
        # A total over some of the counts would be too small.
        held = counts.sum(axis=1)
    wrong = np.flatnonzero(held <= 0)
    if len(wrong):
        name = TOTAL if exposure.column is None else exposure.column
        raise InvalidInputError(
            f"the exposure {name!r} should be above 0; it is {held[wrong[0]]:g} in row "
            f"{wrong[0] + 1}: leave such rows out"
        )
    return np.asarray(held, dtype=np.float64)


def with_exposure(observations: Observations, exposure: Exposure) -> Observations:
    """The observations with the exposure as the last column of each variable that is out of it."""
    held = exposure_of(observations, exposure)[:, None]
    kept = [name for name in observations.names if name != exposure.column]
    ends = np.cumsum(observations.widths)
    title = TOTAL if exposure.column is None else exposure.column
    blocks, widths, levels, inputs = [], [], [], []
    for name in kept:
        place = observations.index(name)
        own = observations.titles[ends[place] - observations.widths[place] : ends[place]]
        exposed = name in exposure.variables
        blocks += [observations[name], *([held] if exposed else [])]
        widths.append(len(own) + exposed)
        levels.append((*observations.levels[place], *([None] if exposed else [])))
        inputs += [*own, *([title] if exposed else [])]
    return Observations(
        frozen(np.hstack(blocks)),
        tuple(kept),
        tuple(widths),
        tuple(levels),
        observations.ids,
        tuple(inputs),
        observations.columns,
    )
