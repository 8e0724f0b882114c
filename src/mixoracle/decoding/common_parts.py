"""What a set of observed variables has in common: the state of their shared parents.

Two components over X that agree in some X_i agree in pa(X_i). Link components that share a label
in any X_i of S: the connected components of that graph are exactly the joint states of the
latents that all of S share, sne(S), the common part of Gács and Körner [1]_. So dim(sne(S)) is a
count of connected components, and a latent with its states is the common part of a maximal S that
has more than one. Unlike counting label tuples this forgives joint states that were never seen.

All of this is decided between two variables at a time: which labels of X_i another X_j cannot
tell apart is read off the table of their pairs, and the common part of several variables is the
finest partition of one variable's labels that is coarser than each of these. So the cost grows
with the pairs of variables and not with the joint states.

Assumes correct labels: one wrongly labelled component can glue two states together. Callers
therefore try several subsets of components and variables and let the evidence choose.

References
----------
.. [1] P. Gács and J. Körner, "Common information is far less than mutual information", Problems
   of Control and Information Theory 2 (1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.mixtures.pairs import count_together
from mixoracle.model.emptiness import HOLE

Labels = Integers

# The share of labels beyond doubt that are wrong all the same, and how much more chance may bring.
_WRONG_LABELS = 0.001
_STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class CommonPart:
    """A maximal set of observed variables with the states that they share.

    ``members`` are columns of the label matrix, ``start`` is one of them, and ``of_labels`` the
    shared state of each of its labels.
    """

    members: frozenset[int]
    start: int
    of_labels: Labels

    @property
    def n_states(self) -> int:
        """dim(sne(members))."""
        return int(self.of_labels.max()) + 1

    def states(self, labels: Labels) -> Labels:
        """The shared state of each row of labels (T, n)."""
        return self.of_labels[labels[:, self.start]]


class LabelPairs:
    """Labels (T, n), each column numbered from 0, and which of them occur together.

    With ``certain`` (T, n) the labels are those of single rows, and only those beyond doubt count.
    Two of them then occur together if they do so in more rows than labels that are wrong once in a
    thousand times explain, and in more than a twentieth of those that chance would give them. What
    two columns share has equally many labels of either in each state (``obs:counting``); where it
    has not, two components of one of them have one label, and they count as sharing nothing.

    Pairs of columns are looked at when they are asked for, and once.
    """

    def __init__(self, labels: Labels, certain: Bools | None = None) -> None:
        self.labels = labels
        self._n_labels = [int(column.max()) + 1 for column in labels.T]
        self._starts = np.cumsum([0, *self._n_labels])
        codes, n_codes = labels + self._starts[:-1], int(self._starts[-1])
        self._counts = count_together(codes, n_codes, certain)
        self._together = self._counts > (0 if certain is None else self._too_few())
        self._may_be_wrong = certain is not None
        self._parts: dict[tuple[int, int], Labels] = {}

    def n_labels(self, column: int) -> int:
        """How many labels a column has."""
        return self._n_labels[column]

    def parts(self, column: int, other: int) -> Labels:
        """Which labels of a column the other one cannot tell apart, (labels of the column,)."""
        if (column, other) not in self._parts:
            own, its = self._between(column, other)
            shared = _linked(self._together[own, its]), _linked(self._together[its, own])
            if self._may_be_wrong and not all(map(_is_balanced, shared)):
                shared = np.zeros_like(shared[0]), np.zeros_like(shared[1])
            self._parts[column, other], self._parts[other, column] = shared
        return self._parts[column, other]

    def by_label(self, part: CommonPart, column: int) -> Labels:
        """The state of each label of a member: that of the start's label it is with most often."""
        counts = self._counts[self._between(part.start, column)]
        return np.asarray(part.of_labels[counts.argmax(axis=0)])

    def _too_few(self) -> Floats:
        """Rows with two labels that say nothing: hardly any, or few beside what chance gives."""
        firsts = self._starts[:-1]
        column = np.repeat(np.arange(len(firsts)), self._n_labels)
        by_column = np.add.reduceat(self._counts, firsts, axis=1)
        n_rows = np.maximum(np.add.reduceat(by_column, firsts, axis=0), 1.0)
        own, its = by_column[:, column], by_column[:, column].T
        wrong = _WRONG_LABELS * (own + its)
        at_most_wrong = wrong + _STANDARD_ERRORS * np.sqrt(wrong) + 1.0
        return np.maximum(HOLE * own * its / n_rows[column][:, column], at_most_wrong)

    def _between(self, column: int, other: int) -> tuple[slice, slice]:
        own, its = (slice(self._starts[i], self._starts[i + 1]) for i in (column, other))
        return own, its


