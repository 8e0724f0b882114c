import numpy as np
import pytest

from mixoracle._column_matroid import crowded_columns
from mixoracle.bipartite import recover
from mixoracle.bipartite.als import decompose
from mixoracle.bipartite.fitting import CountEquations
from mixoracle.bipartite.scores import Counts, score_tensor
from mixoracle.errors import NotRecoverableError

CYCLE = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=bool)


def decomposed(graphs, oracle, order):
    counts = Counts(oracle)
    fit = decompose(
        score_tensor(counts, order), CountEquations(counts, order), np.random.default_rng(0)
    )
    return graphs.as_set(fit.adjacency, fit.domain_sizes)


@pytest.mark.parametrize(("order", "draws"), [(3, 175), (4, 60)])
def test_dependent_columns_with_the_span_condition_come_back(graphs, order, draws):
    """Few graphs with dependent columns satisfy it at order 3, most at order 4."""
    tried = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(4, 8)), int(rng.integers(3, 7))
        adjacency, sizes = graphs.draw_without_twins(rng, m, n)
        dependent = np.linalg.matrix_rank(adjacency.astype(float)) < m
        if not dependent or crowded_columns(adjacency, order) is not None:
            continue
        tried += 1
        oracle = graphs.GraphOracle(adjacency, sizes)
        assert decomposed(graphs, oracle, order) == graphs.as_set(adjacency, sizes), seed
    assert tried >= 8


def test_cycle_of_four_needs_order_four(graphs):
    oracle = graphs.GraphOracle(CYCLE, [2, 3, 4, 5])
    with pytest.raises(NotRecoverableError):
        recover(oracle, "als", order=3)
    found = recover(oracle, "als", order=4)
    assert graphs.as_set(found.adjacency, found.domain_sizes) == graphs.as_set(CYCLE, [2, 3, 4, 5])
    assert found.residual < 1e-8


@pytest.mark.parametrize("n_latent", range(2, 6))
def test_independent_columns_satisfy_the_span_condition(graphs, n_latent):
    """As the paper prints it, two independent columns would break it at t = 3."""
    sizes = list(range(2, 2 + n_latent))
    found = recover(graphs.GraphOracle(np.eye(6, n_latent, dtype=bool), sizes), "als", order=3)
    assert found.domain_sizes == tuple(sizes)


def test_more_latents_than_variables_come_back_at_a_higher_order(graphs):
    tried = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 6))
        adjacency, sizes = graphs.draw_without_twins(rng, n + 1, n)
        if crowded_columns(adjacency, 4) is not None:
            continue
        tried += 1
        oracle = graphs.GraphOracle(adjacency, sizes)
        assert decomposed(graphs, oracle, 4) == graphs.as_set(adjacency, sizes), seed
    assert tried >= 10


@pytest.mark.parametrize("seed", [9, 22, 28])
def test_noise_of_thirty_per_cent_is_overcome_where_diagonalisation_fails(graphs, seed):
    """An error of 0.1 in each log count; how often over many seeds: bench_recovery.py --noise."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    adjacency, sizes = graphs.draw(rng, m, int(rng.integers(m + 3, 9)))
    oracle = graphs.NoisyOracle(adjacency, sizes, noise=0.1, seed=seed)
    clean = score_tensor(Counts(graphs.GraphOracle(adjacency, sizes)), 3)
    noise = score_tensor(Counts(oracle), 3) - clean
    assert 0.3 < np.linalg.norm(noise) / np.linalg.norm(clean) < 0.37
    found, spoilt = (recover(oracle, method, tolerance=np.inf) for method in ("als", "jennrich"))
    truth = graphs.as_set(adjacency, sizes)
    assert graphs.as_set(found.adjacency, found.domain_sizes) == truth
    assert graphs.as_set(spoilt.adjacency, spoilt.domain_sizes) != truth


def test_the_rank_is_found_under_noise(graphs):
    for m in range(1, 6):
        adjacency, sizes = graphs.draw(np.random.default_rng(m), m, 9)
        oracle = graphs.NoisyOracle(adjacency, sizes, noise=0.05, seed=m)
        assert decomposed(graphs, oracle, 3) == graphs.as_set(adjacency, sizes)


def test_a_graph_as_rich_as_x_comes_back(graphs):
    """As many independent columns as variables: the range has no gap to show."""
    for seed in range(10):
        adjacency, sizes = graphs.draw(np.random.default_rng(seed), 5, 5)
        oracle = graphs.GraphOracle(adjacency, sizes)
        assert decomposed(graphs, oracle, 3) == graphs.as_set(adjacency, sizes)
