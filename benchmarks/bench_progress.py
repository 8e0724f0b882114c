"""How true the remaining time is that a fit shows: forecasts beside what was left in the end.

Problems that take long enough to wait for: many rows, many measurements, overlap, outlying values
and items. Each time that a stage or a step of one is told, the forecast is held against the seconds
that were then still to come. Counted from a third of the way on, where at least a second was left.

    python benchmarks/bench_progress.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from mixoracle import LatentGraphLearner, Observations
from mixoracle.cli.fitting import plan_of
from mixoracle.cli.terminal import Stages
from mixoracle.datasets import item_problem, paper_problem, sparse_problem
from mixoracle.errors import AssumptionWarning, DataWarning

# Below this nobody reads a forecast.
_LEAST_LEFT = 1.0


def with_outlying(n_rows: int, seed: int) -> Observations:
    """A problem of the paper in which one row in a hundred lies anywhere."""
    problem = paper_problem(3, 8, 4, n_rows, seed)
    rng = np.random.default_rng(seed)
    far = rng.random(n_rows) < 0.01
    values = problem.observations.values.copy()
    values[far] += rng.normal(scale=20.0, size=(int(far.sum()), values.shape[1]))
    return Observations(values, problem.observations.names, problem.observations.widths)


PROBLEMS: dict[str, Callable[[int], Observations]] = {
    "paper (3, 8, 4), N = 1 000 000": lambda s: paper_problem(3, 8, 4, 1_000_000, s).observations,
    "paper (4, 8, 3), N = 1 000 000": lambda s: paper_problem(4, 8, 3, 1_000_000, s).observations,
    "m = 20, n = 200, N = 50 000": lambda s: sparse_problem(20, 200, 2, 50_000, s).observations,
    "m = 5, n = 200 (up to 3 states)": lambda s: sparse_problem(5, 200, 3, 20_000, s).observations,
    "overlapping, m = 6, n = 40": lambda s: (
        sparse_problem(6, 40, 3, 5_000, s, scale=0.2).observations
    ),
    "outlying rows, N = 500 000": lambda s: with_outlying(500_000, s),
    "25 items, N = 20 000": lambda s: item_problem(3, 25, 20_000, random_state=s).observations,
}


def forecasts(observations: Observations) -> tuple[list[float], float]:
    """Forecast by truth for each forecast that counts, and the seconds of the fit."""
    told: list[tuple[float, float]] = []

    def show(_text: str, _share: float) -> None:
        left = stages.seconds_left
        if left is not None:
            told.append((time.perf_counter(), left))

    stages = Stages(plan_of("signature", observations.n_samples), show)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        LatentGraphLearner(random_state=0, progress=stages).fit(observations)
    ended = time.perf_counter()
    ratios = [
        left / (ended - when)
        for when, left in told
        if when - began >= (ended - began) / 3 and ended - when >= _LEAST_LEFT
    ]
    return ratios, ended - began


def main(argv: list[str] | None = None) -> None:
    """Print a line for each kind of problem, and the share within a factor of two."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    choices = parser.parse_args(argv)
    print(f"{'problem':<34}{'s':>7}{'forecasts':>11}{'within 2':>10}  forecast by truth, range")
    every: list[float] = []
    for name, make in PROBLEMS.items():
        ratios, seconds = [], []
        for seed in range(choices.first_seed, choices.first_seed + choices.seeds):
            own, spent = forecasts(make(seed))
            ratios += own
            seconds.append(spent)
        every += ratios
        shown = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""
        print(f"{name:<34}{np.median(seconds):>7.1f}{len(ratios):>11}{within(ratios):>10}  {shown}")
    print(f"in all: {within(every)} of {len(every)} forecasts within a factor of two")


def within(ratios: list[float]) -> int:
    """How many are between a half and two."""
    return sum(0.5 <= ratio <= 2.0 for ratio in ratios)


if __name__ == "__main__":
    main()
