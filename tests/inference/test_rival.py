"""Continuous causes are told from discrete ones."""

import re
import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.inference.rival import LABEL, _log_joined
from mixoracle.settings import Settings


def verdict_on(learner):
    (verdict,) = [v for v in learner.assumptions_ if v.label == LABEL]
    return verdict


@pytest.mark.parametrize(("seed", "n_factors"), [(0, 1), (0, 2)])
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


def joined_against_states(blocks, states):
    """What joining states gains over the states themselves, each a normal of its own columns."""
    log_density = np.log(np.bincount(states) / len(states))[states]
    for block in blocks:
        means = np.stack([block[states == s].mean(axis=0) for s in range(states.max() + 1)])
        spread = np.stack([block[states == s].std(axis=0) for s in range(states.max() + 1)])
        scaled = (block - means[states]) / spread[states]
        log_density -= (0.5 * scaled**2 + np.log(spread[states] * np.sqrt(2 * np.pi))).sum(axis=1)
    return (
        _log_joined(np.hstack(blocks), states, lambda: log_density, Settings()) - log_density.mean()
    )


@pytest.mark.parametrize("seed", range(3))
def test_arcs_of_a_circle_are_joined(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 1500)
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ rng.normal(size=(2, 6))
    rows = place + 0.1 * rng.normal(size=(1500, 6))
    states = (angle / (2 * np.pi) * 20).astype(int)
    assert joined_against_states(list(rows.T[:, :, None]), states) > 0


@pytest.mark.parametrize("nuisance", [0.0, 1.0, 3.0])
def test_states_with_something_continuous_within_stay_apart(nuisance):
    rng = np.random.default_rng(0)
    states = rng.integers(6, size=1500)
    shared = nuisance * rng.normal(size=(1500, 1)) * rng.normal(size=6)
    rows = 6.0 * rng.normal(size=(6, 6))[states] + shared + rng.normal(size=(1500, 6))
    assert joined_against_states(list(rows.T[:, :, None]), states) == -np.inf


def test_a_walk_is_no_states():
    walks = np.cumsum(np.random.default_rng(0).normal(size=(300, 6)), axis=0)
    learner = LatentGraphLearner(random_state=0, n_init=1)
    with pytest.warns(AssumptionWarning, match="goes on from the one before"):
        learner.fit(walks)
    assert learner.verdict_.looks_continuous


def test_what_explains_more_is_named_with_the_larger_figure():
    rng = np.random.default_rng(0)
    state = rng.integers(2, size=(400, 1))
    of_states = rng.normal(size=(400, 4)) + 8.0 * state
    factor = rng.normal(size=(400, 4)) * 0.3 + rng.normal(size=(400, 1))
    for rows, holds in ((of_states, True), (factor, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = LatentGraphLearner(random_state=0).fit(rows)
        verdict = verdict_on(learner)
        assert verdict.holds is holds
        first, second = re.search(r"\((.*) against (.*) nats", verdict.message).groups()
        assert float(first) > float(second)


@pytest.mark.parametrize("seed", range(4))
def test_whole_rows_of_one_state_only_are_not_judged(seed):
    rng = np.random.default_rng(seed)
    state = rng.random(2_000) < 0.3
    centres = np.where(state[:, None], [0.0, 3.0, 5.0], [6.0, -3.0, 5.0])
    table = centres + rng.normal(size=(2_000, 3))
    table[state, 2] = np.nan
    learner = LatentGraphLearner(random_state=0).fit(table)
    verdict = next(v for v in learner.assumptions_ if v.label == LABEL)
    assert learner.model_.domain_sizes == (2,)
    assert verdict.holds is None
    assert "missing in one state" in verdict.message
    assert not learner.verdict_.looks_continuous
