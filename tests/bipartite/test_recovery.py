import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.bipartite import check, recover
from mixoracle.errors import (
    InconsistentCountsError,
    InvalidInputError,
    ModelContradictionError,
    NotRecoverableError,
)
from mixoracle.model import CPDAG, Bipartite, JointTable, LatentModel
from mixoracle.oracles.exact import ExactOracle

METHODS = ("jennrich", "als", "blocks", "auto")


def exact_oracle(adjacency, sizes):
    n, m = adjacency.shape
    cells = int(np.prod(sizes, dtype=int))
    return ExactOracle(
        LatentModel(
            observed_names=tuple(f"X{i + 1}" for i in range(n)),
            latent_names=tuple(f"H{j + 1}" for j in range(m)),
            bipartite=adjacency,
            domain_sizes=sizes,
            joint=JointTable(np.full(sizes, 1 / cells)),
            latent_graph=CPDAG(m),
        )
    )


@pytest.mark.parametrize("chunk", range(4))
def test_all_methods_are_exact_and_agree_on_200_random_models(graphs, chunk):
    for seed in range(50 * chunk, 50 * chunk + 50):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 7))
        adjacency, sizes = graphs.draw(rng, m, int(rng.integers(max(3, m + 1), 13)))
        oracle = exact_oracle(adjacency, sizes)
        answers = [recover(oracle, method) for method in METHODS]
        for answer in answers:
            truth = graphs.as_set(adjacency, sizes)
            assert graphs.as_set(answer.adjacency, answer.domain_sizes) == truth, seed
            assert answer.residual < 1e-8
            np.testing.assert_array_equal(answer.adjacency, answers[0].adjacency)
            assert answer.domain_sizes == answers[0].domain_sizes


@pytest.mark.parametrize("method", ["blocks", "auto"])
def test_dependent_columns_without_twins(graphs, method):
    tried = 0
    for seed in range(220):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        adjacency, sizes = graphs.draw_without_twins(rng, int(rng.integers(2, 2**n - 1)) % 9, n)
        # NumPy 1.26 knows no rank of a matrix without columns.
        if not sizes or np.linalg.matrix_rank(adjacency.astype(float)) == len(sizes):
            continue
        tried += 1
        answer = recover(exact_oracle(adjacency, sizes), method)
        truth = graphs.as_set(adjacency, sizes)
        assert graphs.as_set(answer.adjacency, answer.domain_sizes) == truth, seed
        assert answer.residual < 1e-8
    assert tried > 50


@pytest.mark.parametrize("method", METHODS)
def test_nested_neighbourhoods(graphs, method):
    adjacency = np.tri(5, dtype=bool)
    answer = recover(graphs.GraphOracle(adjacency, [2, 3, 4, 5, 6]), method)
    assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(
        adjacency, [2, 3, 4, 5, 6]
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), method=st.sampled_from(METHODS))
def test_permuting_observed_variables_permutes_the_answer(graphs, seed, method):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 5))
    adjacency, sizes = graphs.draw(rng, m, int(rng.integers(m + 1, 9)))
    order = rng.permutation(len(adjacency))
    plain = recover(graphs.GraphOracle(adjacency, sizes), method)
    moved = recover(graphs.GraphOracle(adjacency[order], sizes), method)
    assert graphs.as_set(moved.adjacency, moved.domain_sizes) == graphs.as_set(
        plain.adjacency[order], plain.domain_sizes
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("adjacency", "sizes"),
    [
        ([[1]], [3]),
        ([[1], [1]], [4]),
        ([[1, 0], [1, 1]], [2, 3]),
        ([[1, 0], [0, 1]], [2, 2]),
        ([[1], [0], [1]], [5]),
        (np.zeros((1, 0)), []),
        (np.zeros((4, 0)), []),
    ],
)
def test_smallest_cases(graphs, method, adjacency, sizes):
    """One or two variables, no latents, and variables without parents."""
    answer = recover(graphs.GraphOracle(np.asarray(adjacency, dtype=bool), sizes), method)
    assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(adjacency, sizes)
    assert answer.adjacency.shape == np.shape(adjacency)
    assert answer.residual < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_same_question_same_answer(graphs, method):
    adjacency, sizes = graphs.draw(np.random.default_rng(7), 3, 6)
    oracle = graphs.NoisyOracle(adjacency, sizes, 0.0 if method == "blocks" else 0.1, seed=0)
    first = recover(oracle, method, tolerance=np.inf)
    assert recover(oracle, method, tolerance=np.inf) == first


def test_the_result_names_its_method(graphs):
    oracle = graphs.GraphOracle([[1, 0], [1, 1]], [2, 3])
    for method in ("jennrich", "als", "blocks"):
        assert recover(oracle, method).method == method
    assert recover(oracle).method == "blocks"


