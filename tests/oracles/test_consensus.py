from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.oracles.kmeans.consensus import (
    CountCandidate,
    Election,
    Tally,
    elect,
    means_align,
    pair_counts,
)


def candidate(n_components, silhouette, means=None, width=1, seed=0):
    """A candidate whose means, if not given, are random and agree with nobody's."""
    if means is None:
        means = np.random.default_rng([seed, n_components]).normal(size=(n_components, width))
    return CountCandidate(
        np.reshape(np.asarray(means, dtype=float), (n_components, -1)), silhouette
    )


def tallies(election):
    return {t.n_components: (t.divisibility, t.means) for t in election.tallies}


def parents_and_sizes():
    """Domain sizes of a few latents, and which of them each of three variables has as parents."""
    sizes = st.lists(st.integers(2, 5), min_size=1, max_size=4)
    return sizes.flatmap(
        lambda held: st.tuples(
            st.just(held),
            st.lists(st.sets(st.integers(0, len(held) - 1), min_size=1), min_size=3, max_size=3),
        )
    )


def count(sizes, *parents):
    return prod(sizes[j] for j in set().union(*parents))


class TestPairCounts:
    def test_paper_example(self):
        allowed = pair_counts([6, 7, 8], [4, 5, 6], largest=1000)
        assert set(range(20, 27)) & set(allowed) == {24}

    def test_single_component_leaves_the_other_variable(self):
        assert pair_counts([1], [3, 5], largest=100) == (3, 5)

    def test_largest_cuts_off(self):
        assert pair_counts([4], [6], largest=23) == (12,)
        assert pair_counts([4], [6], largest=11) == ()

    @given(parents_and_sizes(), st.lists(st.integers(2, 9), max_size=4))
    def test_truth_is_always_allowed(self, drawn, distractors):
        sizes, (first, second, _) = drawn
        allowed = pair_counts(
            [*distractors, count(sizes, first)], [count(sizes, second), *distractors], 10**6
        )
        assert count(sizes, first, second) in allowed
        assert list(allowed) == sorted(set(allowed))

    @given(
        st.lists(st.integers(1, 9), min_size=1, max_size=5),
        st.lists(st.integers(1, 9), min_size=1, max_size=5),
    )
    def test_each_is_a_common_multiple_within_the_product(self, first, second):
        for allowed in pair_counts(first, second, 10**6):
            assert any(
                allowed % a == 0 and allowed % b == 0 and allowed <= a * b
                for a in first
                for b in second
            )


class TestMeansAlign:
    means = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 8.0]])

    def test_repeated_means_align(self):
        assert means_align(np.repeat(self.means, 3, axis=0), self.means)

    @pytest.mark.parametrize(("shift", "expected"), [(0.9, True), (1.1, False)])
    def test_a_quarter_of_the_way_to_the_next_mean(self, shift, expected):
        projected = self.means.copy()
        projected[0, 0] += shift
        assert means_align(projected, self.means) is expected

    def test_scale_is_that_of_the_mean_met(self):
        # The third mean's neighbour is 8 away, so 1.9 is close there and far elsewhere.
        projected = self.means.copy()
        projected[2, 1] += 1.9
        assert means_align(projected, self.means)

    def test_every_mean_has_to_be_met(self):
        assert not means_align(self.means[:2], self.means)

    def test_all_equally_often(self):
        assert not means_align(self.means[[0, 0, 1, 2]], self.means)

    def test_merged_components_do_not_align(self):
        assert not means_align(self.means, np.array([[2.0, 0.0], [0.0, 8.0]]))

    def test_single_mean_is_met_by_all(self):
        assert means_align(self.means, np.array([[100.0, 100.0]]))

    @given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
    def test_neither_order_nor_unit_nor_origin_matters(self, seed, unit):
        rng = np.random.default_rng(seed)
        means = rng.normal(size=(4, 2))
        projected = np.repeat(means, 2, axis=0) + rng.normal(scale=0.1, size=(8, 2))
        origin = rng.normal(size=2)
        moved = (projected[rng.permutation(8)] - origin) * unit
        assert means_align(moved, (means[rng.permutation(4)] - origin) * unit) == means_align(
            projected, means
        )


