from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets.graphs import random_dag
from mixoracle.errors import InvalidInputError, KnowledgeConflictError, NotExtendableError
from mixoracle.model import CPDAG


@st.composite
def dags(draw, largest=6):
    n_nodes = draw(st.integers(0, largest))
    order = draw(st.permutations(range(n_nodes)))
    kept = draw(st.lists(st.booleans(), min_size=n_nodes * n_nodes, max_size=n_nodes * n_nodes))
    pairs = list(combinations(order, 2))
    return frozenset(pair for pair, keep in zip(pairs, kept, strict=False) if keep), n_nodes


def equivalent_dags(edges, n_nodes):
    """All acyclic orientations of the skeleton with the same v-structures, by trying each."""
    skeleton = [tuple(sorted(edge)) for edge in edges]
    found = []
    for flips in product([False, True], repeat=len(skeleton)):
        candidate = {
            (j, i) if flip else (i, j) for (i, j), flip in zip(skeleton, flips, strict=True)
        }
        graph = nx.DiGraph(list(candidate))
        if nx.is_directed_acyclic_graph(graph) and colliders(candidate) == colliders(edges):
            found.append(frozenset(candidate))
    return found


def colliders(edges):
    adjacent = {frozenset(edge) for edge in edges}
    return {
        (frozenset((a, b)), c)
        for (a, c), (b, d) in combinations(edges, 2)
        if c == d and frozenset((a, b)) not in adjacent
    }


def common_graph(members, n_nodes):
    """The arrows that all DAGs share, the rest open."""
    shared = frozenset.intersection(*members)
    union = frozenset.union(*members)
    return CPDAG(
        n_nodes, shared, frozenset(frozenset(edge) for edge in union if edge not in shared)
    )


def test_classes_equal_an_enumeration_of_all_orientations():
    rng = np.random.default_rng(0)
    for trial in range(500):
        n_nodes = 1 + trial % 6
        edges = random_dag(n_nodes, rng.choice([0.3, 0.5]), rng)
        members = equivalent_dags(edges, n_nodes)
        graph = CPDAG.from_dag(edges, n_nodes)
        assert graph == common_graph(members, n_nodes)
        assert set(graph.members()) == set(members)
        assert graph.size == len(members)


@settings(deadline=None)
@given(dags())
def test_the_extension_and_every_member_lead_back_to_the_class(drawn):
    edges, n_nodes = drawn
    graph = CPDAG.from_dag(edges, n_nodes)
    listed = list(graph.members())
    assert len(set(listed)) == len(listed) == graph.size
    for member in [edges, graph.extension(), *listed]:
        assert graph.directed <= member
        assert CPDAG.from_dag(member, n_nodes) == graph


@settings(deadline=None)
@given(dags(), st.data())
def test_knowledge_keeps_exactly_the_members_that_honour_it(drawn, data):
    edges, n_nodes = drawn
    graph = CPDAG.from_dag(edges, n_nodes)
    required = frozenset(
        data.draw(st.lists(st.sampled_from(sorted(edges)), max_size=2)) if edges else ()
    )
    arrows = [(j, i) for i, j in sorted(edges)]
    forbidden = frozenset(data.draw(st.lists(st.sampled_from(arrows), max_size=2)) if edges else ())
    honouring = [dag for dag in graph.members() if required <= dag and not forbidden & dag]
    oriented = graph.with_knowledge(required, forbidden)
    assert oriented == common_graph(honouring, n_nodes)
    assert set(oriented.members()) == set(honouring)
    assert oriented.size == len(honouring)


def test_knowledge_that_no_member_honours_is_refused():
    collider = CPDAG.from_dag([(0, 1), (2, 1)], 3)
    with pytest.raises(KnowledgeConflictError, match="required 1→0"):
        collider.with_knowledge(required=[(1, 0)])
    with pytest.raises(KnowledgeConflictError, match="forbidden 0→1"):
        collider.with_knowledge(forbidden=[(0, 1)])
    with pytest.raises(KnowledgeConflictError, match="required 0→2"):
        collider.with_knowledge(required=[(0, 2)])
    assert collider.with_knowledge(forbidden=[(0, 2)]) == collider


