"""Search over orders of the latents: for dozens to hundreds of them.

Given an order in which causes come before effects, the best parents of each latent among those
before it can be looked up, so that only the order has to be searched [1]_. For each latent the sets
of likely parents are scored once; a set that one of its subsets beats is never the best and is
forgotten. An order is improved by taking one latent out and putting it in where that helps most
[2]_, until nothing does, and this is started from several orders.

Assumptions: a latent's parents are among the few that gain most on their own or beside others, and
there are not more than ``MOST_PARENTS`` of them. The answer is a local optimum of the score.

References
----------
.. [1] M. Teyssier and D. Koller, "Ordering-based search: a simple and effective algorithm for
   learning Bayesian networks", UAI 2005.
.. [2] M. Scanagatta, G. Corani, C. P. de Campos and M. Zaffalon, "Learning treewidth-bounded
   Bayesian networks with thousands of variables", NIPS 2016 (the insertion operator).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mixoracle.model.graphs import Edge, bits
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.scores import Score

MOST_PARENTS = 4
# Latents that may be parents of one latent, those that gain most.
_MOST_CANDIDATES = 8
# Orders that are improved; on small problems most end at the same score.
_STARTS = 16
# The same score is searched in the same way.
_SEED = 0
_SMALLEST_GAIN = 1e-6


@dataclass(frozen=True)
class _Choices:
    """Sets of parents (bits) of one latent that may be the best ones, best first."""

    sets: tuple[int, ...]
    scores: tuple[float, ...]

    def best(self, before: int) -> int:
        """The place of the best set whose members all stand before the latent; −1 if none does."""
        for place, members in enumerate(self.sets):
            if members & ~before == 0:
                return place
        return -1


def search_orders(score: Score, knowledge: ResolvedKnowledge) -> frozenset[Edge]:
    """Return the best DAG found; it honours the knowledge."""
    m = score.n_nodes
    choices = [_choices(score, knowledge, node) for node in range(m)]
    rng = np.random.default_rng(_SEED)
    best: list[int] = []
    best_total = -np.inf
    for _ in range(_STARTS):
        order, total = _improved(choices, _first_order(knowledge, m, rng))
        if total > best_total + _SMALLEST_GAIN:
            best, best_total = order, total
    edges: set[Edge] = set()
    before = 0
    for node in best:
        parents = choices[node].sets[choices[node].best(before)]
        edges.update((parent, node) for parent in bits(parents))
        before |= 1 << node
    return frozenset(edges)


def _choices(score: Score, knowledge: ResolvedKnowledge, node: int) -> _Choices:
    """The sets of parents that are worth looking at."""
    required = [i for i, j in knowledge.required if j == node]
    allowed = [
        i
        for i in range(score.n_nodes)
        if i != node
        and i not in required
        and (i, node) not in knowledge.forbidden
        and (node, i) not in knowledge.required
    ]
    candidates = _likely_parents(score, node, required, allowed)
    known: dict[int, float] = {}
    best: dict[int, float] = {}  # of each set and its subsets
    for size in range(min(MOST_PARENTS, len(candidates)) + 1):
        for added in combinations(candidates, size):
            members = sum(1 << i for i in (*added, *required))
            own = score.local(node, (*added, *required))
            below = max((best[members ^ 1 << i] for i in added), default=-np.inf)
            best[members] = max(own, below)
            if own > below + _SMALLEST_GAIN:
                known[members] = own
    ranked = sorted(known, key=lambda members: -known[members])
    return _Choices(tuple(ranked), tuple(known[members] for members in ranked))


def _likely_parents(score: Score, node: int, required: list[int], allowed: list[int]) -> list[int]:
    """The latents that gain most, alone or beside the best ones."""
    chosen: list[int] = []
    best = score.local(node, required)
    while len(chosen) < MOST_PARENTS:
        held = (*required, *chosen)
        gains = {i: score.local(node, (*held, i)) for i in allowed if i not in chosen}
        top = max(gains, key=lambda i: gains[i], default=None)
        if top is None or gains[top] <= best + _SMALLEST_GAIN:
            break
        best = gains[top]
        chosen.append(top)
    alone = {i: score.local(node, (*required, i)) for i in allowed}
    helpful = sorted(alone, key=lambda i: -alone[i])
    return list(dict.fromkeys([*chosen, *helpful]))[:_MOST_CANDIDATES]


def _first_order(knowledge: ResolvedKnowledge, m: int, rng: np.random.Generator) -> list[int]:
    """A random order that honours required arrows."""
    above = {node: {i for i, j in knowledge.required if j == node} for node in range(m)}
    order: list[int] = []
    while len(order) < m:
        ready = [v for v in range(m) if v not in order and above[v] <= set(order)]
        order.append(ready[int(rng.integers(len(ready)))])
    return order


def _improved(choices: list[_Choices], order: list[int]) -> tuple[list[int], float]:
    """Put single latents elsewhere while that helps; the order, and its score."""
    m = len(order)
    total = _total(choices, order)
    moved = True
    while moved:
        moved = False
        for node in range(m):
            better, gain = _best_place(choices, order, node)
            if gain > _SMALLEST_GAIN:
                order, total, moved = better, total + gain, True
    return order, _total(choices, order)


def _total(choices: list[_Choices], order: list[int]) -> float:
    total, before = 0.0, 0
    for node in order:
        total += _own(choices[node], before)
        before |= 1 << node
    return total


def _own(choices: _Choices, before: int) -> float:
    place = choices.best(before)
    return choices.scores[place] if place >= 0 else -np.inf


def _best_place(choices: list[_Choices], order: list[int], node: int) -> tuple[list[int], float]:
    """The order with one latent where it helps most, and what that gains.

    Moving it past its neighbour changes what stands before these two and nothing else.
    """
    start = order.index(node)
    best, best_gain = order, 0.0
    for step in (-1, 1):
        current, place, gain = list(order), start, 0.0
        before = sum(1 << v for v in order[:start])
        while 0 <= place + step < len(order):
            other = current[place + step]
            if step < 0:
                before ^= 1 << other
                old = _own(choices[other], before) + _own(choices[node], before | 1 << other)
                new = _own(choices[node], before) + _own(choices[other], before | 1 << node)
            else:
                old = _own(choices[node], before) + _own(choices[other], before | 1 << node)
                new = _own(choices[other], before) + _own(choices[node], before | 1 << other)
                before |= 1 << other
            if new == -np.inf:  # a required arrow would point backwards
                break
            gain += new - old
            current[place], current[place + step] = other, node
            place += step
            if gain > best_gain + _SMALLEST_GAIN:
                best, best_gain = list(current), gain
    return best, best_gain
