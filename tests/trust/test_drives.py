import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem, random_model, with_gaps
from mixoracle.inference.refine import refine
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite
from mixoracle.observations import Observations
from mixoracle.oracles.candidate import DecodedCounts, GraphCounts, Rivals
from mixoracle.structure import EdgePosterior
from mixoracle.trust.confidence import (
    RIGHT_COUNTS,
    RIGHT_DRIVES,
    RIGHT_EDGES,
    Confidence,
    of_graph,
)
from mixoracle.trust.drives import Drives, drive_posterior


def drives(observations, adjacency, sizes, states):
    prepared = prepare(observations)
    adjacency = np.asarray(adjacency, dtype=bool)
    refined = refine(
        prepared,
        adjacency[prepared.variables],
        sizes,
        states[prepared.rows],
        0,
    )
    return drive_posterior(prepared, Bipartite(adjacency, sizes), refined)


@pytest.fixture(scope="module")
def problem():
    return paper_problem(2, 5, 3, n_samples=400, random_state=1, covariance="code")


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_true_edges_are_certain_and_absent_ones_are_not_there(problem, share):
    observations = with_gaps(problem.observations, share, random_state=0)
    model = problem.model
    found = drives(observations, model.bipartite, model.domain_sizes, problem.states)
    assert found.edges == pytest.approx(model.bipartite.astype(float), abs=0.01)
    assert np.all(found.states > 0.99)


def test_wrong_edges_are_improbable_and_missing_ones_are_not(problem):
    model = problem.model
    turned = model.bipartite.copy()
    turned[0] = ~turned[0]
    turned[0, 0] |= not turned[0].any()
    found = drives(problem.observations, turned, model.domain_sizes, problem.states)
    wrong = turned[0] != model.bipartite[0]
    assert np.abs(found.edges[0] - turned[0])[wrong].min() > 0.99


def test_states_that_are_one_are_improbable():
    rng = np.random.default_rng(0)
    model = random_model(1, 3, 2, random_state=0, covariance="code")
    problem = paper_problem(model=model, n_samples=300, random_state=0)
    # The second state is cut in two at random.
    states = problem.states + (problem.states == 1) * rng.integers(2, size=(300, 1))
    assert drives(problem.observations, model.bipartite, (3,), states).states[0] < 0.01


def test_noise_has_no_parent():
    rng = np.random.default_rng(0)
    states = rng.integers(2, size=(200, 1))
    rows = np.column_stack([rng.normal(size=(200, 1)), states + 0.1 * rng.normal(size=(200, 1))])
    found = drives(Observations.from_array(rows), [[1], [1]], (2,), states)
    assert found.edges[0, 0] < 0.1
    assert found.edges[1, 0] > 0.99


def test_no_latent_has_no_edges():
    rows = Observations.from_array(np.random.default_rng(0).normal(size=(50, 3)))
    found = drives(rows, np.zeros((3, 0)), (), np.zeros((50, 0), dtype=int))
    assert found.edges.shape == (3, 0)
    assert found.states.shape == (0,)


def confidence(graphs, edges, states):
    weights = np.full(int(np.prod(graphs[0].domain_sizes)), 1.0)
    counts = DecodedCounts(
        graphs[0],
        weights / weights.sum(),
        np.array([[0, 0], [1, 0]]),
        np.array([0.1, 0.1]),
        Rivals(graphs, (0.0,) * len(graphs)),
    )
    return Confidence(
        counts,
        graphs[0],
        Drives(np.array(edges), np.array(states), np.zeros((0, 2)), np.zeros(1, bool)),
    )


def test_confidence_of_a_count_is_that_of_the_candidate_its_edges_and_states():
    graphs = (
        Bipartite(np.eye(2, dtype=bool), (2, 3)),
        Bipartite(np.ones((2, 1), dtype=bool), (2,)),
    )
    held = confidence(graphs, [[0.9, 0.0], [0.2, 1.0]], [0.8, 1.0])
    counts = held.counts(["X1", "X2"])
    # Both candidates agree on k(X1) = 2; its own components (0.1) do not matter.
    assert counts["X1"] == 2
    assert counts["X1"].confidence == pytest.approx(0.9 * 0.8)
    assert counts["X2"].confidence == pytest.approx(0.5 * 0.8)
    assert counts[{0, 1}].confidence == pytest.approx(0.5 * 0.9 * 0.8 * 0.8)
    assert counts["X1"].seen == 2
    doubted = held.counts(["X1", "X2"], "doubt")["X1"].confidence
    low, high = RIGHT_COUNTS["doubt"]
    assert doubted == pytest.approx(low + (high - low) * 0.9 * 0.8)
    low, high = RIGHT_DRIVES["part"]
    assert held.edges("part")[0, 0] == pytest.approx(low + (high - low) * 0.9)


