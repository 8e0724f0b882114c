import numpy as np
import pytest

from mixoracle.bipartite.jennrich import diagonalise, numerical_rank


def columns_of(adjacency):
    return {tuple(column) for column in np.asarray(adjacency, dtype=int).T.tolist()}


def decomposed(adjacency, sizes, order, seed=0):
    columns = np.asarray(adjacency, dtype=float)
    # M_t = Σ w a⊗…⊗a (obs:wsne-comp): one axis after the other, the latents last.
    products = np.log(sizes)
    for _ in range(order):
        products = products[..., None, :] * columns
    tensor = products.sum(axis=-1)
    return columns_of(diagonalise(tensor, np.random.default_rng(seed)))


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("seed", range(40))
def test_independent_columns_come_back(graphs, order, seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    adjacency, sizes = graphs.draw(rng, m, int(rng.integers(m + 1, 10)))
    assert decomposed(adjacency, sizes, order) == columns_of(adjacency)


def test_order_five_needs_only_independent_products():
    """A cycle of four: dependent columns, independent products of two entries."""
    cycle = [[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert np.linalg.matrix_rank(cycle) == 3
    assert decomposed(cycle, [2, 3, 4, 5], order=5) == columns_of(cycle)
    assert decomposed(cycle, [2, 3, 4, 5], order=3) != columns_of(cycle)


def test_no_latents_give_no_columns():
    assert diagonalise(np.zeros((4, 4, 4)), np.random.default_rng(0)).shape == (4, 0)


@pytest.mark.parametrize(
    ("values", "rank"),
    [
        ([5.0, 1.0, 0.2, 1e-16, -1e-17], 3),
        ([5.0, 1.0, 0.2], 3),
        ([1e-3, 1e-15], 1),
        ([2.0], 1),
        ([4.0, 1e-4, 1e-14, 1e-15], 2),
    ],
)
def test_rank_is_where_the_gap_is(values, rank):
    assert numerical_rank(np.array(values), values[0]) == rank


def test_a_matrix_of_zeros_has_rank_zero():
    assert numerical_rank(np.zeros(3), 0.0) == 0
