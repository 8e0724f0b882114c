"""Missing values: how much the paper's problems lose when values are taken away at random.

The ten settings of the paper with its published code's covariances, and the same rows again with
some of their values missing. For each share the table says how many problems had Γ and all domain
sizes exactly right, the seconds, and in how many rows all hidden states were found (over problems
with the right number of latents and states). A problem that fails counts as not exact.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem, with_gaps
from mixoracle.errors import AssumptionWarning, MixoracleError
from mixoracle.metrics import compare, compare_states
from settings import SETTINGS, problem_options


@dataclass(frozen=True)
class Outcome:
    """One problem; ``right`` is the share of rows in the right joint state, where comparable."""

    exact: bool
    seconds: float
    right: float = np.nan
    failed: bool = False


def run(share: float, setting: tuple[int, int, int], samples: int, seed: int) -> Outcome:
    """Draw one problem, take values away, and learn it."""
    problem = paper_problem(*setting, samples, seed, "code")
    observations = with_gaps(problem.observations, share, seed)
    learner = LatentGraphLearner(random_state=seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            learner.fit(observations)
        except MixoracleError:
            return Outcome(False, time.perf_counter() - start, failed=True)
    seconds = time.perf_counter() - start
    found = compare(problem.model, learner.model_)
    if not found.domains_exact:
        return Outcome(False, seconds)
    right = compare_states(problem.states, learner.states_).joint_accuracy
    return Outcome(found.bipartite_exact, seconds, right)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = problem_options(__doc__, samples=10_000)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.1, 0.3])
    choices = parser.parse_args(argv)
    print(
        f"{'missing':<9}{'problems':>9}{'exact':>7}{'%':>8}{'median s':>10}{'max s':>8}"
        f"{'rows right %':>14}{'failed':>8}"
    )
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for share in choices.shares:
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(share, setting, choices.samples, seed)
            for setting in SETTINGS
            for seed in seeds
        )
        exact = [o.exact for o in outcomes]
        seconds = [o.seconds for o in outcomes]
        right = [o.right for o in outcomes if np.isfinite(o.right)]
        print(
            f"{f'{100 * share:g} %':<9}{len(exact):>9}{sum(exact):>7}{100 * np.mean(exact):>8.1f}"
            f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}"
            f"{100 * np.mean(right) if right else np.nan:>14.2f}"
            f"{sum(o.failed for o in outcomes):>8}",
            flush=True,
        )


if __name__ == "__main__":
    main()
