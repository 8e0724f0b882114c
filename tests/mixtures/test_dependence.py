"""Whether two blocks are dependent, whatever they hold."""

import numpy as np
import pytest

from mixoracle.mixtures.dependence import (
    dependence,
    dependent_pairs,
    excess_of_centring,
    shortened,
    whitened,
)
from mixoracle.settings import Priors


@pytest.mark.parametrize("rare", [0.5, 0.1, 0.03])
def test_chance_is_chance_also_where_levels_are_rare(rare):
    """Of independent blocks one in twenty is as dependent as one in twenty is by chance."""
    chances = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        marks = [(rng.random((300, 6)) < rare).astype(float) for _ in range(2)]
        blocks = [(m - m.mean(axis=0)) / m.std(axis=0) for m in marks]
        chances.append(dependence(blocks)[1][0, 1])
    # Three standard errors of 400 draws.
    assert np.mean(np.array(chances) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert np.mean(np.array(chances) < 0.5) == pytest.approx(0.5, abs=0.1)


def test_dependent_blocks_are_unlikely_by_chance():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(300, 1))
        first, second = (0.5 * shared + rng.normal(size=(300, 3)) for _ in range(2))
        strength, chance = dependence([first, second])
        assert strength[0, 1] > 0.05
        assert chance[0, 1] < 1e-3


@pytest.mark.parametrize("n_rows", [0, 2])
def test_hardly_any_rows_show_no_dependence(n_rows):
    strength, chance = dependence([np.ones((n_rows, 2)), np.ones((n_rows, 2))])
    assert (strength[0, 1], chance[0, 1]) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_at_once_are_each_pair_on_its_own(seed):
    """Also with blocks of no column, and with rows of which some blocks hold nothing."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(5000, 1))
    blocks = [0.3 * shared * rng.random() + rng.normal(size=(5000, w)) for w in (1, 3, 0, 2)]
    blocks[1][rng.random(5000) < 0.2] = 0.0
    strength, chance = dependence(blocks)
    for i in range(4):
        for j in range(i):
            alone = dependence([blocks[i], blocks[j]])
            assert strength[i, j] == pytest.approx(strength[j, i]) == pytest.approx(alone[0][0, 1])
            assert chance[i, j] == pytest.approx(alone[1][0, 1])
    both = blocks[1].any(axis=1)
    product = blocks[0][both].T @ blocks[1][both] / both.sum()
    squares = [np.sum(block**2, axis=1).mean() for block in (blocks[0], blocks[1][both])]
    beyond = both.sum() * np.sum(product**2) - squares[0] * squares[1]
    expected = np.sqrt(max(0.0, beyond) / (both.sum() * product.size))
    assert strength[0, 1] == pytest.approx(expected, rel=0.02, abs=1e-3)
    assert np.all(chance[2] == 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_whitened_columns_are_uncorrelated_and_rows_with_gaps_are_left_out(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=400)
    block = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) + 5.0 * codes[:, None]
    has_gaps = rng.random(400) < 0.2
    residual = whitened(block, codes, has_gaps)
    assert not residual[has_gaps].any()
    held = residual[~has_gaps]
    np.testing.assert_allclose(held.T @ held / len(held), np.eye(3), atol=1e-8)


def test_a_column_that_says_nothing_has_no_direction():
    block = np.column_stack([np.arange(50.0), np.ones(50)])
    assert whitened(block, np.zeros(50, dtype=int), np.zeros(50, dtype=bool)).shape == (50, 1)


@pytest.mark.parametrize("n_components", [1, 40])
def test_rows_centred_within_the_same_components_are_not_dependent_for_that(n_components):
    """Few rows in each component leave residuals that look alike in both blocks."""
    chances = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes, whole = rng.integers(n_components, size=120), np.zeros(120, dtype=bool)
        blocks = [whitened(rng.normal(size=(120, 3)), codes, whole) for _ in range(2)]
        excess = excess_of_centring(np.stack([codes, codes], axis=1))
        chances.append(dependence(blocks, excess)[1][0, 1])
    # Three standard errors of 100 draws.
    assert np.mean(np.array(chances) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def test_different_components_have_nothing_in_common():
    apart = np.stack(np.divmod(np.arange(400), 20), axis=1)
    assert excess_of_centring(apart)[0, 1] == pytest.approx(1.0, abs=0.01)
    # Every row its own component: nothing is left over that could be compared.
    assert excess_of_centring(np.tile(np.arange(5)[:, None], 2))[0, 1] == 1.0


def test_strength_is_what_chance_does_not_explain():
    rng = np.random.default_rng(0)
    strengths = [dependence(rng.normal(size=(2, 100, 5)))[0][0, 1] for _ in range(40)]
    # The plain root-mean-square correlation is 0.1 on average.
    assert np.median(strengths) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_a_few_rows_in_a_wrong_state_make_no_dependence(seed):
    rng = np.random.default_rng(seed)
    codes, whole = np.zeros(200, dtype=int), np.zeros(200, dtype=bool)
    misplaced, together = rng.normal(size=(2, 2, 200, 3))
    misplaced[:, :2] += 6.0
    together += rng.normal(size=(200, 3))

    def found(blocks, cut):
        held = [whitened(block, codes, whole) for block in blocks]
        held = [shortened(block, codes, whole) for block in held] if cut else held
        return bool(dependent_pairs(held, Priors())[0][0, 1])

    assert found(misplaced, cut=False)
    assert not found(misplaced, cut=True)
    assert found(together, cut=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_strength_is_a_correlation_where_most_rows_hold_nothing(seed):
    """Two items that are always solved in one state and depend on each other in the other one."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(400) < 0.04).astype(np.int64)
    first = np.where(codes == 1, rng.integers(2, size=400), 1).astype(float)
    second = np.where(rng.random(400) < 0.9, first, 1.0 - first) * (codes == 1) + (codes == 0)
    nothing = np.zeros(400, dtype=bool)
    blocks = [whitened(item[:, None], codes, nothing) for item in (first, second)]
    strength = dependence(blocks, missing=[nothing, nothing])[0]
    assert strength[0, 1] == pytest.approx(abs(np.mean(blocks[0] * blocks[1])), abs=0.05)
