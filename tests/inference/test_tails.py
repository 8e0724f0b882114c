"""How heavy the tails of a component are."""

import numpy as np
import pytest

from mixoracle.datasets.shapes import ShapedComponents
from mixoracle.inference.tails import tail_error, tail_ratio, typical_tails
from mixoracle.settings import Settings

SETTINGS = Settings()
FEWEST = SETTINGS.priors.rows_to_judge


@pytest.mark.parametrize("width", [1, 2, 5])
def test_normal_components_have_normal_tails(width):
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(width, width))
        ratios.append(tail_ratio(rng.normal(size=(400, width)) @ factor, FEWEST))
    assert abs(np.median(ratios) - 1.0) < 0.05


@pytest.mark.parametrize("shape", ["heavy", "laplace", "skewed"])
def test_other_shapes_have_heavier_tails(shape):
    held = ShapedComponents(np.zeros((1, 5)), np.eye(5)[None], shape)
    ratios = [
        tail_ratio(held.sample(np.zeros(400, dtype=int), np.random.default_rng(seed)), FEWEST)
        for seed in range(20)
    ]
    assert np.median(ratios) > SETTINGS.priors.heavy_tails


def test_a_ball_has_lighter_tails():
    held = ShapedComponents(np.zeros((1, 5)), np.eye(5)[None], "ball")
    rows = held.sample(np.zeros(2000, dtype=int), np.random.default_rng(0))
    assert tail_ratio(rows, FEWEST) < 1.0


def test_tails_are_not_judged_from_few_rows():
    assert tail_ratio(np.random.default_rng(0).normal(size=(30, 3)), FEWEST) is None


def test_a_few_strange_rows_do_not_make_heavy_tails():
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(1000, 3))
        rows[:5] += 12.0
        assert tail_ratio(rows, FEWEST) < SETTINGS.priors.heavy_tails


def test_tails_show_in_some_of_many_rows():
    for seed in range(5):
        rows = np.random.default_rng(seed).normal(size=(20_000, 2))
        assert abs(typical_tails(rows, SETTINGS) - 1.0) < 0.12


@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_error_of_a_typical_ratio_is_what_draws_show(width):
    rng = np.random.default_rng(0)
    ratios = [
        np.median([tail_ratio(rng.normal(size=(100, width)), FEWEST) for _ in range(5)])
        for _ in range(150)
    ]
    assert np.std(ratios) == pytest.approx(tail_error(width) / np.sqrt(500), rel=0.25)


@pytest.mark.parametrize("width", [1, 5])
def test_the_logarithm_of_few_rows_is_nearly_normal(width):
    rng, n_rows = np.random.default_rng(0), 80
    ratios = np.array([tail_ratio(rng.normal(size=(n_rows, width)), 60) for _ in range(3000)])
    # Of one component, not of the median of several.
    error = tail_error(width) / 1.25 / np.sqrt(n_rows)
    assert np.mean(np.log(ratios) > 2.8 * error) < 0.01 < np.mean(ratios - 1.0 > 2.8 * error)
