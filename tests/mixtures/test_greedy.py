from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.mixtures.greedy import greedy_merges


class Clusters:
    """Numbers that are merged to sums; whole numbers, so that ties are frequent and exact."""

    def __init__(self, values):
        self.values = np.array(values, dtype=float)

    def gains(self, first, second):
        return -np.abs(self.values[first] - self.values[second])

    def merge(self, kept, absorbed):
        self.values[kept] += self.values[absorbed]


def by_brute_force(values, members):
    """All pairs again after every merge; of equal ones the first in lexicographic order."""
    clusters, alive, merges = Clusters(values), sorted(members), []
    while len(alive) > 1:
        pairs = list(combinations(alive, 2))
        gains = [float(clusters.gains(*pair)) for pair in pairs]
        best = int(np.argmax(gains))
        kept, absorbed = pairs[best]
        merges.append((kept, absorbed, gains[best]))
        clusters.merge(kept, absorbed)
        alive.remove(absorbed)
    return merges


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.integers(0, 1000))
def test_the_best_pair_is_merged_each_time_and_ties_go_to_the_first(values, seed):
    everyone = Clusters(values)
    found = list(greedy_merges(len(values), everyone.gains, everyone.merge))
    assert found == by_brute_force(values, range(len(values)))
    may_merge = np.random.default_rng(seed).random(len(values)) < 0.6
    some = Clusters(values)
    found = list(greedy_merges(len(values), some.gains, some.merge, may_merge))
    assert found == by_brute_force(values, np.flatnonzero(may_merge).tolist())


def test_the_caller_decides_when_to_stop_and_the_pair_shown_last_is_not_merged():
    clusters = Clusters([0, 1, 10, 30])
    for kept, absorbed, gain in greedy_merges(4, clusters.gains, clusters.merge):
        if gain < -5:
            break
        assert (kept, absorbed) == (0, 1)
    assert (kept, absorbed, gain) == (0, 2, -9.0)
    np.testing.assert_array_equal(clusters.values, [1, 1, 10, 30])


def test_what_may_merge_is_not_changed():
    may_merge = np.array([True, True, False])
    clusters = Clusters([0, 1, 1])
    list(greedy_merges(3, clusters.gains, clusters.merge, may_merge))
    np.testing.assert_array_equal(may_merge, [True, True, False])


@pytest.mark.parametrize("n", [0, 1])
def test_where_there_is_no_pair_nothing_is_merged(n):
    clusters = Clusters([0.0] * n)
    assert list(greedy_merges(n, clusters.gains, clusters.merge)) == []


class Groups:
    """Rows that are merged to groups; a merge gains if both are of one kind."""

    def __init__(self, kinds):
        self.kinds = np.array(kinds)
        self.sizes = np.ones(len(kinds))
        self.n_calls = 0

    def gains(self, first, second):
        self.n_calls += 1
        same = self.kinds[first] == self.kinds[second]
        return np.where(same, 1.0, -10.0) * (self.sizes[first] + self.sizes[second])

    def merge(self, kept, absorbed):
        self.sizes[kept] += self.sizes[absorbed]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=24))
def test_several_at_once_make_the_same_groups_in_fewer_rounds(kinds):
    """As long as a merge gains; each of the others is the best one when it is made."""
    groups = Groups(kinds)
    merges = list(greedy_merges(len(kinds), groups.gains, groups.merge, several=True))
    assert len(merges) == len(kinds) - 1
    n_kinds = len(set(kinds))
    assert [gain > 0 for *_, gain in merges] == [True] * (len(kinds) - n_kinds) + [False] * (
        n_kinds - 1
    )
    assert all(kept < absorbed for kept, absorbed, _ in merges)
    one_by_one = Groups(kinds)
    list(greedy_merges(len(kinds), one_by_one.gains, one_by_one.merge))
    assert groups.n_calls <= one_by_one.n_calls
