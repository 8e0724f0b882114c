import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mixoracle.model import CPDAG, JointTable
from mixoracle.trust.aligning import _adjusted_rand, align, match_latents


def drawn(seed, n_samples=400, sizes=(2, 3, 4)):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(size, size=n_samples) for size in sizes], axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_the_adjusted_rand_index(seed):
    rng = np.random.default_rng(seed)
    left = rng.integers(4, size=200)
    right = np.where(rng.random(200) < 0.3, rng.integers(3, size=200), left % 3)
    assert _adjusted_rand(left, right) == pytest.approx(adjusted_rand_score(left, right))
    assert _adjusted_rand(left, left) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_an_answer_under_other_names_is_the_same_answer(seed):
    rng = np.random.default_rng(seed)
    states, sizes = drawn(seed), (2, 3, 4)
    table = rng.dirichlet(np.ones(24)).reshape(sizes)
    order = rng.permutation(3)  # latent order[k] of ours stands at place k there
    renaming = [rng.permutation(size) for size in sizes]
    there = np.stack([renaming[j][states[:, j]] for j in order], axis=1)
    moved = table[np.ix_(*(np.argsort(renaming[j]) for j in range(3)))].transpose(order)
    place = np.argsort(order)
    graph = CPDAG(3, frozenset({(int(place[0]), int(place[1]))}))
    drives = np.eye(3, dtype=bool)[:, order]
    sighting = align(states, sizes, there, JointTable(moved), drives, graph)
    assert sighting.agreement == pytest.approx(1.0)
    assert tuple(sighting.domain_sizes) == sizes
    assert np.array_equal(sighting.bipartite, np.eye(3, dtype=bool))
    assert sighting.joint == pytest.approx(table)
    assert np.argwhere(sighting.arrows).tolist() == [[0, 1]]
    assert np.argwhere(sighting.adjacency).tolist() == [[0, 1], [1, 0]]


def test_what_is_not_found_again_counts_nowhere():
    states = drawn(0, sizes=(2, 3))
    noise = drawn(1, sizes=(2,))
    other = np.hstack([states[:, 1:], noise])
    graph = CPDAG(2, frozenset(), frozenset({frozenset({0, 1})}))
    joint = JointTable(np.full((3, 2), 1 / 6))
    sighting = align(states, (2, 3), other, joint, np.eye(2, dtype=bool), graph)
    assert sighting.domain_sizes.tolist() == [0, 3]
    assert not sighting.adjacency.any()
    assert sighting.joint is None
    assert sighting.n_latents == 2


def test_no_latents_on_either_side():
    nothing = np.zeros((5, 0), dtype=np.int64)
    some = np.zeros((5, 1), dtype=np.int64)
    assert match_latents(nothing, some)[0].shape == (0,)
    assert match_latents(some, nothing)[0].tolist() == [-1]
