from dataclasses import replace

import pytest

from mixoracle.errors import InvalidInputError, MissingDependencyError
from mixoracle.experiments import runner
from mixoracle.experiments.results import load
from mixoracle.experiments.runner import run_study


def test_every_run_is_made_once_and_told_of(quick, tmp_path):
    study, asked = quick
    started, told = [], []
    made = run_study(
        study, tmp_path, on_start=lambda *counts: started.append(counts), on_result=told.append
    )
    assert made == 12
    assert sorted(asked) == list(range(12))
    assert started == [(0, 12)]
    assert sorted(result.run for result in told) == list(range(12))
    assert run_study(study, tmp_path) == 0
    assert len(asked) == 12


def test_an_interrupted_study_repeats_nothing(quick, tmp_path):
    study, asked = quick

    def interrupt(result):
        if result.run in (3, 4, 9):
            raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run_study(study, tmp_path, on_result=interrupt)
    started = []
    run_study(study, tmp_path, on_start=lambda *counts: started.append(counts))
    assert started == [(10, 12)]
    assert [result.run for result in load(tmp_path).results] == list(range(12))
    # Sequential runs begin only when they are asked for: none was made and then thrown away.
    assert sorted(asked) == list(range(12))


def test_no_processes_are_refused(quick, tmp_path):
    study, _ = quick
    with pytest.raises(InvalidInputError, match="jobs should be"):
        run_study(study, tmp_path, jobs=0)


def test_results_do_not_depend_on_the_number_of_processes(quick_study, tmp_path, contents):
    study = replace(quick_study, runs=12)
    run_study(study, tmp_path / "one", jobs=1)
    run_study(study, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_dask_study_needs_the_extra(quick, tmp_path, monkeypatch):
    study, _ = quick

    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(runner, "import_module", without)
    with pytest.raises(MissingDependencyError, match=r"mixoracle\[dask\]"):
        run_study(study, tmp_path, dask="tcp://127.0.0.1:1")
