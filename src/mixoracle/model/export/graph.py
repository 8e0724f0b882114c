"""G = Γ ∪ Λ with its names but without probabilities, as graph formats hold it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import FrozenArrays, frozen_bools
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import CPDAG, LatentModel

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False)
class CausalGraph(FrozenArrays):
    """A named graph over latents and observed variables.

    Parameters
    ----------
    observed_names, latent_names : tuples of str
    bipartite : (n_observed, n_latent) bool array
        Γ: row i is pa(X_i).
    latent_graph : CPDAG
        Λ.
    domain_sizes : tuple of int, or None
        None where the format has no place for them.
    """

    observed_names: tuple[str, ...]
    latent_names: tuple[str, ...]
    bipartite: NDArray[np.bool_]
    latent_graph: CPDAG
    domain_sizes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        bipartite = frozen_bools(self.bipartite, "Γ")
        if bipartite.shape != (len(self.observed_names), len(self.latent_names)):
            raise InvalidInputError(f"Γ has shape {bipartite.shape}, which does not fit the names")
        self._keep(bipartite=bipartite)

    @classmethod
    def of(cls, model: LatentModel) -> CausalGraph:
        """The graph of a model."""
        return cls(
            model.observed_names,
            model.latent_names,
            model.bipartite,
            model.latent_graph,
            model.domain_sizes,
        )

    @classmethod
    def from_edges(
        cls,
        observed: Iterable[str],
        latent: Iterable[str],
        arrows: Iterable[tuple[str, str]],
        links: Iterable[tuple[str, str]],
        domain_sizes: tuple[int, ...] | None = None,
    ) -> CausalGraph:
        """Put a graph together from named edges, refusing those that the model has no place for."""
        observed_names, latent_names = tuple(observed), tuple(latent)
        row = {name: i for i, name in enumerate(observed_names)}
        column = {name: j for j, name in enumerate(latent_names)}
        bipartite = np.zeros((len(row), len(column)), dtype=bool)
        directed, undirected = set(), set()
        for first, second in arrows:
            if first in column and second in column:
                directed.add((column[first], column[second]))
            elif first in column and second in row:
                bipartite[row[second], column[first]] = True
            else:
                raise FileFormatError(
                    f"{first!r} → {second!r} is no edge from a latent of this file"
                )
        for first, second in links:
            if first not in column or second not in column:
                raise FileFormatError(f"{first!r} — {second!r} does not join two latents")
            undirected.add(frozenset((column[first], column[second])))
        graph = CPDAG(len(column), frozenset(directed), frozenset(undirected))
        return cls(observed_names, latent_names, bipartite, graph, domain_sizes)

    def arrows(self) -> list[tuple[str, str]]:
        """All directed edges by name: Λ first, then Γ."""
        names = self.latent_names
        among = [(names[i], names[j]) for i, j in sorted(self.latent_graph.directed)]
        return among + [(names[j], self.observed_names[i]) for i, j in np.argwhere(self.bipartite)]

    def links(self) -> list[tuple[str, str]]:
        """All undirected edges by name."""
        pairs = sorted(sorted(pair) for pair in self.latent_graph.undirected)
        return [(self.latent_names[i], self.latent_names[j]) for i, j in pairs]

    def refuse_shared_names(self) -> None:
        """Raise where a latent and an observed variable cannot be told apart by name."""
        shared = sorted(set(self.observed_names) & set(self.latent_names))
        if shared:
            raise InvalidInputError(
                f"a latent and an observed variable share the name {shared[0]!r}; rename one, "
                "because this format knows variables by name only"
            )


def from_networkx(graph: nx.DiGraph[str | int]) -> CausalGraph:
    """Read back what :meth:`LatentModel.to_networkx` made."""
    kinds = {str(name): data.get("kind") for name, data in graph.nodes(data=True)}
    unknown = [name for name, kind in kinds.items() if kind not in ("latent", "observed")]
    if unknown:
        raise FileFormatError(f"node {unknown[0]!r} is marked neither latent nor observed")
    latent = [name for name, kind in kinds.items() if kind == "latent"]
    edges = [
        (str(i), str(j), bool(data.get("undirected"))) for i, j, data in graph.edges(data=True)
    ]
    sizes = [graph.nodes[name].get("domain_size") for name in latent]
    return CausalGraph.from_edges(
        [name for name, kind in kinds.items() if kind == "observed"],
        latent,
        [(i, j) for i, j, is_open in edges if not is_open],
        [(i, j) for i, j, is_open in edges if is_open],
        None if None in sizes else tuple(int(size) for size in sizes if size is not None),
    )
