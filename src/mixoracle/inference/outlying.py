"""New values that stand alone: as unlikely, in every component, as nothing that was learned from.

While learning, a value is set aside if it has no neighbours (:mod:`~mixoracle.mixtures.isolation`).
A new row has none to compare with, but by then the components are known: a value that is far less
likely, in its best component, than every value that was kept is set aside in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet, LatentModel
from mixoracle.model.posterior import most_likely_states
from mixoracle.model.reading import MARGIN, best_log_density, without_outlying


def density_limits(components: Sequence[ComponentSet], prepared: Prepared) -> Floats:
    """For each observed variable the log density, in its best component, that a value has at least.

    It is minus infinity for variables of which nothing was set aside.
    """
    limits = np.full(len(components), -np.inf)
    for i, held in enumerate(components):
        aside = prepared.set_aside[:, i]
        if aside.any():
            kept = best_log_density(held, prepared.measured[i][~aside])
            limits[i] = kept.min() - MARGIN
    return limits


def reassigned(
    model: LatentModel, prepared: Prepared, states: Integers, limits: Floats
) -> Integers:
    """The states (N, m) of the rows, judged as new rows would be.

    That makes a difference where values were set aside, and where rounded or repeated ones were
    spread.
    """
    is_spread = any(steps.any() for steps in prepared.rounding) or any(
        column.agreed for column in prepared.columns
    )
    rows = np.flatnonzero(prepared.set_aside.any(axis=1) | is_spread)
    if not len(rows) or model.components is None:
        return states
    own = [block[rows] for block in prepared.measured]
    blocks = without_outlying(model.components, own, limits)
    answer = states.copy()
    answer[rows] = most_likely_states(model, blocks)
    return answer
