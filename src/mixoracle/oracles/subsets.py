"""What every oracle does with a set of observed variables."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite


def checked_members(subset: Iterable[int], n_observed: int) -> list[int]:
    """The members of a set of observed variables, each once, in ascending order."""
    members = list(subset)
    for member in members:
        if not isinstance(member, int | np.integer) or not 0 <= member < n_observed:
            raise InvalidInputError(
                f"a subset should name observed variables from 0 to {n_observed - 1}; "
                f"got {member!r}"
            )
    return sorted({int(member) for member in members})


def checked_subsets(subsets: Integers, n_observed: int) -> Integers:
    """Many sets of one size as an (n_subsets, size) array of observed variables."""
    rows = np.asarray(subsets)
    if rows.ndim != 2 or (rows.size and rows.dtype.kind not in "iu"):
        raise InvalidInputError(
            "log_counts needs an integer array of shape (n_subsets, size); "
            f"got {rows.dtype} of shape {rows.shape}"
        )
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < n_observed:
        raise InvalidInputError(
            f"subsets should name observed variables from 0 to {n_observed - 1}; "
            f"got {int(rows.min())} to {int(rows.max())}"
        )
    return rows


def count_by_parents(bipartite: Bipartite, members: Iterable[int]) -> int:
    """k(S) = ∏ dim(H_j) over the parents of S (``obs:counting``)."""
    parents = np.flatnonzero(bipartite.adjacency[list(members)].any(axis=0))
    return prod(bipartite.domain_sizes[j] for j in parents)


def log_counts_by_parents(bipartite: Bipartite, subsets: Integers) -> Floats:
    """Return log k(S) of many sets of one size at once, an (n_subsets, size) array."""
    rows = checked_subsets(subsets, bipartite.n_observed)
    hit = np.zeros((len(rows), bipartite.n_latent), dtype=np.bool_)
    for column in rows.T:
        hit |= bipartite.adjacency[column]
    log_sizes: Floats = np.log(np.array(bipartite.domain_sizes, dtype=float))
    return hit @ log_sizes
