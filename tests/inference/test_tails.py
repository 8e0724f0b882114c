"""How heavy the tails of components are."""

import numpy as np
import pytest

from mixoracle.datasets.shapes import ShapedComponents
from mixoracle.inference.tails import tail_error, tail_ratios, typical_tails
from mixoracle.settings import Settings

SETTINGS = Settings()


@pytest.mark.parametrize("width", [1, 2, 5])
def test_normal_components_have_normal_tails(width):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 400, width)) @ rng.normal(size=(40, width, width))
    assert abs(np.median(tail_ratios(rows)) - 1.0) < 0.05


@pytest.mark.parametrize("shape", ["heavy", "laplace", "skewed"])
def test_other_shapes_have_heavier_tails(shape):
    held = ShapedComponents(np.zeros((1, 5)), np.eye(5)[None], shape)
    rows = [held.sample(np.zeros(400, int), np.random.default_rng(seed)) for seed in range(20)]
    assert np.median(tail_ratios(np.stack(rows))) > SETTINGS.priors.heavy_tails


def test_a_ball_has_lighter_tails():
    held = ShapedComponents(np.zeros((1, 5)), np.eye(5)[None], "ball")
    rows = held.sample(np.zeros(2000, dtype=int), np.random.default_rng(0))
    assert tail_ratios(rows[None])[0] < 1.0


def test_each_component_is_judged_by_its_own_rows():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.normal(size=(200, 3)), rng.standard_t(2, size=(200, 3)) * 50.0 + 7.0])
    apart = [tail_ratios(own[None])[0] for own in rows]
    assert tail_ratios(rows) == pytest.approx(apart, rel=1e-9)
    assert apart[0] < 1.3 < apart[1]


@pytest.mark.parametrize("number", [0.0, 1.0, 0.1, 1 / 3])
def test_rows_without_scatter_have_no_tails(number):
    rows = np.stack([np.full((100, 2), number), np.random.default_rng(0).normal(size=(100, 2))])
    assert np.isnan(tail_ratios(rows)).tolist() == [True, False]
    block, inside = rows.reshape(-1, 2), list(np.arange(200).reshape(2, 100))
    alone = typical_tails(block, inside[1:], 50, SETTINGS)
    assert typical_tails(block, inside, 100, SETTINGS) == alone


def test_tails_are_not_judged_from_few_rows():
    block = np.random.default_rng(0).normal(size=(30, 3))
    assert typical_tails(block, [np.arange(30)], 1000, SETTINGS) is None


def test_a_few_strange_rows_do_not_make_heavy_tails():
    rows = np.random.default_rng(0).normal(size=(20, 1000, 3))
    rows[:, :5] += 12.0
    assert np.all(tail_ratios(rows) < SETTINGS.priors.heavy_tails)


def test_tails_show_in_some_of_many_rows():
    for seed in range(5):
        block = np.random.default_rng(seed).normal(size=(20_000, 2))
        held = typical_tails(block, [np.arange(len(block))], len(block), SETTINGS)
        assert abs(held.ratio - 1.0) < 0.12
        assert held.error == tail_error(2) / np.sqrt(SETTINGS.budget.shape_rows)


def test_small_components_count_beside_large_ones():
    rng = np.random.default_rng(0)
    block = np.vstack([rng.normal(size=(3000, 2)), rng.standard_t(2, size=(300, 2))])
    inside = [np.arange(3000), *np.arange(3000, 3300).reshape(3, 100)]
    heavy = typical_tails(block, inside, 2000, SETTINGS)
    normal = typical_tails(block, inside[:1], 2000, SETTINGS)
    assert normal.ratio < 1.2 < heavy.ratio
    assert heavy.error == tail_error(2) / np.sqrt(500 + 300)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_error_of_a_typical_ratio_is_what_draws_show(width):
    rng = np.random.default_rng(0)
    ratios = [np.median(tail_ratios(rng.normal(size=(5, 100, width)))) for _ in range(150)]
    assert np.std(ratios) == pytest.approx(tail_error(width) / np.sqrt(500), rel=0.25)


@pytest.mark.parametrize("width", [1, 5])
def test_the_logarithm_of_few_rows_is_nearly_normal(width):
    n_rows = 80
    ratios = tail_ratios(np.random.default_rng(0).normal(size=(3000, n_rows, width)))
    # Of one component, not of the median of several.
    error = tail_error(width) / 1.25 / np.sqrt(n_rows)
    assert np.mean(np.log(ratios) > 2.8 * error) < 0.01 < np.mean(ratios - 1.0 > 2.8 * error)
