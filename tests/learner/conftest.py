"""Problems as the paper draws them, and one that was learned from once for all tests."""

import warnings

import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning


def draw(seed, n_samples=400, setting=(2, 5, 3), **choices):
    choices = {"covariance": "code", **choices}
    return paper_problem(*setting, n_samples, random_state=seed, **choices)


def fit(X, groups=None, **settings):
    return LatentGraphLearner(**{"random_state": 0, "n_init": 1} | settings).fit(X, groups=groups)


@pytest.fixture(scope="session")
def drawn():
    """Draws a problem."""
    return draw


@pytest.fixture(scope="session")
def fitted():
    """Learns from rows with one start."""
    return fit


@pytest.fixture(scope="session")
def problem():
    """A problem with two latents; not to be changed."""
    return draw(3)


@pytest.fixture(scope="session")
def learner(problem):
    """What was learned from it; not to be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return fit(problem.observations)
