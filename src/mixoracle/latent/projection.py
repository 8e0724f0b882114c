"""The map L: which components over X agree on which observed variables.

L names each component over X by its component in every observed variable (``sec:Ph``). All that
Algorithm 1 asks of it is which rows agree on a set of columns, so rows are ranked by the columns
of S and nothing else about the labels matters. L must be injective, which nondegeneracy (b) for
S = X promises; the paper calls it bijective, but it reaches only k(X) of the ∏ k(X_i) tuples.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mixoracle._arrays import Integers, frozen_whole_numbers
from mixoracle.errors import InvalidInputError, NotInjectiveError
from mixoracle.model import Projection
from mixoracle.model.joint_states import distinct_rows, numbered_columns


def checked_labels(labels: Any, n_observed: int) -> Integers:
    """Return L as a (K, n_observed) array of component numbers that leave no gaps.

    The components of each observed variable are renumbered 0, 1, … in ascending order.
    """
    array = frozen_whole_numbers(labels, "labels")
    if array.ndim != 2 or array.shape[1] != n_observed or len(array) == 0:
        raise InvalidInputError(
            f"labels should have shape (K, {n_observed}), a row for each component over X and a "
            f"column for each observed variable; got {array.shape}"
        )
    if array.size and array.min() < 0:
        raise InvalidInputError(f"labels count from 0; got {int(array.min())}")
    return numbered_columns(array)


def group_rows(labels: Integers, columns: Iterable[int]) -> Integers:
    """Number the distinct tuples L(j)_S and return the number of each row's tuple."""
    return distinct_rows(labels[:, list(columns)])[1]


def check_injective(labels: Integers) -> None:
    """Raise where two components over X look alike in every observed variable."""
    groups = group_rows(labels, range(labels.shape[1]))
    order = np.argsort(groups, kind="stable")
    repeats = np.flatnonzero(np.diff(groups[order]) == 0)
    if len(repeats):
        first, second = order[repeats[0]], order[repeats[0] + 1]
        raise NotInjectiveError(
            f"components {first} and {second} over X have the same component in every observed "
            f"variable, {labels[first].tolist()}; merge them and add their weights"
        )


def marginal(projection: Projection, subset: Iterable[int]) -> Projection:
    """Return the mixture over the observed variables in ``subset``, columns in that order.

    Its number of components is k(S), its weights are π(S, ·) and its rows their names.

    Examples
    --------
    >>> joint = Projection([[0, 0], [0, 1], [1, 1]], [0.5, 0.25, 0.25])
    >>> over_first = marginal(joint, [0])
    >>> over_first.n_components, over_first.weights.tolist()
    (2, [0.75, 0.25])
    """
    columns = [int(i) for i in subset]
    outside = [i for i in columns if not 0 <= i < projection.n_observed]
    if outside or len(set(columns)) != len(columns):
        raise InvalidInputError(
            f"a marginal needs distinct observed variables from 0 to {projection.n_observed - 1}; "
            f"got {columns}"
        )
    groups = group_rows(checked_labels(projection.labels, projection.n_observed), columns)
    representatives = np.unique(groups, return_index=True)[1]
    weights = np.zeros(len(representatives))
    np.add.at(weights, groups, projection.weights)
    return Projection(projection.labels[representatives][:, columns], weights)
