"""New values that stand alone: as unlikely, in every component, as nothing that was learned from.

While learning, a value is set aside if it has no neighbours (:mod:`~mixoracle.mixtures.isolation`).
A new row has none to compare with, but by then the components are known: a value that is far less
likely, in its best component, than every value that was kept is set aside in the same way. What
else a model takes for usual (:mod:`~mixoracle.model.reading`) is learned from the few rows that may
be the least likely.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixoracle._arrays import Floats, Integers, row_maxima, rows_with_missing, unlikely_at_nan
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, ComponentSet, LatentModel
from mixoracle.model.joint_states import codes_of_parents
from mixoracle.model.posterior import most_likely_states
from mixoracle.model.reading import MARGIN, best_log_density, without_outlying
from mixoracle.settings import Settings


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


def unlikely_rows(
    prepared: Prepared, graph: Bipartite, refinement: Refinement, settings: Settings
) -> Integers:
    """The rows, in the order of the observations, that may be the least likely of all.

    One for each variable by the log density in its best component, and one by how much less likely
    its most likely joint state makes it than the best component of each variable. Rows are compared
    in coordinates, in which they are at hand.
    """
    prepared, joint, rows = prepared.unspread(), refinement.joint, []
    adjacency = graph.adjacency[prepared.variables]
    codes = codes_of_parents(refinement.states, adjacency, joint.domain_sizes)
    together = joint.log_probability(refinement.states)
    best = np.empty(prepared.n_samples)
    for place, (held, code) in enumerate(zip(refinement.components, codes.T, strict=True)):
        for some in prepared.chunks(held.n_components, settings.budget.chunk_entries):
            density = prepared.log_density(place, held, some)
            best[some] = row_maxima(unlikely_at_nan(density))
            together[some] += np.take_along_axis(density, code[some, None], axis=1)[:, 0]
        together -= best
        if prepared.leaves_out(place):
            best += prepared.encoders[place].left_out(prepared.kept(place), prepared.blocks[place])
        best[rows_with_missing(prepared.blocks[place])] = np.inf
        rows.append(int(best.argmin()))
    rows.append(int(unlikely_at_nan(together).argmin()))
    return np.asarray(prepared.rows[np.unique(rows)])


def reassigned(model: LatentModel, prepared: Prepared, states: Integers) -> Integers:
    """The states (N, m) of the rows, judged as new rows would be.

    That makes a difference where values were set aside, and where rounded or repeated ones were
    spread.
    """
    rows = np.flatnonzero(prepared.set_aside.any(axis=1) | prepared.spread.any())
    if not len(rows) or model.components is None or model.reading is None:
        return states
    own = [block[rows] for block in prepared.measured]
    blocks = without_outlying(model.components, own, model.reading.set_aside)
    answer = states.copy()
    answer[rows] = most_likely_states(model, blocks)
    return answer
