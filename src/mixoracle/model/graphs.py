"""A partially directed graph that can be oriented further, on bit masks.

The working copy behind :class:`~mixoracle.model.cpdag.CPDAG`: each node has three sets of
neighbours (parents, children, and links whose direction is open), each set the bits of an int.
Meek's rules, Dor and Tarsi's extension, enumeration and counting are loops over such sets.

Two facts carry the rest (Meek, 1995). In a graph that is closed under the four rules and has a
consistent extension, every open link can be directed either way and closed again. And closing
after that changes only links in the same *bucket*, a connected component of open links, because
every rule's premises touch the link that they direct; so buckets are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from math import factorial, inf

Edge = tuple[int, int]

# Counting a class of 16 nodes meets at most some thousands of different buckets.
_CACHED_BUCKETS = 1 << 14


def bits(subset: int) -> Iterator[int]:
    """The members of a set, in ascending order."""
    while subset:
        lowest = subset & -subset
        yield lowest.bit_length() - 1
        subset ^= lowest


class PartialGraph:
    """A mutable graph of arrows and open links over nodes 0..n_nodes−1."""

    def __init__(
        self, n_nodes: int, arrows: Iterable[Edge] = (), links: Iterable[Iterable[int]] = ()
    ) -> None:
        self.parents = [0] * n_nodes
        self.children = [0] * n_nodes
        self.links = [0] * n_nodes
        for i, j in arrows:
            self.parents[j] |= 1 << i
            self.children[i] |= 1 << j
        for i, j in links:
            self.links[i] |= 1 << j
            self.links[j] |= 1 << i

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.parents)

    def copy(self) -> PartialGraph:
        """An independent copy."""
        twin = PartialGraph(0)
        twin.parents, twin.children = self.parents.copy(), self.children.copy()
        twin.links = self.links.copy()
        return twin

    def adjacent(self, node: int) -> int:
        """All neighbours of a node."""
        return self.parents[node] | self.children[node] | self.links[node]

    def arrows(self) -> frozenset[Edge]:
        """All (i, j) with i→j."""
        return frozenset((i, j) for i, down in enumerate(self.children) for j in bits(down))

    def open_links(self) -> list[Edge]:
        """All (i, j), i < j, whose direction is open, in ascending order."""
        return [(i, j) for i, near in enumerate(self.links) for j in bits(near) if i < j]

    def orient(self, i: int, j: int) -> bool:
        """Direct an edge as i→j; False, and nothing done, where there is none or j→i."""
        if self.children[i] >> j & 1:
            return True
        if not self.links[i] >> j & 1:
            return False
        self.links[i] ^= 1 << j
        self.links[j] ^= 1 << i
        self.children[i] |= 1 << j
        self.parents[j] |= 1 << i
        return True

    def disconnect(self, i: int, j: int) -> None:
        """Remove the edge between two nodes."""
        for sets in (self.parents, self.children, self.links):
            sets[i] &= ~(1 << j)
            sets[j] &= ~(1 << i)

    def close(self) -> None:
        """Apply Meek's four rules until none fires."""
        changed = True
        while changed:
            changed = False
            for i, j in self.open_links():
                if self._is_forced(i, j):
                    changed |= self.orient(i, j)
                elif self._is_forced(j, i):
                    changed |= self.orient(j, i)

    def _is_forced(self, a: int, b: int) -> bool:
        """Whether one of Meek's rules directs the link a—b as a→b."""
        far_from_b = ~(self.adjacent(b) | 1 << b)
        # R1: c→a with c, b not adjacent: b→a would be a new v-structure.
        if self.parents[a] & far_from_b:
            return True
        # R2: a→c→b: b→a would close a cycle.
        if self.children[a] & self.parents[b]:
            return True
        # R3: a—c→b and a—d→b with c, d not adjacent: b→a forces c→a←d, a new v-structure.
        between = self.links[a] & self.parents[b]
        if any(between & ~(self.adjacent(c) | 1 << c) for c in bits(between)):
            return True
        # R4: a—c→d→b with c, b not adjacent and a, d adjacent (arises only with knowledge).
        return any(
            self.links[a] & self.parents[d] & far_from_b
            for d in bits(self.adjacent(a) & self.parents[b])
        )

    def cheapest_extension(self) -> tuple[frozenset[Edge], float]:
        """The arrows of a DAG, and how many v-structures it adds (inf where arrows make a cycle).

        Nodes are removed one after the other: a node can go last if no arrow leaves it and each
        of its open links leads to a neighbour of all its other neighbours (Dor and Tarsi, 1992).
        If a DAG without new v-structures exists, one is found; else the choice is greedy.
        """
        graph, found, total = self.copy(), set(self.arrows()), 0.0
        left = set(range(self.n_nodes))
        while left:
            costs = {node: graph._cost_of_sink(node) for node in sorted(left)}
            sink = min(costs, key=lambda node: costs[node])
            total += costs[sink]
            found.update((i, sink) for i in bits(graph.links[sink]))
            for i in range(self.n_nodes):
                graph.disconnect(i, sink)
            left.remove(sink)
        return frozenset(found), total

    def _cost_of_sink(self, node: int) -> float:
        """How many v-structures arise if all links of a node are directed into it."""
        if self.children[node]:
            return inf
        near = self.adjacent(node)
        strangers = (near & ~(self.adjacent(i) | 1 << i) for i in bits(self.links[node]))
        return sum(found.bit_count() for found in strangers)

    def orientations(self, around: int) -> Iterator[PartialGraph]:
        """Every way to direct the links that touch the set ``around``; the graph must be closed.

        Each result is closed and extendable again, and no two direct those links alike.
        """
        touching = (edge for edge in self.open_links() if around & (1 << edge[0] | 1 << edge[1]))
        edge = next(touching, None)
        if edge is None:
            yield self
            return
        for i, j in (edge, edge[::-1]):
            branch = self.copy()
            branch.orient(i, j)
            branch.close()
            yield from branch.orientations(around)

    def n_extensions(self) -> int:
        """How many DAGs the graph stands for; it must be closed and extendable."""
        size = 1
        for bucket in self._buckets():
            nodes = sorted(bits(bucket))
            place = {node: k for k, node in enumerate(nodes)}
            size *= _n_bucket_extensions(
                len(nodes),
                frozenset(
                    (place[i], place[j]) for i in nodes for j in bits(self.children[i] & bucket)
                ),
                frozenset((place[i], place[j]) for i, j in self.open_links() if i in place),
            )
        return size

    def _buckets(self) -> list[int]:
        """The connected components of open links, as sets, without lone nodes."""
        buckets, seen = [], 0
        for start in range(self.n_nodes):
            if seen >> start & 1 or not self.links[start]:
                continue
            bucket = reached(self.links, 1 << start)
            seen |= bucket
            buckets.append(bucket)
        return buckets


