"""An answer on some of the rows, put beside the answer on all of them.

Latents have no names and states no order, so two answers are compared by the rows that they share:
a latent stands for the one whose states agree most with its own beyond chance (adjusted Rand
index), by the assignment problem over all latents; states stand for those with which they share
most rows, likewise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.model import CPDAG, Joint, JointTable

# A latent is found again if more than half of what could agree beyond chance does.
FOUND_AGAIN = 0.5


@dataclass(frozen=True, eq=False)
class Sighting:
    """An answer on some rows in the terms of the answer on all of them, which has m latents.

    Parameters
    ----------
    n_latents : int
        How many latents it has.
    agreement : (m,) array
        The adjusted Rand index of each latent with the one that stands for it; 0 without one.
    domain_sizes : (m,) int array
        The domain sizes of those that stand for them; 0 where none was found.
    bipartite : (n, m) bool array
        What they drive.
    adjacency, arrows : (m, m) bool arrays
        Edges between them: any edge, and i→j.
    joint : array of the shape of P(H), or None
        P(H) with the same states in the same places; None where latents or sizes differ.
    """

    n_latents: int
    agreement: Floats
    domain_sizes: Integers
    bipartite: Bools
    adjacency: Bools
    arrows: Bools
    joint: Floats | None


def align(
    states: Integers,
    domain_sizes: tuple[int, ...],
    other_states: Integers,
    other_joint: Joint,
    other_bipartite: Bools,
    other_graph: CPDAG,
) -> Sighting:
    """Put another answer beside this one; ``states`` (N, m) are of the rows that they share."""
    partner, agreement = match_latents(states, other_states)
    m, n = len(domain_sizes), len(other_bipartite)
    found = [j for j in range(m) if partner[j] >= 0]
    sizes = np.zeros(m, dtype=np.int64)
    drives = np.zeros((n, m), dtype=bool)
    adjacency, arrows = np.zeros((m, m), dtype=bool), np.zeros((m, m), dtype=bool)
    for j in found:
        sizes[j] = other_joint.domain_sizes[partner[j]]
        drives[:, j] = other_bipartite[:, partner[j]]
        for i in found:
            ends = (int(partner[i]), int(partner[j]))
            arrows[i, j] = ends in other_graph.directed
            adjacency[i, j] = i != j and frozenset(ends) in other_graph.skeleton
    same = other_joint.n_latent == m == len(found) and tuple(sizes) == domain_sizes
    joint = None
    if same and isinstance(other_joint, JointTable):
        joint = _same_places(states, other_states, other_joint.table, partner)
    return Sighting(other_joint.n_latent, agreement, sizes, drives, adjacency, arrows, joint)


def match_latents(states: Integers, others: Integers) -> tuple[Integers, Floats]:
    """For each latent the one among the others that stands for it, or −1, and how far they agree.

    Examples
    --------
    >>> here = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    >>> match_latents(here, 1 - here[:, :1])[0].tolist()
    [0, -1]
    """
    m = states.shape[1]
    index = np.array([[_adjusted_rand(a, b) for b in others.T] for a in states.T])
    index = index.reshape(m, others.shape[1])
    partner, agreement = np.full(m, -1), np.zeros(m)
    for i, j in zip(*linear_sum_assignment(-index), strict=True):
        agreement[i] = max(0.0, index[i, j])
        if index[i, j] > FOUND_AGAIN:
            partner[i] = j
    return partner, agreement


def _same_places(states: Integers, others: Integers, joint: Floats, partner: Integers) -> Floats:
    """The other P(H) with its axes and states in our order."""
    table = np.transpose(joint, partner)
    for j, k in enumerate(partner):
        shared = _shared(states[:, j], others[:, k], table.shape[j])
        _, order = linear_sum_assignment(-shared)
        table = np.take(table, order, axis=j)
    return np.asarray(table)


def _shared(left: Integers, right: Integers, size: int | None = None) -> Floats:
    """How many rows each state on the left shares with each on the right."""
    n_left = size or int(left.max(initial=0)) + 1
    n_right = size or int(right.max(initial=0)) + 1
    counts = np.bincount(left * n_right + right, minlength=n_left * n_right)
    return counts.reshape(n_left, n_right).astype(np.float64)


def _adjusted_rand(left: Integers, right: Integers) -> float:
    """The adjusted Rand index; 1 if both are constant."""
    table = _shared(left, right)

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1.0) / 2.0).sum())

    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = rows * columns / max(pairs(np.array([float(len(left))])), 1.0)
    most = 0.5 * (rows + columns)
    return 1.0 if most == chance else (both - chance) / (most - chance)
