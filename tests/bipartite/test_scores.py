from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.bipartite import scores
from mixoracle.errors import InconsistentCountsError, InvalidInputError

seeds = st.integers(0, 2**32 - 1)


def drawn(graphs, seed, most_observed=5):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most_observed + 1))
    m = int(rng.integers(0, min(2**n, 7)))
    adjacency, sizes = graphs.draw_without_twins(rng, m, n)
    return adjacency, sizes, np.log(np.array(sizes, dtype=float))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_tensor_is_a_sum_of_rank_ones(graphs, order, seed):
    adjacency, sizes, log_sizes = drawn(graphs, seed)
    tensor = scores.score_tensor(scores.Counts(graphs.GraphOracle(adjacency, sizes)), order)
    columns = adjacency.astype(float)
    for index in product(range(len(adjacency)), repeat=order):
        assert tensor[index] == pytest.approx(
            np.prod(columns[list(index)], 0) @ log_sizes, abs=1e-10
        )


@settings(max_examples=50, deadline=None)
@given(seed=seeds, data=st.data())
def test_common_score_is_the_weight_of_the_shared_parents(graphs, seed, data):
    adjacency, sizes, log_sizes = drawn(graphs, seed)
    subset = data.draw(st.sets(st.integers(0, len(adjacency) - 1), min_size=1))
    oracle = graphs.GraphOracle(adjacency, sizes)
    tensor = scores.score_tensor(scores.Counts(oracle), len(subset))
    expected = adjacency[sorted(subset)].all(axis=0) @ log_sizes
    assert tensor[tuple(subset)] == pytest.approx(expected, abs=1e-10)
    # Wsne(S) needs counts of subsets of S only (rem:compute:scores).
    signed = sum(
        (-1) ** (size + 1) * np.log(oracle.count(part))
        for size in range(1, len(subset) + 1)
        for part in combinations(sorted(subset), size)
    )
    assert signed == pytest.approx(expected, abs=1e-10)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, data=st.data())
def test_count_of_a_subset_divides_the_count_of_the_set(graphs, seed, data):
    adjacency, sizes, _ = drawn(graphs, seed, most_observed=8)
    whole = data.draw(st.sets(st.integers(0, len(adjacency) - 1)))
    part = {i for i in whole if data.draw(st.booleans())}
    oracle = graphs.GraphOracle(adjacency, sizes)
    assert oracle.count(whole) % oracle.count(part) == 0


def test_only_distinct_small_sets_are_asked_for(graphs):
    adjacency, sizes = graphs.draw(np.random.default_rng(0), 3, 8)
    oracle = graphs.GraphOracle(adjacency, sizes)
    counts = scores.Counts(oracle)
    scores.score_tensor(counts, 3)
    assert len(oracle.asked) == len(set(oracle.asked)) == 8 + 28 + 56
    scores.score_tensor(counts, 3)
    assert len(oracle.asked) == 92


def test_batches_and_single_questions_agree(graphs):
    adjacency, sizes = graphs.draw(np.random.default_rng(1), 3, 7)
    single = scores.Counts(graphs.GraphOracle(adjacency, sizes))
    batch = scores.Counts(graphs.NoisyOracle(adjacency, sizes, noise=0.0, seed=0))
    np.testing.assert_allclose(
        scores.score_tensor(single, 3), scores.score_tensor(batch, 3), rtol=0, atol=1e-12
    )
    mixed = [frozenset(), frozenset([2]), frozenset([0, 3, 5])]
    np.testing.assert_allclose(single.log_counts_of(mixed), batch.log_counts_of(mixed), atol=1e-12)


def test_worst_names_the_set_that_fits_least(graphs):
    counts = scores.Counts(graphs.TableOracle(2, {(0,): 2, (1,): 2, (0, 1): 3}))
    scores.score_tensor(counts, 2)
    gap, subset = counts.worst(np.array([[True], [True]]), (2,))
    assert subset == (0, 1)
    assert gap == pytest.approx(np.log(3 / 2))


def test_a_count_below_one_is_refused(graphs):
    counts = scores.Counts(graphs.TableOracle(2, {(0,): 0, (1,): 2, (0, 1): 2}))
    with pytest.raises(InconsistentCountsError, match=r"k\(\{X1\}\) = 0"):
        counts.log_count([0])


def test_answers_that_are_not_numbers_are_refused(graphs):
    class Broken(graphs.GraphOracle):
        def log_counts(self, subsets):
            return np.full(len(subsets), np.nan)

    with pytest.raises(InconsistentCountsError, match="not a finite number"):
        scores.Counts(Broken([[1]], [2])).log_count([0])


def test_a_batch_of_the_wrong_length_is_refused(graphs):
    class Short(graphs.GraphOracle):
        def log_counts(self, subsets):
            return np.zeros(len(subsets) + 1)

    with pytest.raises(InvalidInputError, match="as many numbers"):
        scores.Counts(Short([[1]], [2])).log_count([0])


def test_a_tensor_that_does_not_fit_in_memory_is_refused(graphs):
    oracle = graphs.GraphOracle(np.ones((100, 1)), [2])
    with pytest.raises(InvalidInputError, match='use a lower order, or method="blocks"'):
        scores.score_tensor(scores.Counts(oracle), 5)
    assert oracle.asked == []


def test_an_order_below_one_is_refused(graphs):
    with pytest.raises(InvalidInputError, match="at least 1; got 0"):
        scores.score_tensor(scores.Counts(graphs.GraphOracle([[1]], [2])), 0)


def test_an_oracle_over_nothing_is_refused(graphs):
    with pytest.raises(InvalidInputError, match="at least one observed variable"):
        scores.Counts(graphs.GraphOracle(np.zeros((0, 0)), []))


@pytest.mark.parametrize(
    ("count", "text"), [(7.0, "7"), (7.35, "7.35"), (1e40, f"e^{np.log(1e40):.6g}")]
)
def test_counts_are_written_as_people_write_them(count, text):
    assert scores.readable_count(float(np.log(count))) == text
