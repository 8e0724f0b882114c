"""The one E-step, held against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from mixoracle.model.responsibilities import log_joint, share_out


def drawn(seed, spread=50.0):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 30)), int(rng.integers(1, 8))
    return spread * rng.normal(size=shape), rng


class TestShareOut:
    @given(st.integers(0, 10_000), st.sampled_from([0.1, 50.0, 1e5]))
    def test_it_is_a_softmax_and_a_logsumexp(self, seed, spread):
        joint, _ = drawn(seed, spread)
        shares = share_out(joint)
        np.testing.assert_allclose(shares.responsibilities, softmax(joint, axis=1), atol=1e-12)
        np.testing.assert_allclose(shares.log_likelihood, logsumexp(joint, axis=1), rtol=1e-12)

    @given(st.integers(0, 10_000))
    def test_states_that_are_impossible_get_nothing(self, seed):
        joint, rng = drawn(seed)
        joint[rng.random(joint.shape) < 0.4] = -np.inf
        possible = np.isfinite(joint).any(axis=1)
        shares = share_out(joint)
        np.testing.assert_allclose(
            shares.responsibilities[possible], softmax(joint[possible], axis=1), atol=1e-12
        )
        np.testing.assert_allclose(shares.responsibilities.sum(axis=1), 1.0)
        assert not shares.responsibilities[np.isneginf(joint) & possible[:, None]].any()

    @pytest.mark.parametrize("weights", [None, np.array([0.5, 0.2, 0.3])])
    def test_a_row_impossible_in_every_state_is_shared_out_by_the_weights(self, weights):
        joint = np.array([[0.0, -1.0, -2.0], [-np.inf] * 3])
        shares = share_out(joint, weights)
        np.testing.assert_allclose(shares.responsibilities[0], softmax(joint[0]))
        expected = np.full(3, 1 / 3) if weights is None else weights
        np.testing.assert_allclose(shares.responsibilities[1], expected)
        assert shares.log_likelihood[0] == pytest.approx(logsumexp(joint[0]))
        assert shares.log_likelihood[1] == -np.inf

    def test_weights_need_not_add_up_to_one(self):
        shares = share_out(np.full((1, 2), -np.inf), np.array([3.0, 1.0]))
        np.testing.assert_allclose(shares.responsibilities, [[0.75, 0.25]])

    def test_what_is_shared_out_stays_as_it_was(self):
        joint, weights = np.array([[0.0, -1.0], [-np.inf] * 2]), np.array([0.4, 0.6])
        before = joint.copy(), weights.copy()
        first, again = share_out(joint, weights), share_out(joint, weights)
        np.testing.assert_array_equal(joint, before[0])
        np.testing.assert_array_equal(weights, before[1])
        np.testing.assert_array_equal(first.responsibilities, again.responsibilities)


class TestLogJoint:
    @given(st.integers(0, 10_000))
    def test_with_codes_it_is_the_sum_over_the_variables(self, seed):
        rng = np.random.default_rng(seed)
        n_rows, n_states, n_observed = (int(k) for k in rng.integers(1, 7, 3))
        sizes = rng.integers(1, 5, n_observed)
        densities = [rng.normal(size=(n_rows, size)) for size in sizes]
        codes = np.stack([rng.integers(size, size=n_states) for size in sizes], axis=1)
        log_weights = rng.normal(size=n_states)
        before = [log_weights.copy(), *(density.copy() for density in densities)]
        found = log_joint(log_weights, densities, codes)
        assert found.shape == (n_rows, n_states)
        for row in range(n_rows):
            for state in range(n_states):
                expected = log_weights[state] + sum(
                    density[row, codes[state, i]] for i, density in enumerate(densities)
                )
                assert found[row, state] == pytest.approx(expected)
        for held, old in zip([log_weights, *densities], before, strict=True):
            np.testing.assert_array_equal(held, old)

    def test_without_codes_the_states_are_the_components(self):
        rng = np.random.default_rng(0)
        densities = [rng.normal(size=(9, 4)) for _ in range(3)]
        log_weights = rng.normal(size=4)
        found = log_joint(log_weights, densities)
        np.testing.assert_allclose(found, log_weights + sum(densities))
        same = np.repeat(np.arange(4)[:, None], 3, axis=1)
        np.testing.assert_array_equal(found, log_joint(log_weights, densities, same))
