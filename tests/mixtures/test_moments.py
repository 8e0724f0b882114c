"""Whether components have the moments of normal ones, however much they overlap."""

import numpy as np
import pytest

from mixoracle.datasets.shapes import ShapedComponents
from mixoracle.mixtures.moments import nats_against_normal

FEWEST = 60


def overlapping(rng, n_rows, distance):
    """Two normal components in the plane, and the share of each row in both, which is exact."""
    label = rng.integers(2, size=n_rows)
    block = rng.normal(size=(n_rows, 2))
    block[:, 0] += distance * label
    logit = distance * block[:, 0] - distance**2 / 2
    second = 1.0 / (1.0 + np.exp(-logit))
    return block, np.stack([1.0 - second, second], axis=1)


def against_normal(block, shares):
    """The nats of all components, by the share (N, k) of each row in each."""
    return sum(nats_against_normal(block, share, FEWEST) for share in shares.T)


@pytest.mark.parametrize("distance", [0.5, 2.0, 5.0])
def test_normal_components_pass(distance):
    against = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        against.append(against_normal(*overlapping(rng, 800, distance)))
    assert np.mean(np.array(against) > 0) <= 0.01
    # Four moments of each of two components: each is worth half a nat by chance.
    charge = 4.0 * np.log(400)
    assert 2.5 < np.mean(against) + charge < 6.0


@pytest.mark.parametrize("shape", ["heavy", "laplace", "skewed", "ball"])
@pytest.mark.parametrize("seed", range(5))
def test_other_shapes_do_not_pass(shape, seed):
    held = ShapedComponents(np.zeros((1, 3)), np.eye(3)[None], shape)
    rows = held.sample(np.zeros(3000, dtype=int), np.random.default_rng(seed))
    assert against_normal(rows, np.ones((3000, 1))) > 0


def test_a_component_that_is_two_does_not_pass():
    rng = np.random.default_rng(0)
    block, _ = overlapping(rng, 2000, 4.0)
    assert against_normal(block, np.ones((2000, 1))) > 0


def test_neither_unit_nor_rotation_matters():
    rng = np.random.default_rng(1)
    block = rng.gamma(2.0, size=(500, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    shares = np.ones((500, 1))
    against = against_normal(block[:, :1], shares)
    other = against_normal(7.0 - 1e6 * block[:, :1], shares)
    assert other == pytest.approx(against)
    both = against_normal(block, shares)
    assert np.isclose(against_normal(block @ turn, shares), both, rtol=0.5)


def test_few_rows_and_flat_directions_say_nothing():
    rng = np.random.default_rng(2)
    skewed = rng.exponential(size=(50, 2))
    assert against_normal(skewed, np.ones((50, 1))) == 0.0
    assert against_normal(np.full((200, 2), 3.0), np.ones((200, 1))) == 0.0
