from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.decoding import decode, moves
from mixoracle.decoding.completion import complete
from mixoracle.decoding.evidence import score
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.moves import LEAST_GAIN, affordable_evaluations, climb
from mixoracle.model.joint_states import distinct_rows, flat
from mixoracle.settings import Budget, Settings

SETTINGS = ((2, 5, 3), (2, 6, 3), (2, 5, 4), (3, 7, 2))
ENOUGH = 150


def with_moves(n_moves):
    return Settings(Budget(moves=n_moves))


@pytest.fixture(scope="module")
def drawn(drawn_pieces):
    return lambda seed: drawn_pieces(SETTINGS[seed % len(SETTINGS)], 1500, seed)


def with_two_states_merged(states, rng):
    """A latent with three states at least, or the only one, loses one."""
    latent = int(np.argmax(states.max(axis=0)))
    merged = states.copy()
    merged[:, latent] = np.maximum(states[:, latent] - 1, 0)
    return merged


def with_a_state_split(states, rng):
    latent = rng.integers(states.shape[1])
    split = states.copy()
    inside = np.flatnonzero(states[:, latent] == 0)
    split[rng.permutation(inside)[: len(inside) // 2], latent] = states[:, latent].max() + 1
    return split


def with_latents_joined(states, rng):
    return distinct_rows(states)[1][:, None]


def with_a_latent_dropped(states, rng):
    return np.delete(states, rng.integers(states.shape[1]), axis=1)


def scored_with_a_spurious_latent(table, model, states, rng):
    """Two variables are said to depend on a coin that was tossed for each component over X."""
    coin = rng.integers(2, size=len(states))
    coin[:2] = 0, 1
    driven = np.zeros((model.n_observed, 1), dtype=bool)
    driven[rng.choice(model.n_observed, size=2, replace=False)] = True
    sizes = (*model.domain_sizes, 2)
    assignment = flat(np.column_stack([states, coin]), sizes)
    return score(table, np.hstack([model.bipartite, driven]), sizes, assignment)


@pytest.mark.parametrize(
    ("spoil", "action"),
    [
        (with_two_states_merged, "split a state"),
        (with_a_state_split, "merged states"),
        (with_latents_joined, "took a latent apart"),
        (with_a_latent_dropped, "added a latent"),
    ],
)
def test_a_spoilt_explanation_is_mended(drawn, structure_of, spoil, action):
    """How often in general: benchmarks/bench_decoding.py."""
    actions = set()
    for seed in range(4):
        model, table, states = drawn(seed)
        start = complete(table, Proposal.of_all(spoil(states, np.random.default_rng(seed))))
        assert start.structure != structure_of(model)
        reached, _ = climb(table, start, ENOUGH)
        assert reached.structure == structure_of(model)
        actions |= {move.action for move in reached.moves}
    assert action in actions


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_a_latent_that_was_taken_for_two_is_joined(drawn, structure_of, seed):
    """Three states as the pairs 00, 01 and 10: the fourth was never seen."""
    model, table, states = drawn(seed)
    latent = model.domain_sizes.index(3)
    apart = [states[:, latent] // 2, states[:, latent] % 2]
    sizes = (*np.delete(model.domain_sizes, latent).tolist(), 2, 2)
    assignment = flat(np.column_stack([np.delete(states, latent, axis=1), *apart]), sizes)
    others = np.delete(model.bipartite, latent, axis=1)
    adjacency = np.hstack([others, *[model.bipartite[:, [latent]]] * 2])
    reached, _ = climb(table, score(table, adjacency, sizes, assignment), ENOUGH)
    assert reached.structure == structure_of(model)
    assert "joined two latents" in {move.action for move in reached.moves}


@pytest.mark.parametrize("seed", range(4))
def test_a_spurious_latent_is_dropped(drawn, structure_of, seed):
    model, table, states = drawn(seed)
    rng = np.random.default_rng(seed)
    start = scored_with_a_spurious_latent(table, model, states, rng)
    reached, _ = climb(table, start, ENOUGH)
    assert reached.structure == structure_of(model)
    assert reached.moves


def overlapping(labels, rng):
    """Two components are taken for one in several variables."""
    labels = labels.copy()
    for i in rng.choice(labels.shape[1], size=3, replace=False):
        values = np.unique(labels[:, i])
        if len(values) > 2:
            first, second = rng.choice(values, size=2, replace=False)
            labels[labels[:, i] == second, i] = first
    return labels


def cut(labels, rng):
    """A component is taken for two in every variable, so that all states look split."""
    labels = labels.copy()
    for i in range(labels.shape[1]):
        inside = np.flatnonzero(labels[:, i] == rng.choice(np.unique(labels[:, i])))
        labels[rng.permutation(inside)[: len(inside) // 2], i] = labels[:, i].max() + 1
    return labels


def overlapping_and_cut(labels, rng):
    return cut(overlapping(labels, rng), rng)


@pytest.mark.parametrize(
    ("corrupt", "seed"),
    [(overlapping, 1), (overlapping, 4), (overlapping_and_cut, 0), (overlapping_and_cut, 1)],
)
def test_labels_wrong_in_many_variables_are_decoded_with_moves(drawn, structure_of, corrupt, seed):
    model, table, _ = drawn(seed)
    wrong = replace(table, labels=corrupt(table.labels, np.random.default_rng(seed)))
    assert decode(wrong, settings=with_moves(0))[0].structure != structure_of(model)
    assert decode(wrong)[0].structure == structure_of(model)


@pytest.mark.parametrize("seed", range(4))
def test_moves_raise_the_evidence_and_their_gains_add_up(drawn, seed):
    _, table, states = drawn(seed)
    rng = np.random.default_rng(seed)
    spoilt = with_a_state_split(with_two_states_merged(states, rng), rng)
    start = complete(table, Proposal.of_all(spoilt))
    reached, _ = climb(table, start, ENOUGH)
    assert all(move.gain >= LEAST_GAIN for move in reached.moves)
    total = sum(move.gain for move in reached.moves)
    assert total == pytest.approx(reached.log_evidence - start.log_evidence, abs=1e-6)
    again = score(table, reached.adjacency, reached.domain_sizes, reached.assignment)
    assert again.log_evidence == pytest.approx(reached.log_evidence, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_move_took_and_gave_is_what_changed(drawn, seed):
    _, table, states = drawn(seed)
    start = complete(table, Proposal.of_all(with_latents_joined(states, None)))
    reached, _ = climb(table, start, ENOUGH)
    latents = sorted(start.latents)
    for move in reached.moves:
        for latent in move.before:
            latents.remove(latent)
        latents = sorted([*latents, *move.after])
    assert latents == sorted(reached.latents)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 5), bound=st.integers(0, 30))
def test_the_search_is_bounded_and_more_of_it_is_never_worse(drawn, seed, bound):
    _, table, states = drawn(seed)
    start = complete(table, Proposal.of_all(with_latents_joined(states, None)))
    reached, evaluated = climb(table, start, bound)
    assert evaluated <= bound
    assert reached.log_evidence >= start.log_evidence
    if bound == 0:
        assert reached is start


@pytest.mark.parametrize("bound", [0, 1, 7, 40])
def test_decoding_evaluates_no_more_changes_than_it_may(drawn, bound, monkeypatch):
    _, table, _ = drawn(4)
    table = replace(table, labels=cut(table.labels, np.random.default_rng(4)))
    calls = []

    def counted(*given, **settings):
        calls.append(given)
        return complete(*given, **settings)

    monkeypatch.setattr(moves, "complete", counted)
    decode(table, settings=with_moves(bound))
    assert len(calls) <= bound
    assert (len(calls) > 0) == (bound > 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_table_gives_the_same_moves(drawn, seed):
    _, table, _ = drawn(seed)
    table = replace(table, labels=cut(table.labels, np.random.default_rng(seed)))
    first, second = decode(table), decode(table)
    assert [found.moves for found in first] == [found.moves for found in second]
    for one, other in pairwise([*first, *second][:: len(first)]):
        np.testing.assert_array_equal(one.assignment, other.assignment)


@pytest.mark.parametrize("seed", range(4))
def test_a_right_explanation_is_left_alone(drawn, structure_of, seed):
    model, table, states = drawn(seed)
    start = complete(table, Proposal.of_all(states))
    assert start.structure == structure_of(model)
    assert climb(table, start, ENOUGH)[0] is start


def test_the_more_components_the_fewer_changes_are_affordable(drawn):
    _, table, _ = drawn(0)
    few = Budget(few_components=table.n_components)
    assert affordable_evaluations(table, Settings(few)) == few.moves
    half = Budget(few_components=table.n_components // 2)
    share = (half.few_components / table.n_components) ** 2
    assert affordable_evaluations(table, Settings(half)) == int(half.moves * share) < half.moves
