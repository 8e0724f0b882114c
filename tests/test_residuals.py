"""The learner says when its model does not fit, and does not cry wolf."""

import warnings

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem, random_model
from mixoracle.datasets.shapes import reshape_components
from mixoracle.errors import AssumptionWarning
from mixoracle.observations import Observations


def verdicts(observations):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=0).fit(observations)
    return {verdict.name: verdict for verdict in learner.assumptions_}


@pytest.mark.parametrize("seed", range(8))
def test_a_right_model_passes(seed):
    problem = paper_problem(2, 5, 3, 1500, seed, covariance="code")
    found = verdicts(problem.observations)
    assert found["independent given the latents"].holds is True
    assert found["components of the assumed family"].holds is True


@pytest.mark.parametrize("seed", range(5))
def test_two_variables_that_act_on_each_other_are_named(seed):
    problem = paper_problem(2, 5, 3, 1500, seed, covariance="code")
    blocks = {name: problem.observations[name].copy() for name in problem.observations}
    noise = np.random.default_rng(seed).normal(scale=0.06, size=(1500, 5))
    blocks["X1"] += noise
    blocks["X2"] += noise
    verdict = verdicts(Observations.from_arrays(blocks))["independent given the latents"]
    assert verdict.holds is False
    assert verdict.offenders[0] == ("X1", "X2")
    assert "X1 and X2 still go together" in verdict.message


@pytest.mark.parametrize("seed", range(3))
def test_heavy_tails_are_seen_and_the_structure_is_found_all_the_same(seed):
    model = reshape_components(random_model(2, 5, 3, seed, covariance="code"), "heavy")
    problem = paper_problem(model=model, n_samples=3000, random_state=seed)
    verdict = verdicts(problem.observations)["components of the assumed family"]
    assert verdict.holds is False
    assert "times the tails of normal ones" in verdict.message
