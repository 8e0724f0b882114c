"""The scores W and Wsne and the tensor M_t, from counts or from a known graph.

W(S) = log k(S) adds up the weights w(H_j) = log dim(H_j) over the union of the parents of S
(``cor:weight-observed-hidden``). Inclusion and exclusion turn unions into intersections:
Wsne(S) is the weight of the parents that all of S share (``lem:com-weight``). Arranged over all
index tuples, repeats included, Wsne is the tensor M_t = Σ w a⊗…⊗a (``obs:wsne-comp``).

Assumes nondegeneracy, so that ``obs:counting`` holds. All that was asked of the oracle is kept,
so that an answer can be held against every count at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, combinations, permutations
from math import comb, exp, log
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.errors import InconsistentCountsError, InvalidInputError

if TYPE_CHECKING:
    from mixoracle.oracles.protocol import MixtureOracle

# 64 MB of floats, for which any fit has room.
MAX_TENSOR_ENTRIES = 2**23


class Counts:
    """Every count that was asked of an oracle.

    It is asked through ``log_counts`` in batches where it offers that, else through ``count``. A
    set asked for by itself is asked for once; a batch over all sets of one size is not thinned
    out by the few of them that are known, since a batch costs less than looking.
    """

    def __init__(self, oracle: MixtureOracle) -> None:
        if oracle.n_observed < 1:
            raise InvalidInputError(
                f"an oracle should have at least one observed variable; got {oracle.n_observed}"
            )
        self.n_observed = oracle.n_observed
        self._oracle = oracle
        self._batch: Callable[[Integers], Floats] | None = getattr(oracle, "log_counts", None)
        # W of the sets that were asked for by themselves, and of the empty set.
        self.single: dict[frozenset[int], float] = {frozenset(): 0.0}
        self._sized: dict[int, tuple[Integers, Floats]] = {}

    def log_count(self, subset: Iterable[int]) -> float:
        """W(S) = log k(S)."""
        return float(self.log_counts_of([frozenset(subset)])[0])

    def log_counts_of(self, subsets: Sequence[frozenset[int]]) -> Floats:
        """W of many sets of any sizes, asking only for what is not yet known."""
        unknown = [s for s in dict.fromkeys(subsets) if s not in self.single]
        if unknown:
            self.single.update(zip(unknown, self._ask(unknown).tolist(), strict=True))
        return np.array([self.single[s] for s in subsets], dtype=np.float64)

    def of_size(self, size: int) -> tuple[Integers, Floats]:
        """All sets of one size, a (C(n, size), size) array in ascending order, and their W."""
        if size not in self._sized:
            subsets = _combinations(self.n_observed, size)
            if self._batch is None:
                values = self.log_counts_of([frozenset(row) for row in subsets.tolist()])
                return subsets, values
            values = self._checked(self._batch(subsets), subsets)
            self._sized[size] = (subsets, values)
        return self._sized[size]

    def ask_up_to(self, size: int) -> None:
        """Ask for all sets of up to ``size`` members, to hold an answer against them."""
        for members in range(1, min(size, self.n_observed) + 1):
            self.of_size(members)

    def worst(self, adjacency: Bools, domain_sizes: Sequence[int]) -> tuple[float, tuple[int, ...]]:
        """The largest |log k(S) − prediction| over all that was asked, and where it is."""
        log_sizes = np.log(np.array(domain_sizes, dtype=float))
        worst: tuple[float, tuple[int, ...]] = (0.0, ())
        for subsets, values in chain(self._sized.values(), self._single_by_size()):
            gaps = np.abs(values - graph_log_counts(adjacency, log_sizes, subsets))
            if len(gaps) and gaps.max() > worst[0]:
                at = int(gaps.argmax())
                worst = (float(gaps[at]), tuple(sorted(set(subsets[at].tolist()))))
        return worst

    def _single_by_size(self) -> list[tuple[Integers, Floats]]:
        by_size: dict[int, list[frozenset[int]]] = {}
        for subset in self.single:
            by_size.setdefault(len(subset), []).append(subset)
        return [
            (
                np.array([sorted(s) for s in held], dtype=np.int64).reshape(len(held), size),
                np.array([self.single[s] for s in held], dtype=np.float64),
            )
            for size, held in by_size.items()
        ]

    def _ask(self, subsets: list[frozenset[int]]) -> Floats:
        rows = [sorted(subset) for subset in subsets]
        if self._batch is None:
            return np.array([self._log(self._oracle.count(row), row) for row in rows])
        # Rows of a batch have one length; repeating a member does not change the set.
        width = max(map(len, rows))
        padded = np.array([row + row[-1:] * (width - len(row)) for row in rows], dtype=np.int64)
        return self._checked(self._batch(padded), rows)

    def _checked(self, values: Floats, rows: Sequence[Sequence[int]] | Integers) -> Floats:
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (len(rows),):
            raise InvalidInputError(
                f"log_counts should answer {len(rows)} sets with as many numbers; "
                f"got shape {values.shape}"
            )
        if not np.all(np.isfinite(values)):
            at = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InconsistentCountsError(
                f"log k({name_set(rows[at])}) = {values[at]} is not a finite number; "
                "every set has at least one component"
            )
        return values

    @staticmethod
    def _log(count: int, row: Sequence[int]) -> float:
        if count < 1:
            raise InconsistentCountsError(
                f"k({name_set(row)}) = {count}; every set has at least one component"
            )
        return log(count)


def name_set(subset: Iterable[int]) -> str:
    """A set of observed variables in the paper's names, counted from 1."""
    return "{" + ", ".join(f"X{i + 1}" for i in sorted(subset)) + "}"


