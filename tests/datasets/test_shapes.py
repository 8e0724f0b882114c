"""Shaped components: the moments that were asked for, and densities that integrate to one."""

import numpy as np
import pytest

from mixoracle.datasets import random_model
from mixoracle.datasets.shapes import SHAPES, ShapedComponents, reshape_components
from mixoracle.errors import InvalidInputError
from mixoracle.model import LatentModel

COVARIANCE = np.array([[2.0, 0.6], [0.6, 0.5]])


def one(shape):
    return ShapedComponents(np.array([[1.0, -2.0]]), COVARIANCE[None], shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_mean_and_covariance_are_those_asked_for(shape):
    rows = one(shape).sample(np.zeros(200_000, dtype=int), np.random.default_rng(0))
    assert np.allclose(rows.mean(axis=0), [1.0, -2.0], atol=0.02)
    assert np.allclose(np.cov(rows.T), COVARIANCE, atol=0.06)


@pytest.mark.parametrize("shape", SHAPES)
def test_densities_integrate_to_one(shape):
    grid = np.linspace(-30.0, 30.0, 1201)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    points = np.stack([first.ravel() + 1.0, second.ravel() - 2.0], axis=1)
    cell = (grid[1] - grid[0]) ** 2
    assert np.exp(one(shape).log_density(points)).sum() * cell == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_saved_model_comes_back(shape, tmp_path):
    model = reshape_components(random_model(2, 4, 3, 0), shape)
    model.save(tmp_path)
    assert LatentModel.load(tmp_path) == model


def test_taking_and_comparing():
    model = reshape_components(random_model(1, 3, 3, 0), "ball")
    held = model.components[0]
    assert held.first_equal()[:2].tolist() == [0, 1]
    assert np.array_equal(held.take(np.array([1, 0])).means, held.means[[1, 0]])
    assert "ball" in repr(held)


def test_unknown_shapes_and_reshaped_shapes_are_refused():
    with pytest.raises(InvalidInputError, match="shape should be one of ball, heavy"):
        one("square")
    with pytest.raises(InvalidInputError, match="should have Gaussian components"):
        reshape_components(reshape_components(random_model(1, 3, 3, 0), "ball"), "heavy")
