import subprocess
import sys
import warnings
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, silhouette_score

from mixoracle import LatentGraphLearner
from mixoracle.datasets import paper_problem
from mixoracle.errors import AssumptionWarning, InvalidInputError, ProjectionError
from mixoracle.model import Bipartite
from mixoracle.observations import Observations
from mixoracle.oracles.kmeans.clusters import (
    SilhouetteJudge,
    best_candidates,
    cluster_exactly,
    has_clusters,
    judge_counts,
    nearest,
    oversegment,
    run_kmeans,
    sample_rows,
)
from mixoracle.oracles.kmeans.consensus import CountCandidate
from mixoracle.oracles.kmeans.oracle import KMeansOracle
from mixoracle.oracles.kmeans.tasks import _judge
from mixoracle.oracles.kmeans.triples import occupied, triple_counts, triple_locations
from mixoracle.oracles.protocol import MixtureOracle

WIDTH = 6


def planted(gamma, sizes, n_samples, seed, noise=0.05):
    """Samples of a model whose components sit on corners of a simplex, all equally far apart."""
    rng = np.random.default_rng(seed)
    gamma = np.asarray(gamma, dtype=bool)
    weights = rng.dirichlet(np.full(prod(sizes), 8.0))
    cells = rng.choice(prod(sizes), size=n_samples, p=weights)
    states = np.stack(np.unravel_index(cells, sizes), axis=1)
    blocks = {}
    for i, row in enumerate(gamma):
        parents = np.flatnonzero(row)
        held = [sizes[j] for j in parents]
        labels = np.ravel_multi_index(tuple(states[:, parents].T), held) if held else 0
        corners = np.eye(WIDTH)[rng.permutation(WIDTH)]
        blocks[f"X{i + 1}"] = corners[labels] + rng.normal(scale=noise, size=(n_samples, WIDTH))
    return Observations.from_arrays(blocks), states


def true_count(gamma, sizes, members):
    return prod(sizes[j] for j in np.flatnonzero(np.asarray(gamma)[list(members)].any(axis=0)))


def clusters(k, n, seed, noise=0.05):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.normal(size=(k, 3))[labels] + rng.normal(scale=noise, size=(n, 3)), labels


GAMMA = [[1, 0], [1, 1], [0, 1], [0, 1]]
SIZES = (2, 3)
ROWS = 300


@pytest.fixture(scope="module")
def problem():
    return planted(GAMMA, SIZES, ROWS, seed=0)


@pytest.fixture(scope="module")
def oracle(problem):
    return KMeansOracle(random_state=0).fit(problem[0])


