"""Many causes behind many measurements, drawn in another way than the package draws them.

What is tuned to one generator may fail on the next. Here graphs have other numbers of parents,
conditional tables are Dirichlet, components have Wishart covariances, and each measurement has
units of its own. Nothing is taken from ``mixoracle.datasets``, and nothing was chosen on these
draws.

    OMP_NUM_THREADS=1 python benchmarks/bench_foreign.py --seeds 4 --row 8 40 2
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench_scale import ROWS, add_sizes
from mixoracle import LatentGraphLearner, Observations
from mixoracle.decoding.explanation import structure_of
from mixoracle.errors import AssumptionWarning, DataWarning

_WIDTH = 5
_NOISE = 0.08
# A state of a latent has at least about this share, whatever its causes are.
_RAREST = 0.06


@dataclass(frozen=True)
class Draw:
    """Observations, with the Γ (n, m) and the numbers of states behind them."""

    observations: Observations
    adjacency: NDArray[np.bool_]
    sizes: tuple[int, ...]


def draw(m: int, n: int, largest: int, n_samples: int, seed: int) -> Draw:
    """Draw a model and rows of it."""
    rng = np.random.default_rng([seed, m, n])
    sizes = rng.integers(2, largest + 1, size=m)
    adjacency = _graph(m, n, rng)
    states = _states(sizes, n_samples, rng)
    blocks = {}
    for i, row in enumerate(adjacency):
        parents = np.flatnonzero(row)
        code = np.ravel_multi_index(tuple(states[:, parents].T), tuple(sizes[parents]))
        blocks[f"V{i + 1}"] = _block(code, int(np.prod(sizes[parents])), rng)
    return Draw(Observations.from_arrays(blocks), adjacency, tuple(sizes.tolist()))


def _graph(m: int, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Γ in which each latent has two children, and no latent's are all another's as well."""
    while True:
        adjacency = np.zeros((n, m), dtype=bool)
        for row in adjacency:
            n_parents = min(m, rng.choice([1, 2, 3], p=[0.3, 0.4, 0.3]))
            row[rng.choice(m, n_parents, replace=False)] = True
        within = adjacency.T.astype(int) @ ~adjacency == 0
        np.fill_diagonal(within, val=False)
        if adjacency.sum(axis=0).min() >= 2 and not within.any():
            return adjacency


def _states(
    sizes: NDArray[np.int64], n_samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """States along a DAG in which each latent has up to two causes."""
    order = rng.permutation(len(sizes))
    states = np.zeros((n_samples, len(sizes)), dtype=np.int64)
    for place, j in enumerate(order):
        causes = order[rng.choice(place, min(place, rng.integers(0, 3)), replace=False)]
        code = np.zeros(n_samples, dtype=np.int64)
        for cause in causes:
            code = code * sizes[cause] + states[:, cause]
        table = rng.dirichlet(np.full(sizes[j], 2.0), size=int(np.prod(sizes[causes])))
        table = (table + _RAREST) / (table + _RAREST).sum(axis=1, keepdims=True)
        above = rng.random(n_samples)[:, None] > table[code].cumsum(axis=1)
        states[:, j] = np.minimum(above.sum(axis=1), sizes[j] - 1)
    return states


def _block(
    code: NDArray[np.int64], n_components: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Rows of these components of one measurement, in units of its own."""
    means = rng.normal(size=(n_components, _WIDTH))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    rows = rng.normal(size=(len(code), _WIDTH))
    for component, mean in enumerate(means):
        square = rng.normal(size=(_WIDTH, _WIDTH))
        factor = _NOISE * np.linalg.cholesky(square @ square.T / _WIDTH + 0.2 * np.eye(_WIDTH))
        own = code == component
        rows[own] = mean + rows[own] @ factor.T
    return np.asarray(rows * rng.uniform(0.1, 50.0) + 10.0 * rng.normal())


def is_exact(truth: Draw, learner: LatentGraphLearner) -> bool:
    """Whether Γ and the numbers of states are those of the truth, up to the order of latents."""
    found = learner.model_
    true = structure_of(truth.adjacency, truth.sizes)
    return true == structure_of(found.bipartite, found.domain_sizes)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_sizes(parser)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=1)
    choices = parser.parse_args(argv)
    print(
        f"{'m':>3}{'n':>5}{'N':>8}{'problems':>10}{'exact':>7}{'believed':>10}{'median CPU s':>14}"
    )
    for m, n, largest in choices.row or ROWS:
        exact, believed, seconds = 0, 0, []
        for seed in range(choices.first_seed, choices.first_seed + choices.seeds):
            truth = draw(m, n, largest, choices.samples, seed)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssumptionWarning)
                warnings.simplefilter("ignore", DataWarning)
                learner = LatentGraphLearner(random_state=0).fit(truth.observations)
            seconds.append(time.process_time() - start)
            exact += is_exact(truth, learner)
            believed += learner.verdict_.level == "believe"
        print(
            f"{m:>3}{n:>5}{choices.samples:>8}{choices.seeds:>10}{exact:>7}{believed:>10}"
            f"{np.median(seconds):>14.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
