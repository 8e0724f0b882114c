from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mixoracle._column_matroid import circuits, crowded_columns, rank

small_matrices = arrays(
    np.int64,
    st.tuples(st.integers(1, 7), st.integers(1, 7)),
    elements=st.integers(0, 1),
)


def rank_in_fractions(matrix):
    """Plain Gaussian elimination over the rationals: slow, and nothing in it can be rounded."""
    rows = [[Fraction(int(entry)) for entry in row] for row in matrix]
    found = 0
    for column in range(matrix.shape[1]):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


def is_crowded(matrix, subset, order):
    spanned = rank_in_fractions(matrix[:, sorted(subset)])
    return len(subset) >= 2 and 2 * len(subset) > order * (spanned - 1) + 1


@given(small_matrices)
def test_rank_agrees_with_elimination_over_the_rationals(matrix):
    assert rank(matrix) == rank_in_fractions(matrix)


def test_rank_is_exact_where_floating_point_overflows():
    big = 10**9
    nearly = np.array([[big, big + 1], [big - 1, big]])  # determinant 1, condition number 4e18
    assert rank(nearly) == 2
    assert rank(np.array([[big, 2 * big], [3 * big, 6 * big]])) == 1


@given(small_matrices)
def test_circuits_are_minimal_dependent_sets_and_there_is_one_for_each_surplus_column(matrix):
    found = circuits(matrix)
    assert len(found) == matrix.shape[1] - rank_in_fractions(matrix)
    for circuit in found:
        assert rank_in_fractions(matrix[:, sorted(circuit)]) == len(circuit) - 1
        for column in circuit:
            rest = sorted(circuit - {column})
            assert rank_in_fractions(matrix[:, rest]) == len(rest)


@settings(max_examples=300, deadline=None)
@given(small_matrices, st.integers(3, 6))
def test_crowded_columns_agree_with_a_search_through_all_subsets(matrix, order):
    columns = range(matrix.shape[1])
    exists = any(
        is_crowded(matrix, subset, order)
        for size in range(2, len(columns) + 1)
        for subset in combinations(columns, size)
    )
    found = crowded_columns(matrix, order)
    assert (found is not None) == exists
    if found is not None:
        assert is_crowded(matrix, found, order)


@pytest.mark.parametrize("order", [3, 4, 7])
def test_independent_columns_are_never_crowded(order):
    rng = np.random.default_rng(order)
    for _ in range(50):
        upper = np.triu(rng.integers(0, 2, size=(9, 9)), 1) + np.eye(9, dtype=int)
        assert crowded_columns(rng.permutation(upper, axis=1), order) is None


def test_twenty_five_dependent_columns_are_decided_without_listing_subsets():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, size=(18, 25))
    found = crowded_columns(matrix, 3)
    assert found is None
    planted = matrix.copy()
    planted[:, 24] = planted[:, 3]
    assert crowded_columns(planted, 3) == {3, 24}
