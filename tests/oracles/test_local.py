from dataclasses import replace

import numpy as np
import pytest

from mixoracle.datasets import kind_problem, paper_problem, sparse_problem
from mixoracle.decoding.explanation import structure_of
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite, JointNetwork
from mixoracle.oracles.candidate import GraphCounts
from mixoracle.oracles.local import LocalAnswer
from mixoracle.oracles.resolution import Search
from mixoracle.oracles.run import Run
from mixoracle.settings import Budget, Settings


def quick_answer(observations, settings=Settings()):
    run = Run(np.random.default_rng(0), settings=settings)
    search = Search.of(prepare(observations).for_search(), run)
    return search, search.local(search.alone()), run


@pytest.mark.parametrize("seed", range(3))
def test_where_it_stands_it_is_what_components_over_all_variables_say(seed):
    problem = paper_problem(2, 6, 3, 800, random_state=seed, covariance="code")
    search, answer, run = quick_answer(problem.observations)
    if answer is None:
        pytest.skip("labels do not fit together at once here")
    found = answer.candidate("signature", run)
    decoded = search.finest(search.alone())[0].candidates("signature", run)[0]
    assert decoded.graph is not None
    assert structure_of(found.graph.adjacency, found.graph.domain_sizes) == structure_of(
        decoded.graph.adjacency, decoded.graph.domain_sizes
    )


def test_variables_that_stay_dependent_are_left_to_others():
    rng = np.random.default_rng(0)
    problem = paper_problem(2, 6, 2, 1000, random_state=3, covariance="code")
    shared = rng.normal(size=(1000, 1))
    spoiled = {
        name: problem.observations[name] + 0.1 * shared for name in problem.observations.names
    }
    assert quick_answer(problem.observations)[1] is not None
    assert quick_answer(type(problem.observations).from_arrays(spoiled))[1] is None


@pytest.mark.parametrize(
    "budget",
    [Budget(search_rows=600), Budget(search_entries=15 * 21 * 600, mixture_rows=500)],
    ids=["rows", "statistics"],
)
def test_rows_that_were_not_searched_get_their_states_too(budget):
    problem = sparse_problem(5, 15, 2, 1200, random_state=1)
    few = Settings(budget)
    _, answer, run = quick_answer(problem.observations, few)
    assert len(answer.labelling.labels) == 600
    states = answer.candidate("signature", run).states(answer.candidate("signature", run).graph)
    assert states.shape == (1200, 5)
    for column in problem.states.T:
        agreement = [np.mean(own == column) for own in states.T]
        assert max(max(share, 1 - share) for share in agreement) > 0.99


def test_thousands_of_joint_states_are_learned_end_to_end():
    from mixoracle import LatentGraphLearner

    problem = sparse_problem(14, 42, 2, 1200, random_state=2)
    learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    model = learner.model_
    assert structure_of(model.bipartite, model.domain_sizes) == structure_of(
        problem.model.bipartite, problem.model.domain_sizes
    )
    assert isinstance(model.joint, JointNetwork)
    np.testing.assert_array_equal(learner.predict(problem.observations), learner.states_)
    assert learner.counts_[{0, 1}] == 2 ** int(model.bipartite[:2].any(axis=0).sum())


def test_a_map_of_too_many_joint_states_is_refused():
    counts = GraphCounts(Bipartite(np.eye(30, dtype=bool), (2,) * 30), None)
    assert counts.count([0, 3]) == 4
    with pytest.raises(InvalidInputError, match="1,073,741,824 rows"):
        counts.projection()


def test_labels_that_fit_badly_are_no_reason_for_thousands_of_joint_states():
    """Few label tuples occur here, whatever pairs of variables suggest."""
    problem = paper_problem(3, 7, 4, 1000, random_state=7000)
    search, answer, run = quick_answer(problem.observations)
    assert answer is None
    rough = LocalAnswer.of(search.prepared, search.rows, search.alone(), run.settings)
    assert rough.explanation.misfits
    assert not rough.is_only_one(run.settings)


def test_a_missing_joint_state_is_no_reason_for_a_latent_behind_each_variable():
    # Of 20 joint states one has no row, so that three variables show 19 components each.
    problem = paper_problem(2, 5, 6, n_samples=1000, random_state=77)
    assert quick_answer(problem.observations)[1] is None


def test_a_latent_behind_each_variable_is_no_answer():
    # Of so few rows any labels are more than can be compared.
    problem = paper_problem(3, 8, 3, n_samples=40, random_state=5)
    assert quick_answer(problem.observations)[1] is None


@pytest.mark.parametrize("seed", range(3))
def test_lumps_of_single_variables_are_no_reason_for_thousands_of_joint_states(seed):
    """Two latents of 120 states each, behind one variable each, beside the true ones."""
    rng = np.random.default_rng(seed)
    problem = paper_problem(3, 8, 2, 1000, random_state=seed, covariance="code")
    search, _, run = quick_answer(problem.observations)
    right = LocalAnswer.of(search.prepared, search.rows, search.alone(), run.settings)
    found = right.explanation
    lumps = rng.integers(120, size=(1000, 2))
    private = np.eye(8, 2, dtype=bool)
    lumpy = replace(
        right,
        labelling=replace(
            right.labelling, labels=np.hstack([right.labelling.labels[:, :6], lumps])
        ),
        explanation=replace(
            found,
            adjacency=np.hstack([found.adjacency, private]),
            domain_sizes=(*found.domain_sizes, 120, 120),
            states=np.hstack([found.states, lumps]),
        ),
    )
    assert lumpy.n_joint > run.settings.budget.joint_states
    assert not lumpy.is_only_one(run.settings)
    driven = replace(lumpy.explanation, adjacency=np.ones((8, 5), dtype=bool))
    assert replace(lumpy, explanation=driven).is_only_one(run.settings)


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_overlapping_components_of_many_variables_are_told_apart_by_neighbours(seed):
    """Hardly two rows have the same labels; how often that works is for bench_neighbours.py."""
    problem = sparse_problem(6, 36, 3, 4000, random_state=seed, width=2)
    search, answer, run = quick_answer(problem.observations)
    assert answer is not None
    assert answer.corrected
    alone = LocalAnswer.of(search.prepared, search.rows, search.alone(), run.settings)
    assert not alone.stands(run.settings)
    truth = problem.model.bipartite[search.prepared.variables]
    found = {column.tobytes() for column in answer.explanation.adjacency.T}
    assert found == {column.tobytes() for column in truth.T}


def test_many_joint_states_that_no_fitting_variable_shows_are_no_answer():
    """Seven of eight variables with labels that nothing explains."""
    problem = kind_problem(3, 8, 4, 5000, 77000, "mixed")
    search, answer, run = quick_answer(problem.observations)
    assert answer is None
    rough = LocalAnswer.of(search.prepared, search.rows, search.alone(), run.settings)
    assert rough.n_joint > run.settings.budget.joint_states
    assert not rough.is_only_one(run.settings)


@pytest.mark.parametrize("seed", [2, 17, 20, 26])
def test_a_latent_of_one_variable_is_kept_where_its_labels_fit_and_others_leave_them_open(seed):
    problem = sparse_problem(12, 24, 2, 2000, random_state=seed)
    assert (problem.model.bipartite.sum(axis=0) == 1).any()
    search, answer, _ = quick_answer(problem.observations)
    assert answer is not None
    assert answer.corrected
    truth = problem.model.bipartite[search.prepared.variables]
    found = {column.tobytes() for column in answer.explanation.adjacency.T}
    assert found == {column.tobytes() for column in truth.T}
