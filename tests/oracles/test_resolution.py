"""Answers at several resolutions, and the one that stands."""

from math import inf

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, Observations, SignatureOracle
from mixoracle.datasets import paper_problem, random_model
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import compare
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite
from mixoracle.oracles.candidate import Candidate, GraphCounts
from mixoracle.oracles.path import resolutions
from mixoracle.oracles.resolution import coarse_resolutions
from mixoracle.settings import Settings


def reshaped(seed, noise):
    """A problem of the paper with standardised noise of another shape."""
    return partly_reshaped(seed, [noise] * 6)


def partly_reshaped(seed, noises):
    """The same with a noise of its own for each variable."""
    model = random_model(2, 6, 3, seed, covariance="text")
    problem = paper_problem(model=model, n_samples=1000, random_state=seed)
    labels = model.component_of_states(problem.states)
    rng = np.random.default_rng(seed)
    blocks = {}
    for i, (name, noise) in enumerate(zip(model.observed_names, noises, strict=True)):
        held = model.components[i].arrays()
        factor = np.linalg.cholesky(held["covariances"])[labels[:, i]]
        drawn = noise(rng, (1000, factor.shape[1]))
        blocks[name] = held["means"][labels[:, i]] + np.einsum("nab,nb->na", factor, drawn)
    return Observations.from_arrays(blocks), model


def normal(rng, size):
    return rng.normal(size=size)


def skewed(rng, size):
    return (np.exp(rng.normal(size=size)) - 1.6487) / 2.1612


@pytest.mark.parametrize("seed", range(1))
def test_skewed_components_are_not_cut_into_states(seed):
    observations, model = reshaped(seed, skewed)
    learner = LatentGraphLearner(random_state=0).fit(observations)
    found = compare(model, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    assert learner.resolution_ < inf


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_has_the_model_that_it_was_judged_by_in_all_variables_or_in_none(seed):
    """A family in some of them would let EM move rows to wherever it misfits least."""
    observations, _ = partly_reshaped(seed, [skewed, normal, normal, normal, skewed, normal])
    found = SignatureOracle(random_state=0).fit(observations).candidates_
    held = [candidate.subcomponents for candidate in found]
    assert held[0] is not None
    assert all(None not in own for own in held if own is not None)


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
def test_normal_components_leave_one_answer_and_a_given_resolution_is_used():
    problem = paper_problem(2, 6, 3, n_samples=1500, random_state=1)
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    assert learner.resolution_ == inf
    assert [answer.domain_sizes for answer in learner.resolutions_] == [learner.model_.domain_sizes]
    coarse = LatentGraphLearner(random_state=0, resolution=300).fit(problem.observations)
    assert coarse.resolution_ == 300
    assert compare(problem.model, coarse.model_).bipartite_exact
    coarsest = LatentGraphLearner(random_state=0, resolution=1).fit(problem.observations)
    assert np.prod(coarsest.model_.domain_sizes) < np.prod(problem.model.domain_sizes)


@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
@pytest.mark.parametrize("seed", range(2))
def test_a_given_resolution_decides_among_its_own_answers(seed):
    observations, _ = reshaped(seed, skewed)
    learner = LatentGraphLearner(random_state=0, resolution=100).fit(observations)
    assert learner.resolution_ == 100
    (answer,) = learner.resolutions_
    assert sorted(answer.domain_sizes) == sorted(learner.model_.domain_sizes)


@pytest.mark.parametrize("wrong", ["fine", 0, -3.0, float("nan"), True])
def test_what_is_no_resolution_is_refused_before_any_work(wrong):
    with pytest.raises(InvalidInputError, match="resolution should be"):
        LatentGraphLearner(resolution=wrong).fit(np.random.default_rng(0).normal(size=(50, 3)))


@pytest.mark.parametrize("n_rows", [200, 1_000, 40_000])
def test_coarse_rows_are_worth_from_half_of_them_to_a_hundred(n_rows):
    found = coarse_resolutions(n_rows, Settings())
    worth = [n_rows / (1.0 + n_rows / resolution) for resolution in found]
    assert worth[0] == pytest.approx(min(n_rows / 2, 2_000))
    assert worth[-1] == pytest.approx(100)
    assert worth == sorted(worth, reverse=True)


def test_too_few_rows_have_no_coarser_answer():
    assert coarse_resolutions(199, Settings()) == []


def test_coarsened_rows_count_for_less_and_stay_what_they_are():
    problem = paper_problem(2, 5, 3, n_samples=400, random_state=0)
    (variable, *_) = prepare(problem.observations).searched_rows(slice(None))
    coarse = variable.coarsened(100.0)
    assert coarse.weight == pytest.approx(100 / 500)
    np.testing.assert_allclose(coarse.counted, 0.2 * variable.features)
    np.testing.assert_array_equal(coarse.features, variable.features)
    assert variable.coarsened(inf).weight == 1.0


def candidate(resolution, merit, *sizes):
    graph = Bipartite(np.ones((3, len(sizes)), dtype=bool), sizes, 0.0, "decoded")
    weights = np.full(int(np.prod(sizes)), 1.0 / np.prod(sizes))
    counts = GraphCounts(graph, weights)
    return Candidate("signature", counts, None, graph, resolution=resolution, merit=merit)


def test_neighbours_on_the_path_that_agree_are_one_answer():
    path = resolutions(
        [
            candidate(100.0, -5.0, 2),
            candidate(inf, -9.0, 7),
            candidate(300.0, -4.0, 3),
            candidate(300.0, -6.0, 2),
            candidate(900.0, -4.5, 3),
        ]
    )
    assert [(answer.domain_sizes, answer.finest, answer.coarsest) for answer in path] == [
        ((7,), inf, inf),
        ((3,), 900.0, 300.0),
        ((2,), 100.0, 100.0),
    ]
    assert path[1].strength == -4.0
