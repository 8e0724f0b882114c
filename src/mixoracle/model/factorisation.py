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
from mixoracle.model.graphs import Edge
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

    def _conditional(self, node: int, parents: Sequence[int]) -> Factor:
        family = (*parents, node)
        if family not in self._known:
            self._known[family] = Factor(family, self._joint.conditional(node, parents))
        return self._known[family]
