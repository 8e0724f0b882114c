"""Learning from data on the paper's settings: how often exact, how far from the limit, how fast.

For each setting (latents, observed, largest domain) of ``sec: expt_details``, problems are drawn
and learned with no hint of the truth, and the table says how many had Γ and all domain sizes
exactly right, the mean SHD of the whole graph beside that of the same search on the true hidden
states (no oracle can do better), the distance of P(H) relative to that of the true states'
frequencies, and the seconds. No problem is left out; one that fails counts as not exact.

Run ``python benchmarks/bench_learning.py --help`` for the choices.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from mixoracle import JointTable, LatentGraphLearner, structure
from mixoracle.datasets import Problem, paper_problem
from mixoracle.errors import AssumptionWarning, MixoracleError
from mixoracle.metrics import compare
from settings import SETTINGS


@dataclass(frozen=True)
class Outcome:
    """One problem: what was right, how far off, how long."""

    graph_exact: bool
    domains_exact: bool
    shd: float
    shd_limit: float
    tv: float
    tv_limit: float
    seconds: float
    failure: str


def run(setting: tuple[int, int, int], seed: int, choices: argparse.Namespace) -> Outcome:
    """Draw one problem and learn it."""
    problem = paper_problem(
        *setting,
        choices.samples,
        seed,
        covariance=choices.covariance,
        scale=choices.scale,
        width=choices.width,
    )
    limit = on_true_states(problem, choices.samples)
    learner = LatentGraphLearner(
        oracle=choices.oracle, refine=not choices.no_refine, random_state=seed
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        try:
            learner.fit(problem.observations)
        except MixoracleError as error:
            n_edges = int(problem.model.bipartite.sum()) + len(problem.dag or ())
            seconds = time.perf_counter() - start
            return Outcome(False, False, n_edges, limit[0], np.nan, limit[1], seconds, str(error))
    seconds = time.perf_counter() - start
    found = compare(problem.model, learner.model_)
    return Outcome(
        found.bipartite_exact,
        found.domains_exact,
        found.shd,
        limit[0],
        found.joint_tv,
        limit[1],
        seconds,
        "",
    )


def on_true_states(problem: Problem, n_samples: int) -> tuple[float, float]:
    """SHD and distance of P(H) when the hidden states themselves are counted."""
    table = np.zeros(problem.model.domain_sizes)
    np.add.at(table, tuple(problem.states.T), 1.0 / n_samples)
    joint = JointTable(table / table.sum())
    counted = replace(
        problem.model, joint=joint, latent_graph=structure.learn(joint, n_samples, method="exact")
    )
    distance = 0.5 * float(np.abs(table - problem.model.joint.table).sum())
    return compare(problem.model, counted).shd, distance


def row(name: str, outcomes: list[Outcome]) -> str:
    """One line of the table."""
    exact = [o.graph_exact and o.domains_exact for o in outcomes]
    known = [o for o in outcomes if np.isfinite(o.tv)]
    ratio = sum(o.tv for o in known) / max(sum(o.tv_limit for o in known), 1e-300)
    return (
        f"{name:<12}{len(outcomes):>9}{sum(o.graph_exact for o in outcomes):>9}"
        f"{sum(o.domains_exact for o in outcomes):>10}{100 * np.mean(exact):>9.1f}"
        f"{np.mean([o.shd for o in outcomes]):>8.2f}"
        f"{np.mean([o.shd_limit for o in outcomes]):>8.2f}"
        f"{ratio:>10.2f}{np.median([o.seconds for o in outcomes]):>9.2f}"
        f"{max(o.seconds for o in outcomes):>9.2f}{sum(bool(o.failure) for o in outcomes):>8}"
    )


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=10_000, help="rows of each problem")
    parser.add_argument("--seeds", type=int, default=2, help="problems of each setting")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--covariance", choices=("code", "text"), default="code")
    parser.add_argument("--scale", type=float, default=0.01, help="σ, factor on the covariances")
    parser.add_argument("--width", type=int, default=5, help="columns of each variable")
    parser.add_argument("--oracle", choices=("signature", "kmeans"), default="signature")
    parser.add_argument("--no-refine", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    print(
        f"{choices.oracle} oracle, N = {choices.samples}, covariances {choices.covariance!r}, "
        f"σ = {choices.scale}, X in R^{choices.width}, "
        f"seeds {choices.first_seed} to {choices.first_seed + choices.seeds - 1}"
    )
    print(
        f"{'setting':<12}{'problems':>9}{'exact Γ':>9}{'domains':>10}{'both %':>9}{'SHD':>8}"
        f"{'limit':>8}{'P(H) ×':>10}{'median s':>9}{'max s':>9}{'failed':>8}"
    )
    everything: list[Outcome] = []
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for setting in SETTINGS:
        outcomes = Parallel(n_jobs=choices.jobs)(
            delayed(run)(setting, seed, choices) for seed in seeds
        )
        everything += outcomes
        print(row(str(setting), outcomes), flush=True)
    print(row("all", everything))


if __name__ == "__main__":
    main()
