from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import random_model
from mixoracle.decoding.common_parts import LabelPairs, common_part, find_latents
from mixoracle.model.joint_states import numbered_columns
from mixoracle.oracles.exact import ExactOracle


def common_states_by_graph(labels, columns):
    """The common part of some columns: rows that share a label in any of them are linked."""
    graph = nx.Graph()
    for row, values in enumerate(labels):
        graph.add_node(("row", row))
        graph.add_edges_from((("row", row), (column, int(values[column]))) for column in columns)
    states = np.empty(len(labels), dtype=np.int64)
    for number, part in enumerate(nx.connected_components(graph)):
        states[[row for kind, row in part if kind == "row"]] = number
    return states


def label_tables(max_rows=14, max_columns=5):
    """Random tables, from rows that share nothing to rows that share all."""

    @st.composite
    def build(draw):
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        n_rows = draw(st.integers(1, max_rows))
        n_labels = [draw(st.integers(1, n_rows)) for _ in range(draw(st.integers(1, max_columns)))]
        columns = [rng.integers(k, size=n_rows) for k in n_labels]
        return numbered_columns(np.stack(columns, axis=1))

    return build()


@given(label_tables(max_rows=30, max_columns=2))
def test_a_common_part_is_a_connected_component(is_same_partition, labels):
    first, second = labels[:, 0], labels[:, -1]
    found = common_part(first, second)
    expected = common_states_by_graph(np.stack([first, second], axis=1), [0, 1])
    assert is_same_partition(found, expected)
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))


@given(label_tables(max_rows=30, max_columns=3))
def test_a_common_part_is_commutative_associative_and_idempotent(is_same_partition, labels):
    first, second, third = labels[:, 0], labels[:, labels.shape[1] // 2], labels[:, -1]
    assert is_same_partition(common_part(first, second), common_part(second, first))
    assert is_same_partition(
        common_part(common_part(first, second), third),
        common_part(first, common_part(second, third)),
    )
    assert is_same_partition(common_part(first, first), first)


@settings(deadline=None)
@given(label_tables())
def test_the_latents_of_any_table_are_common_parts_that_all_speaking_columns_belong_to(
    is_same_partition, labels
):
    """Also where no model fits: proper common parts, none inside an earlier one."""
    latents = find_latents(LabelPairs(labels), range(labels.shape[1]))
    for place, part in enumerate(latents):
        assert part.n_states == part.states(labels).max() + 1 > 1
        assert is_same_partition(
            part.states(labels), common_states_by_graph(labels, sorted(part.members))
        )
        assert not any(part.members <= earlier.members for earlier in latents[:place])
    speaking = {i for i, column in enumerate(labels.T) if column.max() > 0}
    assert set().union(*(part.members for part in latents)) == speaking


def drawn_model(seed, n_latent, n_observed, max_domain=3, max_joint_states=200):
    return random_model(
        n_latent, n_observed, max_domain, seed, covariance=None, max_joint_states=max_joint_states
    )


def latents_of(model):
    """Each latent's children and, in each joint state (C order), its own state."""
    states = np.array([*np.ndindex(*model.domain_sizes)], dtype=np.int64)
    return {
        frozenset(np.flatnonzero(column).tolist()): states[:, j]
        for j, column in enumerate(model.bipartite.T)
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_latents_of_a_model_are_found_with_their_states(is_same_partition, seed):
    rng = np.random.default_rng(seed)
    n_latent = int(rng.integers(1, 5))
    model = drawn_model(seed, n_latent, int(rng.integers(n_latent + 2, 9)))
    labels = ExactOracle(model).projection().labels
    expected = latents_of(model)
    for columns in (range(model.n_observed), rng.permutation(model.n_observed).tolist()):
        parts = find_latents(LabelPairs(labels), columns)
        assert {part.members for part in parts} == expected.keys()
        assert len(parts) == model.n_latent
        for part in parts:
            assert is_same_partition(part.states(labels), expected[part.members])


def test_states_never_seen_do_no_harm_as_long_as_the_rest_holds_together(is_same_partition):
    """Rows are dropped; where every set still has its right number of states, so has the answer."""
    tried = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = drawn_model(seed, 2, 5)
        labels = ExactOracle(model).projection().labels
        expected = latents_of(model)
        kept = rng.random(len(labels)) < 0.75
        if not kept.any():
            continue
        labels = numbered_columns(labels[kept])
        subsets = [s for size in range(1, 6) for s in combinations(range(5), size)]
        shared = [model.bipartite[list(s)].all(axis=0) for s in subsets]
        true_counts = [int(np.prod(np.array(model.domain_sizes)[hit])) for hit in shared]
        seen_counts = [int(common_states_by_graph(labels, s).max()) + 1 for s in subsets]
        multiple = [s for s, hit in zip(subsets, shared, strict=True) if hit.sum() < 2]
        # A set that shares two latents may miss a joint state of them; the others may not.
        if any(true_counts[subsets.index(s)] != seen_counts[subsets.index(s)] for s in multiple):
            continue
        tried += 1
        parts = find_latents(LabelPairs(labels), range(5))
        assert {part.members for part in parts} == expected.keys()
        for part in parts:
            assert is_same_partition(part.states(labels), expected[part.members][kept])
    assert tried >= 15


@pytest.mark.parametrize("seed", range(3))
def test_forty_variables_and_eight_latents_are_no_trouble(seed):
    model = drawn_model(seed, 8, 40, max_domain=2, max_joint_states=256)
    labels = ExactOracle(model).projection().labels
    parts = find_latents(LabelPairs(labels), range(40))
    assert {part.members for part in parts} == latents_of(model).keys()


def test_only_the_columns_asked_for_take_part():
    labels = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    parts = find_latents(LabelPairs(labels), [0, 1])
    assert {part.members for part in parts} == {frozenset([0]), frozenset([1])}


def test_silent_columns_have_no_latents():
    assert find_latents(LabelPairs(np.zeros((4, 3), dtype=np.int64)), range(3)) == []
