"""Whether the data alone show the Γ that was declared, or agree with it no better than by chance.

A Γ that is wholly known, such as an expert's Q-matrix, is learned as it stands, whatever the data
say of it. Beside it stands the Γ that was found without it. Both share some edges by chance; how
many follows from permutations of the observed variables, which keep the number of edges of every
latent and every variable.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Bools
from mixoracle.assumptions import Verdict
from mixoracle.background.matching import ResolvedBackground
from mixoracle.model import Bipartite

AGREEMENT_LABEL = "agreement"
# Of permutations that share as many edges; below this the agreement is no accident.
_BY_CHANCE = 0.05
_PERMUTATIONS = 999


def agreement(known: ResolvedBackground, found: Bipartite | None) -> tuple[Verdict, ...]:
    """The verdict on a Γ that is wholly known, beside the one found without it.

    None where there is nothing to compare, or every variable has the same parents.
    """
    if found is None or not known.background.complete or (known.driven == known.driven[0]).all():
        return ()
    name, declared = "agreement with the data", known.driven
    shared = shared_edges(declared, found.adjacency)
    # Draws of its own: the verdict depends on the two graphs alone.
    rng = np.random.default_rng(0)
    by_chance = np.array(
        [
            shared_edges(declared, found.adjacency[rng.permutation(len(declared))])
            for _ in range(_PERMUTATIONS)
        ]
    )
    share = (1 + np.sum(by_chance >= shared)) / (1 + _PERMUTATIONS)
    message = (
        f"the graph that the data alone show shares {shared} of the {int(declared.sum())} edges "
        f"that were declared, and graphs with as many edges {by_chance.mean():.1f} by chance"
    )
    if shared and by_chance.min() == by_chance.max():
        message = (
            "the data alone show the same latents behind all variables, which agrees with every "
            "graph alike: whether the declared one is right cannot be judged"
        )
        return (Verdict(name, AGREEMENT_LABEL, False, message, (known.names,)),)
    if share <= _BY_CHANCE:
        return (Verdict(name, AGREEMENT_LABEL, True, f"{message} (p = {share:.3f})"),)
    message = f"{message}: this is no better than chance (p = {share:.2f})"
    return (Verdict(name, AGREEMENT_LABEL, False, message, (known.names,)),)


def shared_edges(declared: Bools, found: Bools) -> int:
    """The edges that two graphs share, their latents matched so that these are most.

    Examples
    --------
    >>> one = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    >>> shared_edges(one, one[:, ::-1])
    3
    """
    shared = declared.T.astype(np.int64) @ found
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return int(shared[rows, columns].sum())