class TestClusters:
    @pytest.mark.parametrize("seed", range(5))
    def test_silhouette_equals_scikit_learn(self, seed):
        points, _ = clusters(4, 120, seed, noise=0.5)
        labels = np.random.default_rng(seed).integers(5, size=120)
        labels[0] = 5  # a point by itself
        expected = silhouette_score(points, labels)
        assert SilhouetteJudge(points).score(labels, 6) == pytest.approx(expected, abs=1e-12)

    def test_silhouette_ignores_clusters_without_points(self):
        points, labels = clusters(3, 60, 0)
        judge = SilhouetteJudge(points)
        assert judge.score(labels, 3) == pytest.approx(judge.score(labels, 9), abs=1e-12)

    def test_silhouette_of_one_cluster_is_zero(self):
        assert SilhouetteJudge(np.ones((4, 2))).score(np.zeros(4, dtype=int), 1) == 0.0

    @pytest.mark.parametrize("seed", range(4))
    def test_every_cut_agrees_with_scipy_and_scikit_learn(self, seed):
        points, _ = clusters(5, 150, seed, noise=0.3)
        segmentation = oversegment(points, 12, np.random.default_rng(seed))
        rows = np.arange(150)
        found = judge_counts(segmentation, SilhouetteJudge(points), rows, range(2, 14))
        assert [held.n_components for held in found] == list(range(2, 13))
        for held in found:
            theirs = cut_tree(segmentation.tree, held.n_components).ravel()
            ours = segmentation.cut(held.n_components)
            assert adjusted_rand_score(theirs, ours) == 1.0
            labels = ours[segmentation.labels]
            assert held.silhouette == pytest.approx(silhouette_score(points, labels), abs=1e-12)
            means = [points[labels == k].mean(axis=0) for k in range(held.n_components)]
            np.testing.assert_allclose(held.means, means, atol=1e-12)

    def test_best_candidates(self):
        held = [
            CountCandidate(np.zeros((k, 1)), s) for k, s in [(2, 0.1), (4, 0.5), (3, 0.5), (5, 0.9)]
        ]
        assert [c.n_components for c in best_candidates(held, 3)] == [5, 3, 4]

    def test_no_more_clusters_than_distinct_rows(self):
        rng = np.random.default_rng(0)
        repeated = np.repeat(np.arange(3.0), 20)[:, None]
        assert len(np.unique(run_kmeans(repeated, 8, rng))) == 3
        assert oversegment(repeated, 8, rng).n_centres == 3

    def test_sample_rows(self):
        rng = np.random.default_rng(0)
        assert sample_rows(5, 9, rng).tolist() == [0, 1, 2, 3, 4]
        rows = sample_rows(100, 9, rng)
        assert len(rows) == 9
        assert np.all(np.diff(rows) > 0)

    @pytest.mark.parametrize("seed", range(3))
    def test_one_gaussian_has_no_clusters_however_long(self, seed):
        rng = np.random.default_rng(seed)
        for scale in (np.ones(4), np.array([9.0, 0.2])):
            assert not has_clusters(rng.normal(size=(300, len(scale))) * scale, rng)

    @pytest.mark.parametrize("seed", range(3))
    def test_clusters_are_seen(self, seed):
        rng = np.random.default_rng(seed)
        line = rng.normal(size=(300, 1)) + 8 * rng.integers(2, size=(300, 1))
        assert has_clusters(line, rng)
        assert has_clusters(clusters(9, 300, seed)[0], rng)

    @pytest.mark.parametrize("seed", range(3))
    def test_exact_clustering_finds_small_components(self, seed):
        rng = np.random.default_rng(seed)
        sizes = [5, 8, 10, 200, 300, 40, 6, 20]
        labels = np.repeat(np.arange(8), sizes)
        points = np.eye(8)[labels] + rng.normal(scale=0.05, size=(len(labels), 8))
        found, means = cluster_exactly(points, 8, rng)
        assert adjusted_rand_score(labels, found) == 1.0
        assert sorted(nearest(means, np.eye(8))) == list(range(8))

    def test_exact_clustering_refuses_too_few_distinct_rows(self):
        with pytest.raises(ProjectionError, match="fall into 2 at most"):
            cluster_exactly(np.repeat([[0.0], [1.0]], 5, axis=0), 3, np.random.default_rng(0))


