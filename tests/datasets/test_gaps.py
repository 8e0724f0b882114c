"""Gaps: as many as asked for, spread evenly, blind to the values, never a whole row or column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.datasets import kind_problem, paper_problem, with_gaps
from mixoracle.errors import InvalidInputError
from mixoracle.observations import Observations


def numbers(n_samples: int, n_columns: int, seed: int = 0) -> Observations:
    return Observations.from_array(np.random.default_rng(seed).normal(size=(n_samples, n_columns)))


@given(st.integers(2, 40), st.integers(2, 6), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_the_share_is_exact_and_nothing_is_emptied(
    n_samples: int, n_columns: int, part: float, seed: int
) -> None:
    whole = numbers(n_samples, n_columns, seed)
    # Rows and columns need a cell each, which may or may not be the same ones.
    share = part * (1.0 - (n_samples + n_columns) / whole.values.size)
    gappy = with_gaps(whole, share, seed)
    missing = np.isnan(gappy.values)
    assert missing.sum() == round(share * missing.size)
    assert not missing.all(axis=0).any()
    assert not missing.all(axis=1).any()
    assert np.array_equal(gappy.values[~missing], whole.values[~missing])


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_gaps_are_spread_evenly_and_do_not_look_at_the_values(share: float) -> None:
    whole = numbers(20_000, 15)
    missing = np.isnan(with_gaps(whole, share, 1).values)
    # Four standard errors of a share of 20 000 cells, and of one of half of all cells.
    assert np.abs(missing.mean(axis=0) - share).max() < 4 * np.sqrt(share / 20_000)
    assert abs(missing[whole.values > 0].mean() - share) < 4 * np.sqrt(share / 150_000)


def test_names_blocks_and_levels_stay() -> None:
    whole = kind_problem(2, 5, 3, 200, 0, "mixed").observations
    gappy = with_gaps(whole, 0.2, 0)
    assert (gappy.names, gappy.widths, gappy.levels) == (whole.names, whole.widths, whole.levels)
    assert gappy["X2"].shape == (200, 5)


def test_what_was_missing_stays_missing_and_does_not_count() -> None:
    first = with_gaps(numbers(100, 10), 0.2, 0)
    second = with_gaps(first, 0.5, 1)
    assert np.isnan(second.values[np.isnan(first.values)]).all()
    assert second.missing_fraction == pytest.approx(0.2 + 0.5 * 0.8)


def test_same_seed_same_gaps() -> None:
    whole = paper_problem(2, 5, 3, 100, 0).observations
    assert with_gaps(whole, 0.3, 5) == with_gaps(whole, 0.3, 5)
    assert with_gaps(whole, 0.3, 5) != with_gaps(whole, 0.3, 6)
    assert with_gaps(whole, 0.0, 5) == whole


def test_impossible_shares_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"share should lie between 0 and 1; got 1\.5"):
        with_gaps(numbers(5, 3), 1.5)
    with pytest.raises(InvalidInputError, match="10 of 10 values cannot be taken away without"):
        with_gaps(numbers(5, 2), 1.0, 0)
    with pytest.raises(InvalidInputError, match="0 can: use a smaller share or more columns"):
        with_gaps(numbers(5, 1), 0.5, 0)


def test_data_with_an_empty_row_or_column_are_refused() -> None:
    values = np.ones((4, 3))
    values[2] = np.nan
    with pytest.raises(InvalidInputError, match="row 2 holds none: leave it out"):
        with_gaps(Observations.from_array(values), 0.1)
    with pytest.raises(InvalidInputError, match="'X3' holds none: leave it out"):
        with_gaps(Observations.from_array(np.array([[1.0, 2.0, np.nan]] * 3)), 0.1)
