"""A model for pgmpy and for DoWhy.

Both want one DAG: a member of Λ is taken, and only mixoracle's own answers range over all of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mixoracle.errors import MissingDependencyError
from mixoracle.model.export.bif import family_table
from mixoracle.model.graphs import Edge
from mixoracle.model.network import parents_of

if TYPE_CHECKING:
    import networkx as nx

    from mixoracle.model.latent_model import LatentModel


def to_pgmpy(model: LatentModel, edges: frozenset[Edge] | None = None) -> Any:
    """Return a pgmpy Bayesian network over the latents, with the names of their states.

    ``edges`` is the member of Λ to use, one consistent extension by default. Where P(H) never shows
    a configuration of parents, the table is uniform.
    """
    try:
        models = importlib.import_module("pgmpy.models")
        discrete = importlib.import_module("pgmpy.factors.discrete")
    except ImportError as error:
        raise MissingDependencyError(
            "to_pgmpy needs pgmpy, which cannot be loaded; install it"
        ) from error
    # Its name before version 1.
    made = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    chosen = model.latent_graph.extension() if edges is None else edges
    names = model.latent_names
    network = made([(names[i], names[j]) for i, j in sorted(chosen)])
    network.add_nodes_from(names)
    for node, parents in enumerate(parents_of(chosen, model.n_latent)):
        table = family_table(model, node, parents).reshape(-1, model.domain_sizes[node])
        family = (node, *parents)
        network.add_cpds(
            discrete.TabularCPD(
                names[node],
                model.domain_sizes[node],
                table.T.tolist(),
                evidence=[names[j] for j in parents] or None,
                evidence_card=[model.domain_sizes[j] for j in parents] or None,
                state_names={names[j]: list(model.states_of(j)) for j in family},
            )
        )
    return network


def to_dowhy(model: LatentModel, edges: frozenset[Edge] | None = None) -> nx.DiGraph[str | int]:
    """G along one member of Λ, as ``CausalModel(graph=…)`` of DoWhy takes it.

    Latents are marked ``observed="no"``. Give the states of :meth:`LatentModel.predict` as columns
    of the data, under the names of the latents, to estimate effects among them.
    """
    graph = model.to_networkx()
    chosen = model.latent_graph.extension() if edges is None else edges
    names = model.latent_names
    among = [(a, b) for a, b in graph.edges if a in names and b in names]
    graph.remove_edges_from(among)
    graph.add_edges_from((names[i], names[j]) for i, j in sorted(chosen))
    for name in names:
        graph.nodes[name]["observed"] = "no"
    for name in model.observed_names:
        graph.nodes[name]["observed"] = "yes"
    return graph
