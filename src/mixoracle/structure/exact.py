"""The best-scoring DAG by dynamic programming over subsets (Silander and Myllymäki, 2006).

A best DAG over a set S has a sink i: i takes its best parents within S∖{i}, and the rest is a best
DAG over S∖{i}. Subsets are bit masks and every step is an array operation over all subsets of one
size. How clear the answer is, the same recursion says: a DAG lies outside an equivalence class
exactly if it lacks one of its adjacencies, has another one, lacks one of its v-structures or has
another one (Verma and Pearl), and each of these is a condition on the parent sets of at most two
nodes. So the best class but one is the best of O(m³) constrained searches, and exact too.

Assumptions: the score decomposes over nodes. m is at most ``MAX_NODES``: memory is m·2^m numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG
from mixoracle.model.graphs import Edge
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.scores import Distribution, Score, TableScore, local_scores

# 16 binary nodes take 2 s; each further node at least trebles that.
MAX_NODES = 16
# Cells of all marginals together, ∏(1 + dim(H_j)): beyond this they take more than about 5 s.
MAX_CELLS = 100_000_000
# Ties are broken towards fewer edges by a charge this small, relative to the largest score: above
# the rounding of a sum of a million products, far below any difference that means something.
_TIE = 1e-11


def is_feasible(joint: Distribution) -> bool:
    """Whether an exact search over the table of P(H) is within reach."""
    return joint.n_latent <= MAX_NODES and _n_cells(joint) <= MAX_CELLS


def search_exact(
    score: Score, knowledge: ResolvedKnowledge, *, runner_up: bool = True
) -> tuple[frozenset[Edge], frozenset[Edge] | None]:
    """Find a DAG of the highest score among those that honour the knowledge.

    Its whole class scores alike if the score is score-equivalent. With it comes a best DAG of
    another class; None if it was not asked for or there is no other class.
    """
    m = score.n_nodes
    if m > MAX_NODES:
        raise InvalidInputError(
            f"exact search takes at most {MAX_NODES} latents; got {m} (use method='orders')"
        )
    if isinstance(score, TableScore) and _n_cells(score.joint) > MAX_CELLS:
        raise InvalidInputError(
            f"exact search takes tables whose marginals have at most {MAX_CELLS:,} cells "
            f"together; got {_n_cells(score.joint):,} (use method='orders')"
        )
    lattice = _Lattice(m)
    scores = lattice.admissible(local_scores(score), knowledge)
    best = lattice.best_parents(scores)
    edges = lattice.trace(best, scores, lattice.values(best))
    if not runner_up:
        return edges, None
    return edges, _runner_up(lattice, scores, best, CPDAG.from_dag(edges, m))


def best_scores(scores: Floats, knowledge: ResolvedKnowledge) -> list[float]:
    """The score of the best DAG by each of several tables of local scores, (p, m, 2^m)."""
    lattice = _Lattice(scores.shape[1])
    admissible = (lattice.admissible(own, knowledge) for own in scores)
    return [float(lattice.values(lattice.best_parents(own))[-1]) for own in admissible]


def _n_cells(joint: Distribution) -> int:
    return prod(1 + size for size in joint.domain_sizes)


class _Lattice:
    """The subsets of m nodes as bit masks, with the index arrays that every pass needs."""

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.subsets = np.arange(1 << n_nodes)
        bits = (self.subsets[:, None] >> np.arange(n_nodes)) & 1
        self.sizes = bits.sum(axis=1)
        self._layers = []
        for size in range(1, n_nodes + 1):
            layer = self.subsets[self.sizes == size]
            members = np.nonzero(bits[layer])[1].reshape(len(layer), size)
            self._layers.append((layer, members, layer[:, None] ^ (1 << members)))

    def admissible(self, scores: Floats, knowledge: ResolvedKnowledge) -> Floats:
        """Rule out parent sets that break the knowledge; charge a trifle for each edge."""
        finite = np.abs(scores[np.isfinite(scores)])
        charge = _TIE * max(1.0, float(finite.max(initial=0.0)))
        return knowledge.honoured_by(scores - charge * self.sizes)

    def best_parents(self, scores: Floats) -> Floats:
        """The best score over all parent sets within each candidate set (last axis)."""
        best = scores.copy()
        for j in range(self.n_nodes):
            # Split the subset axis at bit j: (..., above, bit j, below).
            view = best.reshape(*scores.shape[:-1], -1, 2, 1 << j)
            np.maximum(view[..., 1, :], view[..., 0, :], out=view[..., 1, :])
        return best

    def values(self, best: Floats) -> Floats:
        """The score of a best DAG over each subset of nodes."""
        values = np.zeros(1 << self.n_nodes)
        for layer, members, rest in self._layers:
            values[layer] = (values[rest] + best[members, rest]).max(axis=1)
        return values

    def completions(self, best: Floats) -> Floats:
        """The score of a best way to append all other nodes after each subset."""
        values = np.full(1 << self.n_nodes, -np.inf)
        values[-1] = 0.0
        for layer, members, rest in reversed(self._layers):
            np.maximum.at(values, rest, values[layer][:, None] + best[members, rest])
        return values

    def trace(self, best: Floats, scores: Floats, values: Floats) -> frozenset[Edge]:
        """Walk back from the whole set to one DAG that attains its value."""
        edges: set[Edge] = set()
        left = (1 << self.n_nodes) - 1
        while left:
            nodes = [j for j in range(self.n_nodes) if left >> j & 1]
            sink = max(nodes, key=lambda j: values[left ^ 1 << j] + best[j, left ^ 1 << j])
            left ^= 1 << sink
            within = self.subsets[(self.subsets & ~left) == 0]
            parents = int(within[np.argmax(scores[sink, within])])
            edges.update((j, sink) for j in range(self.n_nodes) if parents >> j & 1)
        return frozenset(edges)


def _runner_up(
    lattice: _Lattice, scores: Floats, best: Floats, graph: CPDAG
) -> frozenset[Edge] | None:
    """A best DAG outside the class, or None where every admissible DAG is inside it."""
    prefix, suffix = lattice.values(best), lattice.completions(best)
    everything = (1 << lattice.n_nodes) - 1
    leading: tuple[float, Floats | None] = (-np.inf, None)
    for node, ruled_out in _one_node_departures(lattice, graph):
        row = np.where(ruled_out, -np.inf, scores[node])
        reach = lattice.best_parents(row)
        before = lattice.subsets[(lattice.subsets >> node & 1) == 0]
        value = float((prefix[before] + reach[before] + suffix[before | 1 << node]).max())
        if value > leading[0]:
            leading = (value, _with_rows(scores, {node: row}))
    for a, b in sorted(tuple(sorted(pair)) for pair in graph.skeleton):
        row_a = np.where(lattice.subsets >> b & 1, -np.inf, scores[a])
        row_b = np.where(lattice.subsets >> a & 1, -np.inf, scores[b])
        reach = lattice.best_parents(np.stack([row_a, row_b]))
        value = float(lattice.values(_with_rows(best, {a: reach[0], b: reach[1]}))[everything])
        if value > leading[0]:
            leading = (value, _with_rows(scores, {a: row_a, b: row_b}))
    if leading[1] is None:
        return None
    reach = lattice.best_parents(leading[1])
    return lattice.trace(reach, leading[1], lattice.values(reach))


def _one_node_departures(lattice: _Lattice, graph: CPDAG) -> Iterator[tuple[int, Bools]]:
    """Each way to leave the class by the parents of one node: what that rules out for it.

    A new adjacency (as an arrow either way), a v-structure lost, or a v-structure gained.
    """
    skeleton, arrows = graph.skeleton, graph.directed
    has = [(lattice.subsets >> j & 1).astype(bool) for j in range(lattice.n_nodes)]
    for a, b in combinations(range(lattice.n_nodes), 2):
        if frozenset((a, b)) in skeleton:
            continue
        yield b, ~has[a]
        yield a, ~has[b]
        for c in range(lattice.n_nodes):
            if frozenset((a, c)) in skeleton and frozenset((b, c)) in skeleton:
                both = has[a] & has[b]
                collides = (a, c) in arrows and (b, c) in arrows
                yield c, both if collides else ~both


def _with_rows(matrix: Floats, rows: dict[int, Floats]) -> Floats:
    changed = matrix.copy()
    for node, row in rows.items():
        changed[node] = row
    return changed
