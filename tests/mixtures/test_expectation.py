"""Rows shared out among joint states, against brute force."""

import numpy as np
import pytest
from scipy.special import logsumexp

from mixoracle.datasets import kind_problem, paper_problem, with_gaps
from mixoracle.mixtures.expectation import most_likely_states, share_out_states
from mixoracle.mixtures.preparation import prepare
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Budget, Settings


def drawn(seed, n_rows=200, n_states=300, sizes=(40, 7, 12)):
    """Log densities of rows that each fit a state, with noise of many nats."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(size, size=n_states) for size in sizes], axis=1)
    log_weights = np.log(rng.dirichlet(np.full(n_states, 0.5)))
    truth = rng.integers(n_states, size=n_rows)
    densities = []
    for i, size in enumerate(sizes):
        density = -rng.gamma(1.0, 8.0, size=(n_rows, size))
        density[np.arange(n_rows), codes[truth, i]] = -rng.gamma(1.0, 1.0, size=n_rows)
        densities.append(density)
    return codes, log_weights, densities, truth


@pytest.mark.parametrize("seed", range(5))
def test_the_log_likelihood_is_that_of_the_mixture(seed):
    codes, log_weights, densities, truth = drawn(seed)
    joint = log_weights + sum(d[:, codes[:, i]] for i, d in enumerate(densities))
    shared = share_out_states(codes, log_weights, densities)
    assert shared.log_likelihood == pytest.approx(float(logsumexp(joint, axis=1).sum()))
    assert shared.weights.sum() == pytest.approx(len(truth))
    np.testing.assert_array_equal(shared.best, joint.argmax(axis=1))
    for i, own in enumerate(shared.by_code):
        np.testing.assert_allclose(own.sum(axis=1), 1.0)
        by_code = np.bincount(codes[:, i], shared.weights, own.shape[1])
        np.testing.assert_allclose(own.sum(axis=0), by_code)


def test_what_is_shared_out_stays_as_it_was():
    codes, log_weights, densities, _ = drawn(3)
    given = [codes, log_weights, *densities]
    before = [held.copy() for held in given]
    first = share_out_states(codes, log_weights, densities)
    again = share_out_states(codes, log_weights, densities)
    for held, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(held, old)
    assert first.log_likelihood == again.log_likelihood
    np.testing.assert_array_equal(first.weights, again.weights)
    np.testing.assert_array_equal(first.best, again.best)


def problem_with_components(kind, seed, share):
    """A prepared problem with components for each configuration, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        problem = paper_problem(2, 5, 3, 60, random_state=seed, width=2, scale=0.5)
    else:
        problem = kind_problem(2, 5, 3, 60, random_state=seed, kind=kind)
    prepared = prepare(with_gaps(problem.observations, share, seed))
    adjacency = problem.model.bipartite[prepared.variables]
    codes = configurations(adjacency, problem.model.domain_sizes)
    weights = rng.dirichlet(np.ones(len(codes)))
    weights[rng.integers(len(codes))] = 0.0
    components = []
    for place, family in enumerate(prepared.families):
        block = prepared.features(place, slice(None))
        statistics = np.stack(
            [block[rng.random(60) < 0.3].sum(axis=0) for _ in range(codes[:, place].max() + 1)]
        )
        components.append(family.components(statistics, family.prior(statistics)))
    return prepared, components, codes, weights / weights.sum()


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["numbers", "categorical", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_the_most_likely_state_is_that_of_brute_force(kind, seed, share):
    prepared, components, codes, weights = problem_with_components(kind, seed, share)
    everything = slice(0, prepared.n_samples)
    densities = prepared.log_densities(components, everything)
    expected = np.empty(prepared.n_samples, dtype=np.int64)
    for row in range(prepared.n_samples):
        scores = [
            -np.inf
            if weight == 0
            else np.log(weight) + sum(d[row, c] for d, c in zip(densities, code, strict=True))
            for code, weight in zip(codes, weights, strict=True)
        ]
        expected[row] = int(np.argmax(scores))
    for budget in (Budget(), Budget(chunk_entries=200)):
        found = most_likely_states(prepared, components, codes, weights, Settings(budget))
        np.testing.assert_array_equal(found, expected)
    assert np.flatnonzero(weights == 0)[0] not in expected
