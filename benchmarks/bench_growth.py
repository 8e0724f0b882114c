"""How seconds grow with measurements n, causes m and rows N, with the exponents that fit best.

Against n: five causes behind 8 to 512 measurements. Against m: 2 to 64 causes with two states, with
five measurements each. Both are sparse graphs (each measurement has 1 to 3 causes), blocks in R^5
and 10 000 rows. Against N: the paper's setting (3, 8, 4), 10^3 to 10^6 rows in memory and 10^7 in
chunks from parquet files. CPU seconds of one core, in all processes; the exponent is the slope of
their logarithms, over all sizes and over the upper half, where what every fit costs weighs less.

    python benchmarks/bench_growth.py --keep growth.jsonl --figure docs/images/growth.svg
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench_chunks import draw
from bench_scale import cpu_seconds, is_exact
from mixoracle import ChunkedObservations, LatentGraphLearner, LatentModel
from mixoracle.datasets import paper_problem, random_model, sparse_problem
from mixoracle.errors import AssumptionWarning, DataWarning

MEASUREMENTS = (8, 16, 32, 64, 128, 256, 512)
CAUSES = (2, 4, 8, 16, 32, 64)
ROWS = (10**3, 10**4, 10**5, 10**6, 10**7)
# Beyond, rows come in chunks.
_IN_MEMORY = 10**6
_SPARSE_ROWS = 10_000

Fitted = tuple[LatentModel, LatentModel, float]
"""The truth, what was learned, and the CPU seconds."""


def fit(data: Any, truth: LatentModel) -> Fitted:
    """Learn the data on one core."""
    began = cpu_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=0, n_jobs=1).fit(data)
    return truth, learner.model_, cpu_seconds() - began


def by_measurements(n: int, seed: int) -> Fitted:
    """Five causes behind n measurements."""
    problem = sparse_problem(5, n, 2, _SPARSE_ROWS, seed)
    return fit(problem.observations, problem.model)


def by_causes(m: int, seed: int) -> Fitted:
    """As many causes, with five measurements each."""
    problem = sparse_problem(m, 5 * m, 2, _SPARSE_ROWS, seed)
    return fit(problem.observations, problem.model)


def by_rows(n_rows: int, seed: int) -> Fitted:
    """The paper's setting (3, 8, 4) with so many rows."""
    if n_rows <= _IN_MEMORY:
        problem = paper_problem(3, 8, 4, n_rows, seed)
        return fit(problem.observations, problem.model)
    truth = random_model(3, 8, 4, random_state=seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "rows"
        draw(folder, truth, n_rows, seed)
        return fit(ChunkedObservations.scan(folder), truth)


CURVES: dict[str, tuple[tuple[int, ...], Callable[[int, int], Fitted]]] = {
    "n": (MEASUREMENTS, by_measurements),
    "m": (CAUSES, by_causes),
    "N": (ROWS, by_rows),
}


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else np.nan


def print_curve(name: str, held: list[dict[str, Any]]) -> None:
    """A line for each size, and the exponents."""
    sizes = sorted({row["size"] for row in held})
    seconds = [float(np.median([r["seconds"] for r in held if r["size"] == s])) for s in sizes]
    print(f"{name:>10}{'CPU s':>10}{'exact':>10}")
    for size, spent in zip(sizes, seconds, strict=True):
        own = [row["exact"] for row in held if row["size"] == size]
        print(f"{size:>10}{spent:>10.2f}{sum(own):>6} of {len(own)}")
    upper = len(sizes) // 2
    print(
        f"exponent {exponent(sizes, seconds):.2f}, upper half "
        f"{exponent(sizes[upper:], seconds[upper:]):.2f}\n"
    )


def draw_figure(path: Path, held: list[dict[str, Any]]) -> None:
    """Seconds against size, one panel for each curve."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    titles = {"n": "measurements n", "m": "causes m", "N": "rows N"}
    figure, axes = plt.subplots(1, len(titles), figsize=(9, 3), sharey=True, layout="constrained")
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        own = [row for row in held if row["curve"] == name]
        for exact, marker in ((True, "o"), (False, "x")):
            some = [row for row in own if row["exact"] is exact]
            axis.loglog(
                [row["size"] for row in some], [row["seconds"] for row in some], marker, color="C0"
            )
        sizes = sorted({row["size"] for row in own})
        axis.set_xticks(sizes, [f"{size:.0e}" if size >= 1000 else str(size) for size in sizes])
        axis.minorticks_off()
        axis.set_xlabel(title)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("CPU seconds, one core")
    figure.savefig(path, metadata={"Date": None})


def main(argv: list[str] | None = None) -> None:
    """Measure what is not kept yet, and print the curves."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--curve", choices=sorted(CURVES), action="append", help="only this one")
    parser.add_argument("--largest", type=int, help="no sizes above this one")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file that keeps what was measured")
    parser.add_argument("--figure", type=Path, help="draw the curves")
    choices = parser.parse_args(argv)
    kept = choices.keep.read_text().splitlines() if choices.keep and choices.keep.exists() else []
    held: list[dict[str, Any]] = [json.loads(line) for line in kept]
    done = {(row["curve"], row["size"], row["seed"]) for row in held}
    for name in choices.curve or CURVES:
        sizes, learn = CURVES[name]
        for size in (s for s in sizes if s <= (choices.largest or s)):
            for seed in range(choices.first_seed, choices.first_seed + choices.seeds):
                if (name, size, seed) in done:
                    continue
                truth, found, seconds = learn(size, seed)
                row = {"curve": name, "size": size, "seed": seed, "seconds": seconds}
                row["exact"] = is_exact(truth, found)
                row["peak GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
                held.append(row)
                if choices.keep:
                    with choices.keep.open("a") as stream:
                        stream.write(json.dumps(row) + "\n")
    for name in choices.curve or CURVES:
        print_curve(name, [row for row in held if row["curve"] == name])
    if choices.figure:
        draw_figure(choices.figure, held)


if __name__ == "__main__":
    main()
