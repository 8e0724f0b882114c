"""The default oracle against the paper's, on the same problems in the same run: seconds and ratio.

One problem of each of the ten settings, learned end to end with either oracle, one after the
other on one core. The machine may be busy; the ratio hardly minds.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from mixoracle import LatentGraphLearner
from mixoracle.datasets import Problem, paper_problem
from mixoracle.errors import AssumptionWarning
from mixoracle.metrics import compare
from settings import SETTINGS


def learn(oracle: str, problem: Problem, seed: int) -> tuple[float, bool]:
    """Seconds, and whether Γ and all domain sizes came out exactly."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        learner = LatentGraphLearner(oracle=oracle, random_state=seed).fit(problem.observations)
    seconds = time.perf_counter() - start
    found = compare(problem.model, learner.model_)
    return seconds, found.bipartite_exact and found.domains_exact


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    choices = parser.parse_args(argv)
    print(f"N = {choices.samples}, covariances 'code', seed {choices.seed}")
    warm_up = paper_problem(1, 3, 2, 500, choices.seed, covariance="code")
    for oracle in ("signature", "kmeans"):
        learn(oracle, warm_up, choices.seed)  # imports are not what is timed
    head = f"{'setting':<12}{'signature s':>12}{'kmeans s':>10}{'ratio':>8}"
    print(f"{head}   exact (signature, kmeans)")
    ratios, ours, theirs = [], [], []
    for setting in SETTINGS:
        problem = paper_problem(*setting, choices.samples, choices.seed, covariance="code")
        signature, signature_exact = learn("signature", problem, choices.seed)
        kmeans, kmeans_exact = learn("kmeans", problem, choices.seed)
        ours.append(signature)
        theirs.append(kmeans)
        ratios.append(kmeans / signature)
        print(
            f"{setting!s:<12}{signature:>12.2f}{kmeans:>10.2f}{ratios[-1]:>8.1f}"
            f"   {signature_exact}, {kmeans_exact}",
            flush=True,
        )
    print(
        f"{'median':<12}{np.median(ours):>12.2f}{np.median(theirs):>10.2f}{np.median(ratios):>8.1f}"
    )


if __name__ == "__main__":
    main()
