"""More rows of the same problem: does a right answer ever become wrong again.

Nested samples of one problem: the first 300 rows, the first 1 000, and so on. The problems are
those of the paper's settings, clean and with the faults of ``faults.py``, and images of handwritten
digits, where each measurement is an image in a few principal components and the state decides
which digit it shows. Right is the exact Γ with all domain sizes. A violation is a right answer
followed by a wrong one; what was found then, and what the verdict said, is printed below the table.
With ``--keep`` every fit leaves a line, and the same command continues where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from faults import fault_problem
from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError
from mixoracle.metrics import compare
from mixoracle.model import CPDAG, JointTable
from settings import SETTINGS

_SIZES = (300, 1_000, 3_000, 10_000, 30_000)
_SETTINGS = ((2, 5, 3), (3, 7, 4))
_FAULTS = ("outlying rows 1 %", "t(3)", "lognormal(0.5)", "nuisance 1 sd", "zeros 5 %")
_DIGIT_PARTS = 5
Outcome = tuple[bool, str]
Draw = Callable[[int], tuple[Observations, LatentModel]]
# Which latents decide the digit of each image, of two with two states each.
_DIGIT_PARENTS = ((0,), (0,), (1,), (1,), (0, 1))


def digit_problem(n_samples: int, seed: int) -> tuple[Observations, LatentModel]:
    """Images of digits in principal components; two hidden causes decide what they show.

    There are 180 images of a digit. Rows that repeat them would make each image a cluster of its
    own, so rows are drawn from the kernel estimate of their density, by Silverman's rule.
    """
    from scipy.stats import gaussian_kde
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(seed)
    images, digits = load_digits(return_X_y=True)
    parts = PCA(_DIGIT_PARTS, random_state=0).fit_transform(images)
    states = rng.integers(0, 2, (n_samples, 2))
    blocks = {}
    for i, parents in enumerate(_DIGIT_PARENTS):
        shown = rng.permutation(10)[: 2 ** len(parents)]
        code = states[:, parents] @ (2 ** np.arange(len(parents))[::-1])
        rows = np.empty((n_samples, _DIGIT_PARTS))
        for k, digit in enumerate(shown):
            own = np.flatnonzero(code == k)
            density = gaussian_kde(parts[digits == digit].T, "silverman")
            rows[own] = density.resample(len(own), seed=rng).T
        blocks[f"image{i + 1}"] = rows
    bipartite = np.array([[j in parents for j in range(2)] for parents in _DIGIT_PARENTS])
    truth = LatentModel(
        observed_names=tuple(blocks),
        latent_names=("A", "B"),
        bipartite=bipartite,
        domain_sizes=(2, 2),
        joint=JointTable(np.full((2, 2), 0.25)),
        latent_graph=CPDAG(2),
        components=None,
    )
    return Observations.from_arrays(blocks), truth


def problems(first_seed: int, seeds: int) -> Iterator[tuple[str, Draw]]:
    """Each with its name, and how so many rows of it are drawn."""
    for seed in range(first_seed, first_seed + seeds):
        for setting in SETTINGS:
            drawn = partial(fault_problem, "clean", setting, seed=seed)
            yield f"clean, {setting}, seed {seed}", drawn
        for fault, setting in product(_FAULTS, _SETTINGS):
            drawn = partial(fault_problem, fault, setting, seed=seed)
            yield f"{fault}, {setting}, seed {seed}", drawn
        yield f"digits, seed {seed}", partial(digit_problem, seed=seed)


def first_rows(observations: Observations, n_rows: int, order: np.ndarray) -> Observations:
    """The first rows in an order of their own: faults such as drift follow the rows."""
    chosen = np.sort(order[:n_rows])
    return Observations(
        observations.values[chosen],
        observations.names,
        observations.widths,
        observations.levels,
    )


def outcome(observations: Observations, truth: LatentModel) -> Outcome:
    """Whether Γ and the domain sizes are found, and else what was found and said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            learner = LatentGraphLearner(random_state=0).fit(observations)
        except MixoracleError as error:
            return False, str(error)
    found = compare(truth, learner.model_)
    said = f"domain sizes {learner.model_.domain_sizes} for {truth.domain_sizes}, Γ wrong in "
    said += f"{found.bipartite_extra + found.bipartite_missing} edges, {learner.verdict_.level}"
    return found.bipartite_exact and found.domains_exact, said


def main() -> None:
    """Print a line for each problem: + right, - wrong, for each number of rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--largest", type=int, default=10_000, help="rows at most")
    parser.add_argument("--seeds", type=int, default=1, help="problems of each kind")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="no new problem after this")
    parser.add_argument("--keep", type=Path, help="a file of lines of JSON, one a fit")
    parser.add_argument("--only", default="", help="problems whose name begins so")
    asked = parser.parse_args()
    sizes = [size for size in _SIZES if size <= asked.largest]
    kept: dict[tuple[str, int], Outcome] = {}
    if asked.keep and asked.keep.exists():
        for name, size, right, said in map(json.loads, asked.keep.read_text().splitlines()):
            kept[name, size] = right, said
    begin, lines, lost = time.perf_counter(), 0, []
    print(f"{'problem':40s}{''.join(f'{size:>8d}' for size in sizes)}")
    for name, draw in problems(asked.first_seed, asked.seeds):
        if not name.startswith(asked.only):
            continue
        is_over = time.perf_counter() - begin > asked.seconds
        if not is_over and any((name, size) not in kept for size in sizes):
            _learn_all(name, *draw(_SIZES[-1]), sizes, kept, asked.keep)
        learned = [size for size in sizes if (name, size) in kept]
        if not learned:
            continue
        marks = {size: "+" if kept[name, size][0] else "-" for size in learned}
        print(
            f"{name:40s}{''.join(f'{marks.get(size, chr(32)):>8s}' for size in sizes)}", flush=True
        )
        lines += 1
        worse = [b for a, b in pairwise(learned) if kept[name, a][0] and not kept[name, b][0]]
        lost += [f"{name}, N = {size}: {kept[name, size][1]}" for size in worse]
    print(f"{len(lost)} times in {lines} problems a right answer became wrong", *lost, sep="\n")


def _learn_all(
    name: str,
    observations: Observations,
    truth: LatentModel,
    sizes: list[int],
    kept: dict[tuple[str, int], Outcome],
    keep: Path | None,
) -> None:
    """Learn from the first rows of a problem, as many as each size says."""
    order = np.random.default_rng(0).permutation(observations.n_samples)
    for size in sizes:
        if (name, size) in kept:
            continue
        kept[name, size] = outcome(first_rows(observations, size, order), truth)
        if keep:
            with keep.open("a") as file:
                print(json.dumps([name, size, *kept[name, size]]), file=file, flush=True)


if __name__ == "__main__":
    main()