def test_noise_makes_auto_turn_to_the_tensor(graphs):
    for seed in range(10):
        adjacency, sizes = graphs.draw(np.random.default_rng(seed), 3, 7)
        oracle = graphs.NoisyOracle(adjacency, sizes, noise=0.05, seed=seed)
        answer = recover(oracle, tolerance=0.5)
        assert answer.method in ("jennrich", "als")
        assert 0.05 < answer.residual < 0.5
        assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(
            adjacency, sizes
        )


class OneWrong:
    """Counts one component too many over one set."""

    def __init__(self, oracle, wrong):
        self.oracle, self.wrong, self.n_observed = oracle, frozenset(wrong), oracle.n_observed

    def count(self, subset):
        return self.oracle.count(subset) + (frozenset(subset) == self.wrong)


def test_one_wrong_count_is_refused_and_survived(graphs):
    adjacency, sizes = graphs.draw(np.random.default_rng(3), 3, 6)
    for wrong in ((0,), (1, 4), (2, 3, 5)):
        oracle = OneWrong(graphs.GraphOracle(adjacency, sizes), wrong)
        with pytest.raises(InconsistentCountsError):
            recover(oracle)
        answer = recover(oracle, tolerance=np.inf)
        assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(
            adjacency, sizes
        )


class Garbled(OneWrong):
    """Counts wrong over a random share of all sets."""

    def __init__(self, oracle, share, seed):
        super().__init__(oracle, wrong=())
        self.share, self.seed = share, seed

    def count(self, subset):
        rng = np.random.default_rng([self.seed, *sorted(subset)])
        error = int(rng.integers(-2, 3)) if rng.random() < self.share else 0
        return max(1, self.oracle.count(subset) + error)


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_whatever_the_counts_an_answer_explains_them_or_a_named_error_comes(graphs, share):
    outcomes = set()
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        adjacency, sizes = graphs.draw_without_twins(rng, int(rng.integers(0, min(2**n, 4))), n)
        for method in ("blocks", "jennrich", "auto"):
            oracle = Garbled(graphs.GraphOracle(adjacency, sizes), share, seed)
            try:
                answer = recover(oracle, method)
            except ModelContradictionError as error:
                outcomes.add(type(error))
                continue
            outcomes.add("explained")
            for i in range(n):
                parents = np.flatnonzero(answer.adjacency[i])
                assert oracle.count([i]) == np.prod(np.array(answer.domain_sizes)[parents])
    assert outcomes == {"explained", InconsistentCountsError, NotRecoverableError}


def test_nothing_fits_says_how_close_it_came(graphs):
    counts = {(0,): 2, (1,): 2, (0, 1): 3}
    with pytest.raises(InconsistentCountsError, match=r"residual of .* where at most") as failure:
        recover(graphs.TableOracle(2, counts))
    assert "k({X1, X2}) = 3 is not a multiple of k({X1}) = 2" in str(failure.value)
    with pytest.raises(InconsistentCountsError, match="not a multiple"):
        recover(graphs.TableOracle(2, counts), "blocks")


