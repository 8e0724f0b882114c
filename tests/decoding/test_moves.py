from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixoracle.decoding.reading import Move, Proposal, read, score

from mixoracle.datasets import paper_problem
from mixoracle.decoding import moves
from mixoracle.decoding.decoding import RowTable, decode
from mixoracle.decoding.moves import LEAST_GAIN, climb
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool

SETTINGS = ((2, 5, 3), (2, 6, 3), (2, 5, 4), (3, 7, 2))
PIECES = 2
ENOUGH = 150


@cache
def drawn(seed):
    """A problem whose joint states were each cut into pieces, and the states of the pieces."""
    setting = SETTINGS[seed % len(SETTINGS)]
    problem = paper_problem(*setting, 1500, random_state=seed, covariance="code")
    model = problem.model
    cells = np.ravel_multi_index(tuple(problem.states.T), model.domain_sizes)
    rng = np.random.default_rng(seed)
    present, where = np.unique(cells, return_inverse=True)
    where = where * PIECES + rng.integers(PIECES, size=len(where))
    kept, where = np.unique(where, return_inverse=True)
    states = np.stack(np.unravel_index(present[kept // PIECES], model.domain_sizes), axis=1)
    blocks = [problem.observations[i] for i in range(model.n_observed)]
    return model, table_from(model.component_of_states(states), where, blocks), states


def table_from(labels, where, blocks):
    blocks = [(block - block.mean(axis=0)) / block.std(axis=0) for block in blocks]
    families = tuple(GaussianFamily(block.shape[1]) for block in blocks)
    statistics = tuple(
        pool(family.features(block), where, len(labels))
        for family, block in zip(families, blocks, strict=True)
    )
    priors = tuple(
        family.prior(pool(held, column, int(column.max()) + 1))
        for family, held, column in zip(families, statistics, labels.T, strict=True)
    )
    counts = np.bincount(where, minlength=len(labels)).astype(float)
    return RowTable(labels, statistics, families, priors, counts)


def structure_of(model):
    columns = zip(model.bipartite.T, model.domain_sizes, strict=True)
    return tuple(sorted((column.tobytes(), size) for column, size in columns))


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
    return np.unique(states, axis=0, return_inverse=True)[1].ravel()[:, None]


def with_a_latent_dropped(states, rng):
    return np.delete(states, rng.integers(states.shape[1]), axis=1)


def scored_with_a_spurious_latent(table, model, states, rng):
    """Two variables are said to depend on a coin that was tossed for each component over X."""
    coin = rng.integers(2, size=len(states))
    coin[:2] = 0, 1
    driven = np.zeros((model.n_observed, 1), dtype=bool)
    driven[rng.choice(model.n_observed, size=2, replace=False)] = True
    sizes = (*model.domain_sizes, 2)
    cells = np.ravel_multi_index((*states.T, coin), sizes)
    return score(table, np.hstack([model.bipartite, driven]), sizes, cells)


@pytest.mark.parametrize(
    ("spoil", "action"),
    [
        (with_two_states_merged, "split a state"),
        (with_a_state_split, "merged states"),
        (with_latents_joined, "took a latent apart"),
        (with_a_latent_dropped, "added a latent"),
    ],
)
def test_a_spoilt_reading_is_mended(spoil, action):
    """Readings that completing alone does not mend: with moves nearly all of them are right."""
    wrong = mended = 0
    actions = set()
    for seed in range(12):
        model, table, states = drawn(seed)
        spoilt = spoil(states, np.random.default_rng(seed))
        start = read(table, Proposal.of_all(spoilt))
        if start.structure == structure_of(model):
            continue
        wrong += 1
        reached, _ = climb(table, start, ENOUGH)
        mended += reached.structure == structure_of(model)
        actions |= {move.action for move in reached.moves}
    assert wrong >= 9
    assert mended >= 0.9 * wrong
    assert action in actions


def test_a_latent_that_was_read_as_two_is_joined():
    """Three states as the pairs 00, 01 and 10: the fourth was never seen."""
    tried = 0
    for seed in range(24):
        model, table, states = drawn(seed)
        latent = int(np.argmax(model.domain_sizes))
        if model.domain_sizes[latent] != 3:
            continue
        tried += 1
        apart = [states[:, latent] // 2, states[:, latent] % 2]
        sizes = (*np.delete(model.domain_sizes, latent).tolist(), 2, 2)
        cells = np.ravel_multi_index((*np.delete(states, latent, axis=1).T, *apart), sizes)
        others = np.delete(model.bipartite, latent, axis=1)
        adjacency = np.hstack([others, *[model.bipartite[:, [latent]]] * 2])
        start = score(table, adjacency, sizes, cells)
        reached, _ = climb(table, start, ENOUGH)
        assert reached.structure == structure_of(model)
        assert "joined two latents" in {move.action for move in reached.moves}
    assert tried >= 8


def test_a_spurious_latent_is_dropped():
    for seed in range(12):
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


@pytest.mark.parametrize("corrupt", [overlapping, overlapping_and_cut])
def test_labels_wrong_in_many_variables_are_decoded_with_moves(corrupt):
    without = with_moves = tried = 0
    for seed in range(10):
        model, table, _ = drawn(seed)
        labels = corrupt(table.labels, np.random.default_rng(seed))
        wrong = replace(table, labels=labels)
        tried += 1
        without += decode(wrong, 0)[0].structure == structure_of(model)
        with_moves += decode(wrong)[0].structure == structure_of(model)
    assert without <= 0.75 * tried
    assert with_moves >= 0.9 * tried


@pytest.mark.parametrize("seed", range(12))
def test_moves_raise_the_evidence_and_their_gains_add_up(seed):
    _, table, states = drawn(seed)
    rng = np.random.default_rng(seed)
    spoilt = with_a_state_split(with_two_states_merged(states, rng), rng)
    start = read(table, Proposal.of_all(spoilt))
    reached, _ = climb(table, start, ENOUGH)
    assert all(move.gain >= LEAST_GAIN for move in reached.moves)
    total = sum(move.gain for move in reached.moves)
    assert total == pytest.approx(reached.log_evidence - start.log_evidence, abs=1e-6)
    again = score(table, reached.adjacency, reached.domain_sizes, reached.cells)
    assert again.log_evidence == pytest.approx(reached.log_evidence, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_what_a_move_took_and_gave_is_what_changed(seed):
    _, table, states = drawn(seed)
    start = read(table, Proposal.of_all(with_latents_joined(states, None)))
    reached, _ = climb(table, start, ENOUGH)
    latents = sorted(start.latents)
    for move in reached.moves:
        for latent in move.before:
            latents.remove(latent)
        latents = sorted([*latents, *move.after])
    assert latents == sorted(reached.latents)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 5), bound=st.integers(0, 30))
def test_the_search_is_bounded_and_more_of_it_is_never_worse(seed, bound):
    _, table, states = drawn(seed)
    start = read(table, Proposal.of_all(with_latents_joined(states, None)))
    reached, evaluated = climb(table, start, bound)
    assert evaluated <= bound
    assert reached.log_evidence >= start.log_evidence
    if bound == 0:
        assert reached is start


@pytest.mark.parametrize("bound", [0, 1, 7, 40])
def test_decoding_evaluates_no_more_changes_than_it_may(bound, monkeypatch):
    _, table, _ = drawn(4)
    table = replace(table, labels=cut(table.labels, np.random.default_rng(4)))
    calls = []
    monkeypatch.setattr(moves, "read", lambda *given: calls.append(given) or read(*given))
    decode(table, bound)
    assert len(calls) <= bound
    assert (len(calls) > 0) == (bound > 0)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_table_gives_the_same_moves(seed):
    _, table, _ = drawn(seed)
    table = replace(table, labels=cut(table.labels, np.random.default_rng(seed)))
    first, second = decode(table), decode(table)
    assert [reading.moves for reading in first] == [reading.moves for reading in second]
    for one, other in pairwise([*first, *second][:: len(first)]):
        np.testing.assert_array_equal(one.cells, other.cells)


def test_a_right_reading_is_left_alone():
    for seed in range(12):
        model, table, states = drawn(seed)
        start = read(table, Proposal.of_all(states))
        assert start.structure == structure_of(model)
        assert climb(table, start, ENOUGH)[0] is start


def test_a_move_in_words():
    names = ["X1", "X2", "X3"]
    drop = Move("dropped a latent", (((0, 1), 2),), (), 3.25)
    assert drop.describe(names) == "dropped a latent: X1, X2 (2 states) became none: +3.2"
    edge = Move("merged states", (((0,), 4),), (((0, 2), 3),), 0.061)
    assert edge.describe(names) == "merged states: X1 (4 states) became X1, X3 (3 states): +0.1"
