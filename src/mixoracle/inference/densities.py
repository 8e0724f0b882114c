"""The log density of rows under a refined model, and of each of their variables on its own."""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.coded import CodedRows, chunks
from mixoracle.model.posterior import inference_of
from mixoracle.model.responsibilities import total
from mixoracle.settings import Settings


def log_densities(
    rows: CodedRows,
    places: Integers | None,
    adjacency: Bools,
    refinement: Refinement,
    settings: Settings,
) -> tuple[Floats, list[Floats]]:
    """The log density (r,) of the rows at these places, and of each of their variables alone.

    Without ``places`` these are all rows of a table that was not learned from, so that no states of
    theirs are known. ``adjacency`` (n, m) is Γ in the order of the rows' blocks.
    """
    joint = refinement.joint
    infer, n_numbers = inference_of(adjacency, joint)
    weights = (joint.marginal(np.flatnonzero(parents)).table.ravel() for parents in adjacency)
    logs = [np.log(np.maximum(held, np.finfo(float).tiny)) for held in weights]
    n_rows = rows.n_samples if places is None else len(places)
    together = np.empty(n_rows)
    alone = [np.empty(n_rows) for _ in adjacency]
    for some in chunks(n_rows, n_numbers, settings.budget.chunk_entries):
        own = some if places is None else places[some]
        densities = rows.log_densities(refinement.components, own)
        start = None if places is None else refinement.states[own]
        together[some] = infer(densities, start).log_likelihood
        for margin, weight, density in zip(alone, logs, densities, strict=True):
            margin[some] = total(density + weight)
    return together, alone
