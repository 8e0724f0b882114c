"""How well and how fast Λ is found when P(H) is counted from the true hidden states.

Random latent models as ``sec: expt_details`` draws them (arrows along a random order, tables with
weights 1 to 4), states sampled, every method and score on the same counts. The paper's density of
0.6 is kept for few latents; for more, a latent has 3 neighbours on average, because 40 arrows
among 12 latents are beyond any method at these sample sizes.

Printed for each number of latents m and of samples N: the mean distance to the true class as the
paper counts it (extra + missing + reversed), its strict version (every pair of latents that is
joined differently), seconds, how often the class is exactly right, and how often GES stops below
the best score.

    python benchmarks/bench_structure.py [--repetitions R] [--latents 4 8 12] [--samples ...]
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np

from mixoracle.datasets.graphs import random_dag, random_joint
from mixoracle.metrics import structural_distance
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import search

RUNS = (
    ("exact", "bic"),
    ("exact", "bdeu"),
    ("ges", "bic"),
    ("ges", "bdeu"),
    ("pc", "bic"),
)
# GES gains of less than this are not followed by the ges package.
SAME_SCORE = 1e-6


PAPER_DENSITY = 0.6


def draw(rng: np.random.Generator, m: int, degree: float, largest: int, n_samples: int):
    """A true class, and the table of sampled states."""
    sizes = tuple(int(size) for size in rng.integers(2, largest + 1, m))
    edges = random_dag(m, min(PAPER_DENSITY, degree / max(1, m - 1)), rng)
    truth = random_joint(sizes, edges, 4, rng).table
    counts = rng.multinomial(n_samples, truth.ravel() / truth.sum()).reshape(sizes)
    return CPDAG.from_dag(edges, m), JointTable(counts / n_samples)


def run(m: int, n_samples: int, arguments: argparse.Namespace) -> None:
    """One setting: print a line for each method and score."""
    rows = defaultdict(list)
    short_of_best = defaultdict(list)
    for repetition in range(arguments.repetitions):
        rng = np.random.default_rng([arguments.seed, m, n_samples, repetition])
        truth, joint = draw(rng, m, arguments.degree, arguments.largest, n_samples)
        best = {}
        for method, score in RUNS:
            start = time.perf_counter()
            found = search(joint, n_samples, method, score=score)
            seconds = time.perf_counter() - start
            shd = structural_distance(truth, found.graph)
            strict = structural_distance(truth, found.graph, strict=True)
            rows[method, score].append((shd, strict, seconds, found.graph == truth))
            if method == "exact":
                best[score] = found.score
            elif method == "ges":
                short_of_best[score].append(found.score < best[score] - SAME_SCORE)
    for (method, score), values in rows.items():
        shd, strict, seconds, right = np.mean(np.array(values, dtype=float), axis=0)
        shown = score if method != "pc" else "-"
        note = f"{np.mean(short_of_best[score]):8.0%}" if method == "ges" else ""
        print(
            f"{m:3d} {n_samples:8d}  {method:6s} {shown:5s} {shd:7.2f} {strict:8.2f} "
            f"{seconds:9.4f} {right:7.0%} {note}"
        )


def main() -> None:
    """Run every setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--latents", type=int, nargs="+", default=[4, 8, 12])
    parser.add_argument("--samples", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--degree", type=float, default=3.0, help="neighbours of a latent")
    parser.add_argument("--largest", type=int, default=3, help="largest domain of a latent")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"{arguments.repetitions} models a setting, domains 2 to {arguments.largest}")
    print("  m        N  method score     SHD   strict   seconds   right  GES not optimal")
    for m in arguments.latents:
        for n_samples in arguments.samples:
            run(m, n_samples, arguments)


if __name__ == "__main__":
    main()
