"""Constraint-based search: conditional independence by G² on the table (Spirtes and Glymour).

Latents stay adjacent unless some set of neighbours makes them independent; an unshielded triple
a—c—b becomes a→c←b if c is not in the set that separates a and b best. Nothing depends on the
order of the latents: the adjacencies are frozen while sets of one size are tried ('stable',
Colombo and Maathuis, 2014), and of all separating sets the one with the largest p-value decides
('PC-max', Ramsey, 2016).

Assumptions: faithfulness, and enough cases for the χ² limit. Strata never seen and states never
seen within a stratum give no degrees of freedom, so sparse tables lose power, not validity. Where
the tests contradict each other so that no DAG fits, the least certain v-structures give way, and
the result says how many did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, combinations

import numpy as np
from scipy.special import chdtrc, xlogy

from mixoracle._arrays import Floats, Integers
from mixoracle.model import CPDAG
from mixoracle.model.graphs import Edge, PartialGraph, is_ancestor
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.scores import Distribution

_PValue = Callable[[int, int, tuple[int, ...]], float]  # of two latents given others
_Triple = tuple[int, int, int]


def g_squared(
    joint: Distribution, n_samples: float, first: int, second: int, given: tuple[int, ...]
) -> tuple[float, int, float]:
    """Test whether two latents are independent given others.

    Returns G² = 2N · conditional mutual information, its degrees of freedom over the strata that
    were seen, (seen states of a − 1)(seen states of b − 1), and the p-value: 1 where there are no
    degrees of freedom, because nothing then speaks against independence.
    """
    sizes = joint.domain_sizes
    table = joint.marginal([*given, first, second]).table
    strata = n_samples * table.reshape(-1, sizes[first], sizes[second])
    rows, columns = strata.sum(axis=2), strata.sum(axis=1)
    statistic = 2.0 * float(
        xlogy(strata, strata).sum()
        + xlogy(rows.sum(axis=1), rows.sum(axis=1)).sum()
        - xlogy(rows, rows).sum()
        - xlogy(columns, columns).sum()
    )
    statistic = max(statistic, 0.0)
    freedom = int(np.sum(_seen(rows) * _seen(columns)))
    return statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0


def _seen(margins: Floats) -> Integers:
    """How many states of each stratum were seen, beyond the first."""
    return np.asarray(np.maximum((margins > 0).sum(axis=1) - 1, 0))


def search_pc(
    joint: Distribution, n_samples: float, knowledge: ResolvedKnowledge, *, alpha: float
) -> tuple[frozenset[Edge], int]:
    """Return a DAG of the class that the independence tests at level ``alpha`` point to.

    And how many of its unshielded triples contradict their test; 0 if no two tests did.
    """

    @cache
    def p_value(first: int, second: int, given: tuple[int, ...]) -> float:
        return g_squared(joint, n_samples, first, second, given)[2]

    near = _skeleton(p_value, knowledge, alpha)
    graph = _with_knowledge(near, knowledge)
    colliders, chains = _judge_triples(p_value, near)
    for a, c, b in colliders:
        # Unless an arrow that is settled already speaks against it.
        if not any(is_ancestor(graph.parents, c, end) for end in (a, b)):
            graph.orient(a, c)
            graph.orient(b, c)
    edges, _ = graph.cheapest_extension()
    made = CPDAG(joint.n_latent, edges).v_structures
    return edges, len(set(colliders) - made) + len(made & set(chains))


def _skeleton(p_value: _PValue, knowledge: ResolvedKnowledge, alpha: float) -> list[set[int]]:
    """The neighbours of each latent that no set of neighbours separates from it."""
    m = knowledge.n_nodes
    barred = {(i, j) for i, j in knowledge.forbidden if (j, i) in knowledge.forbidden}
    needed = {frozenset(edge) for edge in knowledge.required}
    near = [{j for j in range(m) if j != i and (i, j) not in barred} for i in range(m)]
    size = 0
    while any(len(found) > size for found in near):
        frozen = [sorted(found) for found in near]
        for a, b in combinations(range(m), 2):
            if b not in near[a] or frozenset((a, b)) in needed:
                continue
            if any(p_value(a, b, s) > alpha for s in _sets(frozen, a, b, size)):
                near[a].remove(b)
                near[b].remove(a)
        size += 1
    return near


def _sets(near: list[list[int]], a: int, b: int, size: int) -> Iterator[tuple[int, ...]]:
    """Sets of one size among the neighbours of a, then of b."""
    for end, other in ((a, b), (b, a)):
        yield from combinations([j for j in near[end] if j != other], size)


def _judge_triples(p_value: _PValue, near: list[set[int]]) -> tuple[list[_Triple], list[_Triple]]:
    """Unshielded triples (a, c, b) that collide in c, the clearest first, and those that do not."""
    colliders: list[tuple[float, _Triple]] = []
    chains: list[_Triple] = []
    frozen = [sorted(found) for found in near]
    for a, b in combinations(range(len(near)), 2):
        between = near[a] & near[b]
        if b in near[a] or not between:
            continue
        largest = max(len(frozen[a]), len(frozen[b]))
        sets = chain.from_iterable(_sets(frozen, a, b, size) for size in range(largest + 1))
        clearest, separator = max(((p_value(a, b, s), s) for s in sets), key=lambda held: held[0])
        for c in sorted(between):
            if c in separator:
                chains.append((a, c, b))
            else:
                colliders.append((clearest, (a, c, b)))
    colliders.sort(key=lambda found: -found[0])
    return [triple for _, triple in colliders], chains


def _with_knowledge(near: list[set[int]], knowledge: ResolvedKnowledge) -> PartialGraph:
    """The skeleton with the arrows that knowledge puts on it.

    Forbidden directions can turn a triangle into a cycle, though they do not contradict each
    other; the adjacency that would close it is given up, also in ``near``.
    """
    links = {frozenset((i, j)) for i, found in enumerate(near) for j in found}
    graph = PartialGraph(len(near), (), links)
    for i, j in sorted(knowledge.required):
        graph.orient(i, j)
    for i, j in sorted(knowledge.forbidden):
        if not graph.links[i] >> j & 1:
            continue
        if is_ancestor(graph.parents, i, j):
            graph.disconnect(i, j)
            near[i].remove(j)
            near[j].remove(i)
        else:
            graph.orient(j, i)
    return graph