def common_part(first: Labels, second: Labels) -> Labels:
    """The finest labelling of the rows that is a function of each of two labellings.

    Examples
    --------
    >>> common_part(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 3])).tolist()
    [0, 0, 0, 1, 1]
    """
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=bool)
    table[first, second] = True
    return _without_gaps(_linked(table)[first])


def find_latents(pairs: LabelPairs, columns: Sequence[int]) -> list[CommonPart]:
    """The latents behind the labels of ``columns``: maximal common parts, each with its states.

    Latents are looked for until the labels of every column are explained by the latents above it,
    or until what is left of them could only be a latent that breaks the subset condition.
    To find one, start from an unexplained column and add every other column whose common part
    with what is held still says something new. When no column is left, the members are exactly
    ne(H) of one new latent H, by no twins and the subset condition: a column in ne(H) always says
    something new, and one outside of it would have taken H out of the common part.

    Examples
    --------
    >>> pairs = LabelPairs(np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [1, 3, 1]]))
    >>> for part in find_latents(pairs, [0, 1, 2]):
    ...     print(sorted(part.members), part.states(pairs.labels).tolist())
    [0, 1] [0, 0, 1, 1]
    [1, 2] [0, 1, 0, 1]
    """
    found: list[CommonPart] = []
    for column in columns:
        n_labels = pairs.n_labels(column)
        known = np.zeros(n_labels, dtype=np.int64)
        for part in found:
            if column in part.members:
                known = _both(known, pairs.by_label(part, column))
        while known.max() + 1 < n_labels:
            part = _grow(pairs, columns, column, known)
            if any(part.members <= held.members for held in found):
                # The subset condition leaves no room for such a latent: what this column says
                # beyond the known ones is mislabelled.
                break
            found.append(part)
            known = _both(known, pairs.by_label(part, column))
    return found


def _grow(pairs: LabelPairs, columns: Sequence[int], start: int, known: Labels) -> CommonPart:
    """A maximal set with ``start`` whose common part is not a function of what is known.

    ``known`` is a partition of the labels of ``start``.
    """
    members = {start}
    states = np.arange(pairs.n_labels(start))
    # Columns that cannot tell the same labels apart are all in or all out, and most are alike.
    is_in: dict[bytes, bool] = {}
    for column in columns:
        shared = pairs.parts(start, column)
        key = shared.tobytes()
        if key not in is_in:
            coarser = common_part(states, shared)
            is_in[key] = coarser.max() > 0 and not _is_function(coarser, known)
            states = coarser if is_in[key] else states
        if is_in[key]:
            members.add(column)
    return CommonPart(frozenset(members), start, states)


def _both(first: Labels, second: Labels) -> Labels:
    """One label for each combination of two labellings."""
    return _without_gaps(first * (second.max() + 1) + second)


def _is_function(labelling: Labels, of: Labels) -> bool:
    """Whether rows that agree in ``of``, numbered from 0, agree in ``labelling``."""
    return bool(_both(of, labelling).max() == of.max())


def _is_balanced(parts: Labels) -> bool:
    """Whether each part has equally many labels."""
    sizes = np.bincount(parts)
    return bool(sizes.min() == sizes.max())


def _linked(table: Bools) -> Labels:
    """Rows of a table (r, c) that are linked by columns that both occur with, numbered from 0."""
    if table.all(axis=0).any():
        return np.zeros(len(table), dtype=np.int64)
    occurs = table.astype(np.float32)
    reached = occurs @ occurs.T > 0
    while True:
        steps = reached.astype(np.float32)
        further = steps @ steps > 0
        if np.array_equal(further, reached):
            return _without_gaps(reached.argmax(axis=1))
        reached = further


def _without_gaps(labels: Labels) -> Labels:
    """The labels, small numbers from 0 on, as consecutive ones; quicker than sorting them."""
    number = np.cumsum(np.bincount(labels) > 0) - 1
    return np.asarray(number[labels])
