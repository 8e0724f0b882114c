"""Λ up to Markov equivalence: a completed partially directed acyclic graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, repr=False)
class CPDAG:
    """A partially directed graph over the latents.

    Parameters
    ----------
    n_nodes : int
    directed : frozenset of (i, j)
        (i, j) means i→j.
    undirected : frozenset of frozenset({i, j})
        Edges whose direction P(H) cannot tell.

    Examples
    --------
    >>> CPDAG.from_dag([(0, 1), (1, 2)], n_nodes=3)
    CPDAG(3 nodes: 0—1, 1—2)
    >>> CPDAG.from_dag([(0, 1), (2, 1)], n_nodes=3)
    CPDAG(3 nodes: 0→1, 2→1)
    """

    n_nodes: int
    directed: frozenset[tuple[int, int]] = frozenset()
    undirected: frozenset[frozenset[int]] = frozenset()

    def __post_init__(self) -> None:
        directed = frozenset((int(i), int(j)) for i, j in self.directed)
        undirected = frozenset(frozenset(int(i) for i in pair) for pair in self.undirected)
        if self.n_nodes < 0:
            raise InvalidInputError(f"a graph has at least 0 nodes; got {self.n_nodes}")
        if any(len(pair) != 2 for pair in undirected):
            raise InvalidInputError("each undirected edge needs two distinct nodes")
        skeleton = [frozenset(edge) for edge in directed] + list(undirected)
        if any(len(pair) != 2 for pair in skeleton):
            raise InvalidInputError("no node may have an edge to itself")
        if len(set(skeleton)) != len(skeleton):
            raise InvalidInputError("two nodes may share one edge only")
        outside = {node for pair in skeleton for node in pair if not 0 <= node < self.n_nodes}
        if outside:
            raise InvalidInputError(
                f"edges should name nodes from 0 to {self.n_nodes - 1}; got {sorted(outside)}"
            )
        object.__setattr__(self, "n_nodes", int(self.n_nodes))
        object.__setattr__(self, "directed", directed)
        object.__setattr__(self, "undirected", undirected)
        refuse_cycles(directed, self.n_nodes)

    @classmethod
    def from_dag(cls, edges: Iterable[tuple[int, int]], n_nodes: int) -> CPDAG:
        """Return the class of all DAGs with the same skeleton and v-structures."""
        dag = cls(n_nodes, frozenset((int(i), int(j)) for i, j in edges))
        adjacent = np.zeros((n_nodes, n_nodes), dtype=bool)
        for i, j in dag.directed:
            adjacent[i, j] = adjacent[j, i] = True
        parents: list[list[int]] = [[] for _ in range(n_nodes)]
        for i, j in dag.directed:
            parents[j].append(i)
        compelled = np.zeros((n_nodes, n_nodes), dtype=bool)
        for child, its_parents in enumerate(parents):
            for first, second in combinations(its_parents, 2):
                if not adjacent[first, second]:
                    compelled[first, child] = compelled[second, child] = True
        return cls._closed(adjacent, compelled)

    @classmethod
    def _closed(cls, adjacent: NDArray[np.bool_], directed: NDArray[np.bool_]) -> CPDAG:
        """Orient all that Meek's rules force, given a skeleton and some arrows."""
        close_under_meek(adjacent, directed)
        n_nodes = len(adjacent)
        arrows = frozenset((int(i), int(j)) for i, j in np.argwhere(directed))
        loose = adjacent & ~directed & ~directed.T
        return cls(
            n_nodes, arrows, frozenset(frozenset((int(i), int(j))) for i, j in np.argwhere(loose))
        )

    @property
    def skeleton(self) -> frozenset[frozenset[int]]:
        """All edges without their directions."""
        return self.undirected | frozenset(frozenset(edge) for edge in self.directed)

    def to_networkx(self, names: Iterable[str] | None = None) -> nx.DiGraph[str | int]:
        """Return a DiGraph; an undirected edge becomes two arrows with ``undirected=True``."""
        import networkx as nx

        labels: list[str | int] = list(range(self.n_nodes)) if names is None else list(names)
        graph: nx.DiGraph[str | int] = nx.DiGraph()
        graph.add_nodes_from(labels)
        graph.add_edges_from(
            (labels[i], labels[j], {"undirected": False}) for i, j in sorted(self.directed)
        )
        for first, second in sorted(tuple(sorted(pair)) for pair in self.undirected):
            graph.add_edge(labels[first], labels[second], undirected=True)
            graph.add_edge(labels[second], labels[first], undirected=True)
        return graph

    def __repr__(self) -> str:
        arrows = [f"{i}→{j}" for i, j in sorted(self.directed)]
        lines = [f"{i}—{j}" for i, j in sorted(tuple(sorted(pair)) for pair in self.undirected)]
        return f"CPDAG({self.n_nodes} nodes: {', '.join(arrows + lines) or 'no edges'})"


def refuse_cycles(directed: Iterable[tuple[int, int]], n_nodes: int) -> None:
    """Raise where the arrows form a cycle, and name it."""
    children: list[set[int]] = [set() for _ in range(n_nodes)]
    waiting = [0] * n_nodes
    for i, j in directed:
        children[i].add(j)
        waiting[j] += 1
    ready = [node for node in range(n_nodes) if waiting[node] == 0]
    done = 0
    while ready:
        node = ready.pop()
        done += 1
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    if done < n_nodes:
        stuck = [node for node in range(n_nodes) if waiting[node] > 0]
        raise InvalidInputError(f"the arrows form a cycle among nodes {stuck}")


def close_under_meek(adjacent: NDArray[np.bool_], directed: NDArray[np.bool_]) -> None:
    """Apply Meek's four rules in place until none fires.

    ``adjacent`` is the symmetric skeleton; ``directed[i, j]`` means i→j is known.
    """
    changed = True
    while changed:
        changed = False
        loose = adjacent & ~directed & ~directed.T
        for a, b in np.argwhere(loose):
            if not directed[b, a] and not directed[a, b] and _is_forced(adjacent, directed, a, b):
                directed[a, b] = True
                changed = True


def _is_forced(adjacent: NDArray[np.bool_], directed: NDArray[np.bool_], a: int, b: int) -> bool:
    """Whether one of Meek's rules orients the undirected edge a—b as a→b."""
    loose = adjacent & ~directed & ~directed.T
    # R1: c→a, c and b not adjacent: b→a would make a new v-structure.
    if np.any(directed[:, a] & ~adjacent[:, b] & (np.arange(len(adjacent)) != b)):
        return True
    # R2: a→c→b: b→a would close a cycle.
    if np.any(directed[a] & directed[:, b]):
        return True
    # R3: a—c→b and a—d→b with c, d not adjacent.
    # R4: a—c→d→b with c and b not adjacent and a adjacent to d (only with knowledge).
    into_b = np.flatnonzero(loose[a] & directed[:, b])
    for c, d in combinations(into_b, 2):
        if not adjacent[c, d]:
            return True
    for d in np.flatnonzero(adjacent[a] & directed[:, b]):
        if np.any(loose[a] & directed[:, d] & ~adjacent[:, b]):
            return True
    return False
