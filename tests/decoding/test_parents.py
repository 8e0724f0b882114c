from dataclasses import replace

import numpy as np
import pytest

from mixoracle.decoding.evidence import Grouping
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.parents import choose_parents, join_twins, needed_latents
from mixoracle.settings import Budget, Priors, Settings

SETTINGS = ((2, 5, 3), (3, 7, 2), (3, 7, 3))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("all_parent_sets", [0, 4])
def test_true_states_give_the_true_edges(drawn_pieces, seed, all_parent_sets):
    """Whether all parent sets are tried or one latent at a time."""
    model, table, states = drawn_pieces(SETTINGS[seed % len(SETTINGS)], 1500, seed)
    settings = Settings(Budget(all_parent_sets=all_parent_sets))
    found = choose_parents(table, Proposal.of_all(states), settings)
    np.testing.assert_array_equal(found, model.bipartite)


def test_only_the_components_that_are_kept_have_a_say(drawn_pieces):
    _, table, states = drawn_pieces((2, 5, 3), 1500, 0)
    kept = np.arange(len(states)) % 2 == 0
    wrong = replace(
        table, statistics=tuple(np.where(kept[:, None], held, 1.0) for held in table.statistics)
    )
    first = choose_parents(table, Proposal(kept, states[kept]))
    np.testing.assert_array_equal(first, choose_parents(wrong, Proposal(kept, states[kept])))


@pytest.mark.parametrize("all_parent_sets", [0, 4])
def test_large_statistics_are_taken_piece_by_piece(drawn_pieces, monkeypatch, all_parent_sets):
    settings = Settings(Budget(all_parent_sets=all_parent_sets))
    _, table, states = drawn_pieces((3, 7, 3), 1500, 1)
    at_once = choose_parents(table, Proposal.of_all(states), settings)
    for entries in (1, 5 * table.statistics[0].size):
        monkeypatch.setattr("mixoracle.decoding.parents._AT_ONCE", entries)
        pieces = choose_parents(table, Proposal.of_all(states), settings)
        np.testing.assert_array_equal(pieces, at_once)


def test_components_are_put_in_order_once_for_all_variables(drawn_pieces, monkeypatch):
    """Which is most of the work where there are few rows and many variables."""
    _, table, states = drawn_pieces((3, 7, 3), 1500, 0)
    orders, by = [], Grouping.by
    monkeypatch.setattr(Grouping, "by", lambda code: orders.append(code) or by(code))
    choose_parents(table, Proposal.of_all(states))
    assert len(orders) == 2**3  # sets of parents


def both_and_or(counts):
    """Two skills, and an item that needs both: a third column that they determine."""
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    return Proposal.of_all(np.stack([first, second, first & second], axis=1)), np.array(counts)


def test_a_latent_that_the_others_determine_is_not_needed():
    proposal, counts = both_and_or([10.0, 10.0, 10.0, 10.0])
    assert needed_latents(proposal, counts) == [0, 1]


def test_independent_latents_are_all_needed():
    states = np.array([*np.ndindex(2, 3, 2)], dtype=np.int64)
    assert needed_latents(Proposal.of_all(states), np.ones(len(states))) == [0, 1, 2]


def test_a_few_rows_may_contradict_what_determines_what():
    """A component over X that does not exist has few rows, and they do not make a latent."""
    states = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1], [2, 0, 0], [0, 0, 1]])
    proposal = Proposal.of_all(states)
    few, many = (np.array([100.0] * 5 + [rows]) for rows in (1.0, 9.0))
    assert needed_latents(proposal, few) == [0, 1]
    assert needed_latents(proposal, many) == [0, 1, 2]
    strict = Settings(priors=Priors(stray_share=0.0))
    assert needed_latents(proposal, few, strict) == [0, 1, 2]


def test_twins_become_one_latent_with_the_pairs_that_were_seen():
    adjacency = np.array([[1, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0]], dtype=bool)
    states = np.array([[0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1]])
    found, joined = join_twins(adjacency, states)
    np.testing.assert_array_equal(found, adjacency[:, :2])
    # The pairs (0, 1), (1, 0) and (1, 1) are 0, 1 and 2; the latent without children is gone.
    np.testing.assert_array_equal(joined, [[0, 0], [1, 0], [2, 1], [0, 1]])


def test_latents_that_differ_in_their_children_stay_as_they_are():
    adjacency = np.array([[1, 0], [1, 1]], dtype=bool)
    states = np.array([[0, 2], [1, 0]])
    found, joined = join_twins(adjacency, states)
    np.testing.assert_array_equal(found, adjacency)
    np.testing.assert_array_equal(joined, states)
