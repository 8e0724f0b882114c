import numpy as np
import pytest

from mixoracle.model import (
    CategoricalComponents,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)


def matrices(k, d, rng):
    roots = rng.standard_normal((k, d, d))
    return roots @ roots.swapaxes(1, 2) + np.eye(d)


def gaussian(rng, k, d):
    return GaussianComponents(rng.standard_normal((k, d)), matrices(k, d, rng))


def student(rng, k, d):
    degrees = float(rng.uniform(3, 9))
    return StudentComponents(rng.standard_normal((k, d)), matrices(k, d, rng), degrees)


def diagonal(rng, k, d):
    return DiagonalComponents(rng.standard_normal((k, d)), rng.uniform(0.2, 3.0, (k, d)))


def categorical(rng, k, d):
    levels = rng.integers(2, 5, d)
    by_column = [rng.dirichlet(np.ones(n), size=k) for n in levels]
    return CategoricalComponents(np.hstack(by_column), levels)


def counts(rng, k, d):
    sizes = rng.uniform(0.5, 5.0, (k, d))
    sizes[rng.random((k, d)) < 0.3] = np.inf
    return CountComponents(rng.uniform(0.3, 8.0, (k, d)), sizes)


def gamma(rng, k, d):
    return GammaComponents(rng.uniform(0.3, 8.0, (k, d)), rng.uniform(1.5, 20.0, (k, d)))


def product(rng, k, d):
    """All of the above in turn, one column each, in a drawn order of the columns."""
    makers = [gaussian, categorical, counts, gamma, student, diagonal]
    parts = tuple(makers[c % len(makers)](rng, k, 1) for c in range(d))
    return ProductComponents(parts, tuple((int(column),) for column in rng.permutation(d)))


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
    """A function that draws components of a family: ``draw("gamma", seed, k, d)``."""

    def drawn(family, seed, k=3, d=3):
        return MAKERS[family](np.random.default_rng(seed), k, d)

    return drawn