class TestTriples:
    @given(
        st.lists(st.integers(2, 5), min_size=3, max_size=3),
        st.lists(st.sets(st.integers(0, 2)), min_size=3, max_size=3),
    )
    def test_truth_is_always_allowed(self, sizes, parents):
        def k(*members):
            return prod(sizes[j] for j in set().union(*(parents[i] for i in members)))

        allowed = triple_counts([k(0), k(1), k(2)], [k(0, 1), k(0, 2), k(1, 2)], 10**6)
        assert k(0, 1, 2) in allowed

    def test_contradicting_pairs_leave_the_range(self):
        assert triple_counts([4, 4, 4], [4, 5, 6], 100) == (6,)
        assert triple_counts([2, 2, 2], [4, 5, 6], 100) == (6, 7, 8, 9, 10)
        assert triple_counts([2, 2, 2], [4, 5, 6], 8) == (6, 7, 8)
        assert triple_counts([2, 2, 2], [4, 4, 4], 3) == (3,)

    def test_locations_are_the_triples_whose_pairs_all_occur(self):
        # X_a and X_b share a binary parent, X_c has one of its own: 4 of 8 triples occur.
        line = np.array([[0.0], [1.0]])
        single = CountCandidate(line, 0.5)
        same = CountCandidate(np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5)
        grid = CountCandidate(np.array([[u, v] for u in (0.0, 1.0) for v in (0.0, 1.0)]), 0.5)
        found = triple_locations([single] * 3, [same, grid, grid])
        expected = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
        np.testing.assert_array_equal(found, expected)

    def test_empty_locations_are_dropped_and_the_fullest_kept(self):
        data = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
        locations = np.array([[9.0], [-40.0], [0.0], [5.0]])
        assert occupied(data, locations, 10).ravel().tolist() == [9.0, 0.0, 5.0]
        assert occupied(data, locations, 2).ravel().tolist() == [0.0, 5.0]

    def test_pairs_that_contradict_each_other_leave_no_start(self):
        rng = np.random.default_rng(0)
        data = rng.normal(np.repeat([0.0, 9.0], 20)[:, None], 1.0, (40, 3))
        blocks = [data[:, [i]] for i in range(3)]
        found = _judge(blocks, np.arange(40), (2, 3), 0, np.zeros((0, 3)))
        assert [held.n_components for held in found] == [2, 3]


class TestCounts:
    def test_all_counts_are_exact(self, oracle):
        for size in range(4):
            for members in combinations(range(4), size):
                assert oracle.count(members) == true_count(GAMMA, SIZES, members)

    @pytest.mark.parametrize(
        ("gamma", "sizes", "seed"),
        [
            ([[1], [1], [1]], (4,), 1),
            ([[1, 0], [0, 1], [1, 1]], (2, 2), 2),
            ([[1, 0], [0, 1], [0, 1]], (3, 4), 3),
        ],
    )
    def test_other_graphs(self, gamma, sizes, seed):
        fitted = KMeansOracle(random_state=seed).fit(planted(gamma, sizes, ROWS, seed)[0])
        for members in (m for r in (1, 2, 3) for m in combinations(range(3), r)):
            assert fitted.count(members) == true_count(gamma, sizes, members)

    def test_variable_without_parents_has_one_component(self):
        gamma = [[1], [0], [1]]
        fitted = KMeansOracle(random_state=0).fit(planted(gamma, (3,), ROWS, 4)[0])
        assert [fitted.count([i]) for i in range(3)] == [3, 1, 3]
        assert fitted.count([0, 1]) == fitted.count([0, 1, 2]) == 3
        assert [held.n_components for held in fitted.single_candidates_[1]] == [1]

    def test_it_is_an_oracle(self, oracle):
        assert isinstance(oracle, MixtureOracle)
        assert oracle.n_observed == 4
        assert oracle.count([]) == 1
        assert oracle.count([2, 0, 2]) == oracle.count({0, 2})

    def test_unit_and_origin_of_a_variable_do_not_matter(self, problem, oracle):
        observations, _ = problem
        units = {"X1": 1e-6, "X2": 1.0, "X3": 1e4}
        moved = Observations.from_arrays(
            {name: (observations[name] + 7) * unit for name, unit in units.items()}
        )
        fitted = KMeansOracle(random_state=0).fit(moved)
        for members in (m for r in (1, 2, 3) for m in combinations(range(3), r)):
            assert fitted.count(members) == oracle.count(members)

    def test_constant_and_tiny_data_have_one_component(self):
        constant = Observations.from_arrays({"a": np.ones((40, 2)), "b": np.ones(40)})
        assert KMeansOracle(random_state=0).fit(constant).count([0, 1]) == 1
        tiny = Observations.from_array(np.random.default_rng(0).normal(size=(5, 3)))
        assert KMeansOracle(random_state=0).fit(tiny).count([0, 1, 2]) == 1

    def test_eleven_samples_support_two_components(self):
        rng = np.random.default_rng(1)
        labels = np.arange(11) % 2
        data = labels[:, None] * 9.0 + rng.normal(scale=0.1, size=(11, 3))
        fitted = KMeansOracle(random_state=0).fit(Observations.from_array(data))
        assert fitted.k_max_ == 2
        assert fitted.count([0]) == fitted.count([0, 1]) == fitted.count([0, 1, 2]) == 2

    def test_few_distinct_values(self):
        values = np.random.default_rng(0).integers(3, size=(200, 1)).astype(float)
        fitted = KMeansOracle(random_state=0).fit(Observations.from_array(values))
        assert fitted.count([0]) == 3


