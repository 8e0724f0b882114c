"""P(H) along a DAG: conditional tables, their product, and that product under intervention.

A DAG turns P(H) into ∏ P(H_j | pa(H_j)). If P(H) is Markov to the DAG, that is P(H) again; if it
is an estimate, the product is the closest distribution that is (the maximum-likelihood one), and
the same for all equivalent DAGs. An intervention leaves out the factors of its targets.

Assumption: every configuration of parents that the product leads to was seen. Where not, nothing
is known about the child: :func:`factorised` has it uniform, and in :class:`Truncation` its mass is
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mixoracle.model.elimination import Factor
from mixoracle.model.graphs import Edge, bits, reached
from mixoracle.model.joint import Joint
from mixoracle.model.network import JointNetwork, parents_of

Targets = Sequence[tuple[int, int]]  # latents, each with the state that it is set to


def factorised(joint: Joint, edges: Iterable[Edge]) -> JointNetwork:
    """P(H) as a DAG has it, uniform where a configuration of parents was never seen."""
    parents = parents_of(edges, joint.n_latent)
    tables = [
        joint.conditional(node, above, unseen=1.0 / joint.domain_sizes[node])
        for node, above in enumerate(parents)
    ]
    return JointNetwork(tuple(map(tuple, parents)), tuple(tables))


class Truncation:
    """P(H | do(…)) along DAGs; members of a class share most of their conditional tables."""

    def __init__(self, joint: Joint) -> None:
        self._joint = joint
        self._known: dict[tuple[int, ...], Factor] = {}
        self._is_complete: dict[tuple[int, ...], bool] = {}

    def factors(self, edges: Iterable[Edge], targets: Targets = ()) -> tuple[Factor, ...]:
        """The factors of P(H | do(targets)) in one DAG.

        Their product sums to less than 1 where it leads to configurations that were never seen.
        """
        settings = dict(targets)
        parents = parents_of(edges, self._joint.n_latent)
        return tuple(
            Factor((node,), np.eye(self._joint.domain_sizes[node])[settings[node]])
            if node in settings
            else self._conditional(node, above)
            for node, above in enumerate(parents)
        )

    def needed(self, factors: Sequence[Factor], latents: Iterable[int]) -> tuple[Factor, ...]:
        """Those factors that the margin over some latents follows from.

        Where every configuration of parents was seen, these are the latents and their ancestors:
        whatever lies below sums to one. Else all.
        """
        if not self.is_complete(factors):
            return tuple(factors)
        parents = [sum(1 << j for j in factor.latents[:-1]) for factor in factors]
        found = reached(parents, sum(1 << j for j in latents))
        return tuple(factors[j] for j in bits(found))

    def is_complete(self, factors: Iterable[Factor]) -> bool:
        """Whether every configuration of parents was seen, so that the product sums to one."""
        return all(self._is_complete.get(factor.latents, True) for factor in factors)

    def _conditional(self, node: int, parents: Sequence[int]) -> Factor:
        family = (*parents, node)
        if family not in self._known:
            table = self._joint.conditional(node, parents)
            self._known[family] = Factor(family, table)
            self._is_complete[family] = bool(np.all(table.sum(axis=-1) > 0))
        return self._known[family]
