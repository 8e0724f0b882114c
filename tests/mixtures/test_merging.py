import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import (
    CutPieces,
    KnownPieces,
    gain_of_fewer_labels,
    log_dirichlet_multinomial,
    log_merge_bonus,
    merge_pieces,
    pool,
)

SEEDS = range(16)


def is_same_partition(first, second):
    pairs = len(set(zip(first.tolist(), second.tolist(), strict=True)))
    return pairs == len(np.unique(first)) == len(np.unique(second))


def cut(block, n_pieces, seed):
    if n_pieces == 1:
        return np.zeros(len(block), dtype=np.int64)
    # Threads slow k-means down on blocks this small.
    with threadpool_limits(limits=1):
        labels = KMeans(n_pieces, n_init=1, random_state=seed).fit_predict(block)
    return labels.astype(np.int64)


def standardised(block):
    return (block - block.mean(axis=0)) / block.std(axis=0)


def normal_block(rng, n_rows, width):
    return standardised(rng.normal(size=(n_rows, width)) @ rng.normal(size=(width, width)))


def separated_components(seed, n_pieces_each=4):
    """Rows of components far apart, each cut into pieces: features, component of each piece."""
    rng = np.random.default_rng(seed)
    n_components, width = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    # On a jittered line, ten standard deviations apart at least.
    centres = np.arange(n_components)[:, None] * 12.0 + rng.uniform(-1, 1, (n_components, width))
    sizes = rng.integers(40, 200, n_components)
    blocks, pieces = [], []
    for j, size in enumerate(sizes):
        block = rng.normal(size=(size, width)) * rng.uniform(0.4, 1.0, width) + centres[j]
        blocks.append(block)
        pieces.append(cut(block, n_pieces_each, seed) + n_pieces_each * j)
    family = GaussianFamily(width)
    features = family.features(standardised(np.vstack(blocks)))
    truth = np.repeat(np.arange(n_components), n_pieces_each)
    statistics = pool(features, np.concatenate(pieces), len(truth))
    return family, statistics, truth


@pytest.mark.parametrize("seed", range(10))
def test_pieces_of_one_normal_merge_to_one(seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 6))
    block = normal_block(rng, int(rng.integers(200, 2000)), width)
    family = GaussianFamily(width)
    labels = cut(block, 16, seed)
    merging = merge_pieces(pool(family.features(block), labels, 16), family, CutPieces())
    assert merging.n_components == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_components_far_apart_stay_apart_and_their_pieces_come_together(seed):
    family, statistics, truth = separated_components(seed)
    merging = merge_pieces(statistics, family, CutPieces())
    assert is_same_partition(merging.groups, truth)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_is_a_numbered_partition_with_a_probability(seed):
    family, statistics, _ = separated_components(seed)
    for pieces in (CutPieces(), KnownPieces(3.0)):
        merging = merge_pieces(statistics, family, pieces)
        assert merging.groups.shape == (len(statistics),)
        np.testing.assert_array_equal(np.unique(merging.groups), np.arange(merging.n_components))
        assert 0.0 < merging.confidence <= 1.0


@pytest.mark.parametrize("seed", range(8))
def test_the_partition_depends_neither_on_the_call_nor_on_the_order_of_the_pieces(seed):
    family, statistics, _ = separated_components(seed)
    order = np.random.default_rng(seed).permutation(len(statistics))
    first = merge_pieces(statistics, family, CutPieces())
    again = merge_pieces(statistics, family, CutPieces())
    shuffled = merge_pieces(statistics[order], family, CutPieces())
    np.testing.assert_array_equal(first.groups, again.groups)
    assert first.confidence == again.confidence
    assert is_same_partition(first.groups[order], shuffled.groups)
    assert shuffled.confidence == pytest.approx(first.confidence, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_halves_of_a_normal_are_one_if_cut_here_and_two_if_known(seed):
    """Only a cut that this variable made itself explains away that the halves are narrower."""
    block = normal_block(np.random.default_rng(seed), 1000, 2)
    family = GaussianFamily(2)
    halves = (block[:, 0] > 0).astype(np.int64)
    statistics = pool(family.features(block), halves, 2)
    assert merge_pieces(statistics, family, CutPieces()).n_components == 1
    known = KnownPieces(0.5 * np.log(len(block)))
    assert merge_pieces(statistics, family, known).n_components == 2


@pytest.mark.parametrize("seed", range(10))
def test_known_pieces_of_the_same_component_merge(seed):
    """Other variables split the rows at random: this one sees its own components only."""
    rng = np.random.default_rng(seed)
    n_components, n_known = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    component = rng.integers(n_components, size=1500)
    block = rng.normal(size=(1500, 3)) + 8.0 * component[:, None]
    labels = component * n_known + rng.integers(n_known, size=1500)
    family = GaussianFamily(3)
    statistics = pool(family.features(standardised(block)), labels, n_components * n_known)
    merging = merge_pieces(statistics, family, KnownPieces(0.5 * np.log(1500)))
    assert is_same_partition(merging.groups, np.repeat(np.arange(n_components), n_known))


@pytest.mark.parametrize("seed", range(8))
def test_a_handful_of_rows_far_away_is_a_component(seed):
    rng = np.random.default_rng(seed)
    block = np.vstack([rng.normal(size=(1000, 2)), 0.5 * rng.normal(size=(8, 2)) + 15.0])
    labels = np.concatenate([cut(block[:1000], 8, seed), np.full(8, 8)])
    family = GaussianFamily(2)
    merging = merge_pieces(
        pool(family.features(standardised(block)), labels, 9), family, CutPieces()
    )
    assert is_same_partition(merging.groups, np.array([0] * 8 + [1]))


def test_a_single_piece_is_one_component_for_sure():
    family = GaussianFamily(1)
    statistics = family.features(np.array([[0.0], [1.0]])).sum(axis=0, keepdims=True)
    for pieces in (CutPieces(), KnownPieces(1.0)):
        merging = merge_pieces(statistics, family, pieces)
        assert (merging.n_components, merging.confidence) == (1, 1.0)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=6), st.integers(0, 1000))
