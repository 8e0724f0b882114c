"""The population truth of a known model, behind the same protocol as a learned oracle.

The observed variables are independent given H, so a component over S is the tuple of the
components of its members. In a nondegenerate model (``assump:strong``) there is one such tuple
for each configuration of pa(S) and ``obs:counting`` gives k(S) as a product. In a degenerate
model the tuples that have positive weight are listed and counted instead: a state of probability
zero makes no component, and components that coincide are one.

Assumes that equal components are exactly equal; nothing here is estimated. Where the model has
no ``components``, they count as distinct.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import log, prod

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.model import Bipartite, LatentModel, Projection
from mixoracle.model.joint_states import distinct_rows, numbered_columns
from mixoracle.oracles.subsets import checked_members, checked_subsets, log_counts_by_parents


class ExactOracle:
    """Answers every question about the mixtures of a known model without data.

    Parameters
    ----------
    model : LatentModel
        Latents without children are invisible in X and are summed out.

    Examples
    --------
    >>> import numpy as np
    >>> from mixoracle.model import CPDAG, JointTable
    >>> model = LatentModel(
    ...     observed_names=("X1", "X2"), latent_names=("H1", "H2"),
    ...     bipartite=np.array([[1, 0], [1, 1]]), domain_sizes=(2, 3),
    ...     joint=JointTable(np.full((2, 3), 1 / 6)), latent_graph=CPDAG(2),
    ... )
    >>> oracle = ExactOracle(model)
    >>> oracle.count([0]), oracle.count([0, 1]), oracle.count([])
    (2, 6, 1)
    """

    def __init__(self, model: LatentModel) -> None:
        self.model = model
        self._counts: dict[frozenset[int], int] = {}

    def __repr__(self) -> str:
        kind = "nondegenerate" if self.is_nondegenerate else "degenerate"
        return f"ExactOracle({self.model.n_latent} latents, {self.n_observed} observed, {kind})"

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return self.model.n_observed

    def count(self, subset: Iterable[int], /) -> int:
        """k(S), exactly; 1 for the empty set."""
        members = frozenset(checked_members(subset, self.n_observed))
        if members not in self._counts:
            self._counts[members] = self._count(members)
        return self._counts[members]

    def log_counts(self, subsets: Integers, /) -> Floats:
        """Return log k(S) for each row of an (n_subsets, size) array."""
        if self.is_nondegenerate:
            model = self.model
            hit = np.asarray(model.bipartite.any(axis=0))
            sizes = tuple(size for size, seen in zip(model.domain_sizes, hit, strict=True) if seen)
            return log_counts_by_parents(Bipartite(model.bipartite[:, hit], sizes), subsets)
        rows = checked_subsets(subsets, self.n_observed)
        return np.array([log(self.count(row.tolist())) for row in rows], dtype=np.float64)

    def projection(self) -> Projection:
        """The map L with its weights; in C order over the latents that have children."""
        return self._projection

    @cached_property
    def is_nondegenerate(self) -> bool:
        """Whether ``obs:counting`` holds: no empty state, no two components that coincide."""
        factors = self.model.joint.factors()
        # A product of positive tables has no empty state, however many there are.
        is_positive = all(np.all(factor.values > 0) for factor in factors)
        return (is_positive or bool(np.all(self._visible_joint > 0))) and all(
            len(np.unique(firsts)) == len(firsts) for firsts in self._first_equal
        )

    @cached_property
    def _visible_latents(self) -> tuple[int, ...]:
        return tuple(int(j) for j in np.flatnonzero(self.model.bipartite.any(axis=0)))

    @cached_property
    def _visible_joint(self) -> Floats:
        return self.model.joint.marginal(self._visible_latents).table

    @cached_property
    def _first_equal(self) -> tuple[Integers, ...]:
        """For each X_i, the first component that each of its components equals."""
        return tuple(held.first_equal() for held in self.model.components or ())

    @cached_property
    def _projection(self) -> Projection:
        """Enumerate Ω once, drop empty states, merge states that look alike in X."""
        states = np.zeros((int(np.sum(self._visible_joint > 0)), self.model.n_latent), np.int64)
        states[:, list(self._visible_latents)] = np.argwhere(self._visible_joint > 0)
        weights = self._visible_joint[self._visible_joint > 0]
        labels = self.model.component_of_states(states)
        if self.is_nondegenerate:
            return Projection(labels, weights)
        for i, firsts in enumerate(self._first_equal):
            labels[:, i] = firsts[labels[:, i]]
        distinct, member, _ = distinct_rows(numbered_columns(labels))
        return Projection(distinct, np.bincount(member, weights).astype(np.float64))

    def _count(self, members: frozenset[int]) -> int:
        chosen = sorted(members)
        if self.is_nondegenerate:
            hit = np.flatnonzero(self.model.bipartite[chosen].any(axis=0))
            return prod(self.model.domain_sizes[j] for j in hit)
        return len(np.unique(self._projection.labels[:, chosen], axis=0)) if chosen else 1