def test_jennrich_refuses_dependent_columns(graphs):
    cycle = [[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    with pytest.raises(NotRecoverableError, match=r'residual of .*method="blocks"'):
        recover(graphs.GraphOracle(cycle, [2, 3, 4, 5]), "jennrich")


def test_als_refuses_noise_unless_it_is_told_of_it(graphs):
    adjacency, sizes = graphs.draw(np.random.default_rng(0), 2, 5)
    oracle = graphs.NoisyOracle(adjacency, sizes, noise=0.05, seed=0)
    with pytest.raises(NotRecoverableError, match=r'residual of .*method="blocks"'):
        recover(oracle, "als")
    assert recover(oracle, "als", tolerance=0.3).residual < 0.3


def test_als_refuses_what_small_sets_cannot_tell_apart(graphs):
    """Even and odd sets of four variables have the same counts of up to three of them."""
    codes = np.arange(1, 16)
    sets = (codes[None, :] >> np.arange(4)[:, None]) & 1
    even = sets[:, sets.sum(axis=0) % 2 == 0]
    odd = sets[:, sets.sum(axis=0) % 2 == 1]
    pair = [graphs.GraphOracle(even, [2] * 7), graphs.GraphOracle(odd, [2] * 8)]
    for size in (1, 2, 3):
        for subset in combinations(range(4), size):
            assert pair[0].count(subset) == pair[1].count(subset)
    for oracle in pair:
        with pytest.raises(NotRecoverableError):
            recover(oracle, "als")
        answer = recover(oracle)
        assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(
            oracle.adjacency, oracle.domain_sizes
        )


def test_auto_asks_for_no_tensor_that_does_not_fit(graphs):
    adjacency = np.zeros((450, 2), dtype=bool)
    adjacency[:300, 0] = adjacency[200:, 1] = True
    oracle = graphs.GraphOracle(adjacency, [2, 3])
    answer = recover(oracle)
    assert graphs.as_set(answer.adjacency, answer.domain_sizes) == graphs.as_set(adjacency, [2, 3])
    assert len(oracle.asked) < 2000
    with pytest.raises(InvalidInputError, match='method="blocks"'):
        recover(oracle, "jennrich")


def test_auto_without_a_tensor_still_explains_a_contradiction(graphs):
    class Wrong(graphs.GraphOracle):
        def count(self, subset):
            return 2 if len(set(subset)) == 1 else 3

    with pytest.raises(InconsistentCountsError, match="is not a multiple of"):
        recover(Wrong(np.ones((450, 1)), [2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "should be one of auto, blocks, jennrich, als; got 'magic'"),
        ({"order": 2}, "at least 3; got 2"),
        ({"order": 3.5}, "at least 3; got 3.5"),
        ({"tolerance": -1.0}, "at least 0; got -1.0"),
        ({"tolerance": float("nan")}, "at least 0; got nan"),
    ],
)
def test_bad_arguments_are_refused(graphs, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        recover(graphs.GraphOracle([[1]], [2]), **arguments)


class BatchOracle:
    """Answers in batches, and remembers each call; a single count fails the test."""

    def __init__(self, graph):
        self.graph, self.n_observed, self.batches = graph, graph.n_observed, []

    def count(self, subset):
        raise AssertionError(f"k({sorted(subset)}) was asked for by itself")

    def log_counts(self, subsets):
        self.batches.append(subsets.shape)
        return self.graph.adjacency[subsets].any(axis=1) @ np.log(self.graph.domain_sizes)


class TestCheck:
    def test_a_hundred_variables_are_one_batch_for_each_size(self, graphs):
        adjacency, sizes = graphs.draw(np.random.default_rng(0), 6, 100)
        graph = Bipartite(adjacency, sizes, 0.0, "decoded")
        oracle = BatchOracle(graph)
        checked = check(graph, oracle)
        assert oracle.batches == [(100, 1), (4950, 2), (161_700, 3)]
        assert checked.residual < 1e-8
        assert checked.method == "decoded"
        np.testing.assert_array_equal(checked.adjacency, adjacency)
        assert checked.domain_sizes == sizes

    def test_where_triples_are_too_many_pairs_are_asked_for(self):
        graph = Bipartite(np.ones((300, 1), dtype=bool), (3,))
        oracle = BatchOracle(graph)
        check(graph, oracle)
        assert [size for _, size in oracle.batches] == [1, 2]

    def test_counts_need_no_more_memory_than_any_fit_is_said_to(self):
        graph = Bipartite(np.ones((200, 1), dtype=bool), (3,))
        tracemalloc.start()
        check(graph, BatchOracle(graph))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100e6

    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    def test_all_sets_of_up_to_so_many_variables(self, graphs, order):
        adjacency, sizes = graphs.draw(np.random.default_rng(1), 3, 7)
        oracle = graphs.GraphOracle(adjacency, sizes)
        check(Bipartite(adjacency, sizes), oracle, order)
        wanted = {frozenset(s) for k in range(1, order + 1) for s in combinations(range(7), k)}
        assert set(oracle.asked) == wanted

    @pytest.mark.parametrize("seed", range(10))
    def test_a_wrong_graph_is_refused_and_the_set_is_named(self, graphs, seed):
        rng = np.random.default_rng(seed)
        adjacency, sizes = graphs.draw(rng, 3, 6)
        wrong = adjacency.copy()
        # A latent keeps a child in any case.
        flips = [(i, j) for i in range(6) for j in range(3) if adjacency[:i, j].any()]
        i, j = flips[int(rng.integers(len(flips)))]
        wrong[i, j] = not wrong[i, j]
        oracle = BatchOracle(Bipartite(adjacency, sizes))
        with pytest.raises(InconsistentCountsError, match=rf"k\(\{{.*X{i + 1}\b.*\}}\) = "):
            check(Bipartite(wrong, sizes), oracle)

    def test_the_message_names_set_prediction_and_count(self):
        oracle = BatchOracle(Bipartite([[1, 0], [1, 1], [0, 1]], (2, 5)))
        with pytest.raises(InconsistentCountsError) as failure:
            check(Bipartite([[1, 0], [1, 0], [0, 1]], (2, 5)), oracle)
        assert "it predicts k({X2}) = 2, but 10 was counted" in str(failure.value)

    def test_a_wrong_domain_size_is_refused(self):
        oracle = BatchOracle(Bipartite([[1], [1]], (4,)))
        with pytest.raises(InconsistentCountsError, match=r"k\(\{X1\}\) = 3, but 4 was counted"):
            check(Bipartite([[1], [1]], (3,)), oracle)
        assert check(Bipartite([[1], [1]], (3,)), oracle, tolerance=0.3).residual == pytest.approx(
            np.log(4 / 3)
        )

    def test_no_latents_are_checked_as_well(self):
        nothing = Bipartite(np.zeros((3, 0), dtype=bool), ())
        assert check(nothing, BatchOracle(nothing)).residual == 0.0
        with pytest.raises(InconsistentCountsError, match="but 2 was counted"):
            check(nothing, BatchOracle(Bipartite([[1], [1], [0]], (2,))))
