"""Where EM starts when Γ is known."""

import numpy as np
import pytest

from mixoracle.datasets import item_problem, paper_problem
from mixoracle.inference.start import starting_states
from mixoracle.metrics import compare_states
from mixoracle.mixtures.preparation import prepare


@pytest.mark.parametrize("seed", range(10))
def test_items_of_one_skill_show_who_has_it(seed):
    problem = item_problem(2, 14, n_samples=600, random_state=seed)
    prepared = prepare(problem.observations)
    sizes = problem.model.domain_sizes
    adjacency = problem.model.bipartite[prepared.variables]
    found = starting_states(prepared, adjacency, sizes, np.random.default_rng(0))
    states = np.empty_like(problem.states)
    states[prepared.rows] = found
    # Three items with one in ten wrong: the majority is right in 97 of 100.
    assert compare_states(problem.states, states).joint_accuracy > 0.85


@pytest.mark.parametrize("seed", range(5))
def test_every_row_gets_a_joint_state(seed):
    problem = paper_problem(3, 7, 4, n_samples=300, random_state=seed)
    prepared = prepare(problem.observations)
    sizes = problem.model.domain_sizes
    adjacency = problem.model.bipartite[prepared.variables]
    found = starting_states(prepared, adjacency, sizes, np.random.default_rng(0))
    assert found.shape == (300, len(sizes))
    assert np.all((found >= 0) & (found < sizes))
