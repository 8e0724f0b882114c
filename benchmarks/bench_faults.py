"""Data as the world gives them: how often Γ and all domain sizes are exactly right.

The ten settings of the paper, each spoiled in the ways that ``faults.py`` lists. Beside the share
of exact answers stand the median seconds, and of the wrong answers how many carry a warning. A
problem that fails counts as not exact.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed

from faults import FAULTS, fault_problem
from mixoracle import LatentGraphLearner
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError
from mixoracle.metrics import compare
from settings import SETTINGS


def run(
    fault: str, setting: tuple[int, int, int], samples: int, seed: int
) -> tuple[bool, float, bool]:
    """Whether the structure was exact, the seconds, and whether something failed."""
    observations, model = fault_problem(fault, setting, samples, seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            learner = LatentGraphLearner(random_state=seed).fit(observations)
        except MixoracleError:
            return False, time.perf_counter() - start, True
    seconds = time.perf_counter() - start
    found = compare(model, learner.model_)
    doubted = any(verdict.holds is False for verdict in learner.assumptions_)
    return found.bipartite_exact and found.domains_exact, seconds, doubted


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=4_000, help="rows of each problem")
    parser.add_argument("--seeds", type=int, default=1, help="problems of each setting")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--faults", default="", help="only those whose name contains this")
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    print(
        f"{'fault':<22}{'problems':>9}{'exact':>7}{'%':>8}{'median s':>10}{'max s':>8}"
        f"{'wrong, doubted':>16}"
    )
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    everything: list[bool] = []
    for fault in FAULTS:
        if choices.faults not in fault:
            continue
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(fault, setting, choices.samples, seed)
            for setting in SETTINGS
            for seed in seeds
        )
        exact, seconds, doubted = (list(column) for column in zip(*outcomes, strict=True))
        everything += exact
        wrong = [doubt for is_exact, doubt in zip(exact, doubted, strict=True) if not is_exact]
        print(
            f"{fault:<22}{len(exact):>9}{sum(exact):>7}{100 * np.mean(exact):>8.1f}"
            f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}{sum(wrong):>10} of {len(wrong)}",
            flush=True,
        )
    print(f"{'all':<22}{len(everything):>9}{sum(everything):>7}{100 * np.mean(everything):>8.1f}")


if __name__ == "__main__":
    main()
