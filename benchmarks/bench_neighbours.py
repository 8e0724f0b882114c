"""Many causes whose components overlap: how much of the structure is found, and how quickly.

The graphs are those of ``bench_scale.py``: each measurement has 1 to 3 causes. The components lie
in fewer dimensions or have more noise, so that hardly a measurement shows all of its own, and all
of them together make more label tuples than there are rows. Beside the problems with Γ and all
domain sizes exactly right stands the share of causes that drive exactly the true measurements, and
how many of the answers that are not exact are doubted.

    python benchmarks/bench_neighbours.py --seeds 4 --first-seed 1
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from bench_scale import is_exact
from mixoracle import LatentGraphLearner
from mixoracle.datasets import sparse_problem
from mixoracle.errors import AssumptionWarning, DataWarning

# Latents, measurements, the most states of a latent, rows.
SIZES = (
    (5, 40, 3, 5_000),
    (8, 40, 2, 5_000),
    (10, 40, 2, 10_000),
    (15, 60, 2, 10_000),
    (30, 90, 2, 10_000),
)
REGIMES = {
    "R^5, σ=0.01": {},
    "R^3": {"width": 3},
    "R^2": {"width": 2},
    "σ=0.1": {"scale": 0.1},
    "σ=0.2": {"scale": 0.2},
}


@dataclass(frozen=True)
class Outcome:
    """One problem: whether Γ is exact, the causes with the true measurements, and the rest."""

    exact: bool
    n_found: int
    n_causes: int
    seconds: float
    doubted: bool


def run(regime: str, size: tuple[int, int, int, int], seed: int) -> Outcome:
    """Draw one problem and learn it."""
    problem = sparse_problem(*size, seed, **REGIMES[regime])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=0).fit(problem.observations)
    seconds = time.process_time() - start
    true, found = (
        {bytes(column) for column in model.bipartite.T} for model in (problem.model, learner.model_)
    )
    exact = is_exact(problem.model, learner.model_)
    doubted = learner.verdict_.level != "believe"
    return Outcome(exact, len(true & found), len(true), seconds, doubted)


def row(regime: str, size: str, outcomes: list[Outcome]) -> str:
    """One line of the table."""
    exact, wrong = sum(o.exact for o in outcomes), [o for o in outcomes if not o.exact]
    found = 100 * sum(o.n_found for o in outcomes) / sum(o.n_causes for o in outcomes)
    seconds = [o.seconds for o in outcomes]
    doubted = f"{sum(o.doubted for o in wrong)} of {len(wrong)}"
    believed = f"{sum(not o.doubted for o in outcomes if o.exact)} of {exact}"
    return (
        f"{regime:<14}{size:<18}{len(outcomes):>8}{exact:>7}{found:>10.1f}"
        f"{np.median(seconds):>10.1f}{max(seconds):>8.1f}{doubted:>16}{believed:>17}"
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--regime", choices=REGIMES, action="append", help="these instead of all")
    choices = parser.parse_args(argv)
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    print(
        f"{'components':<14}{'m, n, states, N':<18}{'problems':>8}{'exact':>7}{'causes %':>10}"
        f"{'median s':>10}{'max s':>8}{'wrong, doubted':>16}{'right, believed':>17}"
    )
    everything: list[Outcome] = []
    for regime in choices.regime or REGIMES:
        for size in SIZES:
            outcomes = Parallel(n_jobs=choices.jobs)(
                delayed(run)(regime, size, seed) for seed in seeds
            )
            everything += outcomes
            print(row(regime, ", ".join(map(str, size)), outcomes), flush=True)
    print(row("all", "", everything))


if __name__ == "__main__":
    main()
