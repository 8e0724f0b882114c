import numpy as np
import pytest

from mixoracle.bipartite.blocks import _Search, find_blocks
from mixoracle.bipartite.scores import Counts
from mixoracle.errors import InconsistentCountsError


def solve(graphs, oracle):
    adjacency, sizes = find_blocks(Counts(oracle))
    return graphs.as_set(adjacency, sizes)


@pytest.mark.parametrize("chunk", range(4))
def test_no_twins_is_enough(graphs, chunk):
    for seed in range(100 * chunk, 100 * chunk + 100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 11))
        m = int(rng.integers(0, min(2**n, 11)))
        adjacency, sizes = graphs.draw_without_twins(rng, m, n)
        oracle = graphs.GraphOracle(adjacency, sizes)
        assert solve(graphs, oracle) == graphs.as_set(adjacency, sizes), seed
        assert len(oracle.asked) == len(set(oracle.asked))


def test_all_blocks_there_are(graphs):
    """Every non-empty set of four variables is the neighbourhood of some latent."""
    adjacency = (np.arange(1, 16)[None, :] >> np.arange(4)[:, None]) & 1
    sizes = [2 + j % 4 for j in range(15)]
    oracle = graphs.GraphOracle(adjacency, sizes)
    assert solve(graphs, oracle) == graphs.as_set(adjacency, sizes)


@pytest.mark.parametrize("seed", range(10))
def test_sparse_graphs_need_few_counts(graphs, seed):
    rng = np.random.default_rng(seed)
    adjacency, sizes = graphs.draw(rng, 8, 25, density=0.15)
    oracle = graphs.GraphOracle(adjacency, sizes)
    assert solve(graphs, oracle) == graphs.as_set(adjacency, sizes)
    assert len(oracle.asked) < 1500  # of 2^25


@pytest.mark.parametrize("seed", range(10))
def test_latents_with_many_children_cost_no_more(graphs, seed):
    rng = np.random.default_rng(seed)
    adjacency, sizes = graphs.draw(rng, 8, 25, density=0.7)
    assert adjacency.sum(axis=0).max() >= 12
    oracle = graphs.GraphOracle(adjacency, sizes)
    assert solve(graphs, oracle) == graphs.as_set(adjacency, sizes)
    assert len(oracle.asked) < 4000
    assert max(map(len, oracle.asked)) <= 7


def test_latents_that_nearly_coincide_are_told_apart_by_large_sets(graphs):
    """Each latent drives all variables but one: generators grow as long as there are latents."""
    n = 18
    sizes = [2 + j % 4 for j in range(n)]
    oracle = graphs.GraphOracle(~np.eye(n, dtype=bool), sizes)
    assert solve(graphs, oracle) == graphs.as_set(oracle.adjacency, sizes)
    assert len(oracle.asked) < 2**15
    assert max(map(len, oracle.asked)) == n


@pytest.mark.parametrize("seed", range(30))
def test_minimal_blocks_alone_need_a_polynomial_number_of_counts(graphs, seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    adjacency, sizes = graphs.draw_without_twins(rng, m, n)
    oracle = graphs.GraphOracle(adjacency, sizes)
    search = _Search(Counts(oracle))
    active = np.flatnonzero(adjacency.any(axis=1)).tolist()
    for _ in range(m):
        search.remove(*search.minimal_block(active))
        left = [j for j, column in enumerate(adjacency.T) if _set(column) not in search.found]
        active = np.flatnonzero(adjacency[:, left].any(axis=1)).tolist()
    assert search.found == {_set(c): size for c, size in zip(adjacency.T, sizes, strict=True)}
    assert len(oracle.asked) <= (n + 1) * m + 1


def _set(column):
    return frozenset(np.flatnonzero(column).tolist())


def test_twins_come_back_as_one_latent(graphs):
    oracle = graphs.GraphOracle([[1, 1, 0], [1, 1, 1]], [2, 3, 5])
    assert solve(graphs, oracle) == {((0, 1), 6), ((1,), 5)}


def test_counts_that_do_not_divide_are_named(graphs):
    oracle = graphs.TableOracle(3, {(0,): 2, (1,): 1, (2,): 7, (0, 1): 2, (1, 2): 7, (0, 2): 7})
    with pytest.raises(
        InconsistentCountsError,
        match=r"k\(\{X1, X3\}\) = 7 is not a multiple of k\(\{X1\}\) = 2; more samples",
    ):
        find_blocks(Counts(oracle))


def test_counts_that_shrink_are_named(graphs):
    oracle = graphs.TableOracle(2, {(0,): 6, (1,): 6, (0, 1): 3})
    with pytest.raises(InconsistentCountsError, match=r"k\(\{X1, X2\}\) = 3 is not a multiple"):
        find_blocks(Counts(oracle))


def test_counts_that_divide_and_still_contradict_each_other_are_named(graphs):
    """All pairs divide, but 2·2/8 of a state would be shared."""
    oracle = graphs.TableOracle(2, {(0,): 2, (1,): 2, (0, 1): 8})
    with pytest.raises(InconsistentCountsError, match=r"around \{X1, X2\} leave 0\.5 joint states"):
        find_blocks(Counts(oracle))


@pytest.mark.parametrize("score", [0.0, np.log(2)])
def test_the_search_does_not_go_in_circles(graphs, score):
    """Neither a block without weight nor one that was removed before is taken out."""
    search = _Search(Counts(graphs.GraphOracle([[1], [1]], [2])))
    if score:
        search.remove(frozenset([0, 1]), score)
    with pytest.raises(InconsistentCountsError, match=r"around \{X1, X2\} leave"):
        search.remove(frozenset([0, 1]), score)


def test_counts_that_are_not_whole_are_named(graphs):
    oracle = graphs.NoisyOracle([[1], [1]], [3], noise=0.05, seed=0)
    with pytest.raises(InconsistentCountsError, match=r"is not a whole number"):
        find_blocks(Counts(oracle))
