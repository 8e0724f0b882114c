"""More rows of the same problem: does a right answer ever become wrong again.

Nested samples of one problem: the first 300 rows, the first 1 000, and so on. The problems are
those of the paper's settings, clean and with the faults of ``faults.py``, and images of handwritten
digits, where each measurement is an image in a few principal components and the state decides
which digit it shows. Right is the exact Γ with all domain sizes. A violation is a right answer
followed by a wrong one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from faults import FAULTS, fault_problem
from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError
from mixoracle.metrics import compare
from mixoracle.model import CPDAG, JointTable

_SIZES = (300, 1_000, 3_000, 10_000, 30_000)
_SETTINGS = ((2, 5, 3), (3, 7, 4))
_FAULTS = ("clean", "outlying rows 1 %", "t(3)", "lognormal(0.5)", "nuisance 1 sd", "zeros 5 %")
_DIGIT_PARTS = 5
# Which latents decide the digit of each image, of two with two states each.
_DIGIT_PARENTS = ((0,), (0,), (1,), (1,), (0, 1))


def digit_problem(n_samples: int, seed: int) -> tuple[Observations, LatentModel]:
    """Images of digits in principal components; two hidden causes decide what they show."""
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
        rows = np.empty(n_samples, dtype=np.int64)
        for k, digit in enumerate(shown):
            own = np.flatnonzero(code == k)
            rows[own] = rng.choice(np.flatnonzero(digits == digit), len(own))
        # There are only 180 images of a digit: without this, most would be there many times.
        jitter = 0.1 * parts.std(axis=0) * rng.normal(size=(n_samples, _DIGIT_PARTS))
        blocks[f"image{i + 1}"] = parts[rows] + jitter
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


def problems(largest: int, seeds: int) -> Iterator[tuple[str, Observations, LatentModel]]:
    """Each with its name, as large as the largest sample."""
    for seed in range(seeds):
        yield f"digits, seed {seed}", *digit_problem(largest, seed)
        for setting in _SETTINGS:
            for fault in _FAULTS:
                drawn = fault_problem(fault, setting, largest, seed)
                yield f"{fault}, {setting}, seed {seed}", *drawn


def first_rows(observations: Observations, n_rows: int, order: np.ndarray) -> Observations:
    """The first rows in an order of their own: faults such as drift follow the rows."""
    chosen = np.sort(order[:n_rows])
    return Observations(
        observations.values[chosen],
        observations.names,
        observations.widths,
        observations.levels,
    )


def is_right(observations: Observations, truth: LatentModel) -> bool:
    """Whether Γ and the domain sizes are found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            learner = LatentGraphLearner(random_state=0).fit(observations)
        except MixoracleError:
            return False
    found = compare(truth, learner.model_)
    return found.bipartite_exact and found.domains_exact


def main() -> None:
    """Print a line for each problem: + right, - wrong, for each number of rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--largest", type=int, default=10_000, help="rows at most")
    parser.add_argument("--seeds", type=int, default=1, help="problems of each kind")
    parser.add_argument("--seconds", type=float, default=600.0, help="no new problem after this")
    asked = parser.parse_args()
    unknown = [fault for fault in _FAULTS if fault not in FAULTS]
    if unknown:
        raise SystemExit(f"faults.py has no {unknown[0]!r}")
    sizes = [size for size in _SIZES if size <= asked.largest]
    print(f"{'problem':40s}{''.join(f'{size:>8d}' for size in sizes)}")
    begin, violations, n_problems = time.perf_counter(), 0, 0
    for name, observations, truth in problems(max(sizes), asked.seeds):
        if time.perf_counter() - begin > asked.seconds:
            break
        order = np.random.default_rng(0).permutation(observations.n_samples)
        right = [is_right(first_rows(observations, size, order), truth) for size in sizes]
        lost = any(one and not other for one, other in pairwise(right))
        violations, n_problems = violations + lost, n_problems + 1
        marks = "".join(f"{'+' if one else '-':>8s}" for one in right)
        print(f"{name:40s}{marks}{'  lost again' if lost else ''}", flush=True)
    print(f"{violations} of {n_problems} problems lost a right answer again")


if __name__ == "__main__":
    main()
