"""Greedy equivalence search (Chickering, 2002) with a table score, for any number of latents.

This is what the paper runs (FGES with the discrete BIC), by the ``ges`` package with our scores.
Its operators move between whole equivalence classes and know nothing of background knowledge: a
score of −inf for forbidden parents would break the score equivalence that they rest on. So
knowledge is honoured in two steps. If some member of the class that GES found honours it, that
class is the answer. Otherwise the class's DAG is repaired and improved by greedy single-edge
changes, all of which honour the knowledge.

Assumptions: the score is score-equivalent. The answer is a local optimum; GES reaches the best
class only in the limit of large samples (``benchmarks/bench_structure.py`` counts how often not).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import KnowledgeConflictError
from mixoracle.model import CPDAG
from mixoracle.model.graphs import Edge, PartialGraph, is_ancestor
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.scores import Score

# As the ges package: smaller gains are rounding, and following them could go in circles.
_SMALLEST_GAIN = 1e-6


class _CachedScore:
    """A score under the names that the ges package looks for."""

    def __init__(self, score: Score) -> None:
        self.p = score.n_nodes
        self._local = cache(score.local)

    def local_score(self, x: int, pa: Iterable[int]) -> float:
        """The local score of x with parents pa."""
        return self._local(int(x), frozenset(int(parent) for parent in pa))

    def full_score(self, adjacency: NDArray[Any]) -> float:
        """The score of a DAG given as an adjacency matrix."""
        return float(
            sum(self.local_score(j, np.flatnonzero(adjacency[:, j])) for j in range(self.p))
        )


def search_ges(score: Score, knowledge: ResolvedKnowledge) -> frozenset[Edge]:
    """Return a DAG of the class that the greedy search ends in; it honours the knowledge."""
    import ges

    m = score.n_nodes
    if m < 2:
        return frozenset()
    found, _ = ges.fit(_CachedScore(score), iterate=True)
    graph = _from_matrix(found)
    if not (knowledge.required or knowledge.forbidden):
        return graph.extension()
    try:
        return graph.with_knowledge(knowledge.required, knowledge.forbidden).extension()
    except KnowledgeConflictError:
        return climb(score, knowledge, _repaired(graph.extension(), knowledge))


def _from_matrix(adjacency: NDArray[Any]) -> CPDAG:
    """Read the package's matrix: an entry both ways is an undirected edge."""
    arrows = frozenset((int(i), int(j)) for i, j in np.argwhere(adjacency))
    return CPDAG(
        len(adjacency),
        frozenset((i, j) for i, j in arrows if (j, i) not in arrows),
        frozenset(frozenset((i, j)) for i, j in arrows if (j, i) in arrows),
    )


def _repaired(edges: frozenset[Edge], knowledge: ResolvedKnowledge) -> frozenset[Edge]:
    """A DAG near ``edges`` that honours the knowledge: required arrows first, then what fits."""
    kept = set(knowledge.required)
    for i, j in sorted(edges - knowledge.forbidden):
        if (j, i) not in kept and not _leads(j, i, kept, knowledge.n_nodes):
            kept.add((i, j))
    return frozenset(kept)


def climb(score: Score, knowledge: ResolvedKnowledge, start: frozenset[Edge]) -> frozenset[Edge]:
    """Add, drop or reverse the arrow that gains most until none gains; start must honour."""
    cached = _CachedScore(score)
    edges = start
    while True:
        gains = {change: _gain(cached, edges, change) for change in _changes(edges, knowledge)}
        best = max(gains, key=lambda change: gains[change], default=None)
        if best is None or gains[best] <= _SMALLEST_GAIN:
            return edges
        dropped, added = best
        edges = (edges - dropped) | added


_Change = tuple[frozenset[Edge], frozenset[Edge]]  # arrows to drop, arrows to add


def _changes(edges: frozenset[Edge], knowledge: ResolvedKnowledge) -> Iterator[_Change]:
    """All single-edge changes that leave an acyclic graph that honours the knowledge."""
    m, nothing = knowledge.n_nodes, frozenset[Edge]()
    for i, j in permutations(range(m), 2):
        arrow = frozenset({(i, j)})
        if (i, j) in edges:
            if (i, j) not in knowledge.required:
                yield arrow, nothing
        elif (i, j) not in knowledge.forbidden and (j, i) not in knowledge.required:
            dropped = edges & {(j, i)}
            if not _leads(j, i, edges - dropped, m):
                yield dropped, arrow


def _gain(score: _CachedScore, edges: frozenset[Edge], change: _Change) -> float:
    dropped, added = change
    changed = (edges - dropped) | added
    gain = 0.0
    for node in {j for _, j in dropped | added}:
        gain += score.local_score(node, (i for i, j in changed if j == node))
        gain -= score.local_score(node, (i for i, j in edges if j == node))
    return gain


def _leads(first: int, second: int, edges: Iterable[Edge], n_nodes: int) -> bool:
    return is_ancestor(PartialGraph(n_nodes, edges).parents, first, second)