class TestEvidence:
    def test_candidates_and_votes_can_be_inspected(self, oracle):
        assert oracle.k_max_ >= 6
        assert len(oracle.single_candidates_) == 4
        for held in oracle.single_candidates_:
            assert len(held) == 5
            scores = [c.silhouette for c in held]
            assert scores == sorted(scores, reverse=True)
        pairs = list(combinations(range(4), 2))
        assert list(oracle.pair_candidates_) == pairs
        assert list(oracle.triple_candidates_) == list(combinations(range(4), 3))
        assert oracle.votes_.keys() == {(0,), (1,), (2,), (3,), *pairs}
        for members in pairs:
            counts = [c.n_components for c in oracle.pair_candidates_[members]]
            assert counts == [t.n_components for t in oracle.votes_[members].tallies]
            assert counts == sorted(counts)

    def test_the_elected_have_votes_of_both_kinds(self, oracle):
        for election in oracle.votes_.values():
            elected = election.tallies[election.position]
            assert elected.divisibility > 0
            assert elected.means > 0

    def test_number_of_candidates(self, problem):
        fitted = KMeansOracle(n_candidates=2, max_components=7, random_state=0).fit(
            problem[0].select(["X1"])
        )
        assert len(fitted.single_candidates_[0]) == 2
        assert fitted.k_max_ == 7
        assert fitted.count([0]) == 2

    def test_max_components_is_the_end_of_the_candidates(self, problem):
        fitted = KMeansOracle(n_candidates=9, max_components=4, random_state=0).fit(
            problem[0].select(["X2"])
        )
        assert sorted(c.n_components for c in fitted.single_candidates_[0]) == [2, 3, 4]


class TestDeterminism:
    def test_same_answer_for_any_number_of_jobs(self, problem):
        observations = problem[0].select(["X1", "X2", "X3"]).take(slice(150))
        alone, shared = (
            KMeansOracle(random_state=3, n_jobs=n_jobs).fit(observations) for n_jobs in (1, 2)
        )
        assert shared.single_candidates_ == alone.single_candidates_
        assert shared.pair_candidates_ == alone.pair_candidates_
        assert shared.triple_candidates_ == alone.triple_candidates_
        assert shared.votes_ == alone.votes_
        gamma = Bipartite(GAMMA[:3], SIZES)
        first, second = (held.informed_by(gamma).projection() for held in (alone, shared))
        assert first == second

    def test_order_of_variables(self, problem, oracle):
        order = [2, 0, 1]
        fitted = KMeansOracle(random_state=0).fit(problem[0].select([f"X{i + 1}" for i in order]))
        for place, i in enumerate(order):
            assert fitted.single_candidates_[place] == oracle.single_candidates_[i]
        for members in (m for r in (1, 2, 3) for m in combinations(range(3), r)):
            assert fitted.count(members) == oracle.count([order[place] for place in members])


