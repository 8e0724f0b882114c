"""Two latents of which some combination never occurs, as one latent.

Two latents with two states each, one combination of which is impossible, are a latent with three
states: both explain the same rows. Nondegeneracy (``assump:strong`` (a)) rules the two latents
out. Evidence need not: they take fewer components of the variables that only one of them drives.
Where families do not fit, evidence is believed only up to the misfit of the coarsest resolution
[1]_, and within that the assumption decides.

Assumes that a combination which is rarer than a tenth of what independent latents would give it is
impossible, as all evidence here does (:func:`~mixoracle.model.emptiness.emptiness`).

References
----------
.. [1] J. W. Miller, D. B. Dunson. Robust Bayesian inference via coarsening. Journal of the American
   Statistical Association 114 (2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np

from mixoracle.decoding.changes import joined
from mixoracle.decoding.completion import complete
from mixoracle.decoding.explanation import Explanation, Proposal
from mixoracle.decoding.moves import move_between
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.emptiness import emptiness
from mixoracle.settings import Settings


def without_impossible(
    table: ComponentTable, explanation: Explanation, settings: Settings = Settings()
) -> Explanation:
    """The explanation with latents joined of which a combination is impossible.

    Each time the two whose joining loses least evidence, as long as no more is lost in all than a
    misfit of the coarsest resolution makes: 1/α nats for each row.
    """
    tolerated = float(table.counts.sum()) / settings.priors.coarsest_rows
    least, current = explanation.log_evidence - tolerated, explanation
    while (against := _nats_against(table, current)) > settings.priors.same_evidence:
        mended = [
            one
            for one in _with_a_pair_joined(table, current, settings)
            if one.log_evidence > least
            and _nats_against(table, one) < against - settings.priors.same_evidence
        ]
        if not mended:
            break
        best = max(mended, key=lambda one: one.log_evidence)
        move = move_between(current, best, "joined two latents that exclude each other")
        current = replace(best, moves=(*current.moves, move))
    return current


def _with_a_pair_joined(
    table: ComponentTable, explanation: Explanation, settings: Settings
) -> Iterator[Explanation]:
    for first, second in combinations(range(len(explanation.domain_sizes)), 2):
        for _, states in joined(explanation, first, second, settings):
            yield complete(table, Proposal.of_all(states), settings)


def _nats_against(table: ComponentTable, explanation: Explanation) -> float:
    """What joint states without rows say against all of them being possible."""
    n_joint = prod(explanation.domain_sizes)
    rows = np.bincount(explanation.assignment, table.counts, n_joint).astype(np.float64)
    return emptiness(rows.reshape(explanation.domain_sizes))
