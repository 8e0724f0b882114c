"""What an oracle hands to the learner: counts read off a Γ, and candidates of any fitted oracle."""

from itertools import combinations
from math import inf, log, prod

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite, Projection
from mixoracle.oracles.candidate import Candidate, DecodedCounts, GraphCounts, Rivals
from mixoracle.oracles.counts import ComponentCount
from mixoracle.oracles.protocol import BatchMixtureOracle


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(0, 4))
    sizes = tuple(int(size) for size in rng.integers(2, 5, m))
    adjacency = rng.random((n, m)) < 0.5
    adjacency[rng.integers(n, size=m), np.arange(m)] = True
    return Bipartite(adjacency, sizes), rng.dirichlet(np.ones(prod(sizes)))


def subsets(n):
    return [s for size in range(n + 1) for s in combinations(range(n), size)]


def decoded(graph, weights, others=(), evidence=(0.0,), certainty=None, seen=None):
    n = graph.n_observed
    return DecodedCounts(
        graph,
        weights,
        GraphCounts(graph, weights).projection().labels if seen is None else seen,
        np.ones(n) if certainty is None else certainty,
        Rivals((graph, *others), evidence),
    )


@pytest.mark.parametrize("kind", [GraphCounts, decoded])
class TestCounts:
    @pytest.mark.parametrize("seed", range(15))
    def test_counts_are_products_over_the_parents(self, kind, seed):
        graph, weights = drawn(seed)
        counts = kind(graph, weights)
        assert isinstance(counts, BatchMixtureOracle)
        assert counts.n_observed == graph.n_observed
        for subset in subsets(graph.n_observed):
            parents = {j for i in subset for j in np.flatnonzero(graph.adjacency[i])}
            found = counts.count(subset)
            assert isinstance(found, ComponentCount)
            assert found == prod(graph.domain_sizes[j] for j in parents)
            assert counts.count([*subset, *subset]) == found

    @pytest.mark.parametrize("seed", range(15))
    def test_batches_agree_with_single_counts(self, kind, seed):
        graph, weights = drawn(seed)
        counts = kind(graph, weights)
        for size in range(graph.n_observed + 1):
            rows = np.array(list(combinations(range(graph.n_observed), size)), dtype=np.int64)
            expected = [log(counts.count(row)) for row in rows.tolist()]
            np.testing.assert_allclose(counts.log_counts(rows), expected, atol=1e-12)

    @pytest.mark.parametrize("seed", range(15))
    def test_the_map_has_one_row_for_each_joint_state(self, kind, seed):
        graph, weights = drawn(seed)
        counts = kind(graph, weights)
        found = counts.projection()
        assert found.n_components == prod(graph.domain_sizes)
        np.testing.assert_array_equal(found.weights, weights)
        for subset in subsets(graph.n_observed):
            distinct = np.unique(found.labels[:, list(subset)], axis=0)
            assert len(distinct) == counts.count(subset)

    @pytest.mark.parametrize("member", [-1, 2, 0.5, "X1"])
    def test_only_observed_variables_can_be_asked_about(self, kind, member):
        counts = kind(Bipartite([[1], [1]], (2,)), np.array([0.5, 0.5]))
        with pytest.raises(InvalidInputError, match="from 0 to 1; got"):
            counts.count([member])

    def test_it_shows_its_graph(self, kind):
        shown = repr(kind(Bipartite([[1], [1]], (2,)), np.array([0.5, 0.5])))
        assert "H1(2 states)→{X1, X2}" in shown


