"""Binary items one by one: how much of Γ is right.

Tests of 20 to 30 items on two or three skills, three items of its own for each skill and the
others shared, answered by chance with probabilities 0.1 and 0.9
(:func:`mixoracle.datasets.item_problem`). The table says which share of Γ's entries is right after
the best matching of latents, where a latent too many or too few counts as a column with every
entry wrong; how often the number of latents is right, and Γ in all; and the seconds. A problem
that fails has no entry right.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem
from mixoracle.errors import AssumptionWarning, MixoracleError
from settings import problem_options

SETTINGS = tuple(product((2, 3), (20, 25, 30)))


@dataclass(frozen=True)
class Outcome:
    """One problem: the share of Γ's entries that are right, whether m is, and the seconds."""

    right: float
    same_number: bool
    seconds: float
    failed: bool = False


def share_right(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> float:
    """The share of Γ's entries that are right under the matching that gets most of them right."""
    agreement = (truth[:, :, None] == found[:, None, :]).sum(axis=0)
    matched = linear_sum_assignment(agreement, maximize=True)
    return float(agreement[matched].sum() / (len(truth) * max(agreement.shape)))


def run(setting: tuple[int, int], samples: int, seed: int) -> Outcome:
    """Draw one test and learn it."""
    problem = item_problem(*setting, samples, seed)
    learner = LatentGraphLearner(random_state=seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            learner.fit(problem.observations)
        except MixoracleError:
            return Outcome(0.0, False, time.perf_counter() - start, failed=True)
    seconds = time.perf_counter() - start
    truth, found = problem.model, learner.model_
    right = share_right(truth.bipartite, found.bipartite)
    return Outcome(right, truth.n_latent == found.n_latent, seconds)


def row(name: str, outcomes: list[Outcome]) -> str:
    """One line of the table."""
    right = np.array([o.right for o in outcomes])
    same_number = np.mean([o.same_number for o in outcomes])
    seconds = [o.seconds for o in outcomes]
    return (
        f"{name:<11}{len(outcomes):>9}{100 * right.mean():>17.2f}{100 * right.min():>8.1f}"
        f"{100 * same_number:>11.1f}{100 * (right == 1).mean():>11.1f}"
        f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}"
        f"{sum(o.failed for o in outcomes):>8}"
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = problem_options(__doc__, samples=5_000)
    choices = parser.parse_args(argv)
    print(
        f"{'setting':<11}{'problems':>9}{'entries right %':>17}{'worst':>8}{'m right %':>11}"
        f"{'Γ exact %':>11}{'median s':>10}{'max s':>8}{'failed':>8}"
    )
    everything: list[Outcome] = []
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for setting in SETTINGS:
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(setting, choices.samples, seed) for seed in seeds
        )
        everything += outcomes
        print(row(str(setting), outcomes), flush=True)
    print(row("all", everything))


if __name__ == "__main__":
    main()
