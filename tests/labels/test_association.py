"""Answers judged by what goes together, whatever the shape of their components."""

import numpy as np
import pytest
from scipy.special import gammaln

from mixoracle import Observations
from mixoracle.decoding.evidence import score
from mixoracle.labels.association import Association
from mixoracle.mixtures.preparation import prepare
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Settings

TWO = np.array([[True], [True], [True]])
NONE = np.zeros((3, 0), dtype=bool)


def drawn(rng, n_rows, n_private=1):
    """Three variables that show one hidden state of two, each cut into private pieces besides."""
    state = rng.integers(2, size=n_rows)
    private = rng.integers(n_private, size=(n_rows, 3))
    return state, state[:, None] * n_private + private


def log_evidence(labels, adjacency, sizes, states, most=None):
    """Of an answer that puts rows into these joint states."""
    association = Association.of_labels(labels, most=most)
    table = association.table(configurations(adjacency, sizes), states)
    return score(table, adjacency, sizes, np.arange(table.n_components)).log_evidence


@pytest.mark.parametrize("most", [None, (2, 2)])
def test_the_evidence_is_that_of_tables_integrated_over_their_probabilities(most):
    labels = np.array([[0, 1], [1, 0], [1, 1]])
    state = np.array([0, 1, 1])
    both = np.ones((2, 1), dtype=bool)

    def counted(counts, prior):
        counts, prior = np.array(counts), np.array(prior)
        return (
            gammaln(prior.sum())
            - gammaln(prior.sum() + counts.sum())
            + (gammaln(prior + counts) - gammaln(prior)).sum()
        )

    # Each level is expected as often as it is in all rows together, half a row added to each.
    weight = 2 if most is None else 1
    first, second = (weight * np.array(seen) / 4 for seen in ([1.5, 2.5], [1.5, 2.5]))
    expected = counted([1, 2], [1, 1]) + sum(
        counted(seen, prior)
        for seen, prior in (([1, 0], first), ([0, 2], first), ([0, 1], second), ([1, 1], second))
    )
    found = log_evidence(labels, both, (2,), state, most)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_private", [1, 3])
def test_private_pieces_are_no_states_and_shared_ones_are(seed, n_private):
    rng = np.random.default_rng(seed)
    state, labels = drawn(rng, 400, n_private)
    truth = log_evidence(labels, TWO, (2,), state)
    nothing = log_evidence(labels, NONE, (), np.zeros(400, dtype=np.int64))
    assert truth > nothing + 100
    if n_private > 1:
        cut = log_evidence(labels, TWO, (2 * n_private,), labels[:, 0])
        assert truth > cut + 10


@pytest.mark.parametrize("seed", range(10))
def test_independent_variables_have_no_cause(seed):
    labels = np.random.default_rng(seed).integers(3, size=(500, 3))
    nothing = log_evidence(labels, NONE, (), np.zeros(500, dtype=np.int64))
    assert all(nothing > log_evidence(labels, TWO, (3,), column) for column in labels.T)


def test_the_order_of_rows_and_the_names_of_labels_change_nothing():
    rng = np.random.default_rng(3)
    state, labels = drawn(rng, 200, 2)
    order = rng.permutation(200)
    names = rng.permutation(4)
    first = log_evidence(labels, TWO, (2,), state)
    again = log_evidence(names[labels][order], TWO, (2,), 1 - state[order])
    assert first == pytest.approx(again)


def test_a_variable_that_shows_one_component_is_cut_into_pieces(blobs):
    alone = blobs.single.labels.copy()
    alone[:, 0] = 0
    association = Association.of(blobs.rows, alone, Settings())
    assert association.levels[0].n_levels[0] > 5
    for features, column in zip(association.features[1:], alone.T[1:], strict=True):
        np.testing.assert_array_equal(features[:, 1:].argmax(axis=1), column)


def test_no_answer_has_more_components_than_a_variable_may_have():
    labels = np.array([[0, 0], [1, 1], [0, 1]] * 20)
    both = np.ones((2, 1), dtype=bool)
    three = np.tile(np.arange(3), 20)
    assert np.isfinite(log_evidence(labels, both, (3,), three, (3, 3)))
    assert log_evidence(labels, both, (3,), three, (3, 2)) == -np.inf


def test_a_configuration_of_few_rows_is_no_component_that_could_be_seen():
    labels = np.array([[0, 0], [1, 1]] * 20 + [[0, 1]] * 3)
    states = np.array([0, 1] * 20 + [2] * 3)
    assert np.isfinite(log_evidence(labels, np.ones((2, 1), dtype=bool), (3,), states, (2, 2)))


def test_a_label_without_rows_has_no_component():
    rng = np.random.default_rng(0)
    observations = Observations.from_arrays({"X1": rng.normal(size=(40, 2))})
    prepared = prepare(observations, None, Settings()).for_search()
    rows = prepared.searched_rows(slice(None))
    labels = np.repeat([0, 2], 20)[:, None]
    (held,) = Association.of_labels(labels).subcomponents(rows)
    assert held.weights.tolist() == [20.0, 20.0]
    assert held.inner.n_components == 2