def union_tensor(counts: Counts, order: int) -> Floats:
    """W of {i_1, …, i_t} for every index tuple, an array with ``order`` axes of length n."""
    n = counts.n_observed
    check_order(n, order)
    if order == 1:
        return counts.of_size(1)[1].copy()
    tensor = np.empty((n,) * order)
    subsets, values = counts.of_size(order)
    for axes in permutations(range(order)):
        tensor[tuple(subsets[:, axis] for axis in axes)] = values
    lower = union_tensor(counts, order - 1)
    for first, second in combinations(range(order), 2):
        # Where two indices agree the set has one member less: the diagonal holds W of order − 1.
        names = list(ascii_lowercase[:order])
        kept = "".join(names[:second] + names[second + 1 :])
        names[second] = names[first]
        np.einsum(f"{''.join(names)}->{kept}", tensor)[...] = lower
    return tensor


def score_tensor(counts: Counts, order: int) -> Floats:
    """M_t for t = ``order``, from the counts of the C(n, ≤ t) distinct sets (``obs:wsne-comp``).

    Inclusion and exclusion over positions also holds where indices repeat, so whole arrays are
    added up, one for each set of axes.
    """
    check_order(counts.n_observed, order)
    tensor = np.zeros((counts.n_observed,) * order)
    for size in range(1, order + 1):
        unions = union_tensor(counts, size) * (1.0 if size % 2 else -1.0)
        for axes in combinations(range(order), size):
            absent = tuple(axis for axis in range(order) if axis not in axes)
            tensor += np.expand_dims(unions, absent)
    return tensor


def check_order(n_observed: int, order: int) -> None:
    """Refuse an order that no tensor can have here."""
    if order < 1:
        raise InvalidInputError(f"the order of a tensor should be at least 1; got {order}")
    if n_observed**order > MAX_TENSOR_ENTRIES:
        raise InvalidInputError(
            f"a tensor of order {order} over {n_observed} observed variables has "
            f"{n_observed**order:.2g} entries, more than {MAX_TENSOR_ENTRIES:.2g}; "
            'use a lower order, or method="blocks", which needs no tensor'
        )


def graph_log_counts(adjacency: Bools, log_sizes: Floats, subsets: Integers) -> Floats:
    """W of each row of ``subsets`` for a known graph (``eq:score-comp-app``)."""
    # Which latents are parents of which sets, (n_subsets, n_latent).
    hit = np.zeros((len(subsets), adjacency.shape[1]), dtype=np.bool_)
    for column in subsets.T:
        hit |= adjacency[column]
    return hit @ log_sizes


def readable_count(log_count: float) -> str:
    """A count as a person would write it, from its logarithm."""
    # Above this a float's exponential no longer shows the last digit.
    if log_count > 30:
        return f"e^{log_count:.6g}"
    count = exp(log_count)
    return str(round(count)) if abs(count - round(count)) < 1e-6 * count else f"{count:.6g}"


def _combinations(n: int, size: int) -> Integers:
    flat = np.fromiter(
        chain.from_iterable(combinations(range(n), size)), np.int64, comb(n, size) * size
    )
    return flat.reshape(comb(n, size), size)
