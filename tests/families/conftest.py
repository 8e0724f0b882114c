from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mixoracle.families import (
    CategoricalFamily,
    CountFamily,
    DiagonalFamily,
    Family,
    GammaFamily,
    GaussianFamily,
    ProductFamily,
    StudentFamily,
)
from mixoracle.families.counts import SIZES
from mixoracle.families.gamma import SHAPES
from mixoracle.model import (
    CategoricalComponents,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)


@dataclass
class Case:
    """A family, two components of it that differ, and a source of rows."""

    family: Family
    truth: Any
    rng: np.random.Generator

    def rows(self, n, label=None, missing=0.0):
        """n rows of one component or of all, with this share of the values missing."""
        labels = self.rng.integers(0, self.truth.n_components, n)
        if label is not None:
            labels[:] = label
        block = self.truth.sample(labels, self.rng)
        block[self.rng.random(block.shape) < missing] = np.nan
        return block


def matrices(k, d, rng):
    roots = rng.standard_normal((k, d, d + 2))
    return roots @ roots.swapaxes(1, 2) / (d + 2)


def apart(k, d, rng):
    """Means about two standard deviations apart in each column."""
    return rng.standard_normal((k, d)) * np.sqrt(2.0)


def gaussian(rng, k, d):
    return GaussianFamily(d), GaussianComponents(apart(k, d, rng), matrices(k, d, rng))


def student(rng, k, d):
    return StudentFamily(d), StudentComponents(apart(k, d, rng), matrices(k, d, rng), 4.0)


def diagonal(rng, k, d):
    return DiagonalFamily(d), DiagonalComponents(apart(k, d, rng), rng.uniform(0.2, 2.0, (k, d)))


def categorical(rng, k, d):
    levels = rng.integers(2, 5, d)
    by_column = [rng.dirichlet(np.ones(n), size=k) for n in levels]
    return CategoricalFamily(levels), CategoricalComponents(np.hstack(by_column), levels)


def counts(rng, k, d):
    means = np.exp(rng.normal(1.5, 0.8, (k, d)))
    return CountFamily(d), CountComponents(means, rng.choice(SIZES[[0, 4, 6, 8]], (k, d)))


def gamma(rng, k, d):
    means = np.exp(rng.normal(0.0, 0.8, (k, d)))
    return GammaFamily(d), GammaComponents(means, rng.choice(SHAPES[4:18], (k, d)))


def product(rng, k, d):
    """A normal pair of columns that is not side by side, and one column of each other kind."""
    columns = [(3, 0), (1,), (2,), (4,)]
    drawn = [gaussian(rng, k, 2), categorical(rng, k, 1), counts(rng, k, 1), gamma(rng, k, 1)]
    family = ProductFamily([(one, held) for (one, _), held in zip(drawn, columns, strict=True)])
    return family, ProductComponents(tuple(truth for _, truth in drawn), columns)


MAKERS = {
    "gaussian": gaussian,
    "student": student,
    "diagonal": diagonal,
    "categorical": categorical,
    "counts": counts,
    "gamma": gamma,
    "product": product,
}


@pytest.fixture
def draw():
    """A function that draws a case of a family: ``draw("gamma", seed, k, d)``."""

    def drawn(name, seed, k=2, d=3):
        rng = np.random.default_rng(seed)
        return Case(*MAKERS[name](rng, k, d), rng)

    return drawn


# --- components that no family needs to have made ---


def any_matrices(k, d, rng):
    roots = rng.standard_normal((k, d, d))
    return roots @ roots.swapaxes(1, 2) + np.eye(d)


def any_gaussian(rng, k, d):
    return GaussianComponents(rng.standard_normal((k, d)), any_matrices(k, d, rng))


def any_student(rng, k, d):
    degrees = float(rng.uniform(3, 9))
    return StudentComponents(rng.standard_normal((k, d)), any_matrices(k, d, rng), degrees)


def any_diagonal(rng, k, d):
    return DiagonalComponents(rng.standard_normal((k, d)), rng.uniform(0.2, 3.0, (k, d)))


def any_categorical(rng, k, d):
    levels = rng.integers(2, 5, d)
    by_column = [rng.dirichlet(np.ones(n), size=k) for n in levels]
    return CategoricalComponents(np.hstack(by_column), levels)


def any_counts(rng, k, d):
    sizes = rng.uniform(0.5, 5.0, (k, d))
    sizes[rng.random((k, d)) < 0.3] = np.inf
    return CountComponents(rng.uniform(0.3, 8.0, (k, d)), sizes)


def any_gamma(rng, k, d):
    return GammaComponents(rng.uniform(0.3, 8.0, (k, d)), rng.uniform(1.5, 20.0, (k, d)))


def any_product(rng, k, d):
    """All of the above in turn, one column each, in a drawn order of the columns."""
    makers = [any_gaussian, any_categorical, any_counts, any_gamma, any_student, any_diagonal]
    parts = tuple(makers[c % len(makers)](rng, k, 1) for c in range(d))
    return ProductComponents(parts, tuple((int(column),) for column in rng.permutation(d)))


ANY_COMPONENTS = {
    "gaussian": any_gaussian,
    "student": any_student,
    "diagonal": any_diagonal,
    "categorical": any_categorical,
    "counts": any_counts,
    "gamma": any_gamma,
    "product": any_product,
}


@pytest.fixture
def draw_components():
    """A function that draws any components of a family: ``draw_components("gamma", seed, k, d)``.

    Their parameters need not be on a family's grid.
    """

    def drawn(family, seed, k=3, d=3):
        return ANY_COMPONENTS[family](np.random.default_rng(seed), k, d)

    return drawn
