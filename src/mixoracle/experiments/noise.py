"""Shapes of noise: the paper's Gaussian one and four that break the Gaussian model.

A component of the paper's problems is a mean and a covariance. Here a row is the mean plus the
covariance's Cholesky factor times independent entries of mean 0 and variance 1; which
distribution these entries have is the shape. So first and second moments stay what they were, and
only what a Gaussian oracle cannot know changes: tails, bounds and skewness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mixoracle.datasets import Problem
from mixoracle.errors import InvalidInputError
from mixoracle.model import GaussianComponents
from mixoracle.observations import Observations

Shape = tuple[int, ...]
Floats = NDArray[np.float64]

# Heavy tails with finite kurtosis: Student's t needs more than 4 degrees of freedom for that.
_T_FREEDOM = 5


def _student(rng: np.random.Generator, shape: Shape) -> Floats:
    return rng.standard_t(_T_FREEDOM, shape) / sqrt(_T_FREEDOM / (_T_FREEDOM - 2))


def _laplace(rng: np.random.Generator, shape: Shape) -> Floats:
    return rng.laplace(0.0, sqrt(0.5), shape)


def _uniform(rng: np.random.Generator, shape: Shape) -> Floats:
    return rng.uniform(-sqrt(3.0), sqrt(3.0), shape)


def _skewed(rng: np.random.Generator, shape: Shape) -> Floats:
    return rng.standard_exponential(shape) - 1.0


def _gaussian(rng: np.random.Generator, shape: Shape) -> Floats:
    return rng.standard_normal(shape)


NOISES: Mapping[str, Callable[[np.random.Generator, Shape], Floats]] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "student": _student,
    "uniform": _uniform,
    "skewed": _skewed,
}
"""By name: how to draw entries of mean 0 and variance 1."""


def observe(problem: Problem, noise: str, rng: np.random.Generator) -> Observations:
    """Draw the problem's rows anew from its own states, with noise of another shape."""
    labels = problem.model.component_of_states(problem.states)
    blocks = {}
    for i, held in enumerate(problem.model.components or ()):
        if not isinstance(held, GaussianComponents):
            raise InvalidInputError(
                f"noise is shaped around Gaussian components; got {type(held).__name__}"
            )
        entries = NOISES[noise](rng, (len(labels), held.width))
        factors = np.linalg.cholesky(held.covariances)[labels[:, i]]
        blocks[problem.model.observed_names[i]] = held.means[labels[:, i]] + np.einsum(
            "rij,rj->ri", factors, entries
        )
    return Observations.from_arrays(blocks)
