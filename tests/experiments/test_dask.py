import os
import signal
from dataclasses import replace

import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.experiments import runner
from mixoracle.experiments.runner import run_study

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")


def test_a_dask_study_survives_the_death_of_a_worker(quick_study, tmp_path, contents):
    study = replace(quick_study, runs=8)
    # Two processes with one thread each: warnings are caught by the process.
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        told = []

        def kill_half_way(result):
            told.append(result.run)
            if len(told) == study.n_runs // 2:
                os.kill(victim, signal.SIGKILL)

        made = run_study(
            study,
            tmp_path / "dask",
            dask=cluster.scheduler_address,
            on_result=kill_half_way,
        )
        assert made == study.n_runs
        assert victim not in client.run(os.getpid).values()
    run_study(study, tmp_path / "here")
    assert contents(tmp_path / "dask") == contents(tmp_path / "here")


def test_a_scheduler_that_does_not_answer_is_named(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_CONNECT_TIMEOUT", 1)
    study, _ = quick
    with pytest.raises(InvalidInputError, match="no Dask scheduler answers at 'tcp://127"):
        run_study(study, tmp_path, dask="tcp://127.0.0.1:1")
