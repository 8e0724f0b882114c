"""What a set of observed variables has in common: the state of their shared parents.

Two components over X that agree in some X_i agree in pa(X_i). Link components that share a label
in any X_i of S: the connected components of that graph are exactly the joint states of the
latents that all of S share, sne(S) (the Gács–Körner common part). So dim(sne(S)) is a count of
connected components, and a latent with its states is the common part of a maximal S that has
more than one. Unlike counting label tuples this forgives joint states that were never seen.

Assumes correct labels: one wrongly labelled component can glue two states together. Callers
therefore try several subsets of components and variables and let the evidence choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class CommonPart:
    """A maximal set of observed variables with the states that they share.

    ``members`` are columns of the label matrix, ``states`` (n_rows,) numbers the shared state.
    """

    members: frozenset[int]
    states: Labels

    @property
    def n_states(self) -> int:
        """dim(sne(members))."""
        return int(self.states.max()) + 1


def common_part(first: Labels, second: Labels) -> Labels:
    """The finest labelling of the rows that is a function of each of two labellings.

    Examples
    --------
    >>> common_part(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 3])).tolist()
    [0, 0, 0, 1, 1]
    """
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=bool)
    table[first, second] = True
    reached = np.full(len(table), -1)
    n_parts = 0
    for start in range(len(table)):
        if reached[start] >= 0:
            continue
        rows = np.zeros(len(table), dtype=bool)
        rows[start] = True
        while True:
            grown = np.asarray(table[:, table[rows].any(axis=0)].any(axis=1))
            if np.array_equal(grown, rows):
                break
            rows = grown
        reached[rows] = n_parts
        n_parts += 1
    return np.unique(reached[first], return_inverse=True)[1].astype(np.int64)


def maximal_common_parts(labels: Labels, columns: Sequence[int], limit: int) -> list[CommonPart]:
    """All maximal sets of ``columns`` with more than one common state.

    Sets are closed as the search goes: a column that adds no coarsening is added at once, so that
    the number of sets visited is the number of intersections of parent sets, not 2^n. More than
    ``limit`` maximal sets are no small set of causes; then the list is empty.
    """
    search = _Search(labels, columns, limit)
    for column in columns:
        states = np.unique(labels[:, column], return_inverse=True)[1].astype(np.int64)
        if states.max() > 0:
            search.visit(*search.close(frozenset([column]), states))
        if search.is_over_limit:
            return []
    return search.maximal


class _Search:
    """Depth-first search over closed sets; one for each call, so that nothing is shared."""

    def __init__(self, labels: Labels, columns: Sequence[int], limit: int) -> None:
        self._labels = labels
        self._columns = columns
        self._limit = limit
        self._seen: set[frozenset[int]] = set()
        self.maximal: list[CommonPart] = []

    @property
    def is_over_limit(self) -> bool:
        return len(self.maximal) > self._limit

    def close(self, members: frozenset[int], states: Labels) -> tuple[frozenset[int], Labels]:
        """Add every column that leaves all states of the set apart."""
        closed = {
            column
            for column in self._columns
            if column not in members
            and common_part(states, self._labels[:, column]).max() == states.max()
        }
        return members | closed, states

    def visit(self, members: frozenset[int], states: Labels) -> None:
        if members in self._seen or self.is_over_limit:
            return
        self._seen.add(members)
        extended = False
        for column in self._columns:
            if column in members:
                continue
            coarser = common_part(states, self._labels[:, column])
            if coarser.max() > 0:
                extended = True
                self.visit(*self.close(members | {column}, coarser))
        if not extended:
            self.maximal.append(CommonPart(members, states))