class TestConfidence:
    GRAPH = Bipartite([[1, 0], [1, 1], [0, 1]], (2, 3))
    OTHER = Bipartite([[1, 0], [1, 1], [0, 1]], (2, 4))
    WEIGHTS = np.full(6, 1 / 6)

    def test_it_is_the_share_of_the_evidence_that_agrees(self):
        counts = decoded(self.GRAPH, self.WEIGHTS, (self.OTHER,), (0.0, -log(3.0)))
        # Both say 2 for X1; only the first, three times as likely, says 3 for X3.
        assert counts.count([0]).confidence == pytest.approx(1.0)
        assert counts.count([2]).confidence == pytest.approx(0.75)
        assert counts.count([0, 1, 2]).confidence == pytest.approx(0.75)

    def test_evidence_counts_relatively(self):
        near, far = (
            decoded(self.GRAPH, self.WEIGHTS, (self.OTHER,), (start, start - 1.0))
            for start in (0.0, -1e6)
        )
        assert near.count([2]).confidence == pytest.approx(far.count([2]).confidence)

    def test_a_candidate_that_is_not_the_best_is_less_sure(self):
        rivals = Rivals((self.OTHER, self.GRAPH), (0.0, -log(3.0)))
        assert rivals.agreement([2], 3) == pytest.approx(0.25)
        assert rivals.agreement([0], 2) == pytest.approx(1.0)
        assert rivals.agreement([0], 7) == 0.0

    def test_each_variable_must_have_merged_surely(self):
        certainty = np.array([0.5, 1.0, 0.8])
        counts = decoded(self.GRAPH, self.WEIGHTS, certainty=certainty)
        assert counts.count([]).confidence == 1.0
        assert counts.count([0]).confidence == pytest.approx(0.5)
        assert counts.count([0, 1, 2]).confidence == pytest.approx(0.4)

    def test_what_was_seen_before_any_repair_is_reported(self):
        seen = np.array([[0, 0, 0], [1, 1, 0], [1, 2, 1]])
        counts = decoded(self.GRAPH, self.WEIGHTS, seen=seen)
        assert [counts.count(s).seen for s in ([], [0], [1], [0, 2], [0, 1, 2])] == [1, 2, 3, 3, 3]
        assert counts.count([0, 1, 2]) == 6


class Counting:
    """A fitted oracle with the least that one needs."""

    n_observed = 2

    def count(self, subset):
        return 2 if list(subset) else 1

    def projection(self):
        return Projection(np.array([[0, 0], [1, 1]]), np.array([0.5, 0.5]))


class Assigning(Counting):
    assignments = (0, 1, 1)


class Informed(Counting):
    """Assigns rows once Γ is known, as the paper's oracle does."""

    def __init__(self, graph=None):
        self.graph = graph

    def informed_by(self, graph):
        known = Assigning()
        known.graph = graph
        return known


GRAPH = Bipartite([[1], [1]], (2,))


class TestFromCounts:
    def test_an_oracle_that_assigns_is_taken_as_it_is(self):
        fitted = Assigning()
        candidate = Candidate.from_counts(fitted, "mine")
        assert candidate.source == "mine"
        assert candidate.counts is fitted
        assert candidate.graph is None
        assert candidate.log_evidence == -inf
        assert candidate.repairs == ()
        assigned = candidate.assign(GRAPH)
        assert assigned.counts is fitted
        np.testing.assert_array_equal(assigned.rows, [0, 1, 1])

    def test_an_oracle_that_needs_the_graph_gets_it(self):
        fitted = Informed()
        candidate = Candidate.from_counts(fitted, "mine")
        assert candidate.counts is fitted
        assigned = candidate.assign(GRAPH)
        assert isinstance(assigned.counts, Assigning)
        assert assigned.counts.graph is GRAPH
        np.testing.assert_array_equal(assigned.rows, [0, 1, 1])

    def test_it_is_not_asked_before_the_graph_is_known(self):
        class Careful(Informed):
            def informed_by(self, graph):
                raise AssertionError("too early")

        assert Candidate.from_counts(Careful(), "mine").graph is None

    @pytest.mark.parametrize(("tolerance", "expected"), [(None, 0.0), (0.3, 0.3), (inf, inf)])
    def test_how_far_counts_may_be_off(self, tolerance, expected):
        fitted = Assigning()
        if tolerance is not None:
            fitted.count_tolerance = tolerance
        assert Candidate.from_counts(fitted, "mine").count_tolerance == expected

    def test_an_oracle_that_assigns_no_rows_is_named(self):
        candidate = Candidate.from_counts(Counting(), "mine")
        with pytest.raises(InvalidInputError, match=r"Counting should say .* 'assignments'"):
            candidate.assign(GRAPH)

    def test_it_shows_what_it_knows(self):
        counting = Candidate.from_counts(Assigning(), "mine")
        assert repr(counting) == "Candidate(mine, counts only, log evidence -inf)"
        known = Candidate("mine", Assigning(), counting.assign, graph=GRAPH, log_evidence=-3.0)
        assert "H1(2 states)→{X1, X2}" in repr(known)
        assert "log evidence -3.0" in repr(known)
