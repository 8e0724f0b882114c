"""Exact linear algebra on the columns of Γ: rank, circuits, and the tightest span.

Γ is a 0/1 matrix, so questions about the spans of its columns have exact answers, and a floating
rank with a tolerance would only blur them. Everything here rests on one integer pivot step whose
entries stay minors of the matrix, so that no division leaves a remainder. The question over all
subsets of columns that ``thm:lovitzpetrov`` asks is answered in polynomial time by matroid
partition instead of a search through 2^m subsets.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Tableau:
    """The columns in the coordinates of a basis, over one common denominator.

    ``entries`` is an object array of Python integers; row r is the coordinate along
    ``basis[r]``, a column, or along a unit vector not yet replaced, written -1.
    """

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.entries = np.array(matrix, dtype=int).astype(object)
        self.denominator = 1
        self.basis = [-1] * self.entries.shape[0]

    def pivot(self, row: int, column: int) -> None:
        """Put ``column`` into the basis at ``row``, where its entry must not be zero.

        Entries are minors of the matrix (over ``denominator``), before and after: the floor
        division is exact, as in Bareiss elimination.
        """
        chosen = self.entries[row].copy()
        lead = chosen[column]
        self.entries = (
            lead * self.entries - np.multiply.outer(self.entries[:, column], chosen)
        ) // self.denominator
        self.entries[row] = chosen
        self.denominator = lead
        self.basis[row] = column

    def keep_rows(self, rows: list[int]) -> None:
        """Forget the coordinates along all other basis vectors: a projection."""
        self.entries = self.entries[rows]
        self.basis = [self.basis[row] for row in rows]


def reduced(matrix: NDArray[Any]) -> Tableau:
    """Eliminate until as many columns as possible are in the basis, and keep only their rows.

    >>> tableau = reduced(np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2]]))
    >>> tableau.basis
    [0, 1]
    """
    tableau = Tableau(np.unique(np.asarray(matrix), axis=0))
    for column in range(tableau.entries.shape[1]):
        usable = [
            row
            for row, held in enumerate(tableau.basis)
            if held < 0 and tableau.entries[row, column] != 0
        ]
        if usable:
            tableau.pivot(usable[0], column)
    taken = [row for row, held in enumerate(tableau.basis) if held >= 0]
    tableau.keep_rows(sorted(taken, key=lambda row: tableau.basis[row]))
    return tableau


def rank(matrix: NDArray[Any]) -> int:
    """The exact rank of an integer matrix."""
    return len(reduced(matrix).basis)


def circuits(matrix: NDArray[Any]) -> list[frozenset[int]]:
    """Return minimal dependent sets of columns: one for each column that depends on earlier ones.

    They are the fundamental circuits of the basis that takes columns from left to right. No
    circuits means independent columns; a column in none of them depends on no others.

    >>> circuits(np.array([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]])) == [frozenset({0, 1, 2})]
    True
    """
    tableau = reduced(matrix)
    outside = set(range(tableau.entries.shape[1])) - set(tableau.basis)
    made_of = {column: np.flatnonzero(tableau.entries[:, column]) for column in sorted(outside)}
    return [frozenset({c, *(tableau.basis[row] for row in rows)}) for c, rows in made_of.items()]


def crowded_columns(matrix: NDArray[Any], order: int) -> frozenset[int] | None:
    """Find columns S, at least two, with 2|S| > order · (dim span S - 1) + 1, or None.

    A column in no circuit raises the right side by ``order`` and the left by 2, so for an order
    of 3 or more only columns in circuits can be crowded. Fix one of them, a, and contract it:
    S = A ∪ {a} is crowded if and only if order · rank(A) < 2|A| + 1 in the contraction. By
    Edmonds' partition theorem there is no such A exactly if, for every column b, two copies of
    all columns and a third copy of b can be shared out among ``order`` independent sets; where
    that fails, the columns that the attempt reached are such an A.

    >>> columns = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    >>> sorted(crowded_columns(columns, order=3))  # 8 > 3 · 2 + 1
    [0, 1, 2, 3]
    >>> crowded_columns(columns, order=4) is None  # 8 ≤ 4 · 2 + 1
    True
    """
    matrix = np.asarray(matrix)
    zero = np.flatnonzero(~matrix.any(axis=0))
    if len(zero):
        other = next((j for j in range(matrix.shape[1]) if j != zero[0]), None)
        return None if other is None else frozenset({int(zero[0]), other})
    bound = sorted(frozenset[int]().union(*circuits(matrix)))
    start = reduced(matrix[:, bound])
    for a in range(len(bound)):
        row = int(np.flatnonzero(start.entries[:, a])[0])
        contracted = deepcopy(start)
        contracted.pivot(row, a)
        contracted.keep_rows([other for other in range(len(start.basis)) if other != row])
        found = _overfull(contracted, [b for b in range(len(bound)) if b != a], order)
        if found is not None:
            return _trimmed(matrix, frozenset(bound[column] for column in found | {a}), order)
    return None


def _trimmed(matrix: NDArray[Any], crowded: frozenset[int], order: int) -> frozenset[int]:
    """Leave out columns one by one as long as the rest stays crowded: a clearer culprit."""
    for column in sorted(crowded):
        rest = crowded - {column}
        if len(rest) > 1 and 2 * len(rest) > order * (rank(matrix[:, sorted(rest)]) - 1) + 1:
            crowded = rest
    return crowded


def _overfull(tableau: Tableau, columns: list[int], order: int) -> frozenset[int] | None:
    """Find columns A with order · rank(A) < 2|A| + 1, or None."""
    shares = _Shares(tableau, order)
    for place, column in enumerate(columns * 3):
        reached = shares.add(column)
        if reached is not None:
            return reached
        # Two copies of every column stay; of the third, one at a time.
        if place >= 2 * len(columns):
            shares.remove(column)
    return None


class _Shares:
    """Copies of columns, shared out among independent sets (Edmonds' matroid partition).

    Each set keeps a tableau in which its members are basis columns, so that the circuit which a
    new column would close can be read off that column's entries.
    """

    def __init__(self, tableau: Tableau, n_sets: int) -> None:
        self._tableaus = [deepcopy(tableau) for _ in range(n_sets)]
        # Member -> its row in the tableau, for each set.
        self._members: list[dict[int, int]] = [{} for _ in range(n_sets)]

    def add(self, column: int) -> frozenset[int] | None:
        """Place one more copy of ``column``, or return the columns that leave it no room.

        Breadth-first: a shortest chain of displacements has no shortcuts, which is what makes
        carrying it out keep every set independent. ``came_from`` maps a displaced member
        (column, set) to who would take its place.
        """
        origin = (column, -1)
        came_from: dict[tuple[int, int], tuple[int, int]] = {}
        queue = deque([origin])
        while queue:
            node = queue.popleft()
            for index, members in enumerate(self._members):
                if node[0] in members:
                    continue
                entries = self._tableaus[index].entries[:, node[0]]
                # A row outside the set's span along which the column does not vanish.
                free = [r for r in np.flatnonzero(entries).tolist() if r not in members.values()]
                if free:
                    self._carry_out(node, index, free[0], came_from)
                    return None
                # The column lies in the span of the members and could replace some of them.
                for member, row in members.items():
                    if entries[row] != 0 and (member, index) not in came_from:
                        came_from[member, index] = node
                        queue.append((member, index))
        return frozenset({column, *(member for member, _ in came_from)})

    def remove(self, column: int) -> None:
        """Take one copy of ``column`` away."""
        next(members for members in self._members if column in members).pop(column)

    def _carry_out(
        self,
        node: tuple[int, int],
        index: int,
        row: int,
        came_from: dict[tuple[int, int], tuple[int, int]],
    ) -> None:
        """Move the last of the chain to its free place, then each into the place it leaves."""
        while True:
            self._tableaus[index].pivot(row, node[0])
            self._members[index][node[0]] = row
            if node not in came_from:
                return
            left, index = node
            node, row = came_from[node], self._members[index].pop(left)
