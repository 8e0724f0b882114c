import numpy as np
import pytest
from mixoracle.decoding.reading import RowTable, flat, score

from mixoracle.datasets import paper_problem
from mixoracle.decoding.latent_states import Others, merge_states, same_for_child
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.model.joint import emptiness

SETTINGS = ((2, 5, 3), (2, 6, 4), (3, 7, 2), (3, 7, 3))


def drawn(seed, scale=0.01):
    """A problem whose joint states are each in two components over X, and the states of those."""
    problem = paper_problem(
        *SETTINGS[seed % len(SETTINGS)], 2000, random_state=seed, covariance="code", scale=scale
    )
    model, rng = problem.model, np.random.default_rng(seed)
    cells = np.ravel_multi_index(tuple(problem.states.T), model.domain_sizes)
    pieces, where = np.unique(2 * cells + rng.integers(2, size=len(cells)), return_inverse=True)
    states = np.stack(np.unravel_index(pieces // 2, model.domain_sizes), axis=1)
    labels = model.component_of_states(states)
    families, statistics, priors = [], [], []
    for i in range(model.n_observed):
        block = problem.observations[i]
        families.append(GaussianFamily(block.shape[1]))
        features = families[-1].features((block - block.mean(axis=0)) / block.std(axis=0))
        statistics.append(pool(features, where, len(pieces)))
        of_components = pool(statistics[-1], labels[:, i], int(labels[:, i].max()) + 1)
        priors.append(families[-1].prior(of_components))
    counts = np.bincount(where).astype(float)
    table = RowTable(labels, tuple(statistics), tuple(families), tuple(priors), counts)
    return model, table, states


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
    cells = flat(np.column_stack([others.states, column]), sizes)
    rows = np.bincount(cells, table.counts, int(np.prod(sizes))).reshape(sizes)
    reading = score(table, np.hstack([others.adjacency, driven]), sizes, cells)
    return reading.log_evidence + emptiness(rows)


def is_same_partition(first, second):
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


@pytest.mark.parametrize("seed", range(24))
def test_states_of_single_components_merge_to_the_true_ones(seed):
    model, table, states = drawn(seed)
    for latent in range(model.n_latent):
        others, children = around(model, states, latent)
        begin = 2 * states[:, latent] + np.arange(len(states)) % 2
        begin = np.unique(begin, return_inverse=True)[1]
        merged = merge_states(table, others, children, begin)
        assert is_same_partition(merged, states[:, latent])


@pytest.mark.parametrize("seed", range(16))
def test_merging_stops_where_no_pair_raises_the_evidence_of_the_whole_model(seed):
    """The gains are sums over what a merge touches; the evidence of everything must agree."""
    model, table, states = drawn(seed, scale=0.3)
    rng = np.random.default_rng(seed)
    others, children = around(model, states, 0)
    begin = rng.permutation(len(states)) % 6
    merged = merge_states(table, others, children, begin)
    before, after = (evidence(table, others, children, column) for column in (begin, merged))
    assert after >= before - 1e-6
    for low, high in zip(*np.triu_indices(merged.max() + 1, 1), strict=True):
        fewer = np.where(merged == high, low, merged)
        fewer = np.unique(fewer, return_inverse=True)[1]
        assert evidence(table, others, children, fewer) <= after + 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_only_states_that_may_merge_do(seed):
    model, table, states = drawn(seed)
    others, children = around(model, states, 0)
    begin = 2 * states[:, 0] + np.arange(len(states)) % 2
    begin = np.unique(begin, return_inverse=True)[1]
    may_merge = np.zeros(begin.max() + 1, dtype=bool)
    may_merge[:2] = True
    merged = merge_states(table, others, children, begin, may_merge)
    assert is_same_partition(merged, np.where(begin == 1, 0, begin))


@pytest.mark.parametrize("seed", range(16))
def test_each_child_tells_its_own_latents_states_apart(seed):
    """Of all latents as one: a child sees the configuration of its parents and no more."""
    model, table, states = drawn(seed)
    joined = np.unique(states, axis=0, return_inverse=True)[1].ravel()
    nothing = Others(
        np.zeros((len(states), 0), dtype=np.int64), (), np.zeros((model.n_observed, 0), dtype=bool)
    )
    right = sum(
        is_same_partition(same_for_child(table, nothing, i, joined)[joined], table.labels[:, i])
        for i in range(model.n_observed)
    )
    assert right >= model.n_observed - 1
