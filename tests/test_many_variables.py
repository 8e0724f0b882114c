"""More observed variables than numpy has axes: label tuples are packed, not made an index."""

import warnings

import numpy as np

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare


def fitted(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return LatentGraphLearner(random_state=0, n_init=1).fit(X)


def test_noise_in_66_columns():
    learner = fitted(np.random.default_rng(0).normal(size=(120, 66)))
    assert learner.model_.n_observed == 66
    assert learner.model_.n_latent == 0
    assert learner.counts_[range(66)] == 1


def test_66_items_of_two_skills():
    problem = item_problem(2, 66, n_samples=210, random_state=0)
    learner = fitted(problem.observations)
    found = compare(problem.model, learner.model_)
    assert found.domains_exact
    assert learner.counts_[range(66)] == 4
    truth, estimate = problem.model.bipartite, learner.model_.bipartite
    right = max(np.mean(truth == estimate), np.mean(truth == estimate[:, ::-1]))
    assert right > 0.95


def test_many_independent_causes_are_all_found():
    rng = np.random.default_rng(0)
    values = 8.0 * rng.integers(0, 2, (300, 40)) + rng.normal(size=(300, 40))
    learner = fitted(values)
    assert learner.model_.domain_sizes == (2,) * 40
    np.testing.assert_array_equal(learner.model_.bipartite.sum(axis=1), np.ones(40))
