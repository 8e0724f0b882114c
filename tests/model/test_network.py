import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle import CPDAG, JointNetwork, JointTable, LatentModel
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import compare, differences, relabel
from mixoracle.metrics.many_states import drawn_distance
from mixoracle.model import GaussianComponents
from mixoracle.model.export import read_bif, read_json, read_xmlbif


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"prior": -1}, "prior should be a number from 0 on"),
        ({"prior": np.nan}, "prior should be a number from 0 on"),
        ({"edges": [(0, 2)]}, r"nodes from 0 to 1; got \[2\]"),
        ({"edges": [(0, 1), (1, 0)]}, "two nodes may share one edge only"),
        ({"weights": [1.0, 2.0]}, r"1 numbers from 0 on, one for each row; got shape \(2,\)"),
        ({"weights": [-1.0]}, "numbers from 0 on"),
        ({"weights": [np.nan]}, "numbers from 0 on"),
        ({"states": [[0, 2]]}, "stay below the domain sizes"),
    ],
)
def test_what_cannot_be_counted_is_refused(arguments, sentence):
    given = {"states": [[0, 1]], "domain_sizes": (2, 2), "edges": [(0, 1), (0, 1)], **arguments}
    with pytest.raises(InvalidInputError, match=sentence):
        JointNetwork.from_states(**given)


def test_too_many_parents_are_refused():
    edges = [(i, 29) for i in range(29)]
    with pytest.raises(InvalidInputError, match="a table of 1,073,741,824 entries"):
        JointNetwork.from_states(np.zeros((1, 30)), (2,) * 30, edges)


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


def model_over(joint, edges, n_observed=None):
    """A model with Gaussian children, each of one latent or two, and Λ the class of a DAG."""
    m = joint.n_latent
    n = n_observed or m + 2
    rng = np.random.default_rng(0)
    bipartite = np.zeros((n, m), dtype=bool)
    for i, row in enumerate(bipartite):
        row[[i % m, int(rng.integers(m))]] = True
    counts = [int(np.prod(np.array(joint.domain_sizes)[row])) for row in bipartite]
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(n)],
        latent_names=[f"H{j + 1}" for j in range(m)],
        bipartite=bipartite,
        domain_sizes=joint.domain_sizes,
        joint=joint,
        latent_graph=CPDAG.from_dag(edges, m),
        components=[
            GaussianComponents(rng.standard_normal((k, 2)), np.tile(np.eye(2), (k, 1, 1)))
            for k in counts
        ],
    )


def both_kinds(seed, n_latent=4):
    """The same model with P(H) as a network and as a table."""
    network = random_network(seed, n_latent)
    return [model_over(joint, network.edges) for joint in (network, network.to_table())]


@pytest.mark.parametrize("seed", range(6))
class TestModelsOfEitherKind:
    def test_answer_questions_alike(self, seed):
        models = both_kinds(seed)
        questions = [
            lambda model: model.query(["H1", "X2"], given={"H3": 1, "X1": [0.3, -0.2]}),
            lambda model: model.query("X3", given={"X4": [0.5, np.nan]}),
            lambda model: model.query("H2", given={"H4": 0}, factorised_along_graph=True),
        ]
        for ask in questions:
            found, expected = map(ask, models)
            np.testing.assert_allclose(found.table, expected.table, atol=1e-12)
            if expected.mean is not None:
                np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)

    def test_follow_interventions_alike(self, seed):
        models = both_kinds(seed)
        questions = [
            lambda model: model.effect("H1", "H3"),
            lambda model: model.effect("H2", "X5"),
            lambda model: model.do({"H4": 1, "H2": 0}).query("H3", given={"X1": [0.1, 0.1]}),
        ]
        for ask in questions:
            found, expected = map(ask, models)
            assert found.graphs == expected.graphs
            np.testing.assert_allclose(found.member_lower, expected.member_lower, atol=1e-12)
            np.testing.assert_allclose(found.member_upper, expected.member_upper, atol=1e-12)

    def test_make_the_same_frames_and_files(self, seed):
        network, table = both_kinds(seed)
        for make in ("joint_frame", "state_means", "effects_frame"):
            found, expected = getattr(network, make)(), getattr(table, make)()
            pd.testing.assert_frame_equal(found, expected, rtol=1e-12, atol=1e-12)
        for make in ("to_dot", "to_graphml", "to_dagitty"):
            assert getattr(network, make)() == getattr(table, make)()
        for written in (read_bif(network.to_bif()), read_xmlbif(network.to_xmlbif())):
            np.testing.assert_allclose(written.joint.table, table.joint.table, atol=1e-12)
        assert read_json(network.to_json()) == network

    def test_are_relabelled_and_compared_alike(self, seed):
        models = both_kinds(seed)
        rng = np.random.default_rng(seed)
        order = rng.permutation(4).tolist()
        states = [rng.permutation(models[0].domain_sizes[j]).tolist() for j in order]
        moved = [relabel(model, order, states) for model in models]
        np.testing.assert_allclose(moved[0].joint.table, moved[1].joint.table, atol=1e-12)
        assert moved[0].bipartite.tolist() == moved[1].bipartite.tolist()
        comparisons = [compare(models[0], other) for other in moved]
        assert comparisons[0].shd == comparisons[1].shd == 0
        assert comparisons[0].joint_tv == pytest.approx(0, abs=1e-12)


