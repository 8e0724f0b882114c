"""What a bootstrap costs, and whether one that is killed goes on to the same result.

For a problem of the paper: the CPU time of the fit and of all resamples, workers included, and the
wall time with ``--jobs``; the latter depends on what else the machine does, so its load is printed,
too. Then the same in a process of its own that is killed once half of the resamples are
kept in its file, and continued; every figure of the support has to be the same.

    python benchmarks/bench_bootstrap.py [--resamples 100] [--samples 10000] [--jobs 2]
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from joblib.externals.loky import get_reusable_executor

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from settings import problem_options


def learner_of(n_samples: int) -> LatentGraphLearner:
    """A learner that knows a problem of three latents behind eight variables."""
    problem = paper_problem(3, 8, 3, n_samples=n_samples, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentGraphLearner(random_state=0).fit(problem.observations)


def cpu_time() -> float:
    """Seconds of CPU of this process and of those that it started and that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def in_its_own_process(n_samples: int, n_resamples: int, keep: Path) -> None:
    """What is killed halfway."""
    learner_of(n_samples).bootstrap(n_resamples, random_state=0, keep=keep)


def main() -> None:
    """Print the times, and whether the two supports are the same."""
    parser = problem_options(__doc__, samples=10_000)
    parser.add_argument("--resamples", type=int, default=100)
    arguments = parser.parse_args()
    start = time.process_time()
    learner = learner_of(arguments.samples)
    fit = time.process_time() - start
    start, wall = cpu_time(), time.perf_counter()
    whole = learner.bootstrap(arguments.resamples, n_jobs=arguments.jobs, random_state=0)
    wall = time.perf_counter() - wall
    get_reusable_executor().shutdown(wait=True)  # only then the time of its workers is known
    resamples = cpu_time() - start
    print(
        f"fit {fit:.2f} s of CPU; {arguments.resamples} resamples {resamples:.1f} s of CPU, as "
        f"long as {resamples / fit:.1f} fits, and {wall:.1f} s of wall time in {arguments.jobs} "
        f"processes (load {os.getloadavg()[0]:.1f})"
    )
    with TemporaryDirectory() as folder:
        keep = Path(folder) / "resamples.jsonl"
        process = multiprocessing.get_context("spawn").Process(
            target=in_its_own_process, args=(arguments.samples, arguments.resamples, keep)
        )
        process.start()
        while process.is_alive() and n_kept(keep) < arguments.resamples // 2:
            time.sleep(0.05)
        process.kill()
        process.join()
        kept = n_kept(keep)
        again = learner.bootstrap(arguments.resamples, random_state=0, keep=keep)
    same = all(
        np.array_equal(value, getattr(again, name))
        for name, value in vars(whole).items()
        if isinstance(value, np.ndarray)
    )
    print(f"killed with {kept} kept, continued: {'the same' if same else 'ANOTHER'} support")


def n_kept(keep: Path) -> int:
    """How many resamples a file holds; its first line says what they are of."""
    return max(0, len(keep.read_text(encoding="utf-8").splitlines()) - 1) if keep.is_file() else 0


if __name__ == "__main__":
    main()
