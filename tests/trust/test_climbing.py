"""From a wrong answer to the right one, by changes that are refined."""

import numpy as np
import pytest

from mixoracle import Background
from mixoracle.datasets import item_problem
from mixoracle.decoding.explanation import structure_of
from mixoracle.mixtures.preparation import prepare
from mixoracle.model import Bipartite
from mixoracle.oracles.candidate import Candidate, GraphCounts
from mixoracle.oracles.run import Run
from mixoracle.settings import Budget, Settings
from mixoracle.solving import Solver
from mixoracle.trust.climbing import _Climb, _without_twins, climbed


@pytest.fixture(scope="module")
def problem():
    return item_problem(2, 10, n_samples=500, random_state=1)


def solver_of(problem, **settings):
    names = problem.observations.names
    rest = {"method": "auto", "strict": False, "max_iterations": 100}
    run = Run(np.random.default_rng(0), **settings)
    return Solver(prepare(problem.observations), Background().resolved(names), run=run, **rest)


def solution_of(solver, adjacency, states):
    graph = Bipartite(adjacency, tuple(int(k) for k in states.max(axis=0) + 1), 0.0, "given")
    own = solver.prepared.in_own_order(states)
    return solver.solve(
        Candidate("projection", GraphCounts(graph, None), None, graph, own_states=lambda: own)
    )


def starts(problem, solver):
    """A missing latent, two in one, an edge too few, and an edge too many."""
    states = problem.states[solver.prepared.rows]
    truth = problem.model.bipartite
    fewer, more = truth.copy(), truth.copy()
    fewer[np.flatnonzero(truth.all(axis=1))[0], 0] = False
    more[np.flatnonzero(~truth.all(axis=1))[0]] = True
    yield truth[:, [0]], states[:, [0]]
    yield np.ones((len(truth), 1), dtype=bool), states[:, [0]] * 2 + states[:, [1]]
    yield fewer, states
    yield more, states


@pytest.mark.parametrize("which", range(4))
def test_the_true_answer_is_reached_from_wrong_ones(problem, which):
    solver = solver_of(problem)
    wrong = solution_of(solver, *list(starts(problem, solver))[which])
    truth = structure_of(problem.model.bipartite, problem.model.domain_sizes)
    assert wrong.structure != truth
    better = climbed(solver, wrong)
    assert better.structure == truth
    assert better.score > wrong.score
    assert better.repairs


def test_an_answer_that_nothing_improves_stays(problem):
    solver = solver_of(problem)
    right = solution_of(solver, problem.model.bipartite, problem.states[solver.prepared.rows])
    assert climbed(solver, right) is right


def test_changes_stop_where_joint_states_are_no_longer_listed(problem):
    solver = solver_of(problem, settings=Settings(budget=Budget(listed=4)))
    wrong = solution_of(solver, *next(starts(problem, solver)))
    assert climbed(solver, wrong).score > wrong.score


def test_a_latent_that_is_in_one_state_everywhere_is_dropped(problem):
    """A short refinement may leave a latent whose second state is most likely in no row."""
    solver = solver_of(problem)
    truth, states = problem.model.bipartite, problem.states[solver.prepared.rows].copy()
    states[:, 1] = 1
    adjacency, left = _without_twins(truth[solver.prepared.variables], states)
    assert adjacency.shape[1] == left.shape[1] == 1
    states[:, 0] = 0
    nothing = _without_twins(truth[solver.prepared.variables], states)
    right = solution_of(solver, truth, problem.states[solver.prepared.rows])
    alone = _Climb(solver, right)._refined(nothing)
    assert alone.graph.domain_sizes == ()
    assert alone.score < right.score
