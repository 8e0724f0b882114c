"""What fits take, beside the bound that was said before: seconds of CPU, and peak memory.

Each fit is a process of its own, so that its peak memory is its own; workers of a fit with two jobs
count with it. The largest share of the bound that was used is the figure to look at: above 100 % a
bound would have been broken. ``cut`` says that the fit was cut short at its bound. The second table
has fits with a time limit that is over at once: all that is done then is what an answer needs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hostile_tables import COLUMNS
from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import item_problem, sparse_problem

KINDS = {
    "noise": ("noise",),
    "clusters": ("clusters",),
    "overlap": ("overlap",),
    "heavy tails": ("heavy",),
    "counts": ("counts",),
    "rounded": ("rounded",),
    "zeros": ("zeros",),
    "levels": ("states as words", "booleans"),
    "everything": ("clusters", "overlap", "noise", "heavy", "rounded", "counts", "booleans"),
}
PROBLEMS: dict[str, Callable[[int, int], Observations]] = {
    "many causes": lambda rows, n: sparse_problem(n // 10, n, 2, rows, 1).observations,
    "items": lambda rows, n: item_problem(3, n, n_samples=rows, random_state=1).observations,
}
SHAPES = ((100, 5), (100, 30), (1_000, 5), (1_000, 30), (5_000, 10), (100_000, 10))
LARGE = ((2_000, 100), (2_000, 300))
_PER_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, in which the peak is counted
_AT_ONCE = 0.01  # seconds
HURRIED = (("everything", 1_000, 30), ("noise", 5_000, 10), ("items", 1_000, 30))
Case = tuple[str, int, int, int, float | None]


def cases() -> list[Case]:
    """Each a kind, rows, columns, processes and a limit; some of everything at the beginning."""
    all_of_them: list[Case] = [(kind, *shape, 1, None) for shape in SHAPES for kind in KINDS]
    wide = ((1_000, 30), *LARGE)
    all_of_them += [(kind, *shape, 1, None) for shape in wide for kind in PROBLEMS]
    all_of_them += [("noise", *shape, 1, None) for shape in LARGE]
    all_of_them += [("everything", 1_000, 30, 2, None), ("many causes", 2_000, 100, 2, None)]
    all_of_them += [(*each, 1, _AT_ONCE) for each in (*HURRIED, ("many causes", 2_000, 100))]
    order = np.random.default_rng(0).permutation(len(all_of_them))
    return [all_of_them[place] for place in order]


def drawn(kind: str, n_rows: int, n_columns: int) -> Observations:
    """A table of that kind."""
    import pandas as pd

    if kind in PROBLEMS:
        return PROBLEMS[kind](n_rows, n_columns)
    rng = np.random.default_rng(1)
    states, held = rng.integers(0, 3, (n_rows, 3)), KINDS[kind]
    columns = {
        f"x{i}": COLUMNS[held[i % len(held)]](rng, states[:, i % 3]) for i in range(n_columns)
    }
    return Observations.from_frame(pd.DataFrame(columns))


def one(kind: str, n_rows: int, n_columns: int, n_jobs: int, limit: float | None) -> None:
    """Fit one table; print seconds and bytes, what was told of both, and whether it was cut."""
    warnings.simplefilter("ignore")
    observations = drawn(kind, n_rows, n_columns)
    learner = LatentGraphLearner(random_state=0, n_jobs=n_jobs, time_limit=limit)
    cost, begin = learner.cost(observations), time.process_time()
    learner.fit(observations)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if n_jobs > 1:
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
        workers = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds += workers.ru_utime + workers.ru_stime
        peak += n_jobs * workers.ru_maxrss
    told = cost.seconds, cost.memory
    print(json.dumps([seconds, peak * _PER_UNIT, *told, bool(learner.left_out_)]))


def main() -> None:
    """Print a row for each kind and shape, and the largest shares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="no new fit after this")
    parser.add_argument("--values", type=int, help="only tables of at most so many values")
    parser.add_argument("--keep", type=Path, help="a file of lines of JSON, one a fit")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(*json.loads(asked.one))
        return
    is_kept = asked.keep is not None and asked.keep.exists()
    kept = [json.loads(line) for line in asked.keep.read_text().splitlines()] if is_kept else []
    done = {tuple(case): figures for case, figures in kept}
    begin = time.perf_counter()
    for case in cases():
        if case in done or time.perf_counter() - begin > asked.seconds:
            continue
        if asked.values is not None and case[1] * case[2] > asked.values:
            continue
        command = [sys.executable, __file__, "--one", json.dumps(case)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        done[case] = json.loads(ran.stdout)
        if asked.keep:
            with asked.keep.open("a") as file:
                print(json.dumps([case, done[case]]), file=file, flush=True)
    _print_shares({case: done[case] for case in done if case[-1] is None})
    print(f"{'kind':14s}{'rows':>8s}{'columns':>9s}{'CPU s':>8s}{'hurried':>10s}")
    for case in sorted(case for case in done if case[-1] is not None):
        free = done.get((*case[:-1], None))
        usual = "-" if free is None else f"{free[0]:.1f}"
        print(f"{case[0]:14s}{case[1]:8d}{case[2]:9d}{usual:>8s}{done[case][0]:10.1f}")


def _print_shares(done: dict[Case, list[float]]) -> None:
    """The table of bounds and what was used of them."""
    print(
        f"{'kind':14s}{'rows':>8s}{'columns':>9s}{'jobs':>6s}{'CPU s':>8s}{'of bound':>10s}", end=""
    )
    print(f"{'peak GB':>9s}{'of bound':>10s}")
    largest = np.zeros(2)
    for (kind, n_rows, n_columns, n_jobs, _), figures in sorted(done.items(), key=_by_shape):
        seconds, peak, most_seconds, most_memory, is_cut = figures
        shares = seconds / most_seconds, peak / most_memory
        largest = np.maximum(largest, shares)
        print(f"{kind:14s}{n_rows:8d}{n_columns:9d}{n_jobs:6d}{seconds:8.1f}", end="")
        print(f"{shares[0]:10.0%}{peak / 1e9:9.2f}{shares[1]:10.0%}{'  cut' if is_cut else ''}")
    print(f"{len(done)} fits; largest shares: time {largest[0]:.0%}, memory {largest[1]:.0%}")


def _by_shape(held: tuple[Case, object]) -> tuple[int, int, int, str]:
    (kind, n_rows, n_columns, n_jobs, _), _ = held
    return n_jobs, n_rows, n_columns, kind


if __name__ == "__main__":
    main()
