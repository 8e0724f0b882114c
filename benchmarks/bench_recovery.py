"""How long it takes, and how many counts, to recover Γ; how often it succeeds from wrong counts.

The oracle knows the graph and nothing else, so that P(H), which has 5^15 cells in the largest
case, never has to exist, and what is timed is the recovery. Every answer is checked. A second table
sets the check of a decoded Γ against recovering it again. A third one adds independent normal
errors to every log k(S) and says how often the graph is right.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixoracle.bipartite import check, recover
from mixoracle.bipartite.fitting import canonical
from mixoracle.bipartite.scores import graph_log_counts
from mixoracle.model import Bipartite
from mixoracle.oracles.candidate import GraphCounts as CandidateCounts


class Case(NamedTuple):
    """A kind of graph to draw and the methods to run on it."""

    label: str
    n_observed: int
    n_latent: int
    density: float
    methods: tuple[str, ...]


CASES = (
    Case("paper's largest", 8, 4, 0.5, ("auto", "jennrich", "als", "blocks")),
    Case("sparse", 25, 10, 0.12, ("auto", "jennrich", "als", "blocks")),
    Case("dense", 25, 10, 0.7, ("auto", "jennrich", "als", "blocks")),
    Case("large", 100, 15, 0.5, ("auto", "jennrich", "als", "blocks")),
    Case("wide", 400, 30, 0.2, ("blocks",)),
)


class GraphCounts:
    """Counts by ``obs:counting``, in batches, and how many were asked for."""

    def __init__(
        self, adjacency: NDArray[np.bool_], domain_sizes: Sequence[int], noise: float = 0.0
    ) -> None:
        self.adjacency = adjacency
        self.log_sizes = np.log(np.array(domain_sizes, dtype=float))
        self.n_asked = 0
        self.noise = noise

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return len(self.adjacency)

    def count(self, subset: Sequence[int]) -> int:
        """k(S)."""
        return round(float(np.exp(self.log_counts(np.array([subset], dtype=np.int64))[0])))

    def log_counts(self, subsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return log k(S) for each row."""
        self.n_asked += len(subsets)
        exact = graph_log_counts(self.adjacency, self.log_sizes, subsets)
        if not self.noise:
            return exact
        # The same error whenever the same set is asked for.
        sets = [sorted(set(row)) for row in subsets.tolist()]
        errors = [np.random.default_rng(members).standard_normal() for members in sets]
        return exact + self.noise * np.array(errors)


def draw(case: Case, rng: np.random.Generator) -> tuple[NDArray[np.bool_], tuple[int, ...]]:
    """Γ with independent columns, each with a child, and domains of 2 to 5 states."""
    while True:
        adjacency = rng.random((case.n_observed, case.n_latent)) < case.density
        if np.linalg.matrix_rank(adjacency.astype(float)) == case.n_latent:
            sizes = rng.integers(2, 6, case.n_latent)
            return canonical(adjacency, sizes.tolist())


def measure(case: Case, method: str, seeds: Sequence[int]) -> tuple[float, int]:
    """The longest time in seconds and the largest number of counts over several graphs."""
    longest, most = 0.0, 0
    for seed in seeds:
        adjacency, sizes = draw(case, np.random.default_rng(seed))
        oracle = GraphCounts(adjacency, sizes)
        start = time.perf_counter()
        answer = recover(oracle, method)
        longest = max(longest, time.perf_counter() - start)
        most = max(most, oracle.n_asked)
        if not np.array_equal(answer.adjacency, adjacency) or answer.domain_sizes != sizes:
            raise AssertionError(f"{method} recovered another graph for {case} and seed {seed}")
    return longest, most


def step_b_of_a_candidate(n_observed: int) -> tuple[float, float]:
    """Seconds to check a decoded Γ in one batch, and to recover it again by single counts."""
    adjacency, sizes = draw(Case("sparse", n_observed, 10, 0.2, ()), np.random.default_rng(0))
    graph = Bipartite(adjacency, sizes)
    # The weights of joint states, millions of them, are not asked for.
    candidate = CandidateCounts(graph, np.ones(1))

    class Single:
        """The same counts, one call each, as candidates answered before."""

        n_observed = candidate.n_observed
        count = candidate.count

    start = time.perf_counter()
    check(graph, candidate)
    checked = time.perf_counter() - start
    start = time.perf_counter()
    recover(Single())
    return checked, time.perf_counter() - start


def share_right(case: Case, method: str, noise: float, seeds: Sequence[int]) -> float:
    """How often Γ and the domain sizes are right from counts with errors."""
    right = 0
    for seed in seeds:
        adjacency, sizes = draw(case, np.random.default_rng(seed))
        answer = recover(GraphCounts(adjacency, sizes, noise), method, tolerance=np.inf)
        right += np.array_equal(answer.adjacency, adjacency) and answer.domain_sizes == sizes
    return right / len(seeds)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the slowest of ``--seeds`` graphs for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="graphs for each case")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.03, 0.1], help="sd of errors")
    parser.add_argument("--noisy-seeds", type=int, default=30, help="graphs for each error")
    arguments = parser.parse_args(argv)
    print(f"{'graph':<16} {'n':>4} {'m':>3}  {'method':<9} {'seconds':>8} {'counts':>8}")
    for case in CASES:
        for method in case.methods:
            seconds, counts = measure(case, method, range(arguments.seeds))
            print(
                f"{case.label:<16} {case.n_observed:>4} {case.n_latent:>3}  {method:<9} "
                f"{seconds:>8.3f} {counts:>8}"
            )
    print(f"\n{'step (b), 10 latents':<22} {'n':>4} {'checked':>9} {'recovered singly':>17}")
    for n_observed in (25, 50, 100):
        checked, recovered = step_b_of_a_candidate(n_observed)
        print(f"{'':<22} {n_observed:>4} {checked:>9.3f} {recovered:>17.3f}")
    print(f"\n{'error of log k(S)':<18} {'method':<9} {'right':>6}")
    for noise in arguments.noise:
        for method in ("jennrich", "als"):
            right = share_right(CASES[0], method, noise, range(arguments.noisy_seeds))
            print(f"{noise:<18g} {method:<9} {right:>6.0%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
