from dataclasses import replace

import numpy as np
import pytest

from mixoracle.decoding import changes
from mixoracle.decoding.changes import (
    change_latents,
    merge_equal_states,
    tell_more_apart,
)
from mixoracle.decoding.completion import complete
from mixoracle.decoding.evidence import score
from mixoracle.decoding.explanation import Proposal
from mixoracle.model.joint_states import distinct_rows, flat
from mixoracle.settings import Budget, Settings

KINDS = (merge_equal_states, change_latents, tell_more_apart)
DEFAULT = Settings()


def within(**bounds):
    return Settings(Budget(**bounds))


@pytest.fixture(scope="module")
def right(drawn_pieces):
    """A table of components over X and the explanation that is true of it."""
    _, table, states = drawn_pieces((3, 7, 2), 1500, 3)
    return table, complete(table, Proposal.of_all(states))


@pytest.fixture(scope="module")
def joined(right):
    """The same with all latents taken for one."""
    table, explanation = right
    one = distinct_rows(explanation.states)[1]
    everything = np.ones((table.n_observed, 1), dtype=bool)
    return table, score(table, everything, (int(one.max()) + 1,), one)


@pytest.fixture(scope="module")
def split(right):
    """The same with one state of the first latent taken for two."""
    table, explanation = right
    states = explanation.states
    inside = np.flatnonzero(states[:, 0] == 0)
    states[inside[::2], 0] = explanation.domain_sizes[0]
    sizes = (explanation.domain_sizes[0] + 1, *explanation.domain_sizes[1:])
    return table, score(table, explanation.adjacency, sizes, flat(states, sizes))


def actions(changes):
    return [action for action, _ in changes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["right", "joined", "split"])
def test_a_change_gives_each_component_a_state_of_each_latent(kind, what, request):
    table, explanation = request.getfixturevalue(what)
    before = explanation.states
    for _, states in kind(table, explanation, DEFAULT):
        assert len(states) == table.n_components
        assert states.dtype == np.int64
        assert states.min(initial=0) == 0
    np.testing.assert_array_equal(explanation.states, before)


def test_where_all_states_differ_none_are_merged(right):
    assert actions(merge_equal_states(*right, DEFAULT)) == []


def test_states_that_are_the_same_are_merged(right, split, is_same_partition):
    (found,) = [states for _, states in merge_equal_states(*split, DEFAULT)]
    assert is_same_partition(found[:, 0], right[1].states[:, 0])


def test_each_latent_is_dropped_and_each_pair_joined(right):
    table, explanation = right
    changes = list(change_latents(table, explanation, DEFAULT))
    n_latent = len(explanation.domain_sizes)
    found = actions(changes)
    assert found.count("dropped a latent") == n_latent
    assert found.count("joined two latents") == n_latent * (n_latent - 1) // 2
    for action, states in changes:
        if action in ("dropped a latent", "joined two latents"):
            assert states.shape[1] == n_latent - 1


def test_a_latent_that_is_a_product_is_taken_apart(right, joined, is_same_partition):
    truth = right[1].states
    apart = [
        states
        for action, states in change_latents(*joined, DEFAULT)
        if action == "took a latent apart"
    ]
    assert any(
        states.shape == truth.shape
        and all(any(is_same_partition(a, b) for b in truth.T) for a in states.T)
        for states in apart
    )


def test_the_budget_bounds_what_is_looked_at(right, joined, split):
    assert actions(merge_equal_states(*split, within(compared=2))) == []
    assert "took a latent apart" not in actions(change_latents(*joined, within(compared=2)))
    assert "joined two latents" not in actions(change_latents(*right, within(joint_states=1)))
    assert actions(tell_more_apart(*joined, within(compared=1, few_components=1))) == []


@pytest.mark.parametrize("most", [3, 7, 10_000])
def test_no_further_latent_is_looked_for_beside_too_many(joined, most, monkeypatch):
    """With dozens of parts that took minutes, and nothing came of it."""
    asked = []

    def with_rest(_table, states, *_rest):
        asked.append(int(np.prod(states.max(axis=0) + 1)))
        return states

    monkeypatch.setattr(changes, "_with_rest", with_rest)
    table, explanation = joined
    # Some children do not count, so that the parts of the others leave something out.
    with_fewer = replace(explanation, adjacency=explanation.adjacency & (np.arange(7) < 4)[:, None])
    list(change_latents(table, with_fewer, within(joint_states=most)))
    assert max(asked, default=0) <= most
    assert asked or most < 10_000
