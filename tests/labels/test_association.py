"""Answers judged by what goes together, whatever the shape of their components."""

import numpy as np
import pytest
from scipy.special import gammaln

from mixoracle.labels.association import Association, is_family_wrong
from mixoracle.labels.together import settle
from mixoracle.settings import Settings

TWO = np.array([[True], [True], [True]])
NONE = np.zeros((3, 0), dtype=bool)


def drawn(rng, n_rows, n_private=1):
    """Three variables that show one hidden state of two, each cut into private pieces besides."""
    state = rng.integers(2, size=n_rows)
    private = rng.integers(n_private, size=(n_rows, 3))
    return state, state[:, None] * n_private + private


def test_the_evidence_is_that_of_a_table_integrated_over_uniform_weights():
    labels = np.array([[0, 1], [1, 0], [1, 1]])
    state = np.array([0, 1, 1])
    both = np.ones((2, 1), dtype=bool)

    def counted(*counts):
        return (
            gammaln(len(counts))
            - gammaln(len(counts) + sum(counts))
            + gammaln(np.array(counts) + 1.0).sum()
        )

    expected = counted(1, 2) + counted(1, 0) + counted(0, 2) + counted(0, 1) + counted(1, 1)
    assert Association(labels).log_evidence(both, (2,), state) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_private", [1, 3])
def test_private_pieces_are_no_states_and_shared_ones_are(seed, n_private):
    rng = np.random.default_rng(seed)
    state, labels = drawn(rng, 400, n_private)
    association = Association(labels)
    truth = association.log_evidence(TWO, (2,), state)
    nothing = association.log_evidence(NONE, (), np.zeros(400, dtype=np.int64))
    assert truth > nothing + 100
    if n_private > 1:
        cut = association.log_evidence(TWO, (2 * n_private,), labels[:, 0])
        assert truth > cut + 10


@pytest.mark.parametrize("seed", range(10))
def test_independent_variables_have_no_cause(seed):
    labels = np.random.default_rng(seed).integers(3, size=(500, 3))
    association = Association(labels)
    nothing = association.log_evidence(NONE, (), np.zeros(500, dtype=np.int64))
    assert all(nothing > association.log_evidence(TWO, (3,), column) for column in labels.T)


def test_the_order_of_rows_and_the_names_of_labels_change_nothing():
    rng = np.random.default_rng(3)
    state, labels = drawn(rng, 200, 2)
    order = rng.permutation(200)
    names = rng.permutation(4)
    first = Association(labels).log_evidence(TWO, (2,), state)
    again = Association(names[labels][order]).log_evidence(TWO, (2,), 1 - state[order])
    assert first == pytest.approx(again)


def test_a_variable_that_shows_one_component_is_cut_into_pieces(blobs):
    alone = blobs.single.labels.copy()
    alone[:, 0] = 0
    association = Association.of(blobs.rows, alone, Settings())
    assert association.labels[:, 0].max() > 5
    np.testing.assert_array_equal(association.labels[:, 1:], alone[:, 1:])


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_normal_components_are_of_their_family_but_for_a_false_alarm(making, missing):
    alarms = 0
    for seed in range(12):
        rows, _, _ = making.blobs(seed, n_rows=900, missing=missing)
        labelling = settle(rows, making.labelled(rows, seed), 20, Settings())
        alarms += is_family_wrong(rows, labelling, Settings())
    assert alarms <= 1


@pytest.mark.parametrize("seed", range(4))
def test_skewed_components_are_not(making, seed):
    rng = np.random.default_rng(seed)
    rows, _, _ = making.blobs(seed, n_rows=900, noise=lambda size: rng.gamma(1.0, size=size))
    labelling = making.labelled(rows, seed)
    assert is_family_wrong(rows, labelling, Settings())