@lru_cache(maxsize=_CACHED_BUCKETS)
def _n_bucket_extensions(n_nodes: int, arrows: frozenset[Edge], links: frozenset[Edge]) -> int:
    """Count a bucket by its source: without v-structures, a connected DAG has exactly one."""
    if len(links) == n_nodes * (n_nodes - 1) // 2:
        return factorial(n_nodes)
    size = 0
    for source in range(n_nodes):
        graph = PartialGraph(n_nodes, arrows, links)
        # All its links lead away from a source; where that cannot be, there is no such DAG.
        for neighbour in bits(graph.adjacent(source)):
            if not graph.orient(source, neighbour):
                break
            graph.close()
        else:
            size += graph.n_extensions()
    return size


def reached(neighbours: Sequence[int], start: int, avoiding: int = 0) -> int:
    """A set with all that steps to neighbours lead to; of parents, the set with its ancestors."""
    found = fresh = start & ~avoiding
    while fresh:
        near = 0
        for node in bits(fresh):
            near |= neighbours[node]
        fresh = near & ~found & ~avoiding
        found |= fresh
    return found


def is_ancestor(parents: Sequence[int], first: int, second: int) -> bool:
    """Whether a directed path leads from ``first`` to ``second``, or the two are the same."""
    return bool(reached(parents, 1 << second) >> first & 1)


def find_cycle(arrows: Iterable[Edge]) -> tuple[int, ...]:
    """The nodes along a directed cycle from its lowest on, or nothing where there is no cycle."""
    sorter = TopologicalSorter[int]()
    for i, j in arrows:
        sorter.add(j, i)
    try:
        sorter.prepare()
    except CycleError as error:
        # Each node is a parent of the next; the first stands at the end again.
        cycle = error.args[1][:-1]
        start = cycle.index(min(cycle))
        return (*cycle[start:], *cycle[:start])
    return ()


def separated(parents: Sequence[int], first: int, second: int, given: int) -> bool:
    """Whether ``given`` d-separates two sets of nodes in a DAG (Lauritzen's moral graph)."""
    relevant = reached(parents, first | second | given)
    moral = [0] * len(parents)
    for node in bits(relevant):
        family = parents[node] | 1 << node
        for member in bits(family):
            moral[member] |= family
    return not reached(moral, first, avoiding=given) & second