def test_what_never_occurs_is_open_in_either_kind():
    network = JointNetwork([(), (0,)], [[1.0, 0.0], LAMP])
    models = [model_over(joint, [(0, 1)]) for joint in (network, network.to_table())]
    found, expected = (model.effect("H1", "H2") for model in models)
    assert not found.identified
    np.testing.assert_allclose(found.lower, expected.lower, atol=1e-12)
    np.testing.assert_allclose(found.upper, expected.upper, atol=1e-12)


def test_a_network_along_its_own_dag_writes_its_own_tables():
    network = random_network(11, 5)
    model = replace(model_over(network, []), latent_graph=CPDAG(5, network.edges))
    assert read_bif(model.to_bif()).joint == network


@pytest.fixture(scope="module")
def model():
    network = random_network(7, 40, max_parents=2)
    return model_over(network, network.edges, n_observed=80)


class TestFortyLatents:
    def test_files(self, model, tmp_path):
        model.save(tmp_path)
        assert LatentModel.load(tmp_path) == model
        assert read_json(model.to_json()) == model
        written = read_bif(model.to_bif()).joint
        asked = [3, 30, 17]
        np.testing.assert_allclose(
            written.marginal(asked).table, model.joint.marginal(asked).table, atol=1e-12
        )

    def test_questions(self, model):
        evidence = {"H9": 1, "X12": [0.5, 0.5], "H30": 0}
        assert model.query("H1", given=evidence).table.sum() == pytest.approx(1)
        assert np.all(model.do({"H2": 0}).query(["H40", "X33"]).upper <= 1)
        found = model.effect("H17", "H40")
        assert found.lower.shape == (model.domain_sizes[16], model.domain_sizes[39])

    def test_frames_of_a_few(self, model):
        frame = model.joint_frame(["H3", "H29"])
        assert list(frame.columns) == ["H3", "H29", "probability"]
        assert frame["probability"].sum() == pytest.approx(1)
        with pytest.raises(InvalidInputError, match="ask for the marginal of a few latents"):
            model.joint_frame()

    def test_comparison_by_pairs_and_draws(self, model):
        rng = np.random.default_rng(1)
        order = rng.permutation(40).tolist()
        states = [rng.permutation(model.domain_sizes[j]).tolist() for j in order]
        moved = relabel(model, order, states)
        matching = compare(model, moved).matching
        assert relabel(moved, matching.latents, matching.states) == model


def test_the_distance_of_large_networks_is_that_of_their_tables():
    first = random_network(0, 6)
    second = JointNetwork(first.parents, [t[..., ::-1] for t in first.conditionals])
    exact = 0.5 * np.abs(first.table - second.table).sum()
    assert drawn_distance(first, second) == pytest.approx(exact, abs=4 * 0.0016)


def test_pyagrum_gets_the_same_network():
    network = random_network(4, 5)
    model = replace(model_over(network, []), latent_graph=CPDAG(5, network.edges))
    exported = model.to_pyagrum()
    for j, parents in enumerate(network.parents):
        found = exported.cpt(f"H{j + 1}").reorganize([f"H{k + 1}" for k in (j, *parents[::-1])])
        np.testing.assert_allclose(found.toarray(), network.conditionals[j], atol=1e-12)


def test_differences_of_large_models_in_words(model):
    found = differences(model, model)
    assert found.is_same_graph
    assert found.joint_tv == pytest.approx(0, abs=1e-12)
