from dataclasses import replace

import pytest

from mixoracle.experiments import runner
from mixoracle.experiments.results import Result, Score, load
from mixoracle.experiments.studies import Arm, Conditions, Study, define


@pytest.fixture(scope="session")
def make_result():
    """Makes a result that is right in everything but the changes."""

    def make(study, number, **changes):
        task = study.task(number)
        m, n = task.setting
        held = {
            "run": number,
            "arm": task.arm,
            "m": m,
            "n": n,
            "samples": task.conditions.n_samples,
            "domains": (2,) * m,
            "edges": 10,
            "found": m,
            "gamma": True,
            "sizes": True,
            "score": Score(0, 1, True, 0.01),
            "limit": Score(0, 1, True, 0.02),
            "accuracy": 1.0,
            "seconds": 1.5,
        }
        return Result(**{**held, **changes})

    return make


@pytest.fixture(scope="session")
def failed():
    """The changes that make a result one of a failed run."""
    unknown = {"found": None, "gamma": None, "sizes": None, "score": None, "accuracy": None}
    return {**unknown, "status": "failed", "stage": "oracle", "reason": "no components"}


@pytest.fixture
def quick_study():
    """Eighteen small problems that take about a tenth of a second each."""
    conditions = Conditions(300, max_domain=3)
    arm = Arm("N=300", conditions, ((1, 3), (2, 5)), (1, 1))
    return Study("small", (arm,), runs=18, seed=3, paired=False)


@pytest.fixture
def contents():
    """Reads all results of a finished study but their timings, in the order of their numbers."""

    def read(folder):
        record = load(folder)
        assert record.is_complete
        return [replace(result, seconds=None) for result in record.results]

    return read


@pytest.fixture
def quick(monkeypatch, make_result):
    """Runs that take no time and say which numbers were asked for."""
    study = define("small", runs=12)
    asked = []

    def perform(task):
        asked.append(task.number)
        return make_result(study, task.number)

    monkeypatch.setattr(runner, "perform", perform)
    return study, asked