class TestProjection:
    def test_map_and_weights(self, problem, oracle):
        _, states = problem
        informed = oracle.informed_by(Bipartite(GAMMA, SIZES))
        found = informed.projection()
        assert found.n_components == 6
        assert len(np.unique(found.labels, axis=0)) == 6
        for i in range(4):
            assert len(np.unique(found.labels[:, i])) == true_count(GAMMA, SIZES, [i])
        # X1 sees H1 only and X3, X4 see H2 only, so their labels name the states.
        assert len(np.unique(found.labels[:, [0, 2]], axis=0)) == 6
        assert len(np.unique(found.labels[:, [2, 3]], axis=0)) == 3
        sizes = np.unique(states, axis=0, return_counts=True)[1]
        np.testing.assert_allclose(np.sort(found.weights), np.sort(sizes) / ROWS, atol=1e-12)
        assert informed.projection() is found

    def test_gamma_answers_for_large_subsets_and_only_for_those(self, oracle):
        wrong = Bipartite([[1], [1], [1], [1]], (5,))
        assert oracle.informed_by(wrong).count(range(4)) == 5
        assert oracle.informed_by(wrong).count([0]) == 2
        assert oracle.bipartite_ is None

    def test_a_wrong_graph_is_not_repaired(self, oracle):
        # Too many components over X: some of them coincide in every variable.
        found = oracle.informed_by(Bipartite(GAMMA, (2, 5))).projection()
        assert found.n_components == 10
        assert found.weights.sum() == pytest.approx(1.0)

    def test_no_latents(self, oracle):
        found = oracle.informed_by(Bipartite(np.zeros((4, 0)), ())).projection()
        np.testing.assert_array_equal(found.labels, np.zeros((1, 4)))
        assert found.weights.tolist() == [1.0]

    def test_needs_gamma(self, oracle):
        with pytest.raises(InvalidInputError, match="informed_by"):
            oracle.projection()
        with pytest.raises(InvalidInputError, match="at most 3 variables"):
            oracle.count(range(4))

    def test_gamma_of_other_variables(self, oracle):
        with pytest.raises(InvalidInputError, match="4 observed variables"):
            oracle.informed_by(Bipartite([[1], [1]], (2,)))

    def test_more_components_than_samples(self, oracle):
        with pytest.raises(ProjectionError, match="900 components over X, more than the 300"):
            oracle.informed_by(Bipartite(GAMMA, (30, 30))).projection()


class TestInput:
    def test_not_fitted(self):
        for ask in (
            lambda held: held.count([0]),
            lambda held: held.projection(),
            lambda held: held.n_observed,
            lambda held: held.informed_by(Bipartite([[1]], (2,))),
        ):
            with pytest.raises(NotFittedError, match="call fit first"):
                ask(KMeansOracle())

    @pytest.mark.parametrize(
        ("observations", "message"),
        [
            (np.zeros((9, 2)), "needs Observations"),
            (Observations.from_array([[1.0], [np.nan]]), "complete data"),
            (Observations.from_arrays({"mode": ["on", "off", "on"]}), "categorical"),
        ],
    )
    def test_unusable_data(self, observations, message):
        with pytest.raises(InvalidInputError, match=message):
            KMeansOracle().fit(observations)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"max_components": 76}, "at most 75 with 300 samples"),
            ({"max_components": 0}, "max_components should be a whole number"),
            ({"max_components": 2.5}, "max_components should be a whole number"),
            ({"n_candidates": 0}, "n_candidates should be a whole number"),
            ({"n_candidates": True}, "n_candidates should be a whole number"),
            ({"random_state": -1}, "random_state"),
        ],
    )
    def test_unusable_parameters(self, problem, params, message):
        with pytest.raises(InvalidInputError, match=message):
            KMeansOracle(**params).fit(problem[0])

    @pytest.mark.parametrize("subset", [[4], [-1], [0.5], ["X1"]])
    def test_unknown_members(self, oracle, subset):
        with pytest.raises(InvalidInputError, match="from 0 to 3"):
            oracle.count(subset)

    def test_scikit_learn_conventions(self):
        made = KMeansOracle(max_components=9, n_jobs=2)
        copied = clone(made)
        assert copied.get_params() == made.get_params()
        assert copied.set_params(n_candidates=3) is copied
        assert copied.n_candidates == 3
        assert repr(made) == (
            "KMeansOracle(max_components=9, n_candidates=5, random_state=None, n_jobs=2)"
        )
        with pytest.raises(InvalidInputError, match="no parameter 'k'"):
            made.set_params(k=3)

    def test_importing_it_does_not_import_scikit_learn(self):
        code = "import sys, mixoracle.oracles.kmeans.oracle; sys.exit('sklearn' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def learned(observations, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return LatentGraphLearner(oracle="kmeans", random_state=0, **settings).fit(observations)


