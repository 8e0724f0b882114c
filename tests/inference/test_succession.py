"""Rows that go on from the one before are told from states that last."""

import numpy as np
import pytest

from mixoracle.inference.succession import gain_of_states


def states_of(block, n_states):
    """Stretches of the first column as states, as a mixture would cut it."""
    edges = np.quantile(block[:, 0], np.linspace(0, 1, n_states + 1)[1:-1])
    return np.searchsorted(edges, block[:, 0])


def one_latent(n_states, n_observed):
    return np.repeat(np.arange(n_states)[:, None], n_observed, axis=1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("persistence", [1.0, 0.95])
def test_stretches_of_walks_explain_nothing(seed, persistence):
    rng = np.random.default_rng(seed)
    walks = np.zeros((800, 4))
    for t in range(1, 800):
        walks[t] = persistence * walks[t - 1] + rng.normal(size=4)
    gain = gain_of_states(list(walks.T[:, :, None]), states_of(walks, 8), one_latent(8, 4))
    assert gain < 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lasting", [0.0, 0.97])
def test_states_that_last_with_noise_that_lasts_are_states(seed, lasting):
    rng = np.random.default_rng(seed)
    states, noise = np.zeros(800, dtype=int), np.zeros((800, 4))
    for t in range(1, 800):
        states[t] = states[t - 1] if rng.random() < lasting else rng.integers(3)
        noise[t] = 0.8 * noise[t - 1] + 0.6 * rng.normal(size=4)
    rows = 6.0 * states[:, None] + noise
    assert gain_of_states(list(rows.T[:, :, None]), states, one_latent(3, 4)) > 0


def test_a_table_sorted_by_one_measurement_keeps_its_states():
    rng = np.random.default_rng(0)
    states = rng.integers(3, size=800)
    rows = 4.0 * states[:, None] + rng.normal(size=(800, 4))
    rows[:, 0] = rng.normal(size=800)
    order = np.argsort(rows[:, 0])
    codes = one_latent(3, 4)
    codes[:, 0] = 0
    assert gain_of_states(list(rows[order].T[:, :, None]), states[order], codes) > 0