def test_an_edge_that_was_not_found_is_in_doubt_only_where_it_is_open():
    graph = Bipartite(np.eye(2, dtype=bool), (2, 3))
    apart = [1.0, 1.0]
    # Of an item with two answers, 1 000 rows cannot make the odds better than about 30 to 1.
    assert confidence((graph,), [[1.0, 0.04], [0.03, 1.0]], apart).unsure() == ()
    assert confidence((graph,), [[1.0, 0.06], [0.03, 1.0]], apart).unsure() == (0,)
    # Edges that were found, and states, have to be surer than that.
    assert confidence((graph,), [[0.99, 0.0], [0.0, 1.0]], apart).unsure() == (0,)
    assert confidence((graph,), np.eye(2), [1.0, 0.99]).unsure() == (1,)


def test_what_is_said_of_latents_that_are_in_doubt_is_in_doubt():
    sure = EdgePosterior(np.array([[0.0, 0.99], [0.99, 0.0]]), np.array([[0.0, 0.97], [0.02, 0.0]]))
    assert of_graph(None, "doubt") is None
    assert of_graph(sure, "believe").arrows[0, 1] == 0.97
    low, high = RIGHT_EDGES["doubt"]
    doubted = of_graph(sure, "doubt")
    assert doubted.adjacency[1, 0] == pytest.approx(low + (high - low) * 0.99)
    assert doubted.arrows[0, 1] < 0.6
    assert doubted.arrows + doubted.arrows.T == pytest.approx(doubted.adjacency)
    assert not doubted.adjacency.diagonal().any()


def test_nothing_rivals_the_counts_of_an_answer_without_latents():
    nothing, something = (
        Bipartite(np.zeros((2, 0), dtype=bool), ()),
        Bipartite(np.ones((2, 1), dtype=bool), (2,)),
    )
    held = confidence((nothing, something), np.zeros((2, 0)), ())
    assert held.counts(["X1", "X2"])["X1"].confidence == 1.0


def test_counts_that_were_not_decoded_stay_as_they_are():
    graph = Bipartite(np.eye(2, dtype=bool), (2, 3))
    plain = GraphCounts(graph, np.full(6, 1 / 6))
    held = Confidence(
        plain, graph, Drives(np.eye(2), np.ones(2), np.zeros((0, 2)), np.zeros(2, bool))
    )
    assert held.counts(["X1", "X2"], "part")["X2"] == 3
    assert held.counts(["X1", "X2"], "part")["X2"].confidence is None


def test_a_learner_states_both():
    problem = paper_problem(2, 5, 3, n_samples=400, random_state=1, covariance="code")
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert learner.verdict_.level == "believe"
    assert learner.drive_posterior_ == pytest.approx(0.99 * learner.model_.bipartite, abs=0.01)
    assert learner.counts_[{0}].confidence == pytest.approx(0.99, abs=0.01)


def exchanged(problem, measured, n_rows, seed):
    """The same observations, but some rows have each other's values of one measurement."""
    rng = np.random.default_rng(seed)
    blocks = {name: problem.observations[name].copy() for name in problem.observations.names}
    some = rng.choice(problem.observations.n_samples, n_rows, replace=False)
    blocks[measured][some] = blocks[measured][rng.permutation(some)]
    return Observations.from_arrays(blocks)


@pytest.mark.parametrize("seed", range(6))
def test_a_few_values_out_of_place_call_for_no_edge(seed):
    problem = paper_problem(3, 7, 3, n_samples=600, random_state=seed, covariance="code")
    model = problem.model
    spoiled = exchanged(problem, "X1", 6, seed)
    found = drives(spoiled, model.bipartite, model.domain_sizes, problem.states)
    assert found.edges == pytest.approx(model.bipartite.astype(float), abs=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_an_edge_that_is_missing_is_called_for_whatever_is_out_of_place(seed):
    problem = paper_problem(3, 7, 3, n_samples=600, random_state=seed, covariance="code")
    model = problem.model
    several = np.flatnonzero(model.bipartite.sum(axis=1) > 1)
    adjacency, place = model.bipartite.copy(), int(several[0])
    left_out = int(np.flatnonzero(adjacency[place])[0])
    adjacency[place, left_out] = False
    spoiled = exchanged(problem, problem.observations.names[place], 6, seed)
    found = drives(spoiled, adjacency, model.domain_sizes, problem.states)
    assert found.edges[place, left_out] > 0.99
