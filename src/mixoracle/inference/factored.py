"""EM where joint states are too many to list: P(H) as a product of tables, rows by what is open.

The model is that of :mod:`~mixoracle.inference.structured`, and so are its sums; the E-step shares
each row out among the joint states that it leaves open (:mod:`~mixoracle.model.row_posterior`), and
the sums over joint states are those of each factor of P(H). P(H) is one table of all latents as
long as that is affordable, else a network along the arrows that it starts with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family, Prior
from mixoracle.inference.structured import Expected, components_of, expected, log_penalty
from mixoracle.mixtures.coded import CodedRows
from mixoracle.mixtures.expectation import Shared
from mixoracle.model import ComponentSet, JointNetwork, JointTable
from mixoracle.model.graphs import Edge
from mixoracle.model.joint import Joint
from mixoracle.model.joint_states import flat, frequencies
from mixoracle.model.row_posterior import RowInference
from mixoracle.settings import Budget

# Rows that each entry of a conditional table is worth beforehand, as in JointNetwork.from_states.
_PRIOR = 0.5


@dataclass(frozen=True, eq=False)
class FactoredMixture:
    """The parameters over coordinates: Γ ``adjacency`` (n, m), P(H), and the components."""

    families: tuple[Family, ...]
    adjacency: Bools
    joint: Joint
    components: tuple[ComponentSet, ...]
    priors: tuple[Prior, ...]
    budget: Budget

    def expect(self, rows: CodedRows, before: Integers | None = None) -> tuple[Expected, Integers]:
        """The E-step over some rows, and the most likely joint state (N, m) of each.

        ``before`` (N, m) is a good joint state of each row, where one is known.
        """
        sizes, factors = self.joint.domain_sizes, self.joint.factors()
        inference = RowInference(self.adjacency, sizes, factors)

        def share_out(densities: list[Floats], some: slice) -> Shared:
            found = inference.posterior(densities, None if before is None else before[some])
            total = float(found.log_likelihood.sum())
            by_code = found.by_code(self.adjacency, sizes)
            _, states, shares = found.shared_out()
            return Shared(total, factor_counts(self.joint, states, shares), found.best, by_code)

        n_numbers = sum(held.n_components for held in self.components)
        return expected(rows, self.components, share_out, n_numbers, self.budget.chunk_entries)

    def maximised(self, sums: Expected) -> FactoredMixture:
        """The M-step: the parameters that fit these sums best."""
        return replace(
            self,
            joint=_joint_of_counts(self.joint, sums.weights),
            components=components_of(self.families, sums.statistics, self.priors),
        )

    @property
    def log_penalty(self) -> float:
        """What EM maximises besides the log-likelihood."""
        penalty = log_penalty(self.families, self.components, self.priors)
        if isinstance(self.joint, JointNetwork):
            tables = self.joint.conditionals
            penalty += _PRIOR * float(sum(np.log(table).sum() for table in tables))
        return penalty

    @property
    def n_parameters(self) -> int:
        """Free parameters of P(H) and of the components."""
        components = sum(
            family.n_parameters * held.n_components
            for family, held in zip(self.families, self.components, strict=True)
        )
        return components + self.joint.n_parameters


def starting_joint(
    states: Integers, domain_sizes: tuple[int, ...], edges: Iterable[Edge] | None
) -> Joint:
    """P(H) that rows of states (N, m) show: along arrows, or as one table without any."""
    if edges is not None:
        return JointNetwork.from_states(states, domain_sizes, edges, prior=_PRIOR)
    return JointTable(frequencies(states, domain_sizes).reshape(domain_sizes))


def factor_counts(joint: Joint, states: Integers, shares: Floats | None = None) -> Floats:
    """The rows, or ``shares`` of them, in each entry of each factor of P(H), one after another."""
    counts = []
    for factor in joint.factors():
        own = [joint.domain_sizes[j] for j in factor.latents]
        code = flat(states[:, list(factor.latents)], own)
        counts.append(np.bincount(code, shares, prod(own)))
    return np.concatenate(counts).astype(np.float64)


def _joint_of_counts(joint: Joint, counts: Floats) -> Joint:
    """P(H) of the same form, from the rows in each entry of its factors."""
    if not isinstance(joint, JointNetwork):
        return JointTable((counts / counts.sum()).reshape(joint.domain_sizes))
    tables = []
    begin = 0
    for table in joint.conditionals:
        own = counts[begin : begin + table.size].reshape(table.shape) + _PRIOR
        tables.append(own / own.sum(axis=-1, keepdims=True))
        begin += table.size
    return JointNetwork(joint.parents, tuple(tables))
