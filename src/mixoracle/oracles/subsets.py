"""What every oracle does with a set of observed variables."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

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


def count_by_parents(bipartite: Bipartite, members: Iterable[int]) -> int:
    """k(S) = ∏ dim(H_j) over the parents of S (``obs:counting``)."""
    parents = np.flatnonzero(bipartite.adjacency[list(members)].any(axis=0))
    return prod(bipartite.domain_sizes[j] for j in parents)