class TestElect:
    def test_paper_example(self):
        singles = [
            [candidate(k, 0.5, seed=i) for k in held]
            for i, held in enumerate(([6, 7, 8], [4, 5, 6]))
        ]
        pairs = {(0, 1): [candidate(k, 0.5, width=2, seed=9) for k in range(20, 27)]}
        votes = elect(singles, pairs, widths=[1, 1])
        assert votes[(0, 1)].winner == 24
        by_divisibility = {k: held[0] for k, held in tallies(votes[(0, 1)]).items()}
        one = 0.25  # the product of two silhouettes of 0.5
        expected = {20: one, 21: one, 22: 0, 23: 0, 24: 2 * one, 25: one, 26: 0}
        assert by_divisibility == pytest.approx(expected)

    def test_votes_counted_by_hand(self):
        # X1 has 2 means (0 and 1), X2 has 3 (0, 1, 2); the pair with 6 is their whole grid.
        grid = [(u, v) for u in (0, 1) for v in (0, 1, 2)]
        singles = [
            [candidate(2, 0.8, [0, 1]), candidate(3, 0.5, [0, 1, 7])],
            [candidate(3, 0.6, [0, 1, 2])],
        ]
        pairs = {(0, 1): [candidate(6, 0.9, grid), candidate(4, 0.2, grid[:4])]}
        votes = elect(singles, pairs, widths=[1, 1])
        assert tallies(votes[(0,)]) == {
            2: (pytest.approx(0.8 * 0.9), pytest.approx(0.8 * 0.9)),
            3: (pytest.approx(0.5 * 0.9), 0),
        }
        assert tallies(votes[(1,)]) == {3: (pytest.approx(0.6 * 0.9), pytest.approx(0.6 * 0.9))}
        assert tallies(votes[(0, 1)]) == {
            6: (pytest.approx(0.8 * 0.9 + 0.6 * 0.9), pytest.approx(0.8 * 0.9 + 0.6 * 0.9)),
            4: (pytest.approx(0.8 * 0.2), 0),
        }

    def test_projection_uses_the_coordinates_of_its_variable_only(self):
        # Over the coordinates of X2 the pair's means agree; X1's, of another width, are noise.
        rng = np.random.default_rng(0)
        second = np.array([[0.0], [5.0]])
        pair = np.hstack([rng.normal(scale=100, size=(2, 3)), second])
        votes = elect(
            [[candidate(3, 0.5, width=3)], [candidate(2, 0.5, second)]],
            {(0, 1): [candidate(2, 0.5, pair)]},
            widths=[3, 1],
        )
        assert votes[(1,)].tallies[0].means == 0.25
        assert votes[(0,)].tallies[0].means == 0.0

    def test_negative_silhouettes_have_no_vote(self):
        votes = elect(
            [[candidate(2, -0.5)], [candidate(2, 0.5)]],
            {(0, 1): [candidate(2, 0.8, width=2)]},
            widths=[1, 1],
        )
        assert votes[(0,)].tallies[0].total == 0.0
        assert votes[(0, 1)].tallies[0].divisibility == pytest.approx(0.4)

    def test_many_divisors_win_nothing_by_their_number(self):
        # 2, 3, 4 and 6 all divide 12; with the better silhouette 5 has to win all the same.
        singles = [
            [candidate(k, s, seed=i) for k, s in [(5, 0.8), (2, 0.6), (3, 0.6), (4, 0.6)]]
            for i in range(2)
        ]
        pairs = {(0, 1): [candidate(5, 0.8, width=2), candidate(12, 0.7, width=2)]}
        assert elect(singles, pairs, [1, 1])[(0, 1)].winner == 5

    def test_without_voters_the_silhouette_decides(self):
        votes = elect([[candidate(2, 0.4), candidate(3, 0.7)]], {}, [1])
        assert votes[(0,)].winner == 3

    @pytest.mark.parametrize("seed", range(10))
    def test_truth_wins_and_every_set_gets_an_election(self, seed):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(2, 4, size=2)
        states = np.indices(sizes).reshape(2, -1).T
        parents = [(0,), (1,), (0, 1), (0,)]
        centres = rng.permutation(40).reshape(4, 10)
        labels = [np.unique(states[:, held], axis=0, return_inverse=True)[1] for held in parents]
        full = np.stack([centres[i][labels[i]] for i in range(4)], axis=1).astype(float)

        def brought(members):
            means = np.unique(full[:, members], axis=0)
            truth = candidate(len(means), 0.8, means)
            others = [k for k in range(2, 13) if k != len(means)]
            wrong = [candidate(k, 0.5, width=len(members), seed=seed) for k in others]
            return [*wrong[:3], truth, *wrong[3:]], len(means)

        singles = [brought([i]) for i in range(4)]
        pairs = {pair: brought(list(pair)) for pair in combinations(range(4), 2)}
        votes = elect(
            [held for held, _ in singles],
            {pair: held for pair, (held, _) in pairs.items()},
            [1] * 4,
        )
        assert votes.keys() == {(0,), (1,), (2,), (3,), *pairs}
        for members, election in votes.items():
            expected = singles[members[0]][1] if len(members) == 1 else pairs[members][1]
            assert election.members == members
            assert election.winner == expected
            assert all(held.total > 0 for held in election.tallies if held.n_components == expected)

    @settings(max_examples=30)
    @given(st.integers(0, 10**6))
    def test_order_of_candidates_does_not_matter(self, seed):
        rng = np.random.default_rng(seed)
        singles = [[candidate(k, float(rng.random()), seed=i) for k in (2, 3, 4)] for i in (0, 1)]
        pair = [candidate(k, float(rng.random()), width=2) for k in (2, 4, 6, 12)]
        forward = elect(singles, {(0, 1): pair}, [1, 1])
        backward = elect([held[::-1] for held in singles], {(0, 1): pair[::-1]}, [1, 1])
        for members in forward:
            assert forward[members].winner == backward[members].winner
            assert forward[members].tallies == backward[members].tallies[::-1]


