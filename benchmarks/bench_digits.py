"""Digit images: three hidden causes choose what seven images show, and real images are drawn.

Γ is drawn at random under the subset condition, with each cause driving at least two images; each
configuration of an image's causes shows one class of digits, another one for each configuration.
Images are scikit-learn's, in their first principal components, drawn with replacement. Nothing of
the truth reaches the learner.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.datasets import random_model
from mixoracle.errors import AssumptionWarning, DataWarning
from mixoracle.metrics import compare
from mixoracle.model.joint_states import configurations

_SIZES = (3, 2, 2)
_IMAGES = 7
_CLASSES = 10


def digit_problem(n_samples: int, n_components: int, seed: int) -> tuple[Observations, LatentModel]:
    """Rows of seven images each, and the model of what they show (its components are not used)."""
    rng = np.random.default_rng(seed)
    while True:
        model = random_model(len(_SIZES), _IMAGES, max(_SIZES), rng, covariance=None)
        if sorted(model.domain_sizes) == sorted(_SIZES) and _fits(model):
            break
    images, classes = load_digits(return_X_y=True)
    features = PCA(n_components, random_state=0).fit_transform(images)
    states = rng.choice(model.joint.table.size, n_samples, p=model.joint.table.ravel())
    codes = configurations(model.bipartite, model.domain_sizes)[states]
    blocks = {
        name: _drawn(features, classes, code, rng)
        for name, code in zip(model.observed_names, codes.T, strict=True)
    }
    return Observations.from_arrays(blocks), model


def _fits(model: LatentModel) -> bool:
    """Whether every image has a class for each configuration of its causes, and two show each."""
    codes = configurations(model.bipartite, model.domain_sizes)
    return int(codes.max()) < _CLASSES and int(model.bipartite.sum(axis=0).min()) > 1


def _drawn(
    features: NDArray[np.float64],
    classes: NDArray[np.int64],
    code: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    shown = rng.permutation(_CLASSES)[code]
    rows = np.empty(len(code), dtype=np.int64)
    for digit in np.unique(shown):
        here = shown == digit
        rows[here] = rng.choice(np.flatnonzero(classes == digit), here.sum())
    return np.asarray(features[rows])


def run(n_samples: int, n_components: int, seed: int) -> tuple[bool, float, str]:
    """Whether Γ and domain sizes are exact, the seconds, and what was found."""
    observations, model = digit_problem(n_samples, n_components, seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=seed).fit(observations)
    seconds = time.perf_counter() - start
    found = compare(model, learner.model_)
    words = f"{learner.model_.domain_sizes} of {model.domain_sizes}"
    return found.bipartite_exact and found.domains_exact, seconds, words


def main(argv: list[str] | None = None) -> None:
    """Print a line for each draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=3_000, help="rows of each problem")
    parser.add_argument("--components", type=int, default=10, help="principal components")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    seeds = range(choices.first_seed, choices.first_seed + choices.draws)
    outcomes = Parallel(n_jobs=choices.jobs, return_as="generator")(
        delayed(run)(choices.samples, choices.components, seed) for seed in seeds
    )
    n_exact = 0
    for seed, (exact, seconds, words) in zip(seeds, outcomes, strict=True):
        n_exact += exact
        print(f"draw {seed}: {'exact' if exact else 'WRONG'}, {words}, {seconds:.1f} s", flush=True)
    print(f"exact in {n_exact} of {len(seeds)} draws")


if __name__ == "__main__":
    main()
