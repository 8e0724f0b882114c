"""Names of states where the data leave them open: a cause inside the reach of another one.

If H_q drives all that H_j drives, the subset condition (``assum:ssc``) fails, and the states of H_j
may be named anew in each state of H_q: likelihood, Γ and the partition of the rows stay the same,
but P(H), and with it Λ, does not. No data can choose. The names are chosen by which H_j acts most
alike whatever the state of H_q: its states change the means of its children by nearly the same
amounts, measured by how far the rows of one component scatter, so that a child that hardly shows
H_j has hardly a say. That is a choice, and it is reported as one.

References
----------
.. [1] H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
   Quarterly 2 (1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.inference.refine import Refinement
from mixoracle.model import JointNetwork, JointTable
from mixoracle.model.joint_states import codes_of_parents, configurations, flat, states_of_cells

# Of a coordinate, whose standard deviation is about 1: rows of a component may all be the same.
_LEAST_SCATTER = 1e-3
_CHOSEN = "those that change the means most alike were given one name"
# Names settle in two or three rounds; each can only lower the sum of all differences.
_ROUNDS = 10


def aligned(
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    refinement: Refinement,
    blocks: Sequence[Floats],
) -> tuple[Refinement, list[tuple[int, list[int]]]]:
    """The same model with such names, and for which latents they were chosen, over which others.

    ``blocks`` are the coordinates of the rows that it was learned from. Names that a network of
    many latents leaves open stay as they are.
    """
    chosen: list[tuple[int, list[int]]] = []
    if isinstance(refinement.joint, JointNetwork):
        return refinement, chosen
    scatter: list[Floats] | None = None
    for latent in np.argsort(-adjacency.sum(axis=0), kind="stable"):
        over = _reaching_beyond(adjacency, int(latent))
        if over:
            chosen.append((int(latent), over))
            scatter = scatter or _scatter(adjacency, domain_sizes, refinement, blocks)
            old_state = _renamed(adjacency, domain_sizes, refinement, int(latent), over, scatter)
            refinement = _with_names(adjacency, domain_sizes, refinement, old_state)
    return refinement, chosen


def choice_of_names(latent: str, others: list[str]) -> str:
    """Say that the names of a latent's states were chosen, in words."""
    everywhere = " and ".join(others)
    return (
        f"{latent}: what it drives is driven by {everywhere} too, so no data tell which of its "
        f"states are the same in different states of {everywhere}; {_CHOSEN}"
    )


def is_choice_of_names(text: str) -> bool:
    """Whether a sentence is one of :func:`choice_of_names`."""
    return text.endswith(_CHOSEN)


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
    scatter: list[Floats],
) -> Integers:
    """Which old joint state stands at each new one, (∏ domain_sizes,)."""
    profiles, shares = _profiles(adjacency, domain_sizes, refinement, latent, over, scatter)
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
    scatter: list[Floats],
) -> tuple[Floats, Floats]:
    """What each state changes in each state of the others, in units of scatter, and how often.

    ``profiles`` (others' states, states, averages) are means less those over all states, and
    ``shares`` (others' states, states) the probability of each.
    """
    codes = configurations(adjacency, domain_sizes)
    means = np.hstack(
        [
            refinement.components[i].averages().values[codes[:, i]] / scatter[i]
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
    return centred, shares


def _scatter(
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    refinement: Refinement,
    blocks: Sequence[Floats],
) -> list[Floats]:
    """How far rows are from the averages of their components, for each average of each variable."""
    codes = codes_of_parents(refinement.states, adjacency, domain_sizes)
    found = []
    for held, block, code in zip(refinement.components, blocks, codes.T, strict=True):
        averages = held.averages()
        seen = np.stack(
            [
                block[:, entry.column]
                if entry.level is None
                else np.where(
                    np.isnan(block[:, entry.column]), np.nan, block[:, entry.column] == entry.level
                )
                for entry in averages.entries
            ],
            axis=1,
        )
        left = np.abs(np.nan_to_num(seen - averages.values[code]))
        # The median, because a few rows far out would hide what the others show.
        found.append(np.maximum(np.median(left, axis=0), _LEAST_SCATTER))
    return found


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
