"""Overlap and other shapes: how often Γ and all domain sizes are exactly right.

The ten settings of the paper in regimes that go from its own noise to components that overlap
heavily, live in few dimensions, or are not normal at all. Beside the share of exact answers stand
the seconds, and how many more fresh rows than the Bayes rule with the true parameters put into
the wrong joint state (over problems whose structure was found).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from mixoracle import LatentGraphLearner
from mixoracle.datasets import Problem, paper_problem, random_model
from mixoracle.datasets.shapes import SHAPES, reshape_components
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare, compare_states
from mixoracle.model.posterior import most_likely_states
from settings import SETTINGS, problem_options

_FRESH_ROWS = 5_000


@dataclass(frozen=True)
class Regime:
    """One row of the table: what differs from the paper's own problems."""

    name: str
    covariance: str = "code"
    scale: float = 0.01
    width: int = 5
    samples: int = 10_000
    shape: str | None = None


REGIMES = (
    Regime("σ=0.01 R^5 code"),
    Regime("σ=0.01 R^5 text", covariance="text"),
    Regime("σ=0.03 R^5", scale=0.03),
    Regime("σ=0.1 R^5", scale=0.1),
    Regime("σ=0.01 R^3", width=3),
    Regime("σ=0.01 R^2", width=2),
    Regime("N=1000", samples=1_000),
    *(Regime(f"shape {shape}", shape=shape) for shape in SHAPES),
)


def draw(regime: Regime, setting: tuple[int, int, int], seed: int) -> Problem:
    """A problem of this regime."""
    model = random_model(
        *setting, seed, covariance=regime.covariance, scale=regime.scale, width=regime.width
    )
    if regime.shape is not None:
        model = reshape_components(model, regime.shape)
    return paper_problem(model=model, n_samples=regime.samples, random_state=seed)


def run(regime: Regime, setting: tuple[int, int, int], seed: int) -> tuple[bool, float, float]:
    """Whether the structure was exact, the seconds, and the points lost to the Bayes rule."""
    problem = draw(regime, setting, seed)
    model = problem.model
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(random_state=seed).fit(problem.observations)
    seconds = time.perf_counter() - start
    found = compare(model, learner.model_)
    exact = found.bipartite_exact and found.domains_exact
    if not exact:
        return False, seconds, np.nan
    fresh = paper_problem(model=model, n_samples=_FRESH_ROWS, random_state=seed + 1_000_000)
    bayes = most_likely_states(model, [fresh.observations[name] for name in model.observed_names])
    best = compare_states(fresh.states, bayes).joint_accuracy
    reached = compare_states(fresh.states, learner.predict(fresh.observations)).joint_accuracy
    return True, seconds, 100 * (best - reached)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = problem_options(__doc__)
    parser.add_argument("--regimes", default="", help="only those whose name contains this")
    choices = parser.parse_args(argv)
    print(
        f"{'regime':<20}{'problems':>9}{'exact':>7}{'%':>8}{'median s':>10}{'max s':>8}"
        f"{'points below Bayes':>20}"
    )
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for regime in REGIMES:
        if choices.regimes not in regime.name:
            continue
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(regime, setting, seed) for setting in SETTINGS for seed in seeds
        )
        exact = [outcome[0] for outcome in outcomes]
        seconds = [outcome[1] for outcome in outcomes]
        lost = [outcome[2] for outcome in outcomes if np.isfinite(outcome[2])]
        print(
            f"{regime.name:<20}{len(exact):>9}{sum(exact):>7}{100 * np.mean(exact):>8.1f}"
            f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}"
            f"{np.mean(lost) if lost else np.nan:>20.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
