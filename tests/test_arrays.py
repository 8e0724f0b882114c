import numpy as np
import pytest

from mixoracle._arrays import (
    column_moments,
    column_ranges,
    frozen_array,
    frozen_bools,
    frozen_domain_sizes,
    frozen_whole_numbers,
    row_maxima,
    row_sums,
)
from mixoracle.errors import InvalidInputError


def test_arrays_are_copied_and_locked():
    given = np.ones(2)
    frozen = frozen_array(given, np.float64, "it")
    given[0] = 5.0
    assert frozen.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        frozen[0] = 2.0


def test_negative_zero_becomes_zero():
    assert frozen_array([-0.0], np.float64, "it").tobytes() == np.zeros(1).tobytes()


@pytest.mark.parametrize("values", ["abc", [[1], [1, 2]], [10**400], [None, "x"], [1j], object()])
def test_what_is_no_array_of_numbers_is_refused(values):
    with pytest.raises(InvalidInputError, match="it should"):
        frozen_array(values, np.float64, "it")


@pytest.mark.parametrize("values", [[0.5], [np.nan], [np.inf], [1e300]])
def test_whole_numbers_are_not_cut_off(values):
    with pytest.raises(InvalidInputError, match="it should be whole numbers"):
        frozen_whole_numbers(values, "it")
    assert frozen_whole_numbers([2.0, -1], "it").tolist() == [2, -1]


@pytest.mark.parametrize("values", [[2], [-1], [0.5], [np.nan]])
def test_bools_are_zero_or_one(values):
    with pytest.raises(InvalidInputError, match="it should hold only 0/1"):
        frozen_bools(values, "it")
    assert frozen_bools([0, True, 1.0], "it").tolist() == [False, True, True]


@pytest.mark.parametrize("sizes", [(2,), (2, 1), (2, 2, 2), 2, (2, 2.5)])
def test_domain_sizes_are_checked(sizes):
    with pytest.raises(InvalidInputError, match="sizes should"):
        frozen_domain_sizes(sizes, 2, "sizes")
    assert frozen_domain_sizes(np.array([2, 3]), 2, "sizes") == (2, 3)
    assert frozen_domain_sizes((), 0, "sizes") == ()


@pytest.mark.parametrize("n_columns", [1, 2, 24, 25, 60])
def test_rows_are_summed_up_as_numpy_does(n_columns):
    table = np.random.default_rng(n_columns).normal(size=(50, n_columns))
    table[3] = -np.inf
    table[7, 0] = np.nan
    np.testing.assert_array_equal(row_maxima(table), table.max(axis=1))
    np.testing.assert_allclose(row_sums(table), table.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_moments_and_ranges_of_columns_are_those_of_numpy(n_columns, missing):
    table = np.random.default_rng(0).normal(5.0, 2.0, size=(200, n_columns))
    if missing:
        table[::7, 0] = np.nan
    before = table.copy()
    means, deviations = column_moments(table)
    np.testing.assert_allclose(means, np.nanmean(before, axis=0), rtol=1e-12)
    np.testing.assert_allclose(deviations, np.nanstd(before, axis=0), rtol=1e-12)
    low, high = column_ranges(table)
    np.testing.assert_array_equal(low, np.nanmin(before, axis=0))
    np.testing.assert_array_equal(high, np.nanmax(before, axis=0))
    np.testing.assert_array_equal(table, before)
