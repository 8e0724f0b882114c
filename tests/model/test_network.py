import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle import JointNetwork, JointTable
from mixoracle.errors import InvalidInputError


def random_network(seed, n_latent, max_states=3, max_parents=3):
    """A network with up to so many parents each, its latents in no particular order."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, max_states + 1, size=n_latent)
    order = rng.permutation(n_latent)
    parents = [()] * n_latent
    for place, node in enumerate(order):
        n_parents = int(rng.integers(0, min(place, max_parents) + 1))
        parents[node] = tuple(sorted(rng.choice(order[:place], n_parents, replace=False).tolist()))
    tables = [
        rng.dirichlet(np.ones(sizes[j]), size=[sizes[i] for i in held])
        for j, held in enumerate(parents)
    ]
    return JointNetwork(parents, tables)


def whole_table(network):
    """P(H) one joint state at a time."""
    table = np.ones(network.domain_sizes)
    for states in np.ndindex(*network.domain_sizes):
        for j, held in enumerate(network.parents):
            table[states] *= network.conditionals[j][(*(states[i] for i in held), states[j])]
    return table


SWITCH = np.array([0.5, 0.5])
LAMP = np.array([[0.9, 0.1], [0.2, 0.8]])


@pytest.mark.parametrize(
    ("parents", "tables", "sentence"),
    [
        ([()], [SWITCH, SWITCH], "parents and a conditional table for each latent; got 1 and 2"),
        ([(1,), (0,)], [LAMP, LAMP], r"form a cycle among nodes \[0, 1\]"),
        ([(0,)], [LAMP], r"form a cycle among nodes \[0\]"),
        ([(), (0, 0)], [SWITCH, LAMP], "distinct latents from 0 to 1 in ascending order"),
        ([(), (2,)], [SWITCH, LAMP], "distinct latents from 0 to 1"),
        ([(), ()], [SWITCH, LAMP], r"an axis for each of its 0 parents .* got shape \(2, 2\)"),
        ([(), (0,)], [1.0, LAMP], r"latent 0 should have an axis .* got shape \(\)"),
        ([(), (0,)], [[0.2, 0.3, 0.5], LAMP], r"sizes of its parents, \(3,\); got shape \(2, 2\)"),
        ([(), (0,)], [SWITCH, LAMP[:, ::-1] * 2], "latent 1 should sum to 1; one sums to 2"),
        ([()], [[1.5, -0.5]], "finite numbers from 0 on"),
        ([()], [[np.nan, 0.5]], "finite numbers from 0 on"),
        ([(0.5,)], [SWITCH], "whole numbers"),
    ],
)
def test_what_is_no_network_is_refused(parents, tables, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        JointNetwork(parents, tables)


@given(st.integers(0, 10_000), st.integers(1, 6), st.data())
def test_it_is_the_table_that_it_stands_for(seed, n_latent, data):
    network = random_network(seed, n_latent)
    table = JointTable(whole_table(network))
    assert network.domain_sizes == table.domain_sizes
    assert network.n_joint == table.n_joint == table.table.size
    np.testing.assert_allclose(network.to_table().table, table.table, atol=1e-12)
    asked = data.draw(st.permutations(range(n_latent)))[: data.draw(st.integers(0, 3))]
    found, expected = network.marginal(asked), table.marginal(asked)
    np.testing.assert_allclose(found.table, expected.table, atol=1e-12)
    states = np.random.default_rng(seed).integers(0, network.domain_sizes, size=(20, n_latent))
    np.testing.assert_allclose(
        network.log_probability(states), table.log_probability(states), atol=1e-12
    )
    if asked:
        shares = [joint.conditional(asked[0], asked[1:]) for joint in (network, table)]
        np.testing.assert_allclose(*shares, atol=1e-12)
    for j in range(n_latent):
        own = network.conditional(j, network.parents[j])
        np.testing.assert_array_equal(own, network.conditionals[j])


def test_draws_have_the_frequencies_of_the_table():
    network = random_network(3, 4)
    table = network.to_table()
    for joint in (network, table):
        states = joint.draw(200_000, np.random.default_rng(0))
        counts = np.zeros(network.domain_sizes)
        np.add.at(counts, tuple(states.T), 1.0)
        assert states.dtype == np.int64
        # Four standard deviations of a frequency of a half.
        np.testing.assert_allclose(counts / 200_000, table.table, atol=4 * 0.5 / 200_000**0.5)


def test_states_of_probability_zero_are_never_drawn():
    network = JointNetwork([(), (0,)], [[0.0, 1.0], [[0.5, 0.5], [1.0, 0.0]]])
    np.testing.assert_array_equal(
        network.draw(1000, np.random.default_rng(1)), np.tile([1, 0], (1000, 1))
    )
    assert network.log_probability([[1, 0], [0, 0]]).tolist() == [0.0, -np.inf]
    # Nothing is known of H2 where H1 is in a state that never occurs.
    unseen = network.conditional(1, [0], unseen=0.25)
    np.testing.assert_array_equal(unseen, [[0.25, 0.25], [1.0, 0.0]])


@pytest.mark.parametrize("weights", [None, "random"])
def test_counts_become_tables(weights):
    truth = random_network(5, 4)
    states = truth.draw(2_000, np.random.default_rng(2))
    held = None if weights is None else np.random.default_rng(3).random(2_000)
    found = JointNetwork.from_states(states, truth.domain_sizes, truth.edges, held)
    assert (found.parents, found.domain_sizes) == (truth.parents, truth.domain_sizes)
    for j, parents in enumerate(truth.parents):
        counts = np.full(found.conditionals[j].shape, 0.5)
        np.add.at(counts, tuple(states[:, [*parents, j]].T), 1.0 if held is None else held)
        expected = counts / counts.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(found.conditionals[j], expected, rtol=1e-12)


def test_without_a_prior_what_was_never_seen_is_uniform():
    found = JointNetwork.from_states([[0, 1], [0, 1], [0, 0]], (2, 2), [(0, 1)], prior=0)
    np.testing.assert_allclose(found.conditionals[0], [1.0, 0.0])
    np.testing.assert_allclose(found.conditionals[1], [[1 / 3, 2 / 3], [0.5, 0.5]])
    with pytest.raises(InvalidInputError, match="prior should be a number from 0 on"):
        JointNetwork.from_states([[0]], (2,), [], prior=-1)


@pytest.mark.parametrize("joint", [random_network(0, 2), random_network(0, 2).to_table()])
def test_states_that_do_not_exist_are_refused(joint):
    with pytest.raises(InvalidInputError, match="a column for each of the 2 latents"):
        joint.log_probability([[0, 0, 0]])
    with pytest.raises(InvalidInputError, match="stay below the domain sizes"):
        joint.log_probability([[0, 7]])


def test_no_latents():
    network = JointNetwork([], [])
    assert network.to_table() == JointTable(1.0)
    assert network.draw(3, np.random.default_rng(0)).shape == (3, 0)
    assert network.log_probability(np.zeros((2, 0))).tolist() == [0.0, 0.0]
    assert JointTable(1.0).log_probability(np.zeros((2, 0))).tolist() == [0.0, 0.0]


def test_records_are_equal_by_value_and_frozen():
    network = random_network(1, 5)
    assert network == random_network(1, 5) != random_network(2, 5)
    assert len({network, random_network(1, 5)}) == 1
    for copied in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert copied == network
        with pytest.raises(ValueError, match="read-only"):
            copied.conditionals[0][...] = 0.5


def test_forty_latents():
    network = random_network(7, 40, max_parents=2)
    assert network.n_joint > 2**40
    assert "^" in repr(network)
    with pytest.raises(InvalidInputError, match="ask for the marginal of a few latents"):
        network.to_table()
    states = network.draw(100_000, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    for _ in range(20):
        asked = rng.choice(40, 3, replace=False)
        table = network.marginal(asked).table
        counts = np.zeros(table.shape)
        np.add.at(counts, tuple(states[:, asked].T), 1.0)
        np.testing.assert_allclose(counts / 100_000, table, atol=5 * 0.5 / 100_000**0.5)
