"""Each variable labelled on its own."""

import numpy as np
import pytest

from mixoracle.settings import Budget, Settings


@pytest.mark.parametrize("seed", range(4))
def test_separated_blobs_are_labelled_rightly(making, same_partition, seed):
    rows, truth, _ = making.blobs(seed)
    labelling = making.labelled(rows, seed)
    for column, expected in zip(labelling.labels.T, truth.T, strict=True):
        assert same_partition(column, expected)
    assert labelling.alone is labelling.labels
    assert [m.n_components for m in labelling.mergings] == list(truth.max(axis=0) + 1)
    assert labelling.joint is None


@pytest.mark.parametrize("seed", range(2))
def test_missing_values_change_no_label(making, same_partition, seed):
    rows, truth, _ = making.blobs(seed, n_rows=900, missing=0.2)
    labelling = making.labelled(rows, seed)
    for column, expected in zip(labelling.labels.T, truth.T, strict=True):
        assert same_partition(column, expected)


def test_nothing_is_changed_and_the_answer_is_the_same_twice(making, blobs_with_missing):
    rows = blobs_with_missing.rows
    before = [array.copy() for v in rows for array in (v.block, v.features)]
    first, again = making.labelled(rows, 3), making.labelled(rows, 3)
    np.testing.assert_array_equal(first.labels, again.labels)
    for one, other in zip(first.features, again.features, strict=True):
        np.testing.assert_array_equal(one, other)
    after = [array for v in rows for array in (v.block, v.features)]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_the_number_of_jobs_changes_nothing(making, blobs):
    alone, shared = (making.labelled(blobs.rows, 5, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(alone.labels, shared.labels)
    assert [m.confidence for m in alone.mergings] == [m.confidence for m in shared.mergings]


def test_no_variable_gets_more_labels_than_allowed(making, blobs):
    labelling = making.labelled(blobs.rows, max_components=2)
    assert labelling.labels.max() <= 1


def test_the_budget_reaches_the_pieces(making, blobs):
    """With two pieces at first, and twice as many as allowed at most, six labels cannot be had."""
    labelling = making.labelled(
        blobs.rows, max_components=1, settings=Settings(Budget(first_pieces=2))
    )
    assert labelling.labels.max() == 0
