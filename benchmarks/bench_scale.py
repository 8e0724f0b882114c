"""Many causes and many measurements: seconds, memory, and whether Γ and all domain sizes are exact.

Graphs are sparse: each measurement has 1 to 3 causes and each cause at most two causes of its own.
Components are those of the paper: means on the unit sphere of R^5, covariances of its text.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from dataclasses import dataclass

import numpy as np

from mixoracle import LatentGraphLearner, Observations
from mixoracle._arrays import Bools, Integers
from mixoracle.datasets.simulate import COVARIANCES, MEANS
from mixoracle.errors import AssumptionWarning, DataWarning
from mixoracle.families.gaussian import GaussianComponents
from mixoracle.model.joint_states import flat

# The rows of the table: latents, measurements, the most states of a latent.
ROWS = ((8, 40, 2), (10, 100, 2), (15, 60, 2), (5, 200, 3))


@dataclass(frozen=True)
class Sparse:
    """A problem with the truth: Γ (n, m), the domain sizes and the states (N, m) of all rows."""

    observations: Observations
    adjacency: Bools
    domain_sizes: tuple[int, ...]
    states: Integers


def sparse_problem(m: int, n: int, largest: int, n_samples: int, seed: int) -> Sparse:
    """Draw a sparse problem."""
    rng = np.random.default_rng(seed)
    sizes = tuple(int(size) for size in rng.integers(2, largest + 1, size=m))
    adjacency = _bipartite(m, n, rng)
    states = _states(sizes, n_samples, rng)
    blocks = {}
    for i, row in enumerate(adjacency):
        parents = np.flatnonzero(row)
        held = [sizes[j] for j in parents]
        k = int(np.prod(held))
        components = GaussianComponents(
            MEANS["sphere"](k, 5, rng), COVARIANCES["text"](k, 5, 0.01, rng)
        )
        blocks[f"X{i + 1}"] = components.sample(flat(states[:, parents], held), rng)
    return Sparse(Observations.from_arrays(blocks), adjacency, sizes, states)


def _bipartite(m: int, n: int, rng: np.random.Generator) -> Bools:
    """Γ with 1 to 3 parents each in which no latent's children are all another's as well."""
    while True:
        adjacency = np.zeros((n, m), dtype=bool)
        for row in adjacency:
            row[rng.choice(m, size=rng.integers(1, min(3, m) + 1), replace=False)] = True
        inside = (adjacency.T.astype(int) @ ~adjacency == 0) & ~np.eye(m, dtype=bool)
        if adjacency.any(axis=0).all() and not inside.any():
            return adjacency


def _states(sizes: tuple[int, ...], n_samples: int, rng: np.random.Generator) -> Integers:
    """Rows of states: each latent depends on at most two earlier ones."""
    states = np.zeros((n_samples, len(sizes)), dtype=np.int64)
    for j, size in enumerate(sizes):
        parents = rng.choice(j, size=min(j, int(rng.integers(0, 3))), replace=False)
        held = [sizes[p] for p in parents]
        weights = rng.integers(1, 5, size=(int(np.prod(held, dtype=int)), size)).astype(float)
        cumulated = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        own = cumulated[flat(states[:, parents], held)]
        states[:, j] = np.minimum((rng.random((n_samples, 1)) > own).sum(axis=1), size - 1)
    return states


def is_exact(problem: Sparse, learner: LatentGraphLearner) -> bool:
    """Whether Γ and the domain sizes are those of the truth, up to the order of the latents."""
    model = learner.model_
    truth = sorted(zip(map(bytes, problem.adjacency.T), problem.domain_sizes, strict=True))
    found = sorted(zip(map(bytes, model.bipartite.T), model.domain_sizes, strict=True))
    return truth == found


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--row", type=int, choices=range(len(ROWS)), help="only this one")
    choices = parser.parse_args(argv)
    print(f"{'m':>3}{'n':>5}{'joint states':>14}{'CPU s':>8}{'peak GB':>9}  exact")
    for m, n, largest in ROWS if choices.row is None else [ROWS[choices.row]]:
        problem = sparse_problem(m, n, largest, choices.samples, choices.seed)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            warnings.simplefilter("ignore", DataWarning)
            learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        n_states = int(np.prod(problem.domain_sizes))
        print(
            f"{m:>3}{n:>5}{n_states:>14}{seconds:>8.1f}{peak:>9.2f}  {is_exact(problem, learner)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
