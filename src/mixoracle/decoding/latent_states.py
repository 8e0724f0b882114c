"""Which states of one latent are the same: merge them while the evidence rises.

Two states of H_j are the same for a variable X_i that it drives if, in each configuration of the
other parents, the two components of X_i are one distribution; they are the same for good if they
are so for all X_i together. Merging them changes the evidence of exactly those components and of
the joint states, so the gains of all pairs are sums, and after a merge only those of the merged
state have to be computed again. Two components that overlap in one configuration do not mislead
this: all other configurations have a say.

Assumes that two states meet in some configuration of the other latents: where they do not, only
the number of joint states speaks for a merge.

References
----------
.. [1] R. E. Kass and A. E. Raftery, "Bayes factors", Journal of the American Statistical
   Association 90 (1995): two states are one if the evidence for that is larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families import Family, Prior
from mixoracle.mixtures.greedy import greedy_merges
from mixoracle.mixtures.merging import gain_of_fewer_labels, log_merge_bonus, pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import distinct_rows, numbered


@dataclass(frozen=True)
class Others:
    """All that stays as it is while one latent is looked at: the other latents and their edges.

    ``states`` (T, m) of the components over X, ``domain_sizes`` and ``adjacency`` (n, m).
    """

    states: Integers
    domain_sizes: tuple[int, ...]
    adjacency: Bools

    def parents(self, variable: int) -> list[int]:
        """Which of them drive a variable."""
        return [int(j) for j in np.flatnonzero(self.adjacency[variable])]


def merge_states(
    table: ComponentTable,
    others: Others,
    children: Sequence[int],
    begin: Integers,
    may_merge: Bools | None = None,
) -> Integers:
    """Merge states of a latent while the evidence of its children and of P(H) rises.

    ``begin`` (T,) is the state of each component over X to begin with, ``may_merge`` (states,)
    tells which states are open to it. Returns the state of each component afterwards, (T,).
    """
    n_states = int(begin.max()) + 1
    terms: list[_Child | _JointStates] = [
        _child(table, others, i, begin, n_states) for i in children
    ]
    everyone = list(range(len(others.domain_sizes)))
    rows = _pooled(table.counts[:, None], others, everyone, begin, n_states)[:, :, 0]
    terms.append(_JointStates(rows))
    # One joint state for each state of the others goes with every merge.
    n_others, n_rows = float(prod(others.domain_sizes)), float(table.counts.sum())
    fewer = [
        gain_of_fewer_labels(k * n_others, (k - 1) * n_others, n_rows)
        for k in range(n_states, 1, -1)
    ]
    return numbered(_merge_greedily(terms, n_states, fewer, may_merge)[begin])


def same_for_child(table: ComponentTable, others: Others, child: int, begin: Integers) -> Integers:
    """Which states are the same for one child: a number for each state, (states,)."""
    n_states = int(begin.max()) + 1
    term = _child(table, others, child, begin, n_states)
    return numbered(_merge_greedily([term], n_states, [0.0] * (n_states - 1), None))


class _Child:
    """The components of one variable by state of the latent and configuration of the others."""

    def __init__(self, pooled: Floats, family: Family, prior: Prior) -> None:
        self._pooled = pooled  # (states, configurations, features)
        self._family, self._prior = family, prior
        self._seen = np.asarray(pooled[:, :, 0] > 0)
        self._evidence = np.zeros(self._seen.shape)
        self._evidence[self._seen] = family.log_evidence(pooled[self._seen], prior)

    def gain(self, first: Integers, second: Integers) -> Floats:
        """What merging each of these pairs of states adds to the evidence."""
        # Where one of the two was never seen, merging changes nothing.
        pair, other = np.nonzero(self._seen[first] & self._seen[second])
        one, two = first[pair], second[pair]
        union = self._pooled[one, other] + self._pooled[two, other]
        change = self._family.log_evidence(union, self._prior)
        change = change - self._evidence[one, other] - self._evidence[two, other]
        return np.bincount(pair, change, len(first)).astype(np.float64)

    def merge(self, kept: Integers, absorbed: Integers) -> None:
        """Make one state of each of these pairs."""
        self._pooled[kept] += self._pooled[absorbed]
        self._seen[kept] |= self._seen[absorbed]
        pair, other = np.nonzero(self._seen[kept])
        pooled = self._pooled[kept[pair], other]
        self._evidence[kept[pair], other] = self._family.log_evidence(pooled, self._prior)


class _JointStates:
    """The rows in each joint state, (states, joint states of the others)."""

    def __init__(self, rows: Floats) -> None:
        self._rows = rows

    def gain(self, first: Integers, second: Integers) -> Floats:
        """What merging each of these pairs adds to the probability of the joint states."""
        # Where one of the two has no rows the change is 0, as most are.
        pair, other = np.nonzero((self._rows[first] > 0) & (self._rows[second] > 0))
        one, two = self._rows[first[pair], other], self._rows[second[pair], other]
        change = log_merge_bonus(one, two)
        return np.bincount(pair, change, len(first)).astype(np.float64)

    def merge(self, kept: Integers, absorbed: Integers) -> None:
        """Make one state of each of these pairs."""
        self._rows[kept] += self._rows[absorbed]


def _merge_greedily(
    terms: Sequence[_Child | _JointStates],
    n_states: int,
    fewer: list[float],
    may_merge: Bools | None,
) -> Integers:
    """Merge the best pair as long as it gains; ``fewer[k]`` is gained by the k-th merge anyway."""

    def gains(first: Integers, second: Integers) -> Floats:
        return np.asarray(sum(term.gain(first, second) for term in terms))

    def merge(kept: Integers, absorbed: Integers) -> None:
        for term in terms:
            term.merge(kept, absorbed)

    merged = np.arange(n_states)
    merges = greedy_merges(n_states, gains, merge, may_merge)
    for bonus, (kept, absorbed, gain) in zip(fewer, merges, strict=False):
        if gain + bonus <= 0:
            break
        merged[merged == absorbed] = kept
    return merged


def _child(
    table: ComponentTable, others: Others, child: int, begin: Integers, n_states: int
) -> _Child:
    parents = others.parents(child)
    pooled = _pooled(table.statistics[child], others, parents, begin, n_states)
    return _Child(pooled, table.families[child], table.priors[child])


def _pooled(
    statistics: Floats, others: Others, parents: list[int], begin: Integers, n_states: int
) -> Floats:
    """Sums by state and by configuration of the parents, (states, configurations seen, f)."""
    present, code, _ = distinct_rows(others.states[:, parents])
    shape = (n_states, len(present), statistics.shape[1])
    return pool(statistics, begin * len(present) + code, shape[0] * shape[1]).reshape(shape)
