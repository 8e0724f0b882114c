"""Thousands of joint states: leaving out the hopeless ones changes nothing."""

import mixoracle.mixtures.plausible
import numpy as np
import pytest
from mixoracle.mixtures.plausible import PlausibleStates
from scipy.special import logsumexp


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


@pytest.mark.parametrize("seed", range(20))
def test_few_states_and_many_are_shared_out_alike(seed, monkeypatch):
    codes, log_weights, densities, truth = drawn(seed)
    states = PlausibleStates(codes, log_weights)
    at_once = states.share_out(densities, truth)
    monkeypatch.setattr(mixoracle.mixtures.plausible, "_FEW_STATES", 10)
    some = states.share_out(densities, truth)
    assert some.log_likelihood == pytest.approx(at_once.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(some.weights, at_once.weights, atol=1e-9)
    np.testing.assert_array_equal(some.best, at_once.best)
    for ours, theirs in zip(some.by_code, at_once.by_code, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_a_bad_state_before_costs_time_but_not_the_answer(seed, monkeypatch):
    codes, log_weights, densities, truth = drawn(seed)
    monkeypatch.setattr(mixoracle.mixtures.plausible, "_FEW_STATES", 10)
    states = PlausibleStates(codes, log_weights)
    rng = np.random.default_rng(seed)
    good = states.share_out(densities, truth)
    bad = states.share_out(densities, rng.integers(len(codes), size=len(truth)))
    np.testing.assert_array_equal(good.best, bad.best)
    np.testing.assert_allclose(good.weights, bad.weights, atol=1e-9)


def test_the_log_likelihood_is_that_of_the_mixture():
    codes, log_weights, densities, truth = drawn(0)
    joint = log_weights + sum(d[:, codes[:, i]] for i, d in enumerate(densities))
    shared = PlausibleStates(codes, log_weights).share_out(densities, truth)
    assert shared.log_likelihood == pytest.approx(float(logsumexp(joint, axis=1).sum()))
    assert shared.weights.sum() == pytest.approx(len(truth))
