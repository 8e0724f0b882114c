"""Λ up to Markov equivalence: a completed partially directed acyclic graph.

P(H) distinguishes DAGs only up to equivalence: the same adjacencies and the same v-structures. One
:class:`CPDAG` stands for such a class; with background knowledge, for those of its members that
honour it (then it is what the literature calls a maximally oriented PDAG). All that is asked of
a class, its members, its size, its d-separations, is asked here.

Assumption: the graph stands for at least one DAG. One that stands for none can be made, because
a search may return it, but raises :class:`~mixoracle.errors.NotExtendableError` when it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from mixoracle.errors import InvalidInputError, KnowledgeConflictError, NotExtendableError
from mixoracle.model.graphs import Edge, PartialGraph, find_cycle, separated

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
        Edges whose direction P(H) leaves open.

    Examples
    --------
    >>> chain = CPDAG.from_dag([(0, 1), (1, 2)], n_nodes=3)
    >>> chain
    CPDAG(3 nodes: 0—1, 1—2)
    >>> chain.size
    3
    >>> chain.d_separated(0, 2, given=[1])
    True
    >>> chain.with_knowledge(required=[(0, 1)])
    CPDAG(3 nodes: 0→1, 1→2)
    >>> CPDAG.from_dag([(0, 1), (2, 1)], n_nodes=3)
    CPDAG(3 nodes: 0→1, 2→1)
    """

    n_nodes: int
    directed: frozenset[Edge] = frozenset()
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
        vars(self).update(n_nodes=int(self.n_nodes), directed=directed, undirected=undirected)
        refuse_cycles(directed)

    @classmethod
    def from_dag(cls, edges: Iterable[Edge], n_nodes: int) -> CPDAG:
        """Return the class of all DAGs with the same skeleton and v-structures."""
        dag = cls(n_nodes, frozenset((int(i), int(j)) for i, j in edges))
        arrows = frozenset(arm for a, c, b in dag.v_structures for arm in ((a, c), (b, c)))
        links = dag.skeleton - {frozenset(edge) for edge in arrows}
        graph = PartialGraph(n_nodes, arrows, links)
        graph.close()
        return cls._of(graph)

    @classmethod
    def _of(cls, graph: PartialGraph) -> CPDAG:
        links = frozenset(frozenset(edge) for edge in graph.open_links())
        return cls(graph.n_nodes, graph.arrows(), links)

    @property
    def skeleton(self) -> frozenset[frozenset[int]]:
        """All edges without their directions."""
        return self.undirected | frozenset(frozenset(edge) for edge in self.directed)

    @property
    def v_structures(self) -> frozenset[tuple[int, int, int]]:
        """All (a, c, b) with a→c←b, a < b and a, b not adjacent."""
        adjacent = self.skeleton
        return frozenset(
            (a, c, b)
            for c in range(self.n_nodes)
            for a, b in combinations(self.parents(c), 2)
            if frozenset((a, b)) not in adjacent
        )

    def parents(self, node: int) -> tuple[int, ...]:
        """The nodes with an arrow into ``node``, in ascending order."""
        return tuple(sorted(i for i, j in self.directed if j == node))

    def extension(self) -> frozenset[Edge]:
        """The arrows of one member: a DAG with the same v-structures (Dor and Tarsi)."""
        graph = PartialGraph(self.n_nodes, self.directed, self.undirected)
        edges, added_v_structures = graph.cheapest_extension()
        if added_v_structures:
            raise NotExtendableError(
                f"{self!r} stands for no DAG: its open edges cannot be directed without a cycle "
                "or a new v-structure; search again with more samples or method='exact'"
            )
        return edges

    def members(self) -> Iterator[frozenset[Edge]]:
        """All DAGs that the graph stands for, each once, in a fixed order."""
        for graph in self._closed().orientations(around=(1 << self.n_nodes) - 1):
            yield graph.arrows()

    def members_by_parents(self, nodes: Iterable[int]) -> Iterator[frozenset[Edge]]:
        """One member for each way in which the parents of ``nodes`` can differ.

        The effect of an intervention on ``nodes`` depends on nothing else, and there are far fewer.
        """
        for graph in self._closed().orientations(around=sum(1 << node for node in set(nodes))):
            yield CPDAG._of(graph).extension()

    @property
    def size(self) -> int:
        """The number of members, counted without listing them."""
        return self._closed().n_extensions()

    def with_knowledge(
        self, required: Iterable[Edge] = (), forbidden: Iterable[Edge] = ()
    ) -> CPDAG:
        """Keep the members that have the required arrows and none of the forbidden ones.

        The result is oriented as far as that forces it (Meek's four rules). Forbidden arrows
        between nodes that are not adjacent say nothing.
        """
        graph = self._closed()
        adjacent = self.skeleton
        wanted = [(i, j, f"the required {i}→{j}") for i, j in sorted(required)]
        wanted += [
            (j, i, f"the forbidden {i}→{j}")
            for i, j in sorted(forbidden)
            if frozenset((i, j)) in adjacent
        ]
        for i, j, words in wanted:
            if not graph.orient(i, j):
                raise KnowledgeConflictError(
                    f"{words} contradicts every member of {self!r} that honours the rest of the "
                    "knowledge; drop it or search again with it"
                )
            graph.close()
        return CPDAG._of(graph)

    def d_separated(
        self, first: int | Iterable[int], second: int | Iterable[int], given: Iterable[int] = ()
    ) -> bool:
        """Whether ``given`` d-separates two nodes or sets of nodes; all members agree on it."""
        sets = [self._node_set(nodes) for nodes in (first, second, given)]
        if sets[0] & sets[1] or (sets[0] | sets[1]) & sets[2]:
            raise InvalidInputError("d-separation needs three sets of nodes that do not overlap")
        parents = PartialGraph(self.n_nodes, self.extension()).parents
        return separated(parents, *sets)

    def _closed(self) -> PartialGraph:
        """A working copy in which every open link can be directed either way."""
        self.extension()
        graph = PartialGraph(self.n_nodes, self.directed, self.undirected)
        graph.close()
        return graph

    def _node_set(self, nodes: int | Iterable[int]) -> int:
        listed = list(nodes) if isinstance(nodes, Iterable) else [nodes]
        outside = [node for node in listed if not 0 <= node < self.n_nodes]
        if outside:
            raise InvalidInputError(
                f"nodes are counted from 0 to {self.n_nodes - 1}; got {outside[0]}"
            )
        return sum(1 << int(node) for node in set(listed))

    def to_networkx(self, names: Iterable[str] | None = None) -> nx.DiGraph[str | int]:
        """Return a DiGraph; an undirected edge becomes two arrows with ``undirected=True``."""
        import networkx as nx

        labels: list[str | int] = list(range(self.n_nodes)) if names is None else list(names)
        graph: nx.DiGraph[str | int] = nx.DiGraph()
        graph.add_nodes_from(labels)
        graph.add_edges_from(
            (labels[i], labels[j], {"undirected": False}) for i, j in sorted(self.directed)
        )
        for link in self.links:
            for i, j in (link, link[::-1]):
                graph.add_edge(labels[i], labels[j], undirected=True)
        return graph

    @property
    def links(self) -> tuple[Edge, ...]:
        """The edges without a direction as (i, j), i < j, in ascending order."""
        return tuple(sorted((min(pair), max(pair)) for pair in self.undirected))

    def described(self, names: Sequence[str] | None = None, none: str = "no edges") -> str:
        """All edges in one line: ``A → B, B — C``, or ``none`` where there are none."""
        labels = [str(i) for i in range(self.n_nodes)] if names is None else names
        arrows = [f"{labels[i]} → {labels[j]}" for i, j in sorted(self.directed)]
        return ", ".join(arrows + [f"{labels[i]} — {labels[j]}" for i, j in self.links]) or none

    def __repr__(self) -> str:
        edges = self.described().replace(" → ", "→").replace(" — ", "—")
        return f"CPDAG({self.n_nodes} nodes: {edges})"


def refuse_cycles(directed: Iterable[Edge]) -> None:
    """Raise where the arrows form a cycle, and name its nodes."""
    cycle = find_cycle(directed)
    if cycle:
        raise InvalidInputError(f"the arrows form a cycle among nodes {sorted(cycle)}")
