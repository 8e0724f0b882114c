"""P(H) along a DAG: conditional tables, their product, and that product under intervention.

A DAG turns P(H) into ∏ P(H_j | pa(H_j)). If P(H) is Markov to the DAG, that is P(H) again; if it
is an estimate, the product is the closest distribution that is (the maximum-likelihood one), and
the same for all equivalent DAGs. An intervention leaves out the factors of its targets.

Assumption: every configuration of parents that the product leads to was seen. Where not, nothing
is known about the child; ``unseen`` says what to put there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats
from mixoracle.model.graphs import Edge
from mixoracle.model.joint import Joint, JointTable


def parents_of(edges: Iterable[Edge], n_nodes: int) -> list[list[int]]:
    """The parents of each node, in ascending order."""
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    for i, j in sorted(edges):
        parents[j].append(i)
    return parents


def conditional(
    joint: Joint, node: int, parents: Collection[int], *, unseen: float = 0.0
) -> Floats:
    """P(H_node | parents), with an axis of length one for each latent that does not occur.

    Rows for configurations of the parents that were never seen hold ``unseen`` in every entry.
    """
    family = marginal_in_place(joint.table, {node, *parents})
    below = family.sum(axis=node, keepdims=True)
    return np.asarray(np.divide(family, below, out=np.full_like(family, unseen), where=below > 0))


def factorised(joint: Joint, edges: Iterable[Edge]) -> JointTable:
    """P(H) as a DAG has it, uniform where a configuration of parents was never seen."""
    table = np.ones(joint.domain_sizes)
    for node, parents in enumerate(parents_of(edges, joint.n_latent)):
        table = table * conditional(joint, node, parents, unseen=1.0 / joint.domain_sizes[node])
    return JointTable(table)


def truncated(
    joint: Joint, edges: Iterable[Edge], targets: Iterable[tuple[int, int]] = ()
) -> Floats:
    """P(H | do(targets)) in one DAG, each target a latent with its state.

    It sums to less than 1 where it leads to configurations that were never seen.
    """
    settings = dict(targets)
    table = np.ones(joint.domain_sizes)
    for node, parents in enumerate(parents_of(edges, joint.n_latent)):
        if node in settings:
            chosen = np.eye(joint.domain_sizes[node])[settings[node]]
            table = table * along_axes(chosen, [node], joint.n_latent)
        else:
            table = table * conditional(joint, node, parents)
    return table


def marginal_in_place(table: Floats, kept: Collection[int]) -> Floats:
    """Sum out all axes but some, leaving axes of length one in their place."""
    dropped = tuple(j for j in range(table.ndim) if j not in kept)
    return np.asarray(table.sum(axis=dropped, keepdims=True))


def along_axes(values: NDArray[Any], axes: list[int], n_axes: int) -> NDArray[Any]:
    """Lay the axes of an array along some axes of a table."""
    ascending = np.transpose(values, np.argsort(axes))
    shape = [1] * n_axes
    for axis, size in zip(sorted(axes), ascending.shape, strict=True):
        shape[axis] = size
    return ascending.reshape(shape)