class TestRecords:
    def test_ties_go_to_the_silhouette_then_to_the_smaller_count(self):
        tied = Election((0,), (Tally(4, 0.5, 1.0), Tally(3, 0.5, 0.5, 0.5), Tally(2, 0.4, 1.0)))
        assert tied.winner == 3
        assert tied.position == 1

    def test_election_needs_candidates(self):
        with pytest.raises(InvalidInputError, match="needs a candidate"):
            Election((0, 1), ())

    @pytest.mark.parametrize(
        ("means", "silhouette", "message"),
        [
            (np.zeros(3), 0.5, "shape"),
            (np.zeros((0, 2)), 0.5, "shape"),
            (np.zeros((2, 2)), 1.5, "between -1 and 1"),
            (np.zeros((2, 2)), np.nan, "between -1 and 1"),
        ],
    )
    def test_candidate_checks_itself(self, means, silhouette, message):
        with pytest.raises(InvalidInputError, match=message):
            CountCandidate(means, silhouette)

    def test_candidate_is_frozen_and_compares_by_value(self):
        held = candidate(3, 0.5)
        with pytest.raises(ValueError, match="read-only"):
            held.means[0, 0] = 1.0
        assert held == candidate(3, 0.5)
        assert hash(held) == hash(candidate(3, 0.5))
        assert held != candidate(3, 0.4)
        assert held != "CountCandidate"
        assert repr(held) == "CountCandidate(3 components, silhouette=0.500)"
