"""The DAGs that score nearly as well as a good one.

From the best DAG on, every change of one edge (one more, one less, one turned round) leads to a
neighbour; whoever is within the difference is gone on from. Members of one class are joined by such
changes that cost nothing (Chickering [1]_), so that whole classes are passed through.

Assumes that what is close is joined by what is close: a class that can be reached only through
worse ones is not found.

References
----------
.. [1] D. M. Chickering. A transformational characterization of equivalent Bayesian network
   structures. UAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import combinations

from mixoracle._arrays import Floats
from mixoracle.model.graphs import Edge, bits, find_cycle

Parents = tuple[int, ...]
"""The parents of each node as bits."""


def close_dags(
    scores: Floats, best: Iterable[Edge], within: float, most: int
) -> Iterator[tuple[float, frozenset[Edge]]]:
    """DAGs whose score is at most ``within`` below that of the best one, with the difference.

    ``scores`` are local ones, entry [i, s] that of node i with the bits of s as its parents, −∞
    for what may not be. The first is the best one itself; a difference is negative where it is not
    the best by these scores. At most so many DAGs are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.0, -np.inf, -1.0, -np.inf], [0.0, -1.0, -np.inf, -np.inf]])
    >>> [(float(gap), sorted(dag)) for gap, dag in close_dags(scores, [], within=2.0, most=10)]
    [(0.0, []), (1.0, [(0, 1)]), (1.0, [(1, 0)])]
    """
    start = [0] * len(scores)
    for cause, effect in best:
        start[effect] |= 1 << cause
    waiting: list[tuple[float, Parents]] = [(0.0, tuple(start))]
    seen = {waiting[0][1]}
    while waiting and most > 0:
        gap, dag = heappop(waiting)
        most -= 1
        yield gap, frozenset(_edges(dag))
        for other, nodes in _one_edge_away(dag):
            if other in seen:
                continue
            seen.add(other)
            lost = sum(float(scores[j, dag[j]] - scores[j, other[j]]) for j in nodes)
            if gap + lost <= within and not find_cycle(_edges(other)):
                heappush(waiting, (gap + lost, other))


def _one_edge_away(dag: Parents) -> Iterator[tuple[Parents, tuple[int, ...]]]:
    """Every change of one edge, cycles included, and the nodes whose parents it changes."""
    for a, b in combinations(range(len(dag)), 2):
        into_a, into_b = bool(dag[a] >> b & 1), bool(dag[b] >> a & 1)
        for one, other in ((False, False), (True, False), (False, True)):
            if (one, other) == (into_a, into_b):
                continue
            changed = list(dag)
            changed[a] ^= (one != into_a) << b
            changed[b] ^= (other != into_b) << a
            yield tuple(changed), tuple(j for j in (a, b) if changed[j] != dag[j])


def _edges(dag: Parents) -> Iterator[Edge]:
    return ((cause, effect) for effect, own in enumerate(dag) for cause in bits(own))
