"""Density valleys and tails: what the oracle goes by where no family fits."""

import numpy as np
import pytest

from mixoracle.datasets.shapes import SHAPES, ShapedComponents
from mixoracle.mixtures.shape import (
    WholeRows,
    are_apart,
    join_alike_labels,
    join_uncut_pieces,
    rows_of_a_peak,
    tail_ratio,
    typical_tails,
)
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(10))
def test_a_cut_through_one_component_is_no_valley(shape, seed):
    held = ShapedComponents(np.zeros((1, 3)), np.eye(3)[None], shape)
    rng = np.random.default_rng(seed)
    rows = held.sample(np.zeros(1500, dtype=int), rng)
    side = rows @ rng.normal(size=3) > rng.normal() * 0.7
    assert not are_apart(rows[side], rows[~side], SETTINGS)


def test_two_clear_components_are_apart():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first = rng.normal(size=(300, 3))
        second = rng.normal(size=(300, 3)) + np.array([6.0, 0.0, 0.0])
        assert are_apart(first, second, SETTINGS)
        assert are_apart(second, first, SETTINGS)


def test_a_few_rows_far_away_are_apart_and_none_are_not():
    rng = np.random.default_rng(0)
    assert are_apart(rng.normal(size=(200, 2)), rng.normal(size=(4, 2)) + 40.0, SETTINGS)
    assert not are_apart(rng.normal(size=(200, 2)), np.empty((0, 2)), SETTINGS)


def test_a_peak_has_so_many_rows_that_an_empty_valley_beside_it_is_no_chance():
    peak = rows_of_a_peak(SETTINGS)
    assert peak == pytest.approx(SETTINGS.priors.clear_errors * np.sqrt(peak))


def test_labels_that_cut_one_component_are_joined_and_real_ones_are_not():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        state = rng.integers(2, size=2000)
        block = rng.laplace(size=(2000, 2)) + 14.0 * state[:, None]
        cut = 2 * state + (block[:, 0] > 14.0 * state)
        labels = np.stack([cut, state], axis=1)
        joined = join_alike_labels(labels, 0, WholeRows.of(block), SETTINGS)
        assert len(np.unique(np.stack([joined, state]), axis=1).T) == 2


def test_touching_labels_that_another_variable_tells_apart_stay_apart():
    rng = np.random.default_rng(0)
    state = rng.integers(2, size=2000)
    block = rng.normal(size=(2000, 2)) + 1.0 * state[:, None]
    labels = np.stack([state, state], axis=1)
    assert join_alike_labels(labels, 0, WholeRows.of(block), SETTINGS).max() == 1


def test_pieces_join_only_where_all_other_labels_agree():
    rng = np.random.default_rng(0)
    members = rng.integers(3, size=900)
    labels = np.array([[0, 0], [1, 0], [2, 1]])
    block = rng.normal(size=(900, 2))
    shape = WholeRows.of(block)
    assert join_uncut_pieces(labels, 0, shape, members, SETTINGS).tolist() == [0, 0, 1]
    assert join_uncut_pieces(labels, 1, shape, members, SETTINGS).tolist() == [0, 1, 2]


def test_labels_without_whole_rows_are_no_bridge_between_others():
    """A label whose rows all have gaps looks like anything, and says nothing of shape."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = np.repeat([0, 1, 2], [400, 400, 2])
        block = rng.normal(size=(802, 2)) + 14.0 * labels[:, None]
        block[labels == 2, 0] = np.nan
        alone = np.stack([labels, np.zeros(802, dtype=int)], axis=1)
        assert join_alike_labels(alone, 0, WholeRows.of(block), SETTINGS).max() == 2
        tuples = np.array([[0, 0], [1, 0], [2, 0]])
        pieces = join_uncut_pieces(tuples, 0, WholeRows.of(block), labels, SETTINGS)
        assert pieces.tolist() == [0, 1, 2]


def test_only_whole_rows_show_a_shape():
    rng = np.random.default_rng(0)
    block = rng.normal(size=(500, 2))
    chosen = rng.random(500) < 0.5
    np.testing.assert_array_equal(WholeRows.of(block).where(chosen), block[chosen])
    block[::3, 1] = np.nan
    found = WholeRows.of(block).where(chosen)
    np.testing.assert_array_equal(found, block[chosen & ~np.isnan(block[:, 1])])


def test_without_numbers_there_is_nothing_to_join():
    labels = np.random.default_rng(0).integers(3, size=(200, 2))
    np.testing.assert_array_equal(join_alike_labels(labels, 0, None, SETTINGS), labels[:, 0])
    tuples = np.array([[0, 0], [1, 0], [2, 0]])
    assert join_uncut_pieces(tuples, 0, None, labels[:, 0], SETTINGS).tolist() == [0, 1, 2]


def test_tails_show_in_some_of_many_rows():
    for seed in range(5):
        rows = np.random.default_rng(seed).normal(size=(20_000, 2))
        assert abs(typical_tails(rows, SETTINGS) - 1.0) < 0.12
