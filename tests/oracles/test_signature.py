from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mixoracle.datasets import paper_problem, random_model
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import JointTable
from mixoracle.observations import Observations
from mixoracle.oracles import ExactOracle, MixtureOracle
from mixoracle.oracles.run import Run, Stage
from mixoracle.oracles.signature import SignatureOracle
from mixoracle.settings import Budget, Settings

SETTINGS = ((1, 3, 5), (2, 5, 3), (3, 7, 2))


def candidates_of(rows):
    """What the oracle proposes to a learner, which asks it for any resolution."""
    prepared = prepare(Observations.from_array(rows))
    run = Run(np.random.default_rng(0), resolution="auto")
    return SignatureOracle().candidates(prepared, run)


def problem_of(seed, n_samples=800, **choices):
    return paper_problem(
        *SETTINGS[seed % len(SETTINGS)],
        n_samples,
        random_state=seed,
        covariance="code",
        **choices,
    )


def fitted(observations, **settings):
    return SignatureOracle(random_state=0, **settings).fit(observations)


def structure_of(adjacency, domain_sizes):
    columns = zip(adjacency.T, domain_sizes, strict=True)
    return sorted((column.tolist(), size) for column, size in columns)


def is_right(candidate, model):
    found = structure_of(candidate.graph.adjacency, candidate.graph.domain_sizes)
    return found == structure_of(model.bipartite, model.domain_sizes)


def subsets(n):
    return [s for size in range(n + 1) for s in combinations(range(n), size)]


@pytest.mark.parametrize("seed", range(4))
def test_counts_and_structure_of_the_papers_problems_are_right(seed):
    problem = problem_of(seed)
    oracle = fitted(problem.observations)
    assert isinstance(oracle, MixtureOracle)
    exact = ExactOracle(problem.model)
    for subset in subsets(problem.model.n_observed):
        assert oracle.count(subset) == exact.count(subset)
    assert is_right(oracle.candidates_[0], problem.model)


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_consistent_with_itself(seed):
    problem = problem_of(seed, n_samples=400)
    oracle = fitted(problem.observations)
    n = problem.model.n_observed
    assert oracle.n_observed == n
    for candidate in oracle.candidates_:
        counts, rows = candidate.counts, candidate.assign(candidate.graph).rows
        assert counts.seen.shape[1] == n
        projection = counts.projection()
        assert projection.n_components == prod(candidate.graph.domain_sizes)
        assert rows.shape == (400,)
        assert rows.max() < projection.n_components
        np.testing.assert_allclose(counts.weights, projection.weights)
        for subset in subsets(n):
            chosen = projection.labels[:, list(subset)]
            assert counts.count(subset) == len(np.unique(chosen, axis=0))
    for subset in subsets(n):
        count = oracle.count(subset)
        assert count == oracle.candidates_[0].counts.count(subset)
        assert 0.0 <= count.confidence <= 1.0
    evidence = [candidate.log_evidence for candidate in oracle.candidates_]
    assert evidence == sorted(evidence, reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_assigned_to_their_joint_states(seed):
    problem = problem_of(seed)
    candidate = fitted(problem.observations).candidates_[0]
    rows = candidate.assign(candidate.graph).rows
    true_cells = np.ravel_multi_index(problem.states.T, problem.model.domain_sizes)
    pairs, counts = np.unique(np.stack([true_cells, rows]), axis=1, return_counts=True)
    # Each true joint state has one assigned state that nearly all of its rows go to.
    best = np.zeros(true_cells.max() + 1)
    np.maximum.at(best, pairs[0], counts)
    assert best.sum() >= 0.995 * len(true_cells)


@pytest.mark.parametrize("seed", range(3))
def test_variables_without_parents_are_legal(seed):
    problem = problem_of(seed)
    noise = np.random.default_rng(seed).normal(size=(800, 3))
    blocks = {name: problem.observations[name] for name in problem.observations.names}
    oracle = fitted(Observations.from_arrays({"noise": noise, **blocks}))
    place = 0
    assert oracle.count([place]) == 1
    assert not oracle.candidates_[0].graph.adjacency[place].any()
    rest = oracle.candidates_[0].graph.adjacency[1:]
    assert structure_of(rest, oracle.candidates_[0].graph.domain_sizes) == structure_of(
        problem.model.bipartite, problem.model.domain_sizes
    )


@pytest.mark.parametrize("seed", range(3))
def test_rare_states_are_found(seed):
    """One state of the only latent has one row in a hundred."""
    model = random_model(1, 3, 4, seed, covariance="code", min_domain=4)
    model = replace(model, joint=JointTable(np.array([0.6, 0.3, 0.09, 0.01])))
    problem = paper_problem(model=model, n_samples=1000, random_state=seed)
    assert is_right(fitted(problem.observations).candidates_[0], model)


@pytest.mark.parametrize("seed", range(3))
def test_structure_shows_in_a_part_of_the_rows(seed):
    problem = problem_of(seed, n_samples=1200)
    run = Run(np.random.default_rng(0), settings=Settings(Budget(search_rows=700)))
    candidate = SignatureOracle().candidates(prepare(problem.observations), run)[0]
    assert is_right(candidate, problem.model)
    assert candidate.assign(candidate.graph).rows.shape == (1200,)
    seen = candidate.counts.weights * 700
    np.testing.assert_allclose(seen.sum(), 700)


def test_it_tells_what_it_is_doing():
    stages = []
    SignatureOracle(random_state=0).fit(problem_of(0, 200).observations, progress=stages.append)
    assert stages == [Stage.PREPARING, Stage.SEGMENTING, Stage.PAIRING]
    assert all(isinstance(stage, str) and stage for stage in stages)


@pytest.mark.parametrize("question", [lambda o: o.count([0]), lambda o: o.projection()])
def test_it_answers_only_after_it_has_seen_data(question):
    with pytest.raises(NotFittedError, match="call fit"):
        question(SignatureOracle())


@pytest.mark.parametrize("member", [-1, 3, 99])
def test_only_observed_variables_can_be_asked_about(member):
    oracle = fitted(problem_of(0, 200).observations)
    with pytest.raises(InvalidInputError, match=str(member)):
        oracle.count([member])


@pytest.mark.parametrize("seed", range(2))
def test_no_variable_gets_more_components_than_allowed(seed):
    problem = problem_of(3 * seed, min_domain=4)
    oracle = fitted(problem.observations, max_components=2)
    assert oracle.candidates_[0].counts.seen.max() <= 1


def test_it_shows_its_settings():
    assert repr(SignatureOracle(max_components=7)) == "SignatureOracle(max_components=7)"


@pytest.mark.parametrize("seed", range(3))
def test_rows_out_of_place_in_every_way_are_no_further_causes(seed):
    rng = np.random.default_rng(seed)
    state = rng.integers(2, size=1200)
    rows = 8.0 * state[:, None] + rng.normal(size=(1200, 3))
    for column in rows.T:
        swapped = rng.permutation(1200)[:30]
        column[swapped] = column[rng.permutation(swapped)]
    labels = (rows > 4.0).astype(int)
    assert len(np.unique(labels, axis=0)) == 8  # so that three causes would explain all labels
    found = candidates_of(rows)[0].graph
    assert found.domain_sizes == (2,)
    assert found.adjacency.all()
