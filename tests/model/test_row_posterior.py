import numpy as np
import pytest

from mixoracle.model.elimination import Factor
from mixoracle.model.joint_states import configurations, states_of_cells
from mixoracle.model.network import JointNetwork
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.model.row_posterior import RowInference


def drawn(seed, spread):
    """Γ, a network and densities of rows whose components are ``spread`` nats apart."""
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 4, size=5).tolist())
    adjacency = rng.random((8, 5)) < 0.35
    adjacency[np.arange(5), np.arange(5)] = True
    edges = [(i, j) for i in range(5) for j in range(i + 1, 5) if rng.random() < 0.4]
    joint = JointNetwork.from_states(rng.integers(0, sizes, size=(40, 5)), sizes, edges)
    states = joint.draw(200, rng)
    codes = configurations(adjacency, sizes)
    right = codes[np.ravel_multi_index(states.T, sizes)]
    densities = []
    for i in range(8):
        density = rng.normal(scale=spread, size=(200, codes[:, i].max() + 1)) - 3.0 * spread
        density[np.arange(200), right[:, i]] += 4.0 * spread
        densities.append(density)
    return adjacency, sizes, joint, codes, densities


def listed(joint, codes, densities):
    """The posterior by listing all joint states."""
    return share_out(log_joint(np.log(joint.to_table().table.ravel()), densities, codes))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [3.0, 8.0])
def test_it_agrees_with_a_list_of_all_joint_states(seed, spread):
    adjacency, sizes, joint, codes, densities = drawn(seed, spread)
    expected = listed(joint, codes, densities)
    found = RowInference(adjacency, sizes, joint.factors()).posterior(densities)
    assert found.n_approximate == 0
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, atol=1e-4)
    states = states_of_cells(np.arange(len(codes)), sizes)
    for j, own in enumerate(found.probabilities(sizes)):
        by_state = expected.responsibilities @ (states[:, [j]] == np.arange(sizes[j]))
        np.testing.assert_allclose(own, by_state, atol=1e-4)
    for i, own in enumerate(found.by_code(adjacency, sizes)):
        by_code = expected.responsibilities @ (codes[:, [i]] == np.arange(own.shape[1]))
        np.testing.assert_allclose(own, by_code, atol=1e-4)
    best = states[expected.responsibilities.argmax(axis=1)]
    sure = expected.responsibilities.max(axis=1) > 0.51
    np.testing.assert_array_equal(found.best[sure], best[sure])


def test_where_nothing_is_told_the_rows_follow_the_joint():
    adjacency, sizes, joint, _, densities = drawn(0, 3.0)
    silent = [np.zeros_like(density) for density in densities]
    found = RowInference(adjacency, sizes, joint.factors()).posterior(silent)
    assert found.is_open.all()
    for j, own in enumerate(found.probabilities(sizes)):
        np.testing.assert_allclose(own, np.tile(joint.marginal([j]).table, (200, 1)), atol=1e-12)


def test_one_table_of_all_latents_is_a_factor_like_any_other():
    adjacency, sizes, joint, _, densities = drawn(3, 3.0)
    table = joint.to_table().table
    whole = RowInference(adjacency, sizes, [Factor(tuple(range(5)), table)]).posterior(densities)
    parts = RowInference(adjacency, sizes, joint.factors()).posterior(densities)
    np.testing.assert_allclose(whole.log_likelihood, parts.log_likelihood, atol=1e-4)


def test_rows_that_leave_too_much_open_are_counted():
    sizes = (2,) * 12
    adjacency = np.eye(12, dtype=bool)
    joint = JointNetwork.from_states(np.zeros((0, 12), dtype=int), sizes, [])
    silent = [np.zeros((3, 2)) for _ in range(12)]
    found = RowInference(adjacency, sizes, joint.factors()).posterior(silent)
    assert found.n_approximate == 3
    np.testing.assert_allclose(sum(found.shares), 3.0)


def test_impossible_values_of_one_variable_leave_the_others_their_say():
    adjacency, sizes, joint, codes, densities = drawn(1, 8.0)
    densities[0][:5] = -np.inf
    found = RowInference(adjacency, sizes, joint.factors()).posterior(densities)
    others = listed(joint, codes, [np.where(np.isinf(d), 0.0, d) for d in densities])
    states = states_of_cells(others.responsibilities.argmax(axis=1), sizes)
    assert np.mean(found.best[:5] == states[:5]) > 0.9
