"""Continuous causes are told from discrete ones."""

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.inference.rival import LABEL


def verdict_on(learner):
    (verdict,) = [v for v in learner.assumptions_ if v.label == LABEL]
    return verdict


@pytest.mark.parametrize(("seed", "n_factors"), [(0, 1), (2, 1), (0, 2)])
def test_linear_factors_are_no_states(seed, n_factors):
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(n_factors, 5))
    rows = rng.normal(size=(400, n_factors)) @ loadings + 0.5 * rng.normal(size=(400, 5))
    learner = LatentGraphLearner(random_state=0, n_init=1)
    with pytest.warns(AssumptionWarning, match="look like a continuous cause"):
        learner.fit(rows)
    verdict = verdict_on(learner)
    assert verdict.holds is False
    assert "nats a row" in verdict.message


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("setting", [(1, 3, 4), (2, 5, 3), (3, 7, 3)])
def test_states_are_no_continuous_cause(seed, setting):
    problem = paper_problem(*setting, n_samples=400, random_state=seed)
    learner = LatentGraphLearner(random_state=0, n_init=1).fit(problem.observations)
    assert verdict_on(learner).holds is True


def test_three_ordered_states_that_overlap_are_no_continuous_cause():
    rng = np.random.default_rng(0)
    state = rng.integers(3, size=1000)
    rows = 4.0 * state[:, None] + rng.normal(size=(1000, 5))
    assert verdict_on(LatentGraphLearner(random_state=0, n_init=1).fit(rows)).holds is True


def test_measurements_that_are_copies_of_each_other_are_not_judged():
    problem = paper_problem(1, 3, 2, n_samples=300, random_state=0)
    values = problem.observations.values
    learner = LatentGraphLearner(random_state=0, n_init=1)
    # A copy is as dependent as can be, whatever the state.
    with pytest.warns(AssumptionWarning, match="X1 and X4 are still dependent"):
        learner.fit(np.hstack([values, values[:, :5]]), groups=5)
    assert verdict_on(learner).holds is None


def test_answers_are_not_judged():
    problem = item_problem(2, 12, n_samples=600, random_state=0)
    learner = LatentGraphLearner(random_state=0, n_init=1).fit(problem.observations)
    assert verdict_on(learner).holds is None
