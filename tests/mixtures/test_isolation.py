"""Values that stand alone are found, rows of a component never are, however small it is."""

import numpy as np
import pytest

from mixoracle.families import GaussianFamily
from mixoracle.mixtures import isolation
from mixoracle.settings import Budget, Priors, Settings


def isolated(block, **settings):
    return isolation.isolated(block, GaussianFamily(block.shape[1]), **settings)[0]


def blobs(seed, n_rows, width, centres=4):
    """Rows of a few normal components, ten standard deviations apart."""
    rng = np.random.default_rng(seed)
    means = 10.0 * np.sqrt(width) * rng.normal(size=(centres, width))
    return means[rng.integers(centres, size=n_rows)] + rng.normal(size=(n_rows, width)), rng


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("width", [1, 2, 5, 12])
def test_rows_far_from_all_others_stand_alone(seed, width):
    block, rng = blobs(seed, 2_000, width)
    wrong = rng.choice(2_000, 20, replace=False)
    block[wrong] = 200.0 * np.sqrt(width) * rng.normal(size=(20, width))
    found = isolated(block)
    # A wrong value may land among the right ones, the sooner the fewer dimensions there are.
    assert found[wrong].mean() >= (0.5 if width == 1 else 0.95)
    assert not np.delete(found, wrong).any()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_rows", "n_small"), [(1_000, 5), (4_000, 20), (10_000, 50)])
def test_a_small_component_is_kept(seed, n_rows, n_small):
    block, rng = blobs(seed, n_rows, 3)
    block[:n_small] = 60.0 + rng.normal(size=(n_small, 3))
    assert not isolated(block)[:n_small].any()


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_suspect_by_the_distances_of_all(seed):
    block, rng = blobs(seed, 2_000, 4)
    block[:30] = 100.0 * rng.normal(size=(30, 4))
    everyone = np.arange(2_000)
    found = isolation._are_suspect(block, everyone, Settings(Budget(shape_rows=2_000)))
    distances = np.sort(np.linalg.norm(block[:, None] - block[None], axis=2), axis=1)
    scale = np.log(distances[:, 8])
    low, middle, high = np.quantile(scale, [0.25, 0.5, 0.75])
    expected = np.log(distances[:, 1]) > middle + 4.0 * (high - low) / 1.349
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_apart_are_found_as_if_all_had_been_compared(seed):
    block, _ = blobs(seed, 1_500, 3)
    distances = np.sort(np.linalg.norm(block[:, None] - block[None], axis=2), axis=1)
    reach = float(np.quantile(distances[:, 1], 0.97))
    found = isolation._apart(block, reach)
    np.testing.assert_array_equal(found, np.flatnonzero(distances[:, 1] > reach))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("centres", [4, 24, 48])
def test_many_wrong_rows_among_many_components_do_not_hide_each_other(seed, centres):
    """What is close by is not measured by the wrong rows, nor by rows of other components."""
    block, rng = blobs(seed, 4_000, 4, centres)
    wrong = rng.choice(4_000, 400, replace=False)
    block[wrong] = 400.0 * rng.normal(size=(400, 4))
    found = isolated(block)
    assert found[wrong].mean() >= 0.95
    assert not np.delete(found, wrong).any()


@pytest.mark.parametrize("size", [1e3, 1e9, 1e15])
def test_rows_however_far_apart_are_no_company(size):
    """A grid has no end of cubes, but those that are numbered have."""
    block, rng = blobs(0, 1_000, 3)
    block[:10] = size * rng.normal(size=(10, 3))
    assert isolated(block)[:10].all()


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_are_compared_with_all_others_as_a_tree_does(seed):
    block, rng = blobs(seed, 500, 4)
    whitening = rng.normal(size=(4, 4))
    places = rng.choice(500, 3 * isolation._FEW, replace=False)
    in_a_tree = isolation._nearest_other(block, places, whitening)
    one_by_one = [
        isolation._nearest_other(block, places[[i]], whitening) for i in range(len(places))
    ]
    np.testing.assert_allclose(in_a_tree, np.concatenate(one_by_one))


@pytest.mark.parametrize("places", [[], [0], [3, 7], [1, 2, 9], list(range(10))])
@pytest.mark.parametrize("n_others", [1, 2, 4, 10])
def test_no_row_is_its_own_neighbour_whichever_rows_are_compared(places, n_others):
    block = np.random.default_rng(len(places)).normal(size=(10, 3))
    others = np.arange(0, len(block), isolation._step(len(block), n_others))
    squares = isolation._nearest_of(block, np.array(places, dtype=np.int64), n_others)
    for place, square in zip(places, squares, strict=True):
        apart = ((block[others] - block[place]) ** 2).sum(axis=1)
        apart[others == place] = np.inf
        assert square == pytest.approx(apart.min(), abs=1e-9)


def test_copies_are_no_neighbours():
    block, _ = blobs(0, 1_000, 3)
    block[:20] = 500.0 + np.arange(3)
    assert isolated(block)[:20].all()


def test_more_than_the_share_that_may_be_set_aside_is_kept():
    block, rng = blobs(1, 1_000, 3)
    block[:150] = 300.0 * rng.normal(size=(150, 3))
    assert isolated(block)[:150].mean() > 0.9
    assert not isolated(block, settings=Settings(priors=Priors(set_aside_share=0.1))).any()


@pytest.mark.parametrize("n_rows", [2, 3, 50, 300])
def test_few_rows_say_nothing(n_rows):
    block = np.random.default_rng(0).normal(size=(n_rows, 2))
    assert not isolated(block).any()


def test_rows_with_missing_values_are_left_alone():
    block, _ = blobs(2, 1_000, 3)
    block[0] = [1e6, np.nan, 1e6]
    block[1] = 1e6
    found = isolated(block)
    assert not found[0]
    assert found[1]


def test_the_block_is_not_changed():
    block, _ = blobs(3, 1_000, 2)
    before = block.copy()
    isolated(block)
    np.testing.assert_array_equal(block, before)
