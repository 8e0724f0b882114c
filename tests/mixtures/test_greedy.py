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

    def merge(self, kept, absorbed, rest):
        self.values[kept] += self.values[absorbed]
        return self.gains(rest, kept)


def by_brute_force(values, members):
    """All pairs again after every merge; of equal ones the first in lexicographic order."""
    clusters, alive, merges = Clusters(values), sorted(members), []
    while len(alive) > 1:
        pairs = list(combinations(alive, 2))
        gains = [float(clusters.gains(*pair)) for pair in pairs]
        best = int(np.argmax(gains))
        kept, absorbed = pairs[best]
        merges.append((kept, absorbed, gains[best]))
        clusters.merge(kept, absorbed, np.array([], dtype=np.int64))
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
