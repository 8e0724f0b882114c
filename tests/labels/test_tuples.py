import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from mixoracle.labels.tuples import find_joint_components, share_rows
from mixoracle.settings import Budget, Settings


def observed_tuples(seed, weights, gap, n_rows=1500):
    """Labels and log densities of rows from given label tuples.

    Each variable is one standard normal column per component, ``gap`` standard deviations apart.
    """
    rng = np.random.default_rng(seed)
    held = np.array(list(weights), dtype=np.int64)
    truth = held[rng.choice(len(held), size=n_rows, p=list(weights.values()))]
    densities = []
    for column in truth.T:
        centres = gap * np.arange(held.max() + 1)
        values = rng.normal(size=n_rows) + centres[column]
        densities.append(stats.norm.logpdf(values[:, None], loc=centres))
    labels = np.stack([density.argmax(axis=1) for density in densities], axis=1)
    return labels, densities, truth


def found_in(labels, densities, max_components=100, settings=Settings()):
    return find_joint_components(labels, densities, max_components, settings)


def as_set(labels):
    return {tuple(row) for row in labels.tolist()}


@pytest.mark.parametrize("seed", range(8))
def test_tuples_that_overlap_created_vanish(seed):
    """Three variables, each mislabelling one row in 16, and only two real tuples."""
    weights = {(0, 0, 0): 0.6, (1, 1, 1): 0.4}
    labels, densities, _ = observed_tuples(seed, weights, gap=3.0)
    assert len(np.unique(labels, axis=0)) > 2
    assert as_set(found_in(labels, densities).labels) == weights.keys()


@pytest.mark.parametrize("seed", range(8))
def test_rare_tuples_that_are_real_survive(seed):
    weights = {(0, 0, 0): 0.55, (1, 1, 1): 0.435, (0, 1, 1): 0.015}
    labels, densities, _ = observed_tuples(seed, weights, gap=5.0)
    assert as_set(found_in(labels, densities).labels) == weights.keys()


@pytest.mark.parametrize("seed", range(10))
def test_without_overlap_every_tuple_that_occurs_stays(seed):
    weights = {(0, 0): 0.5, (1, 0): 0.3, (1, 1): 0.198, (0, 1): 0.002}
    labels, densities, truth = observed_tuples(seed, weights, gap=30.0)
    found = found_in(labels, densities)
    assert as_set(found.labels) == as_set(truth)
    np.testing.assert_array_equal(found.labels[found.responsibilities.argmax(axis=1)], truth)


@pytest.mark.parametrize("seed", range(10))
def test_responsibilities_are_probabilities_and_reveal_mislabelled_rows(seed):
    weights = {(0, 0, 0, 0): 0.5, (1, 1, 1, 1): 0.5}
    labels, densities, truth = observed_tuples(seed, weights, gap=3.0)
    found = found_in(labels, densities)
    assert found.responsibilities.shape == (len(labels), len(found.labels))
    assert found.responsibilities.min() >= 0.0
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1.0)
    decided = found.labels[found.responsibilities.argmax(axis=1)]
    assert np.mean((decided != truth).any(axis=1)) < 0.01 < np.mean((labels != truth).any(axis=1))


def test_the_order_of_rows_is_of_no_importance():
    weights = {(0, 0, 0): 0.6, (1, 1, 1): 0.3, (0, 1, 0): 0.1}
    labels, densities, _ = observed_tuples(0, weights, gap=3.5)
    order = np.random.default_rng(0).permutation(len(labels))
    found = found_in(labels, densities)
    shuffled = found_in(labels[order], [density[order] for density in densities])
    np.testing.assert_array_equal(found.labels, shuffled.labels)
    np.testing.assert_allclose(found.responsibilities[order], shuffled.responsibilities, atol=1e-9)


@pytest.mark.parametrize("where", ["asked for", "at all"])
def test_of_too_many_tuples_the_most_frequent_are_kept(where):
    weights = {(0, 0): 0.5, (1, 1): 0.4, (0, 1): 0.1}
    labels, densities, _ = observed_tuples(1, weights, gap=30.0)
    if where == "at all":
        found = found_in(labels, densities, settings=Settings(Budget(tuples=2)))
    else:
        found = found_in(labels, densities, max_components=2)
    assert as_set(found.labels) == {(0, 0), (1, 1)}
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1.0)


def test_a_variable_with_one_component_changes_nothing():
    weights = {(0, 0): 0.5, (1, 1): 0.5}
    labels, densities, _ = observed_tuples(2, weights, gap=3.0)
    silent = np.full((len(labels), 1), -1.0)
    found = found_in(labels, densities)
    padded = found_in(np.pad(labels, ((0, 0), (0, 1))), [*densities, silent])
    np.testing.assert_array_equal(padded.labels[:, :2], found.labels)
    np.testing.assert_allclose(padded.responsibilities, found.responsibilities)


def test_a_single_row_is_one_component():
    found = found_in(np.zeros((1, 2), dtype=np.int64), [np.zeros((1, 1))] * 2)
    np.testing.assert_array_equal(found.labels, [[0, 0]])
    np.testing.assert_array_equal(found.responsibilities, [[1.0]])


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_shared_out_by_weight_and_density(seed):
    weights = {(0, 0): 0.5, (1, 1): 0.3, (0, 1): 0.2}
    _, densities, _ = observed_tuples(seed, weights, gap=1.0, n_rows=50)
    tuples, share = np.array(list(weights)), np.array(list(weights.values()))
    before = [density.copy() for density in densities]
    found = share_rows(tuples, share, densities)
    joint = np.log(share) + densities[0][:, tuples[:, 0]] + densities[1][:, tuples[:, 1]]
    np.testing.assert_allclose(found.responsibilities, softmax(joint, axis=1), atol=1e-12)
    np.testing.assert_array_equal(found.labels, tuples)
    for old, new in zip(before, densities, strict=True):
        np.testing.assert_array_equal(old, new)
