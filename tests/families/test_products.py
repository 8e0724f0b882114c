"""Rows with their products: squared distances are linear in them."""

import numpy as np
import pytest

from mixoracle.families.ellipsoids import MAX_WIDTH
from mixoracle.families.gaussian import GaussianComponents
from mixoracle.families.products import squared_distance, with_products
from mixoracle.families.student import StudentComponents


def by_solving(rows, means, matrices):
    """Squared Mahalanobis distances, one component after the other."""
    distances = []
    for mean, matrix in zip(means, matrices, strict=True):
        apart = (rows - mean).T
        distances.append((apart * np.linalg.solve(matrix, apart)).sum(axis=0))
    return np.stack(distances, axis=1)


def draw(rng, n_components, width):
    """Means and matrices whose directions differ in scale by a factor of a hundred."""
    factors = rng.normal(size=(n_components, width, width)) * np.logspace(0, -2, width)
    matrices = factors @ factors.transpose(0, 2, 1) + 1e-4 * np.eye(width)
    return rng.normal(size=(n_components, width)), matrices


@pytest.mark.parametrize("width", [1, 2, 7])
def test_distances_are_linear_in_the_products(width):
    rng = np.random.default_rng(width)
    means, matrices = draw(rng, 4, width)
    rows = rng.normal(size=(1_300, width))
    found = with_products(rows) @ squared_distance(means, np.linalg.inv(matrices)).T
    np.testing.assert_allclose(found, by_solving(rows, means, matrices), rtol=1e-6, atol=1e-6)


def test_products_added_up_are_the_second_moment():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    sums = with_products(rows).sum(axis=0)
    assert sums[0] == 50
    np.testing.assert_allclose(sums[1:4], rows.sum(axis=0))
    np.testing.assert_allclose(sums[4:], (rows.T @ rows)[np.triu_indices(3)])


@pytest.mark.parametrize("width", [3, MAX_WIDTH, MAX_WIDTH + 1])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_densities_keep_their_digits_far_from_zero(width, offset):
    rng = np.random.default_rng(width)
    means, matrices = draw(rng, 5, width)
    held = GaussianComponents(means + offset, matrices)
    rows = rng.normal(size=(40, width))
    volume = np.linalg.slogdet(matrices)[1] + width * np.log(2.0 * np.pi)
    expected = -0.5 * (by_solving(rows, means, matrices) + volume)
    # Numbers of this size have no more digits for their differences.
    tolerance = 1e-7 if offset == 0.0 else 1e-3
    np.testing.assert_allclose(
        held.log_density(rows + offset), expected, rtol=tolerance, atol=tolerance
    )


def test_columns_that_are_nearly_copies_keep_their_distance():
    rng = np.random.default_rng(1)
    matrix = np.array([[1.0, 1.0 - 1e-7], [1.0 - 1e-7, 1.0]])
    rows = rng.multivariate_normal([0.0, 0.0], matrix, size=500)
    held = GaussianComponents(np.zeros((1, 2)), matrix[None])
    expected = by_solving(rows, np.zeros((1, 2)), matrix[None])
    volume = np.linalg.slogdet(matrix)[1] + 2.0 * np.log(2.0 * np.pi)
    found = -2.0 * held.log_density(rows) - volume
    assert np.abs(found - expected).max() < 1e-6
    assert found.min() > -1e-6


def test_the_likeliest_component_of_a_far_row_is_the_nearest():
    rng = np.random.default_rng(2)
    means = rng.normal(size=(6, 3))
    held = GaussianComponents(means, np.repeat(0.01 * np.eye(3)[None], 6, axis=0))
    rows = 1e4 * rng.normal(size=(100, 3))
    nearest = np.linalg.norm(rows[:, None] - means, axis=2).argmin(axis=1)
    assert (held.log_density(rows).argmax(axis=1) == nearest).all()


@pytest.mark.parametrize("gap", [1e3, 1e5, 1e7, 1e9])
def test_means_that_are_far_apart_cost_no_digits(gap):
    rng = np.random.default_rng(3)
    matrix = 0.01 * np.array([[1.0, 0.99], [0.99, 1.0]])
    means = np.array([[0.0, 0.0], [gap, gap]])
    apart = rng.multivariate_normal([0.0, 0.0], matrix, size=200)
    expected = (apart.T * np.linalg.solve(matrix, apart.T)).sum(axis=0)
    volume = np.linalg.slogdet(matrix)[1] + 2.0 * np.log(2.0 * np.pi)
    found = GaussianComponents(means, np.stack([matrix] * 2)).log_density(apart + means[1])
    # What numbers of this size cannot say is lost already in the rows.
    np.testing.assert_allclose(-2.0 * found[:, 1] - volume, expected, atol=1e-6 + 1e-12 * gap)
    heavy = StudentComponents(means, np.stack([matrix] * 2), degrees=4.0)
    assert np.isfinite(heavy.log_density(apart + means[1])).all()


def test_a_row_that_is_ever_so_far_is_impossible_in_every_component():
    held = GaussianComponents(np.zeros((2, 2)), np.stack([np.eye(2), 4.0 * np.eye(2)]))
    with np.errstate(over="ignore"):
        assert held.log_density(np.array([[1e160, -1e160]])).tolist() == [[-np.inf, -np.inf]]
