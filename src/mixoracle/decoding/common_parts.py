"""What a set of observed variables has in common: the state of their shared parents.

Two components over X that agree in some X_i agree in pa(X_i). Link components that share a label
in any X_i of S: the connected components of that graph are exactly the joint states of the
latents that all of S share, sne(S), the common part of Gács and Körner [1]_. So dim(sne(S)) is a
count of connected components, and a latent with its states is the common part of a maximal S that
has more than one. Unlike counting label tuples this forgives joint states that were never seen.

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

from mixoracle._arrays import Integers
from mixoracle.model.joint_states import numbered

Labels = Integers


@dataclass(frozen=True)
class CommonPart:
    """A maximal set of observed variables with the states that they share.

    ``members`` are columns of the label matrix, ``states`` (T,) numbers the shared state.
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
    return numbered(reached[first])


def find_latents(labels: Labels, columns: Sequence[int]) -> list[CommonPart]:
    """The latents behind the labels of ``columns``: maximal common parts, each with its states.

    Latents are looked for until the labels of every column are explained by the latents above it,
    or until what is left of them could only be a latent that breaks the subset condition.
    To find one, start from an unexplained column and add every other column whose common part
    with what is held still says something new. When no column is left, the members are exactly
    ne(H) of one new latent H, by no twins and the subset condition: a column in ne(H) always says
    something new, and one outside of it would have taken H out of the common part.

    Examples
    --------
    >>> labels = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [1, 3, 1]])
    >>> [(sorted(part.members), part.states.tolist()) for part in find_latents(labels, [0, 1, 2])]
    [([0, 1], [0, 0, 1, 1]), ([1, 2], [0, 1, 0, 1])]
    """
    found: list[CommonPart] = []
    for column in columns:
        while True:
            known = _join([part.states for part in found if column in part.members], labels)
            if _is_function(labels[:, column], known):
                break
            part = _grow(labels, columns, column, known)
            if any(part.members <= held.members for held in found):
                # The subset condition leaves no room for such a latent: what this column says
                # beyond the known ones is mislabelled.
                break
            found.append(part)
    return found


def _grow(labels: Labels, columns: Sequence[int], start: int, known: Labels) -> CommonPart:
    """A maximal set with ``start`` whose common part is not a function of what is known."""
    members = {start}
    states = numbered(labels[:, start])
    for column in columns:
        if column == start:
            continue
        coarser = common_part(states, labels[:, column])
        if coarser.max() > 0 and not _is_function(coarser, known):
            members.add(column)
            states = coarser
    return CommonPart(frozenset(members), states)


def _join(labellings: list[Labels], labels: Labels) -> Labels:
    """One label for each combination of several labellings."""
    joined = np.zeros(len(labels), dtype=np.int64)
    for states in labellings:
        joined = numbered(joined * (states.max() + 1) + states)
    return joined


def _is_function(labelling: Labels, of: Labels) -> bool:
    """Whether rows that agree in ``of`` agree in ``labelling``."""
    pairs = numbered(of) * (labelling.max() + 1) + labelling
    return len(np.unique(pairs)) == len(np.unique(of))
