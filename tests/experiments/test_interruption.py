import multiprocessing
import signal
import time

import numpy as np
import pytest

from mixoracle.experiments.runner import run_study


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_five_kills_at_random_moments_change_nothing(quick_study, tmp_path, contents):
    """The study ends with the same results as one that was left in peace."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["mixoracle.experiments.runner", "mixoracle.learner"])
    rng = np.random.default_rng()  # another five moments each time the test is run
    results = tmp_path / "killed" / "results.jsonl"
    sizes = []
    for _ in range(5):
        before = results.stat().st_size if results.exists() else 0
        victim = processes.Process(target=run_study, args=(quick_study, tmp_path / "killed"))
        victim.start()
        wait_for_growth(results, before, victim)
        time.sleep(rng.uniform(0.0, 0.15))
        victim.kill()
        victim.join()
        sizes.append(results.stat().st_size)
    assert sizes == sorted(set(sizes))  # each of the five had done something new
    run_study(quick_study, tmp_path / "killed")
    run_study(quick_study, tmp_path / "peaceful")
    assert contents(tmp_path / "killed") == contents(tmp_path / "peaceful")


def wait_for_growth(path, size, process):
    """Wait until the process has written something, or is done."""
    while process.is_alive() and (not path.exists() or path.stat().st_size <= size):
        time.sleep(0.005)
