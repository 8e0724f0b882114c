"""The passes on a Dask cluster, one worker of which is killed half-way."""

import os
import signal

import pytest
from joblib import parallel_config

from mixoracle import ChunkedObservations, LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.settings import Budget, Settings

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")


def test_a_dead_worker_changes_no_bit_of_the_answer(tmp_path, monkeypatch):
    budget = Budget(search_rows=300, sample_rows=300)
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings(budget))
    monkeypatch.setattr("mixoracle.inference.passes._REPORT_EVERY", 0.0)
    problem = paper_problem(2, 4, 2, n_samples=800, random_state=1, covariance="code")
    frame = problem.observations.to_frame()
    for number in range(8):
        part = frame.iloc[100 * number : 100 * (number + 1)]
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
    scanned = ChunkedObservations.scan(tmp_path)
    here = LatentGraphLearner(random_state=0).fit(scanned)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        told = []

        def kill_half_way(stage):
            told.append(stage)
            if "pass 1, 4 of 8" in stage:
                os.kill(victim, signal.SIGKILL)

        with parallel_config(backend="dask"):
            there = LatentGraphLearner(random_state=0, progress=kill_half_way).fit(scanned)
        assert any("pass 1, 4 of 8" in stage for stage in told)
        assert victim not in client.run(os.getpid).values()
    assert there.model_ == here.model_
    assert there.passes_ == here.passes_
