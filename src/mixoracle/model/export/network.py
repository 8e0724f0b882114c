"""The latents as a Bayesian network: one DAG of Λ with a conditional table for each latent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError
from mixoracle.model import JointTable, LatentModel
from mixoracle.model.cpdag import refuse_cycles
from mixoracle.model.factorisation import along_axes, conditional
from mixoracle.model.graphs import Edge

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LatentNetwork:
    """A Bayesian network over the latents, as BIF and XMLBIF hold it.

    Parameters
    ----------
    latent_names : tuple of str
    edges : frozenset of (i, j)
        A DAG.
    joint : JointTable
        The product of its conditional tables.
    """

    latent_names: tuple[str, ...]
    edges: frozenset[Edge]
    joint: JointTable

    def __post_init__(self) -> None:
        refuse_cycles(self.edges, len(self.latent_names))


def family_table(model: LatentModel, node: int, parents: list[int]) -> Array:
    """P(node | parents) with an axis for each parent, in their order, and the node's last."""
    table = conditional(model.joint, node, parents, unseen=1.0 / model.domain_sizes[node])
    family = np.moveaxis(table, [*parents, node], range(len(parents) + 1))
    return family.reshape([model.domain_sizes[j] for j in (*parents, node)])


def assemble(
    sizes: Mapping[str, int],
    tables: Mapping[str, tuple[list[str], Array]],
    names: Mapping[str, str],
) -> LatentNetwork:
    """Multiply family tables, each with its parents, into a network.

    ``names`` holds the proper name of each variable that a file knows by another.
    """
    order = list(sizes)
    missing = [name for name in order if name not in tables]
    if missing:
        raise FileFormatError(f"{missing[0]} has no probabilities")
    place = {name: j for j, name in enumerate(order)}
    joint = np.ones([sizes[name] for name in order])
    edges = set()
    for name, (parents, table) in tables.items():
        axes = [place[parent] for parent in (*parents, name)]
        joint = joint * along_axes(table, axes, len(order))
        edges |= {(place[parent], place[name]) for parent in parents}
    proper = tuple(names.get(name, name) for name in order)
    refuse_cycles(edges, len(order))
    return LatentNetwork(proper, frozenset(edges), JointTable(joint))
