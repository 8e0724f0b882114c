"""Wide blocks and panels of counts: CPU seconds, memory, and whether Γ and domain sizes are exact.

Six measurements of 64 to 1 000 columns each, as images and embeddings come: the components of a
block lie ``--apart`` standard deviations from each other, in random directions, with noise in every
column and a few directions of larger common scatter. And counts of 1 500 cells × 60 genes in panels
of ten.

    python benchmarks/bench_wide.py
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from mixoracle import LatentGraphLearner, Observations
from mixoracle.decoding.explanation import structure_of
from mixoracle.errors import AssumptionWarning, DataWarning
from mixoracle.model.joint_states import codes_of_parents

# Two causes with 3 and 2 states; four measurements of each, two of them of both.
GRAPH = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]], dtype=bool)
SIZES = (3, 2)
WIDTHS = (64, 256, 1000)
# Directions in which the columns of a block vary together within a component, and how much.
_DIRECTIONS, _SPREAD = 5, 3.0
_CELLS, _GENES = 1_500, 10


def states_of(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of states; the second cause depends on the first."""
    first = rng.integers(0, SIZES[0], n_rows)
    second = (rng.random(n_rows) < 0.3 + 0.2 * first).astype(np.int64)
    return np.stack([first, second], axis=1)


def wide(n_rows: int, width: int, apart: float, rng: np.random.Generator) -> Observations:
    """Six blocks of so many columns."""
    codes = codes_of_parents(states_of(n_rows, rng), GRAPH, SIZES)
    blocks = {}
    for i, code in enumerate(codes.T):
        means = rng.normal(size=(code.max() + 1, width))
        means *= apart / np.sqrt(2.0) / np.linalg.norm(means, axis=1, keepdims=True)
        together = rng.normal(size=(_DIRECTIONS, width)) / np.sqrt(width)
        noise = rng.normal(size=(n_rows, width))
        noise += _SPREAD * rng.normal(size=(n_rows, _DIRECTIONS)) @ together
        blocks[f"view {i + 1}"] = means[code] + noise
    return Observations.from_arrays(blocks)


def panels(rng: np.random.Generator) -> Observations:
    """Counts in six panels of ten genes: rates that differ by the state, gene by gene."""
    codes = codes_of_parents(states_of(_CELLS, rng), GRAPH, SIZES)
    blocks = {}
    for i, code in enumerate(codes.T):
        rates = np.exp(rng.normal(1.5, 0.8, size=(code.max() + 1, _GENES)))
        blocks[f"panel {i + 1}"] = rng.poisson(rates[code]).astype(float)
    return Observations.from_arrays(blocks)


def learned(observations: Observations) -> tuple[float, bool, tuple[int, ...]]:
    """CPU seconds, whether Γ and the domain sizes are exact, and the sizes."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        model = LatentGraphLearner(random_state=0).fit(observations).model_
    seconds = time.process_time() - start
    exact = structure_of(model.bipartite, model.domain_sizes) == structure_of(GRAPH, SIZES)
    return seconds, exact, model.domain_sizes


def main(argv: list[str] | None = None) -> None:
    """Print a line for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=3_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--apart", type=float, default=8.0)
    parser.add_argument("--width", type=int, action="append", help="instead of all widths")
    choices = parser.parse_args(argv)
    print(f"{'problem':<34}{'seed':>6}{'CPU s':>8}{'peak GB':>9}  exact  domains")
    for seed in range(choices.first_seed, choices.first_seed + choices.seeds):
        problems = {"1 500 × 60 counts in panels": panels(np.random.default_rng(seed))}
        for width in choices.width or WIDTHS:
            name = f"6 × {width} columns, {choices.samples} rows"
            rng = np.random.default_rng([seed, width])
            problems[name] = wide(choices.samples, width, choices.apart, rng)
        for name, observations in problems.items():
            seconds, exact, sizes = learned(observations)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(
                f"{name:<34}{seed:>6}{seconds:>8.1f}{peak:>9.2f}  {exact!s:5}  {sizes}", flush=True
            )


if __name__ == "__main__":
    main()
