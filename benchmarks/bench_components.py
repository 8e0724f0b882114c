"""The stages before decoding: how often each alone is right.

The number of components of one variable, the label tuples that are components over X, the mixture
over all variables, the verdict on a model that is right, and the two decoding oracles, on problems
like those of the tests. A test asks that a few seeds are right; this table says how many of many
are. The seconds are those of one problem.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from mixoracle import JointTable, SignatureOracle
from mixoracle.datasets import (
    Problem,
    item_problem,
    kind_problem,
    paper_problem,
    random_model,
    with_gaps,
)
from mixoracle.families import GaussianFamily
from mixoracle.inference.refine import refine
from mixoracle.inference.residuals import check
from mixoracle.labels.tuples import find_joint_components
from mixoracle.mixtures.mixture import fit_mixture
from mixoracle.mixtures.preparation import prepare
from mixoracle.mixtures.rows import VariableRows, unit_variance
from mixoracle.mixtures.segmentation import segment
from mixoracle.model import Bipartite
from mixoracle.observations import Observations
from mixoracle.oracles.decoded import DecodingOracle
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.settings import Settings

_SETTINGS = Settings()


def tuples_are_right(weights: dict[tuple[int, ...], float], distance: float, seed: int) -> bool:
    """Normal components so many standard deviations apart, labelled variable by variable."""
    rng = np.random.default_rng(seed)
    held = np.array(list(weights), dtype=np.int64)
    truth = held[rng.choice(len(held), size=1500, p=list(weights.values()))]
    centres = distance * np.arange(held.max() + 1)
    densities = [
        stats.norm.logpdf((rng.normal(size=1500) + centres[column])[:, None], loc=centres)
        for column in truth.T
    ]
    labels = np.stack([density.argmax(axis=1) for density in densities], axis=1)
    found = find_joint_components(labels, densities, 100, _SETTINGS)
    return {tuple(row) for row in found.labels.tolist()} == weights.keys()


def segments_are_right(weights: NDArray[np.float64] | None, seed: int) -> bool:
    """Components of one variable on a grid, at least ten standard deviations apart."""
    rng = np.random.default_rng(seed)
    n_components = int(rng.integers(1, 10)) if weights is None else len(weights)
    width = int(rng.integers(1, 6)) if weights is None else 2
    n_rows = 800 if weights is None else 1500
    n_steps = int(np.ceil(n_components ** (1 / width)))
    grid = np.stack(np.meshgrid(*[np.arange(n_steps)] * width), axis=-1).reshape(-1, width)
    truth = rng.choice(n_components, size=n_rows, p=weights)
    block = 12.0 * rng.permutation(grid)[truth] + rng.normal(size=(n_rows, width))
    block = (block - block.mean(axis=0)) / block.std(axis=0)
    family = GaussianFamily(width)
    variable = VariableRows(family, block, family.features(block), None, False)
    labels, _ = segment(variable, 128, seed, _SETTINGS)
    pairs = len(np.unique(np.stack([labels, truth]), axis=1).T)
    return pairs == len(np.unique(labels)) == len(np.unique(truth))


def n_in_mixture(observations: Observations, families: str | None, seed: int) -> int:
    """Components over X by the mixture, from one start."""
    rows = prepare(observations, families).searched_rows(slice(None))
    coordinates = np.hstack([unit_variance(variable.embedding) for variable in rows])
    rng = np.random.default_rng(seed)
    return fit_mixture(rows, coordinates, 1, rng, _SETTINGS).n_components


def mixture_is_right(problem: Problem, seed: int, families: str | None = None) -> bool:
    """As many components over X as there are joint states with a row."""
    expected = len(np.unique(problem.states, axis=0))
    return n_in_mixture(problem.observations, families, seed) == expected


def noise_is_one(seed: int) -> bool:
    """Independent items are one component."""
    rng = np.random.default_rng(seed)
    values = (rng.random((500, 10)) < rng.uniform(0.2, 0.8, 10)).astype(float)
    return n_in_mixture(Observations.from_array(values), None, seed) == 1


def right_model_passes(problem: Problem, families: str | None = None) -> bool:
    """No false alarm of the verdict on independence for the true graph and states."""
    model = problem.model
    prepared = prepare(problem.observations, families)
    graph = Bipartite(model.bipartite, model.domain_sizes)
    start = problem.states[prepared.rows]
    refined = refine(prepared, graph.adjacency[prepared.variables], graph.domain_sizes, start)
    return check(prepared, graph, refined)[0].holds is True


def oracle_is_right(oracle: DecodingOracle, problem: Problem) -> bool:
    """Whether Γ and the domain sizes of the best candidate are the true ones."""
    found = oracle.fit(problem.observations).candidates_[0].graph
    assert found is not None  # a decoding oracle always has one
    return _structure(found.adjacency, found.domain_sizes) == _structure(
        problem.model.bipartite, problem.model.domain_sizes
    )


def _structure(adjacency: NDArray[np.bool_], sizes: tuple[int, ...]) -> list[tuple[bytes, int]]:
    return sorted((c.tobytes(), size) for c, size in zip(adjacency.T, sizes, strict=True))


def rare_state(seed: int) -> Problem:
    """One state of the only latent has one row in a hundred."""
    model = random_model(1, 3, 4, seed, covariance="code", min_domain=4)
    model = replace(model, joint=JointTable(np.array([0.6, 0.3, 0.09, 0.01])))
    return paper_problem(model=model, n_samples=1000, random_state=seed)


def missing_items(share: float, seed: int) -> Problem:
    """Items with missing values."""
    problem = item_problem(2, 14, 1000, random_state=seed)
    return replace(problem, observations=with_gaps(problem.observations, share, seed))


_TWO = {(0, 0, 0): 0.6, (1, 1, 1): 0.4}
_RARE = {(0, 0, 0): 0.55, (1, 1, 1): 0.435, (0, 1, 1): 0.015}
_UNEQUAL = np.array([0.9, 0.06, 0.03, 0.01])
_SETTINGS = ((1, 3, 5), (2, 5, 3), (3, 7, 2))

ARMS: dict[str, Callable[[int], bool]] = {
    "tuples, overlap": lambda seed: tuples_are_right(_TWO, 3.0, seed),
    "tuples, a rare one": lambda seed: tuples_are_right(_RARE, 5.0, seed),
    "segments": lambda seed: segments_are_right(None, seed),
    "segments, unequal": lambda seed: segments_are_right(_UNEQUAL, seed),
    "mixture, 12 items": lambda seed: mixture_is_right(item_problem(2, 12, 800, seed), seed),
    "mixture, 18 items": lambda seed: mixture_is_right(item_problem(3, 18, 800, seed), seed),
    "mixture, 10 % missing": lambda seed: mixture_is_right(missing_items(0.1, seed), seed),
    "mixture, 30 % missing": lambda seed: mixture_is_right(missing_items(0.3, seed), seed),
    "mixture, categorical": lambda seed: mixture_is_right(
        kind_problem(2, 4, 2, 300, seed, "categorical", width=4), seed
    ),
    "mixture, counts": lambda seed: mixture_is_right(
        kind_problem(2, 4, 2, 300, seed, "counts", width=4), seed
    ),
    "mixture, gamma": lambda seed: mixture_is_right(
        kind_problem(2, 4, 2, 300, seed, "gamma", width=4), seed, "gamma"
    ),
    "mixture, noise": noise_is_one,
    "verdict, items": lambda seed: right_model_passes(item_problem(2, 12, 1200, seed)),
    "verdict, categorical": lambda seed: right_model_passes(
        kind_problem(2, 5, 2, 1200, seed, "categorical")
    ),
    "verdict, numbers": lambda seed: right_model_passes(
        paper_problem(2, 5, 2, 1200, seed, covariance="code")
    ),
    "signature": lambda seed: oracle_is_right(
        SignatureOracle(random_state=0),
        paper_problem(*_SETTINGS[seed % 3], 800, seed, covariance="code"),
    ),
    "signature, rare state": lambda seed: oracle_is_right(
        SignatureOracle(random_state=0), rare_state(seed)
    ),
    "projection": lambda seed: oracle_is_right(
        ProjectionOracle(random_state=0, max_starts=1),
        paper_problem(2, 5, 2, 500, seed, covariance="code"),
    ),
    "projection, categorical": lambda seed: oracle_is_right(
        ProjectionOracle(random_state=0, max_starts=1),
        kind_problem(2, 5, 2, 600, seed, "categorical"),
    ),
}


def run(arm: str, seed: int) -> tuple[bool, float]:
    """One problem: whether the stage was right, and the seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        right = ARMS[arm](seed)
    return right, time.perf_counter() - start


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10, help="problems of each arm")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--arms", default="", help="only those whose name contains this")
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    print(f"{'stage':<26}{'problems':>9}{'right':>7}{'%':>8}{'median s':>10}{'max s':>8}")
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    for arm in ARMS:
        if choices.arms not in arm:
            continue
        outcomes = Parallel(n_jobs=choices.jobs)(delayed(run)(arm, seed) for seed in seeds)
        right, seconds = zip(*outcomes, strict=True)
        print(
            f"{arm:<26}{len(right):>9}{sum(right):>7}{100 * np.mean(right):>8.1f}"
            f"{np.median(seconds):>10.2f}{max(seconds):>8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