def test_the_probability_of_labels_is_that_of_an_urn(counts, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    urn, expected = np.ones(len(counts)), 0.0
    for label in labels:
        expected += np.log(urn[label] / urn.sum())
        urn[label] += 1.0
    found = log_dirichlet_multinomial(np.array(counts, dtype=float))
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 500))
def test_fewer_labels_gain_what_the_probability_does(few, more, n_rows):
    held = np.zeros(few)
    held[0] = n_rows
    wide = np.append(held, np.zeros(more))
    gain = log_dirichlet_multinomial(held) - log_dirichlet_multinomial(wide)
    found = gain_of_fewer_labels(float(few + more), float(few), float(held.sum()))
    assert found == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("n_latents", [30, 60, 100, 400])
def test_of_ever_so_many_labels_the_gain_stays_exact(n_latents):
    """So many that a row hardly ever has the label of another: each row gains log(3/2)."""
    many = 2.0**n_latents
    found = gain_of_fewer_labels(many, many * 2 / 3, 1e4)
    assert found == pytest.approx(1e4 * np.log(1.5), abs=2e8 / many + 1e-6)


@given(st.lists(st.floats(0.5, 500.0), min_size=4, max_size=8))
def test_merges_are_ranked_as_the_probability_of_their_labels_ranks_them(sizes):
    """The bonus leaves out only what all merges of a level share."""
    pieces = CutPieces()
    counts = np.array(sizes)

    def after(first, second):
        rest = np.delete(counts, [first, second])
        merged = np.append(rest, counts[first] + counts[second])
        return float(pieces.level_scores(merged, np.array([0]))[0])

    bonus = pieces.merge_bonus(counts[[0, 2]], counts[[1, 3]])
    assert bonus[0] - bonus[1] == pytest.approx(after(0, 1) - after(2, 3), abs=1e-6)


@given(st.floats(0.5, 500.0), st.floats(0.5, 500.0))
def test_the_bonus_of_a_merge_is_the_change_of_the_probability(first, second):
    """At a fixed number of labels: an empty one takes the place of the absorbed one."""
    before, after = np.array([first, second]), np.array([first + second, 0.0])
    change = log_dirichlet_multinomial(after) - log_dirichlet_multinomial(before)
    assert log_merge_bonus(first, second) == pytest.approx(change, abs=1e-6)


def test_fine_levels_are_looked_at_where_coarse_ones_fall_behind():
    """Components at even distances look like one wide one until most of them are apart."""
    rng = np.random.default_rng(0)
    block = standardised(np.repeat(np.arange(12.0), 40)[:, None] + 0.1 * rng.normal(size=(480, 1)))
    family = GaussianFamily(1)
    statistics = pool(family.features(block), np.repeat(np.arange(24), 20), 24)
    assert merge_pieces(statistics, family, CutPieces(), 4).n_components == 1
    assert merge_pieces(statistics, family, CutPieces()).n_components == 12


@given(st.integers(0, 10_000))
def test_pooling_adds_up_each_group(seed):
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, 6))
    statistics = rng.normal(size=(int(rng.integers(1, 30)), 3))
    groups = rng.integers(n_groups, size=len(statistics))
    expected = np.stack([statistics[groups == g].sum(axis=0) for g in range(n_groups)])
    np.testing.assert_allclose(pool(statistics, groups, n_groups), expected, atol=1e-12)


def test_few_columns_add_up_to_the_same_bits_as_many():
    rng = np.random.default_rng(3)
    statistics, groups = rng.normal(size=(200, 9)), rng.integers(0, 7, size=200)
    wide = pool(statistics, groups, 8)
    for width in range(6):
        np.testing.assert_array_equal(pool(statistics[:, :width], groups, 8), wide[:, :width])
