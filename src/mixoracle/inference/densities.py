"""The log density of rows under a refined model, and of each of their variables on its own."""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Bools, Floats
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.coded import CodedRows
from mixoracle.model.posterior import inference_of
from mixoracle.model.responsibilities import total
from mixoracle.settings import Settings


def log_densities(
    rows: CodedRows, adjacency: Bools, refinement: Refinement, settings: Settings
) -> tuple[Floats, list[Floats]]:
    """The log density (N,) of each row, and that of each of its variables alone, (N,) each.

    ``adjacency`` (n, m) is Γ in the order of the rows' blocks.
    """
    joint = refinement.joint
    infer, n_numbers = inference_of(adjacency, joint)
    weights = (joint.marginal(np.flatnonzero(parents)).table.ravel() for parents in adjacency)
    logs = [np.log(np.maximum(held, np.finfo(float).tiny)) for held in weights]
    together = np.empty(rows.n_samples)
    alone = [np.empty(rows.n_samples) for _ in adjacency]
    for some in rows.chunks(n_numbers, settings.budget.chunk_entries):
        densities = rows.log_densities(refinement.components, some)
        together[some] = infer(densities, refinement.states[some]).log_likelihood
        for margin, own, density in zip(alone, logs, densities, strict=True):
            margin[some] = total(density + own)
    return together, alone
