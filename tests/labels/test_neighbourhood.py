"""Labels of a variable corrected by the few others that tell most about it."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mixoracle.datasets import sparse_problem, with_gaps
from mixoracle.labels.labelling import BEYOND_DOUBT, most_likely
from mixoracle.labels.neighbourhood import _entropy, _Information, corrected
from mixoracle.labels.single import label_each
from mixoracle.mixtures.preparation import prepare
from mixoracle.model.joint_states import codes_of_parents
from mixoracle.settings import Settings


def overlapping(seed, missing=0.0):
    """The rows of variables whose components overlap, and the true component of each row."""
    problem = sparse_problem(5, 20, 2, 3000, random_state=seed, width=2)
    observations = with_gaps(problem.observations, missing, seed)
    prepared = prepare(observations, set_aside=False)
    rows = prepared.searched_rows(slice(None))
    codes = codes_of_parents(problem.states, problem.model.bipartite, problem.model.domain_sizes)
    return rows, codes[prepared.rows][:, prepared.variables]


def alone(rows):
    labelling = label_each(rows, 50, 1, np.arange(len(rows)), Settings())
    return most_likely(rows, labelling)


def agreement(labels, truth):
    return np.array([adjusted_rand_score(*pair) for pair in zip(labels.T, truth.T, strict=True)])


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_neighbours_correct_nearly_all_labels(seed, missing):
    rows, truth = overlapping(seed, missing)
    before = alone(rows)
    after = corrected(rows, before, range(len(rows)), 50, Settings())
    was, became = agreement(before.labels, truth), agreement(after.labels, truth)
    assert np.mean(1.0 - became) < 0.5 * np.mean(1.0 - was)
    assert np.median(became) > 0.95
    sure = after.certain & (was < 0.9)
    judged = np.flatnonzero(sure.sum(axis=0) > 500)
    assert len(judged) > 2
    right = [adjusted_rand_score(truth[sure[:, i], i], after.labels[sure[:, i], i]) for i in judged]
    assert np.median(right) > 0.98


def test_only_the_labels_that_are_asked_for_change():
    rows, _ = overlapping(0)
    before = alone(rows)
    kept = before.labels.copy()
    after = corrected(rows, before, [3, 7], 50, Settings())
    others = np.delete(np.arange(len(rows)), [3, 7])
    np.testing.assert_array_equal(after.labels[:, others], before.labels[:, others])
    np.testing.assert_array_equal(after.certain[:, others], before.certain[:, others])
    np.testing.assert_array_equal(before.labels, kept)
    assert [after.mergings[i] for i in others] == [before.mergings[i] for i in others]
    again = corrected(rows, before, [3, 7], 50, Settings())
    np.testing.assert_array_equal(after.labels, again.labels)


def test_steps_are_told_and_no_variable_is_no_work():
    rows, _ = overlapping(1)
    before, told = alone(rows), []
    corrected(rows, before, [2, 5, 6], 50, Settings(), lambda *step: told.append(step))
    assert told == [(1, 3), (2, 3), (3, 3)]
    same = corrected(rows, before, [], 50, Settings())
    np.testing.assert_array_equal(same.labels, before.labels)


def test_neighbours_show_the_parents_and_little_besides():
    rng = np.random.default_rng(0)
    first, second, third, fourth = rng.integers(3, size=(4, 5000))
    labels = np.stack(
        [
            3 * first + second,  # the variable
            third,
            first,
            3 * third + fourth,
            second,
            9 * first + 3 * third + fourth,
        ],
        axis=1,
    )
    assert sorted(_Information(labels).neighbours(0, 4)) == [2, 4]
    assert _Information(labels[:, [0, 1, 3]]).neighbours(0, 4) == []
    # Where nothing else shows a parent, one with others besides is better than none.
    assert sorted(_Information(labels[:, [0, 1, 4, 5]]).neighbours(0, 4)) == [2, 3]


def test_a_copy_is_the_only_neighbour_that_is_needed():
    rng = np.random.default_rng(1)
    own = rng.integers(4, size=2000)
    labels = np.stack([own, own, own, rng.integers(3, size=2000)], axis=1)
    assert _Information(labels).neighbours(0, 4) == [1]


def test_one_that_says_next_to_nothing_does_not_end_the_search():
    """What it says is all about the variable, but hardly ever anything."""
    rng = np.random.default_rng(1)
    own, noise = rng.integers(4, size=4000), rng.integers(4, size=4000)
    seldom = (own == 0) & (np.arange(len(own)) % 300 == 0)
    other = np.where(rng.random(len(own)) < 0.3, own, noise)
    labels = np.stack([own, seldom.astype(np.int64), other], axis=1)
    assert _Information(labels[:, [0, 2]]).neighbours(0, 4) == [1]
    assert _Information(labels).neighbours(0, 4) == [2]


@pytest.mark.parametrize("n_codes", [2, 10, 40])
def test_the_entropy_of_few_rows_is_right_on_average(n_codes):
    rng = np.random.default_rng(2)
    found = [_entropy(rng.integers(n_codes, size=200)) for _ in range(400)]
    assert np.mean(found) == pytest.approx(np.log(n_codes), abs=0.01)


def test_labels_beyond_doubt_are_those_of_nearly_all_such_rows():
    rows, truth = overlapping(3)
    found = most_likely(rows, label_each(rows, 50, 1, np.arange(len(rows)), Settings()))
    right = [
        adjusted_rand_score(truth[sure, i], found.labels[sure, i])
        for i, sure in enumerate(found.certain.T)
        if found.labels[:, i].max() + 1 == truth[:, i].max() + 1 and sure.sum() > 500
    ]
    assert min(right) > 2 * BEYOND_DOUBT - 1 - 0.01
