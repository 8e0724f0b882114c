from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from mixoracle.decoding.proposals import column_choices, last_resorts, proposals, row_choices
from mixoracle.settings import Budget, Priors, Settings

ALL_ROWS = Settings(priors=Priors(left_out_share=1.0))


def test_all_components_come_first_then_ever_fewer():
    counts = np.array([1.0, 500.0, 2.0, 3.0, 500.0, 1.0])
    kept = [np.flatnonzero(choice).tolist() for choice in row_choices(counts, Settings())]
    assert kept == [[0, 1, 2, 3, 4, 5], [1, 2, 3, 4], [1, 3, 4], [1, 4]]


def test_components_without_rows_are_never_kept():
    first = next(row_choices(np.array([0.0, 50.0]), Settings()))
    np.testing.assert_array_equal(first, [False, True])


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_no_choice_leaves_out_more_of_the_rows_than_it_may(share):
    counts = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    settings = Settings(priors=Priors(left_out_share=share))
    choices = list(row_choices(counts, settings))
    assert all(counts[kept].sum() >= (1.0 - share) * counts.sum() for kept in choices)
    sizes = [int(kept.sum()) for kept in choices]
    assert sizes == sorted(set(sizes), reverse=True)
    assert choices[0].all()


def test_large_components_are_never_left_out():
    counts = np.array([46.0, 100.0])
    assert [kept.tolist() for kept in row_choices(counts, ALL_ROWS)] == [[True, True]]


def test_all_variables_come_first_then_without_one_then_without_the_fullest():
    choices = list(column_choices([0, 1, 2, 4], [2, 5, 3, 1, 4]))
    assert choices == [
        [0, 1, 2, 4],
        [0, 2, 4],  # without the one with most components
        [0, 1, 2],
        [0, 1, 4],
        [1, 2, 4],
        [0, 2],  # without the two with most
    ]


def test_a_single_variable_is_not_left_out():
    assert list(column_choices([3], [1, 1, 1, 2])) == [[3]]


@pytest.fixture
def table(table_of):
    """X1 and X2 show a latent each, X3 shows both; two states each."""
    rng = np.random.default_rng(0)
    labels = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 2], [1, 1, 3]])
    where = np.repeat(np.arange(4), 50)
    return table_of(labels, where, [rng.normal(size=(200, 1)) for _ in range(3)])


def test_the_first_proposal_is_what_all_labels_suggest(table):
    first = next(proposals(table))
    assert first.kept.all()
    np.testing.assert_array_equal(first.states, [[0, 0], [0, 1], [1, 0], [1, 1]])


def test_no_proposal_comes_twice_and_attempts_in_vain_are_counted(table):
    made = list(proposals(table))
    proposed = [proposal for proposal in made if proposal is not None]
    assert None in made
    keys = {(proposal.kept.tobytes(), proposal.states.tobytes()) for proposal in proposed}
    assert len(keys) == len(proposed)


def test_too_many_joint_states_are_not_proposed(table):
    assert next(proposals(table, Settings(Budget(joint_states=3)))) is None


def test_labels_that_say_nothing_suggest_nothing(table):
    silent = replace(table, labels=np.zeros_like(table.labels))
    assert list(proposals(silent)) == []


def test_proposals_are_made_one_at_a_time(table):
    assert len(list(islice(proposals(table), 2))) == 2


def test_the_last_resorts_are_one_latent_for_everything_and_none():
    everything, nothing = last_resorts(3)
    assert (everything.domain_sizes, nothing.domain_sizes) == ((3,), ())
    assert everything.kept.all()
    assert nothing.kept.all()
