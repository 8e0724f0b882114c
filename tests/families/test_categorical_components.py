import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import CategoricalComponents

HELD = CategoricalComponents([[0.25, 0.75, 0.2, 0.3, 0.5], [1.0, 0.0, 0.6, 0.3, 0.1]], [2, 3])


def test_densities_are_products_of_the_seen_levels():
    block = np.array([[1.0, 2.0], [0.0, np.nan], [np.nan, 1.0], [1.0, np.nan]])
    expected = [[0.75 * 0.5, 0.0], [0.25, 1.0], [0.3, 0.3], [0.75, 0.0]]
    np.testing.assert_allclose(np.exp(HELD.log_density(block)), expected)


@pytest.mark.parametrize("seed", range(5))
def test_samples_have_the_shares_of_their_components(seed, draw_components):
    held, n = draw_components("categorical", seed), 20_000
    rows = held.sample(np.full(n, 1), np.random.default_rng(seed))
    for column in range(held.width):
        expected = held.of_column(column)[1]
        found = np.bincount(rows[:, column].astype(int), minlength=len(expected)) / n
        error = np.sqrt(expected * (1 - expected) / n)
        assert np.all(np.abs(found - expected) <= 6 * error)


def test_a_level_of_probability_0_is_never_drawn():
    rows = HELD.sample(np.ones(5_000, dtype=int), np.random.default_rng(0))
    assert rows[:, 0].max() == 0.0


@pytest.mark.parametrize("code", [-1.0, 3.0, 0.5, np.inf])
def test_codes_out_of_range_are_refused(code):
    with pytest.raises(InvalidInputError, match=r"column 1 has codes 0 to 2; got .* missing value"):
        HELD.log_density(np.array([[0.0, code]]))


@pytest.mark.parametrize(
    ("probabilities", "n_levels", "sentence"),
    [
        ([0.5, 0.5], [2], r"probabilities should have shape \(k, d\)"),
        ([[0.5, 0.5]], [3], "need 3 probabilities in each component; got 2"),
        ([[0.5, 0.5]], [2, 0], "at least 1, one for each column"),
        ([[0.5, 0.5]], 2, "at least 1, one for each column"),
        ([[0.5, 0.5]], [1.5], "whole numbers"),
        ([[0.5, 0.6]], [2], r"sum to 1; got .* sums from 1\.1 to 1\.1"),
        ([[-0.5, 1.5]], [2], "should not be negative"),
        ([[np.nan, 1.0]], [2], "should be finite"),
    ],
)
def test_what_are_no_components_is_refused(probabilities, n_levels, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        CategoricalComponents(probabilities, n_levels)


def test_repr():
    assert repr(HELD) == "CategoricalComponents(2 components, levels 2, 3)"
