"""Joint states, configurations and labels as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import random_model
from mixoracle.model.joint_states import (
    configurations,
    distinct_rows,
    flat,
    numbered,
    numbered_columns,
)

INT64 = np.iinfo(np.int64)


@st.composite
def tables(draw, max_columns=200):
    """Labels of any width: few or many values, small or huge ones, rows that repeat."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(1, 40)), draw(st.integers(1, max_columns))
    low, high = draw(st.sampled_from([(0, 1), (0, 5), (-3, 300), (-(2**40), 2**45)]))
    rows = rng.integers(low, high, size=(n_rows, n_columns), endpoint=True)
    return rows[rng.integers(n_rows, size=draw(st.integers(1, 60)))]


def assert_as_numpy_has_it(labels):
    rows, index, counts = distinct_rows(labels)
    expected = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(rows, expected[0])
    np.testing.assert_array_equal(index, expected[1].ravel())
    np.testing.assert_array_equal(counts, expected[2])


@settings(deadline=None)
@given(tables())
def test_distinct_rows_are_those_of_numpy_in_its_order(labels):
    assert_as_numpy_has_it(labels)
    rows, index, counts = distinct_rows(labels)
    np.testing.assert_array_equal(rows[index], labels)
    assert counts.sum() == len(labels)


@pytest.mark.parametrize("n_columns", [1, 2, 40, 63, 64, 65, 128, 200])
@pytest.mark.parametrize("n_values", [1, 2, 3, 1000])
def test_the_number_of_columns_does_not_matter(n_columns, n_values):
    """Also beyond 64 columns, which an array of as many dimensions does not have."""
    rng = np.random.default_rng(n_columns)
    labels = rng.integers(n_values, size=(300, n_columns))
    # Rows that differ in the last column or in the first one only.
    labels[1] = labels[0]
    labels[2:4] = labels[0]
    labels[2, -1] = labels[3, 0] = n_values
    assert_as_numpy_has_it(labels)


def test_the_largest_numbers_do_not_overflow():
    labels = np.array([[INT64.max, 0], [INT64.min, INT64.max], [0, INT64.min], [INT64.max, 0]])
    assert_as_numpy_has_it(labels)


@pytest.mark.parametrize("shape", [(0, 3), (0, 0)])
def test_no_rows_have_no_distinct_ones(shape):
    rows, index, counts = distinct_rows(np.zeros(shape, dtype=np.int64))
    assert (rows.shape, index.shape, counts.shape) == (shape, (0,), (0,))


def test_rows_without_columns_are_all_the_same():
    rows, index, counts = distinct_rows(np.zeros((3, 0), dtype=np.int64))
    assert rows.shape == (1, 0)
    assert (index.tolist(), counts.tolist()) == ([0, 0, 0], [3])


def test_a_single_row_is_its_own():
    rows, index, counts = distinct_rows(np.array([[7, -2, 7]]))
    assert (rows.tolist(), index.tolist(), counts.tolist()) == ([[7, -2, 7]], [0], [1])


@given(st.lists(st.integers(INT64.min, INT64.max), max_size=30))
def test_numbers_leave_no_gaps_and_keep_the_order(labels):
    found = numbered(np.array(labels, dtype=np.int64))
    assert found.dtype == np.int64
    ranks = {label: rank for rank, label in enumerate(sorted(set(labels)))}
    assert found.tolist() == [ranks[label] for label in labels]


@settings(deadline=None)
@given(tables(max_columns=6))
def test_columns_are_numbered_one_by_one(labels):
    found = numbered_columns(labels)
    for column, numbers in zip(labels.T, found.T, strict=True):
        np.testing.assert_array_equal(numbers, numbered(column))


def test_no_columns_need_no_numbers():
    assert numbered_columns(np.zeros((4, 0), dtype=np.int64)).shape == (4, 0)


@given(st.lists(st.integers(1, 5), max_size=5), st.integers(0, 1000))
def test_flat_joint_states_are_places_in_the_joint_table(sizes, seed):
    states = np.random.default_rng(seed).integers(sizes or 1, size=(12, len(sizes)))
    expected = np.ravel_multi_index(tuple(states.T), sizes) if sizes else np.zeros(12)
    np.testing.assert_array_equal(flat(states, sizes), expected)


@pytest.mark.parametrize("seed", range(20))
def test_configurations_number_the_parents_states_as_models_do(seed):
    model = random_model(3, 6, 4, seed, covariance=None)
    states = np.array([*np.ndindex(*model.domain_sizes)], dtype=np.int64)
    np.testing.assert_array_equal(
        configurations(model.bipartite, model.domain_sizes), model.component_of_states(states)
    )


def test_without_latents_there_is_one_configuration():
    np.testing.assert_array_equal(configurations(np.zeros((2, 0), dtype=bool), ()), [[0, 0]])
