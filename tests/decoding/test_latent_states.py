import numpy as np
import pytest

from mixoracle.decoding.evidence import score
from mixoracle.decoding.latent_states import Others, merge_states, same_for_child
from mixoracle.model.emptiness import emptiness
from mixoracle.model.joint_states import distinct_rows, flat, numbered

SETTINGS = ((2, 5, 3), (2, 6, 4), (3, 7, 2), (3, 7, 3))


@pytest.fixture(scope="module")
def drawn(drawn_pieces):
    return lambda seed, scale=0.01: drawn_pieces(SETTINGS[seed % len(SETTINGS)], 2000, seed, scale)


def around(model, states, latent):
    """Everything but one latent, as the truth has it, and the variables that it drives."""
    sizes = np.delete(model.domain_sizes, latent).tolist()
    others = np.delete(states, latent, axis=1)
    adjacency = np.delete(model.bipartite, latent, axis=1)
    return Others(others, tuple(sizes), adjacency), list(model.children(latent))


def evidence(table, others, children, column):
    """Of the whole model, with one more latent that has these states and drives these variables.

    What empty joint states say against it depends on all latents, and merges do not look at it.
    """
    driven = np.zeros((len(others.adjacency), 1), dtype=bool)
    driven[children] = True
    sizes = (*others.domain_sizes, int(column.max()) + 1)
    assignment = flat(np.column_stack([others.states, column]), sizes)
    rows = np.bincount(assignment, table.counts, int(np.prod(sizes))).reshape(sizes)
    explanation = score(table, np.hstack([others.adjacency, driven]), sizes, assignment)
    return explanation.log_evidence + emptiness(rows)


@pytest.mark.parametrize("seed", range(24))
def test_states_of_single_components_merge_to_the_true_ones(drawn, is_same_partition, seed):
    model, table, states = drawn(seed)
    for latent in range(model.n_latent):
        others, children = around(model, states, latent)
        begin = numbered(2 * states[:, latent] + np.arange(len(states)) % 2)
        merged = merge_states(table, others, children, begin)
        assert is_same_partition(merged, states[:, latent])


@pytest.mark.parametrize("n_others", [62, 70, 200])
def test_however_many_other_latents_there_are_states_are_merged(drawn, is_same_partition, n_others):
    model, table, states = drawn(0)
    children = list(model.children(0))
    own, each = np.zeros((len(states), n_others), dtype=np.int64), np.arange(len(states))
    own[:, 0] = states[:, 1]
    adjacency = np.zeros((model.n_observed, n_others), dtype=bool)
    adjacency[:, 0] = model.bipartite[:, 1]
    sizes = (model.domain_sizes[1], *(2,) * (n_others - 1))
    beside_many = merge_states(table, Others(own, sizes, adjacency), children, each)
    few = Others(own[:, :1], sizes[:1], adjacency[:, :1])
    assert is_same_partition(beside_many, merge_states(table, few, children, each))


@pytest.mark.parametrize("seed", range(16))
def test_merging_stops_where_no_pair_raises_the_evidence_of_the_whole_model(drawn, seed):
    """The gains are sums over what a merge touches; the evidence of everything must agree."""
    model, table, states = drawn(seed, scale=0.3)
    rng = np.random.default_rng(seed)
    others, children = around(model, states, 0)
    begin = rng.permutation(len(states)) % 6
    merged = merge_states(table, others, children, begin)
    before, after = (evidence(table, others, children, column) for column in (begin, merged))
    assert after >= before - 1e-6
    for low, high in zip(*np.triu_indices(merged.max() + 1, 1), strict=True):
        fewer = numbered(np.where(merged == high, low, merged))
        assert evidence(table, others, children, fewer) <= after + 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_only_states_that_may_merge_do(drawn, is_same_partition, seed):
    model, table, states = drawn(seed)
    others, children = around(model, states, 0)
    begin = numbered(2 * states[:, 0] + np.arange(len(states)) % 2)
    may_merge = np.zeros(begin.max() + 1, dtype=bool)
    may_merge[:2] = True
    merged = merge_states(table, others, children, begin, may_merge)
    assert is_same_partition(merged, np.where(begin == 1, 0, begin))


@pytest.mark.parametrize("seed", range(16))
def test_each_child_tells_its_own_latents_states_apart(drawn, is_same_partition, seed):
    """Of all latents as one: a child sees the configuration of its parents and no more."""
    model, table, states = drawn(seed)
    joined = distinct_rows(states)[1]
    nothing = Others(
        np.zeros((len(states), 0), dtype=np.int64), (), np.zeros((model.n_observed, 0), dtype=bool)
    )
    right = sum(
        is_same_partition(same_for_child(table, nothing, i, joined)[joined], table.labels[:, i])
        for i in range(model.n_observed)
    )
    assert right >= model.n_observed - 1
