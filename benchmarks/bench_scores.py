"""Scores for Λ on tables drawn as the paper draws them, with the states known: what is missed.

For each number of rows and each score: the mean SHD to the true class, how many of the true edges
are missed, and how many of the edges found are false.

    python benchmarks/bench_scores.py [--seeds S] [--first-seed F] [--rows 300 1000 3000 10000]
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from mixoracle import CPDAG, JointTable, structure
from mixoracle.datasets import paper_problem
from mixoracle.metrics import structural_distance
from settings import SETTINGS, problem_options

SCORES = ("bic", "bdeu", "adaptive")


def main() -> None:
    """Print a line for each number of rows and each score."""
    parser = problem_options(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1_000, 3_000, 10_000])
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    several = [setting for setting in SETTINGS if setting[0] > 1]
    print("     N score     problems     SHD      missed       false")
    for n_samples in arguments.rows:
        totals = {score: Counter() for score in SCORES}
        for setting, seed in product(several, seeds):
            problem = paper_problem(*setting, n_samples=n_samples, random_state=seed, width=2)
            table = np.zeros(problem.model.domain_sizes)
            np.add.at(table, tuple(problem.states.T), 1.0 / n_samples)
            truth = CPDAG.from_dag(problem.dag, problem.model.n_latent)
            for score, total in totals.items():
                found = structure.learn(JointTable(table / table.sum()), n_samples, score=score)
                total["problems"] += 1
                total["shd"] += structural_distance(truth, found)
                total["true"] += len(truth.skeleton)
                total["missed"] += len(truth.skeleton - found.skeleton)
                total["found"] += len(found.skeleton)
                total["false"] += len(found.skeleton - truth.skeleton)
        for score, total in totals.items():
            shd = total["shd"] / total["problems"]
            missed, false = (
                f"{total[part]} of {total[whole]}"
                for part, whole in (("missed", "true"), ("false", "found"))
            )
            problems = total["problems"]
            print(f"{n_samples:6d} {score:9s} {problems:8d} {shd:7.3f} {missed:>11s} {false:>11s}")


if __name__ == "__main__":
    main()
