"""Names of states where the data leave them open: a cause inside the reach of another one.

If H_q drives all that H_j drives, the subset condition (``assum:ssc``) fails, and the states of H_j
may be named anew in each state of H_q: likelihood, Γ and the partition of the rows stay the same,
but P(H), and with it Λ, does not. No data can choose. The names are chosen by which H_j acts most
alike whatever the state of H_q: its states change the means of its children by nearly the same
amounts. That is a choice, and it is reported as one.

References
----------
.. [1] H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
   Quarterly 2 (1955).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.inference.refine import Refinement
from mixoracle.model import JointNetwork, JointTable
from mixoracle.model.joint_states import configurations, flat, states_of_cells

# Names settle in two or three rounds; each can only lower the sum of all differences.
_ROUNDS = 10


def aligned(
    adjacency: Bools, domain_sizes: tuple[int, ...], refinement: Refinement
) -> tuple[Refinement, list[tuple[int, list[int]]]]:
    """The same model with such names, and for which latents they were chosen, over which others.

    Names that a network of many latents leaves open stay as they are.
    """
    chosen: list[tuple[int, list[int]]] = []
    if isinstance(refinement.joint, JointNetwork):
        return refinement, chosen
    for latent in np.argsort(-adjacency.sum(axis=0), kind="stable"):
        over = _reaching_beyond(adjacency, int(latent))
        if over:
            chosen.append((int(latent), over))
            old_state = _renamed(adjacency, domain_sizes, refinement, int(latent), over)
            refinement = _with_names(adjacency, domain_sizes, refinement, old_state)
    return refinement, chosen


def _reaching_beyond(adjacency: Bools, latent: int) -> list[int]:
    """The latents that drive everything that this one drives."""
    children = adjacency[:, latent]
    if not children.any():
        return []
    covers = adjacency[children].all(axis=0)
    return [int(j) for j in np.flatnonzero(covers) if j != latent]


def _renamed(
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    refinement: Refinement,
    latent: int,
    over: list[int],
) -> Integers:
    """Which old joint state stands at each new one, (∏ domain_sizes,)."""
    profiles, shares = _profiles(adjacency, domain_sizes, refinement, latent, over)
    names = _least_different(profiles, shares)
    states = np.arange(refinement.joint.n_joint).reshape(domain_sizes)
    last = [*_rest(domain_sizes, latent, over), *over, latent]
    ordered = states.transpose(last).reshape(-1, *names.shape)
    renamed = np.take_along_axis(ordered, np.broadcast_to(names, ordered.shape), axis=2)
    back = renamed.reshape([domain_sizes[j] for j in last]).transpose(np.argsort(last))
    return np.asarray(back.ravel())


def _rest(domain_sizes: tuple[int, ...], latent: int, over: list[int]) -> list[int]:
    """The latents that neither get names nor have a say in them."""
    return [j for j in range(len(domain_sizes)) if j not in (*over, latent)]


def _profiles(
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    refinement: Refinement,
    latent: int,
    over: list[int],
) -> tuple[Floats, Floats]:
    """What each state changes in each state of the others, in units of all changes, and how often.

    ``profiles`` (others' states, states, averages) are means less those over all states, and
    ``shares`` (others' states, states) the probability of each.
    """
    codes = configurations(adjacency, domain_sizes)
    means = np.hstack(
        [
            refinement.components[i].averages().values[codes[:, i]]
            for i in np.flatnonzero(adjacency[:, latent])
        ]
    )
    rest = _rest(domain_sizes, latent, over)
    order = [*rest, *over, latent]

    def arranged(values: Floats) -> Floats:
        grid = values.reshape(*domain_sizes, -1).transpose([*order, len(order)])
        n_rest = int(np.prod([domain_sizes[j] for j in rest], dtype=int))
        return np.asarray(grid.reshape(n_rest, -1, domain_sizes[latent], values.shape[1]))

    weights = arranged(np.maximum(refinement.joint.table.ravel(), np.finfo(float).tiny)[:, None])
    by_state = (weights * arranged(np.nan_to_num(means))).sum(axis=0) / weights.sum(axis=0)
    shares = weights.sum(axis=0)[..., 0]
    within = shares[..., None] / shares.sum(axis=1)[:, None, None]
    centred = by_state - (within * by_state).sum(axis=1, keepdims=True)
    spread = np.sqrt((shares[..., None] * centred**2).sum(axis=(0, 1)))
    return centred / np.where(spread > 0, spread, 1.0), shares


def _least_different(profiles: Floats, shares: Floats) -> Integers:
    """For each of the others' states, which old state gets each name, (others' states, states)."""
    n_others, n_states = shares.shape
    names = np.tile(np.arange(n_states), (n_others, 1))
    usual = profiles[int(shares.sum(axis=1).argmax())]
    for _ in range(_ROUNDS):
        before = names.copy()
        for other in range(n_others):
            difference = ((profiles[other][:, None] - usual[None]) ** 2).sum(axis=2)
            old, new = linear_sum_assignment(shares[other][:, None] * difference)
            names[other, new] = old
        if np.array_equal(names, before):
            break
        named = np.take_along_axis(profiles, names[..., None], axis=1)
        weights = np.take_along_axis(shares, names, axis=1)[..., None]
        usual = (weights * named).sum(axis=0) / weights.sum(axis=0)
    return names


def _with_names(
    adjacency: Bools, domain_sizes: tuple[int, ...], refinement: Refinement, old_state: Integers
) -> Refinement:
    codes = configurations(adjacency, domain_sizes)
    components = []
    for held, code in zip(refinement.components, codes.T, strict=True):
        order = np.empty(int(code.max()) + 1, dtype=np.int64)
        order[code] = code[old_state]
        components.append(held.take(order))
    return replace(
        refinement,
        joint=JointTable(refinement.joint.table.ravel()[old_state].reshape(domain_sizes)),
        components=tuple(components),
        states=states_of_cells(
            np.argsort(old_state)[flat(refinement.states, domain_sizes)], domain_sizes
        ),
    )
