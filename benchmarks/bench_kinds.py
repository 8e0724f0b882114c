"""Other kinds of data: how often Γ and all domain sizes are exactly right.

Blocks of five answers, counts, amounts, or a mixture of these, drawn by
:func:`mixoracle.datasets.kind_problem` for two and three latents, six to eight observed variables
and largest domains of 3 and 4. Beside the share of exact answers stand the seconds, and how many
more fresh rows than the Bayes rule with the true parameters were put into the wrong joint state
(over problems whose structure was found). A problem that fails counts as not exact. Kinds are
recognised by their values; that amounts are Gamma cannot be, so they are read as numbers as well as
declared.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from joblib import Parallel, delayed

from mixoracle import LatentGraphLearner
from mixoracle.datasets import kind_problem
from mixoracle.datasets.kinds import Kind
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError
from mixoracle.metrics import compare, compare_states
from mixoracle.model.posterior import most_likely_states
from settings import problem_options

# Each arm: how it is called, the kind of its problems, and the family that is declared.
ARMS: dict[str, tuple[Kind, str | None]] = {
    "categorical": ("categorical", None),
    "counts": ("counts", None),
    "gamma": ("gamma", None),
    "gamma, declared": ("gamma", "gamma"),
    "mixed": ("mixed", None),
}
SETTINGS = tuple(product((2, 3), (6, 7, 8), (3, 4)))
_FRESH_ROWS = 5_000


@dataclass(frozen=True)
class Outcome:
    """One problem; ``lost`` are the points below the Bayes rule, NaN unless exact."""

    exact: bool
    seconds: float
    lost: float = np.nan
    failed: bool = False


def run(arm: str, setting: tuple[int, int, int], samples: int, seed: int) -> Outcome:
    """Draw one problem and learn it."""
    kind, family = ARMS[arm]
    problem = kind_problem(*setting, samples + _FRESH_ROWS, seed, kind)
    learner = LatentGraphLearner(families=family, random_state=seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            learner.fit(problem.observations.take(slice(samples)))
        except MixoracleError:
            return Outcome(False, time.perf_counter() - start, failed=True)
    seconds = time.perf_counter() - start
    found = compare(problem.model, learner.model_)
    if not (found.bipartite_exact and found.domains_exact):
        return Outcome(False, seconds)
    fresh, states = problem.observations.take(slice(samples, None)), problem.states[samples:]
    bayes = most_likely_states(problem.model, [fresh[name] for name in fresh])
    best = compare_states(states, bayes).joint_accuracy
    with warnings.catch_warnings():
        # Among fresh rows there are counts that were never seen; they count as missing.
        warnings.simplefilter("ignore", DataWarning)
        reached = compare_states(states, learner.predict(fresh)).joint_accuracy
    return Outcome(True, seconds, 100 * (best - reached))


def row(arm: str, name: str, outcomes: list[Outcome]) -> str:
    """One line of the table."""
    exact = [o.exact for o in outcomes]
    seconds = [o.seconds for o in outcomes]
    lost = [o.lost for o in outcomes if np.isfinite(o.lost)]
    return (
        f"{arm:<17}{name:<11}{len(exact):>9}{sum(exact):>7}{100 * np.mean(exact):>8.1f}"
        f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}"
        f"{np.mean(lost) if lost else np.nan:>20.3f}"
        f"{sum(o.failed for o in outcomes):>8}"
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = problem_options(__doc__, samples=5_000)
    parser.add_argument("--kinds", nargs="+", choices=ARMS, default=list(ARMS))
    choices = parser.parse_args(argv)
    print(
        f"{'kind':<17}{'setting':<11}{'problems':>9}{'exact':>7}{'%':>8}{'median s':>10}"
        f"{'max s':>8}{'points below Bayes':>20}{'failed':>8}"
    )
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for arm in choices.kinds:
        everything: list[Outcome] = []
        for setting in SETTINGS:
            outcomes = Parallel(n_jobs=choices.jobs)(
                delayed(run)(arm, setting, choices.samples, seed) for seed in seeds
            )
            everything += outcomes
            print(row(arm, str(setting), outcomes), flush=True)
        print(row(arm, "all", everything), flush=True)


if __name__ == "__main__":
    main()
