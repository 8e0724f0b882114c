"""The structural Hamming distance between two Λ: how each pair of latents is joined in both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import CPDAG

# How two latents are joined: not at all, first → second, second → first, undirected.
NONE, FORWARD, BACKWARD, UNDIRECTED = range(4)
# SHD cost of [relation in the truth, relation in the estimate].
RELATION_COST = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])


def relations(graph: CPDAG, n_nodes: int) -> NDArray[np.int64]:
    """How each pair of nodes is joined, (n_nodes, n_nodes); nodes beyond the graph's are alone."""
    found = np.full((n_nodes, n_nodes), NONE, dtype=np.int64)
    for i, j in graph.directed:
        found[i, j], found[j, i] = FORWARD, BACKWARD
    for i, j in graph.undirected:
        found[i, j] = found[j, i] = UNDIRECTED
    return found


def tally(truth: CPDAG, estimate: CPDAG, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the pairs of nodes by [relation in the truth, relation in the estimate].

    ``order[i]`` is the estimate's node for the truth's node i.
    """
    upper = np.triu_indices(len(order), k=1)
    in_truth = relations(truth, len(order))[upper]
    in_estimate = relations(estimate, len(order))[np.ix_(order, order)][upper]
    found = np.zeros((4, 4), dtype=np.int64)
    np.add.at(found, (in_truth, in_estimate), 1)
    return found


def structural_distance(truth: CPDAG, estimate: CPDAG, *, strict: bool = False) -> int:
    """The SHD between two graphs whose nodes are matched by number.

    It counts extra, missing and reversed edges, as the paper does. ``strict`` also counts an edge
    that has a direction in only one of the two graphs.

    Examples
    --------
    >>> chain, arrow = CPDAG.from_dag([(0, 1)], 2), CPDAG(2, frozenset({(0, 1)}))
    >>> structural_distance(arrow, chain), structural_distance(arrow, chain, strict=True)
    (0, 1)
    """
    found = tally(truth, estimate, np.arange(max(truth.n_nodes, estimate.n_nodes)))
    return int((found * (1 - np.eye(4, dtype=np.int64) if strict else RELATION_COST)).sum())
