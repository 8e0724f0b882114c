from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle.datasets import sparse_problem
from mixoracle.decoding.explanation import structure_of
from mixoracle.decoding.local import (
    LabelledRows,
    _follows,
    decode_locally,
    explained_by,
    left_open,
    merged_states,
)
from mixoracle.families.gaussian import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.model.joint_states import codes_of_parents, flat
from mixoracle.settings import Settings


def labelled(model, states, rng, distance=10.0):
    """Rows labelled right, with components so many standard deviations apart."""
    codes = codes_of_parents(states, model.bipartite, model.domain_sizes)
    family = GaussianFamily(1)
    features = [
        family.features(distance * code[:, None] + rng.normal(size=(len(code), 1)))
        for code in codes.T
    ]
    priors = tuple(
        family.prior(pool(held, code, code.max() + 1))
        for held, code in zip(features, codes.T, strict=True)
    )
    certain = np.ones(codes.shape, dtype=bool)
    return LabelledRows(codes, certain, tuple(features), (family,) * len(priors), priors)


def drawn(seed, n_latent=8, n_observed=32, n_samples=3000):
    problem = sparse_problem(n_latent, n_observed, 3, n_samples, random_state=seed)
    return problem.model, problem.states


def partly_wrong(rows, share, rng):
    """The labels with a share of them drawn anew, and which these are."""
    wrong = rng.random(rows.labels.shape) < share
    drawn_anew = rng.integers(rows.labels.max(axis=0) + 1, size=wrong.shape)
    return np.where(wrong, drawn_anew, rows.labels), wrong


def is_right(model, found):
    truth = structure_of(model.bipartite, model.domain_sizes)
    return structure_of(found.adjacency, found.domain_sizes) == truth


@pytest.mark.parametrize("seed", range(5))
def test_right_labels_name_all_latents_and_their_states(seed, is_same_partition):
    model, states = drawn(seed)
    found = decode_locally(labelled(model, states, np.random.default_rng(seed)))
    assert is_right(model, found)
    assert found.misfits == ()
    children = {column.tobytes(): j for j, column in enumerate(found.adjacency.T)}
    for j, column in enumerate(model.bipartite.T):
        assert is_same_partition(found.states[:, children[column.tobytes()]], states[:, j])


@pytest.mark.parametrize("seed", range(5))
def test_wrong_labels_that_are_known_to_be_open_do_no_harm(seed):
    model, states = drawn(seed)
    rng = np.random.default_rng(seed)
    rows = labelled(model, states, rng)
    labels, wrong = partly_wrong(rows, 0.05, rng)
    open_too = rng.random(wrong.shape) < 0.1
    found = decode_locally(
        LabelledRows(labels, ~(wrong | open_too), rows.features, rows.families, rows.priors)
    )
    assert is_right(model, found)
    assert found.misfits == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_label_in_a_thousand_rows_glues_nothing(seed):
    model, states = drawn(seed)
    rng = np.random.default_rng(seed)
    rows = labelled(model, states, rng)
    found = decode_locally(replace(rows, labels=partly_wrong(rows, 0.001, rng)[0]))
    assert is_right(model, found)


@pytest.mark.parametrize("seed", range(8))
def test_a_variable_that_seems_to_share_nothing_has_no_latent_of_its_own(seed):
    """Two components that differ in all parents overlap: with every other variable they are one."""
    model, states = drawn(seed, n_samples=6000)
    rows = labelled(model, states, np.random.default_rng(seed))
    chosen = int(model.bipartite.sum(axis=1).argmax())
    labels = rows.labels.copy()
    first, last = (np.flatnonzero(labels[:, chosen] == c) for c in (0, labels[:, chosen].max()))
    n_wrong = len(rows.labels) // 200
    labels[first[:n_wrong], chosen] = labels[last[0], chosen]
    found = decode_locally(replace(rows, labels=labels))
    assert is_right(model, found)
    assert found.misfits == ()


@pytest.mark.parametrize("seed", range(5))
def test_where_two_components_have_one_label_the_evidence_finds_the_parents(seed):
    model, states = drawn(seed)
    rows = labelled(model, states, np.random.default_rng(seed))
    merged = int(np.argmax(rows.labels.max(axis=0)))
    labels = rows.labels.copy()
    labels[:, merged] = np.maximum(labels[:, merged] - 1, 0)
    found = decode_locally(replace(rows, labels=labels))
    assert is_right(model, found)
    assert found.misfits == (merged,)
    assert found.unexplained == ()


def test_a_variable_that_shows_no_components_gets_the_parents_that_it_needs():
    model, states = drawn(0)
    rows = labelled(model, states, np.random.default_rng(0))
    labels = rows.labels.copy()
    labels[:, 3] = 0
    found = decode_locally(replace(rows, labels=labels))
    assert is_right(model, found)
    assert found.misfits == (3,)
    assert found.unexplained == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_variable_whose_components_are_fewer_than_the_configurations_is_unexplained(seed):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 4, size=(2000, 1))
    model = SimpleNamespace(bipartite=np.ones((5, 1), dtype=bool), domain_sizes=(4,))
    rows = labelled(model, states, rng)
    # The last variable shows half of the latent, so there are two, and it is open in all rows.
    coarse = states // 2
    half = rows.families[0].features(10.0 * coarse + rng.normal(size=(2000, 1)))
    found = decode_locally(
        replace(
            rows,
            labels=np.hstack([rows.labels[:, :4], coarse]),
            certain=np.tile([True] * 4 + [False], (2000, 1)),
            features=(*rows.features[:4], half),
        )
    )
    assert found.domain_sizes == (4,)
    assert found.unexplained == (4,)


