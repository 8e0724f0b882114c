import numpy as np
import pytest

from mixoracle.decoding.completion import assign_all, complete
from mixoracle.decoding.evidence import score
from mixoracle.decoding.explanation import Proposal
from mixoracle.model.joint_states import configurations, flat
from mixoracle.settings import Budget, Settings

SETTINGS = ((2, 5, 3), (2, 6, 3), (3, 7, 2))


@pytest.fixture(scope="module")
def drawn(drawn_pieces):
    return lambda seed: drawn_pieces(SETTINGS[seed % len(SETTINGS)], 1500, seed)


@pytest.mark.parametrize("seed", range(6))
def test_true_states_are_completed_to_the_truth(drawn, seed):
    model, table, states = drawn(seed)
    found = complete(table, Proposal.of_all(states))
    np.testing.assert_array_equal(found.adjacency, model.bipartite)
    assert found.domain_sizes == model.domain_sizes
    np.testing.assert_array_equal(found.assignment, flat(states, model.domain_sizes))


@pytest.mark.parametrize("seed", range(6))
def test_components_that_were_left_out_find_their_joint_state(drawn, seed):
    """One of the two components of each joint state is kept; the other goes where it belongs."""
    model, table, states = drawn(seed)
    truth = flat(states, model.domain_sizes)
    kept = np.zeros(len(states), dtype=bool)
    kept[np.unique(truth, return_index=True)[1]] = True
    assert not kept.all()
    found = complete(table, Proposal(kept, states[kept]))
    np.testing.assert_array_equal(found.assignment, truth)


@pytest.mark.parametrize("seed", range(6))
def test_a_component_in_the_wrong_joint_state_is_moved(drawn, seed):
    model, table, states = drawn(seed)
    truth, wrong = flat(states, model.domain_sizes), states.copy()
    smallest = int(np.argmin(table.counts))
    wrong[smallest] = states[(smallest + len(states) // 2) % len(states)]
    proposal = Proposal.of_all(wrong)
    found = assign_all(table, proposal, model.bipartite)
    np.testing.assert_array_equal(found, truth)
    never = assign_all(table, proposal, model.bipartite, settings=Settings(Budget(rounds=0)))
    np.testing.assert_array_equal(never, flat(wrong, model.domain_sizes))


def test_nothing_is_put_where_a_variable_was_never_seen(table_of):
    """X3 shows both latents; in the joint state (1, 1) nobody knows what it looks like."""
    rng = np.random.default_rng(0)
    adjacency = np.array([[True, False], [False, True], [True, True]])
    labels, where = configurations(adjacency, (2, 2)), np.repeat(np.arange(4), 50)
    blocks = [10.0 * labels[where, i, None] + rng.normal(size=(200, 1)) for i in range(3)]
    table = table_of(labels, where, blocks)
    kept, states = np.array([True, True, True, False]), np.array([[0, 0], [0, 1], [1, 0]])
    found = assign_all(table, Proposal(kept, states), adjacency)
    assert found[:3].tolist() == [0, 1, 2]
    assert found[3] in (0, 1, 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_completion_is_the_score_of_its_parts(drawn, seed):
    _, table, states = drawn(seed)
    found = complete(table, Proposal.of_all(states))
    again = score(table, found.adjacency, found.domain_sizes, found.assignment)
    assert again.log_evidence == found.log_evidence
    assert again.is_consistent == found.is_consistent


def test_a_latent_that_nothing_depends_on_is_gone(drawn):
    model, table, states = drawn(0)
    coin = np.random.default_rng(0).integers(2, size=(len(states), 1))
    found = complete(table, Proposal.of_all(np.hstack([states, coin])))
    np.testing.assert_array_equal(found.adjacency, model.bipartite)


def test_no_latents_are_a_proposal_too(drawn):
    _, table, states = drawn(0)
    found = complete(table, Proposal.of_all(states[:, :0]))
    assert (found.domain_sizes, found.adjacency.shape) == ((), (table.n_observed, 0))
    np.testing.assert_array_equal(found.assignment, np.zeros(len(states)))
