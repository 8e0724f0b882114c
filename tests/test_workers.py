"""However many processes are asked for, no more are started than the machine has use for."""

import joblib
import numpy as np
import pytest

from mixoracle import KMeansOracle, LatentGraphLearner, Observations
from mixoracle._checks import n_workers
from mixoracle.experiments.runner import workers
from mixoracle.inference.passes import spread_over

CORES = joblib.cpu_count()


@pytest.fixture
def asked_for(monkeypatch):
    """Numbers of processes that joblib is asked for; the work itself is done in this one."""
    numbers = []

    class Recorded(joblib.Parallel):
        def __init__(self, n_jobs=None, **choices):
            numbers.append(n_jobs)
            super().__init__(n_jobs=1, **choices)

    monkeypatch.setattr(joblib, "Parallel", Recorded)
    return numbers


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, (200, 2))
    return 6.0 * states[:, [0, 0, 1, 1]] + rng.normal(size=(200, 4))


@pytest.mark.parametrize(
    ("n_jobs", "n_tasks", "expected"),
    [(1, 10, 1), (1, 0, 1), (2, 10, 2), (1000, 3, 3), (1000, None, 4 * CORES), (-1, None, CORES)],
)
def test_workers_are_bounded_by_tasks_and_cores(n_jobs, n_tasks, expected):
    assert n_workers(n_jobs, n_tasks) == expected


def test_a_bootstrap_starts_no_more_than_it_has_resamples(table, asked_for):
    learner = LatentGraphLearner(random_state=0).fit(table)
    asked_for.clear()
    learner.bootstrap(n_resamples=2, n_jobs=1000, random_state=0)
    assert asked_for == [2]


def test_the_other_users_of_processes_keep_to_the_bound(table, asked_for):
    KMeansOracle(random_state=0, n_jobs=1000).fit(Observations.from_array(table))
    list(spread_over(1000)(abs, [1, 2]))
    with workers(1000, None) as options:
        asked_for.append(options["n_jobs"])
    assert set(asked_for) == {4 * CORES}