@settings(deadline=None)
@given(dags(), st.data())
def test_members_by_parents_show_every_set_of_parents_once(drawn, data):
    edges, n_nodes = drawn
    graph = CPDAG.from_dag(edges, n_nodes)
    nodes = data.draw(st.sets(st.sampled_from(range(n_nodes)), max_size=2)) if n_nodes else set()

    def parents(dag):
        return frozenset((i, j) for i, j in dag if j in nodes)

    # Directing all edges around the nodes may tell children apart too, but never parents twice.
    chosen = list(graph.members_by_parents(nodes))
    assert set(chosen) <= set(graph.members())
    assert len({frozenset(e for e in dag if set(e) & nodes) for dag in chosen}) == len(chosen)
    assert {parents(dag) for dag in chosen} == {parents(dag) for dag in graph.members()}


@settings(deadline=None)
@given(dags(), st.data())
def test_d_separation_agrees_with_networkx(drawn, data):
    edges, n_nodes = drawn
    if n_nodes < 2:
        return
    places = data.draw(st.lists(st.integers(0, 3), min_size=n_nodes, max_size=n_nodes))
    first, second, given_ = ({j for j in range(n_nodes) if places[j] == k} for k in range(3))
    if not first or not second:
        return
    dag = nx.DiGraph()
    dag.add_nodes_from(range(n_nodes))
    dag.add_edges_from(edges)
    expected = nx.is_d_separator(dag, first, second, given_)
    assert CPDAG.from_dag(edges, n_nodes).d_separated(first, second, given_) == expected


def test_d_separation_refuses_overlapping_or_unknown_nodes():
    graph = CPDAG.from_dag([(0, 1)], 2)
    with pytest.raises(InvalidInputError, match="overlap"):
        graph.d_separated(0, 1, given=[1])
    with pytest.raises(InvalidInputError, match="got 5"):
        graph.d_separated(0, 5)


def test_the_size_of_large_classes_is_counted_without_listing():
    pairs = list(combinations(range(12), 2))
    complete = CPDAG(12, undirected=frozenset(map(frozenset, pairs)))
    assert complete.size == 479_001_600
    path = CPDAG(12, undirected=frozenset(frozenset((i, i + 1)) for i in range(11)))
    assert path.size == 12


def test_a_graph_that_stands_for_no_dag_says_so():
    square = CPDAG(4, undirected=frozenset(map(frozenset, [(0, 1), (1, 2), (2, 3), (3, 0)])))
    for question in (
        square.extension,
        lambda: next(square.members()),
        lambda: square.size,
        lambda: square.d_separated(0, 2),
        lambda: square.with_knowledge(required=[(0, 1)]),
    ):
        with pytest.raises(NotExtendableError, match="stands for no DAG"):
            question()


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (lambda: CPDAG(-1), "at least 0 nodes"),
        (lambda: CPDAG(2, frozenset({(0, 0)})), "itself"),
        (lambda: CPDAG(2, undirected=frozenset({frozenset({1})})), "two distinct"),
        (lambda: CPDAG(2, frozenset({(0, 1), (1, 0)})), "one edge only"),
        (lambda: CPDAG(2, frozenset({(0, 7)})), r"got \[7\]"),
        (lambda: CPDAG(5, frozenset({(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)})), r"\[1, 2, 3\]"),
    ],
)
def test_impossible_graphs_are_refused(graph, words):
    with pytest.raises(InvalidInputError, match=words):
        graph()


def test_networkx_shows_open_edges_both_ways():
    graph = CPDAG(3, frozenset({(0, 1)}), frozenset({frozenset((1, 2))})).to_networkx("abc")
    assert dict(graph.edges) == {
        ("a", "b"): {"undirected": False},
        ("b", "c"): {"undirected": True},
        ("c", "b"): {"undirected": True},
    }
