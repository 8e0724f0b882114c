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

# How many nats less likely than the least likely of all others a value has to be: those that were
# kept are a sample, and the next one may be a little more extreme.
_MARGIN = 10.0


def density_limits(components: Sequence[ComponentSet], prepared: Prepared) -> Floats:
    """For each observed variable the log density, in its best component, that a value has at least.

    It is minus infinity for variables of which nothing was set aside.
    """
    limits = np.full(len(components), -np.inf)
    for i, held in enumerate(components):
        aside = prepared.set_aside[:, i]
        if aside.any():
            kept = _best_log_density(held, prepared.measured[i][~aside])
            limits[i] = kept.min() - _MARGIN
    return limits


def without_outlying(
    components: Sequence[ComponentSet], blocks: Sequence[Floats], limits: Floats
) -> list[Floats]:
    """The blocks of new rows, values below the limit of their variable being missing."""
    kept = []
    for held, block, limit in zip(components, blocks, limits, strict=True):
        outlying = _best_log_density(held, block) < limit if np.isfinite(limit) else None
        kept.append(block if outlying is None else np.where(outlying[:, None], np.nan, block))
    return kept


def reassigned(
    model: LatentModel, prepared: Prepared, states: Integers, limits: Floats
) -> Integers:
    """The states (N, m) of the rows, those with a value set aside judged as new rows would be."""
    rows = np.flatnonzero(prepared.set_aside.any(axis=1))
    if not len(rows) or model.components is None:
        return states
    own = [block[rows] for block in prepared.measured]
    blocks = without_outlying(model.components, own, limits)
    answer = states.copy()
    answer[rows] = most_likely_states(model, blocks)
    return answer


def _best_log_density(components: ComponentSet, block: Floats) -> Floats:
    """The log density of each row in its best component; 0 where nothing of it was seen."""
    # A value far from everything may overflow its own distance: it is then as unlikely as can be.
    with np.errstate(over="ignore", invalid="ignore"):
        density = np.nan_to_num(components.log_density(block), nan=-np.inf)
    return np.asarray(density.max(axis=1))