def counting_verdict(learner):
    return next(verdict for verdict in learner.assumptions_ if verdict.label == "obs:counting")


@pytest.fixture(scope="module")
def learner(problem):
    return learned(problem[0])


class TestInTheLearner:
    @pytest.fixture(autouse=True)
    def no_second_look(self, monkeypatch):
        """Few rows are learned from again and again, to see the answer on others; not here."""
        monkeypatch.setattr("mixoracle.trust.bootstrap.SMALL_SAMPLE", 0)

    def test_counts_of_four_and_more_variables_are_answered(self, learner):
        """The oracle clusters three at a time; beyond them the learner's Γ has to answer."""
        for size in range(5):
            for members in combinations(range(4), size):
                assert learner.counts_[members] == true_count(GAMMA, SIZES, members)
        assert learner.counts_[["X1", "X2", "X3", "X4"]] == 6
        assert learner.oracle_.count(range(4)) == 6
        assert counting_verdict(learner).holds is True

    def test_the_graph_is_recovered_from_the_counts(self, learner):
        assert learner.bipartite_.method == "blocks"
        np.testing.assert_array_equal(learner.bipartite_.adjacency, GAMMA)
        assert learner.bipartite_.domain_sizes == SIZES
        assert learner.oracle_.projection().n_components == 6

    def test_they_are_answered_too_where_the_map_contradicts_the_graph(self):
        """Overlap: Γ was recovered, Algorithm 1 fails, and the model has no latents."""
        data = paper_problem(2, 4, 3, 150, random_state=6, covariance="text", scale=0.05)
        with pytest.warns(AssumptionWarning, match="consistent counts"):
            learner = LatentGraphLearner(oracle="kmeans", random_state=0).fit(data.observations)
        assert learner.bipartite_.method == "none"
        assert counting_verdict(learner).holds is False
        recovered = learner.oracle_.bipartite_
        assert recovered.n_latent > 0
        assert learner.counts_[range(4)] == prod(recovered.domain_sizes)

    def test_counts_that_the_graph_misses_are_not_called_exact(self):
        data = paper_problem(2, 4, 3, 150, random_state=1, covariance="text", scale=0.05)
        learner = learned(data.observations)
        assert learner.bipartite_.residual == pytest.approx(np.log(1.5))
        verdict = counting_verdict(learner)
        assert verdict.holds is None
        assert "by a factor of 1.5" in verdict.message

    def test_own_settings_take_precedence_over_the_learners(self, problem):
        observations = problem[0].select(["X1", "X3", "X4"]).take(slice(210))
        own = KMeansOracle(max_components=7, n_candidates=2, random_state=5)
        settings = {"random_state": 1, "max_components": 4}
        learner = LatentGraphLearner(oracle=own, **settings).fit(observations)
        assert learner.oracle_.k_max_ == 7
        assert max(len(held) for held in learner.oracle_.single_candidates_) == 2
        assert not hasattr(own, "k_max_")
        limited = LatentGraphLearner(oracle=KMeansOracle(), **settings).fit(observations)
        assert limited.oracle_.k_max_ == 4