def test_variables_without_components_have_no_latents():
    rng = np.random.default_rng(0)
    family = GaussianFamily(1)
    features = tuple(family.features(rng.normal(size=(500, 1))) for _ in range(4))
    priors = tuple(family.prior(held.sum(axis=0, keepdims=True)) for held in features)
    labels = np.zeros((500, 4), dtype=np.int64)
    found = decode_locally(
        LabelledRows(labels, np.ones((500, 4), dtype=bool), features, (family,) * 4, priors)
    )
    assert found.domain_sizes == ()
    assert found.states.shape == (500, 0)
    assert found.misfits == ()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("determining", [[1], [1, 3], [0, 2, 3], [0, 1, 2, 4]])
def test_what_a_few_latents_determine_is_not_one_more(determining, seed):
    rng = np.random.default_rng(seed)
    known = [rng.integers(2, size=500) for _ in range(5)]
    together = flat(np.stack([known[j] for j in determining], axis=1), (2,) * len(determining))
    assert _follows(together, known, Settings())
    # A few rows may be in a wrong state.
    wrong = together.copy()
    wrong[:4] = 1 - wrong[:4] % 2
    assert _follows(wrong, known, Settings())
    assert not _follows(2 * together + rng.integers(2, size=500), known, Settings())
    assert not _follows(together, [], Settings())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n_rows", [2, 5, 60, 500])
def test_a_latent_by_itself_does_not_follow_from_any_number_of_others(n_rows, seed):
    """Rows that are each in a configuration of their own would determine anything."""
    rng = np.random.default_rng(seed)
    known = [rng.integers(2, size=n_rows) for _ in range(12)]
    own = np.arange(n_rows) % 2
    assert not _follows(rng.permutation(own), known, Settings())


def test_a_latent_in_one_state_in_all_rows_is_none():
    states = [np.array([0, 1, 0, 1])]
    assert _follows(np.zeros(4, dtype=np.int64), [], 0.01)
    assert _follows(np.full(4, 3), states, 0.01)
    assert not _follows(np.array([0, 1, 1, 0]), [], 0.01)


def test_with_fewer_latents_variables_keep_what_explains_them():
    model, states = drawn(1)
    rows = labelled(model, states, np.random.default_rng(1))
    found = decode_locally(rows)
    kept = np.arange(found.states.shape[1]) > 0
    fewer = explained_by(rows, found.adjacency[:, kept], found.states[:, kept])
    assert fewer.states.shape[1] == kept.sum()
    lost = np.flatnonzero(found.adjacency[:, 0])
    assert set(lost) <= set(fewer.misfits)
    others = np.setdiff1d(np.arange(len(kept)), lost)
    np.testing.assert_array_equal(fewer.adjacency[others], found.adjacency[others][:, kept])
    assert len(fewer.fitting()) == len(fewer.adjacency) - len(fewer.misfits)


@pytest.mark.parametrize("seed", range(3))
def test_what_latents_leave_open_of_labels(seed):
    model, states = drawn(seed)
    rng = np.random.default_rng(seed)
    rows = labelled(model, states, rng)
    found = decode_locally(rows)
    np.testing.assert_allclose(left_open(rows, found), 0.0, atol=1e-12)
    n_labels = rows.labels[:, 0].max() + 1
    more = rng.integers(2, size=len(rows.labels))
    labels = rows.labels.copy()
    labels[:, 0] += n_labels * more
    off = left_open(replace(rows, labels=labels), found)
    shares = np.bincount(labels[:, 0]) / len(labels)
    assert off[0] == pytest.approx(np.log(2.0) / -(shares @ np.log(shares)), abs=1e-3)
    np.testing.assert_allclose(off[1:], 0.0, atol=1e-12)
    unsure = rows.certain.copy()
    unsure[more > 0, 0] = False
    assert left_open(replace(rows, labels=labels, certain=unsure), found)[0] < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_states_of_one_more_latent_are_those_that_its_children_tell_apart(seed, is_same_partition):
    model, states = drawn(seed)
    rows = labelled(model, states, np.random.default_rng(seed))
    found = decode_locally(rows)
    j = int(found.adjacency.sum(axis=0).argmax())
    children = np.flatnonzero(found.adjacency[:, j])
    others = np.arange(found.states.shape[1]) != j
    known = replace(
        found,
        adjacency=found.adjacency[:, others],
        states=found.states[:, others],
        domain_sizes=tuple(np.delete(found.domain_sizes, j).tolist()),
    )
    # As it is seen first: with the states of another parent of one of its children.
    widest = children[found.adjacency[children].sum(axis=1).argmax()]
    begin = rows.labels[:, widest]
    assert is_same_partition(merged_states(rows, known, children, begin), found.states[:, j])
    noise = np.random.default_rng(seed).integers(3, size=len(begin))
    assert merged_states(rows, found, children, noise).max() == 0


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("size", "n_rows"), [(6, 250), (5, 180), (3, 70), (8, 500)])
def test_both_of_two_latents_are_no_third_one_with_a_few_rows_of_each_pair(size, n_rows, seed):
    known = list(np.random.default_rng(seed).integers(size, size=(2, n_rows)))
    assert _follows(size * known[0] + known[1], known, Settings())
