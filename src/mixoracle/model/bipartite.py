"""Γ with the domain sizes of the latents, and how well it explains the counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Bools, FrozenArrays, frozen_bools, frozen_domain_sizes
from mixoracle.errors import InvalidInputError


@dataclass(frozen=True, eq=False, repr=False)
class Bipartite(FrozenArrays):
    """A recovered bipartite graph.

    Parameters
    ----------
    adjacency : (n_observed, n_latent) bool array
        Row i is pa(X_i), column j is ne(H_j).
    domain_sizes : tuple of int
        dim(H_j) for each latent.
    residual : float
        Largest absolute difference between log k(S) and what Γ predicts for it, over the
        counts that were asked for. Exact counts give less than 1e-8.
    method : str
        What recovered it: ``"jennrich"``, ``"als"``, ``"blocks"``, or where it came from.

    Examples
    --------
    >>> graph = Bipartite(np.array([[1, 0], [1, 1], [0, 1]], dtype=bool), (2, 3))
    >>> graph.n_observed, graph.n_latent
    (3, 2)
    """

    adjacency: Bools
    domain_sizes: tuple[int, ...]
    residual: float = 0.0
    method: str = "given"

    def __post_init__(self) -> None:
        adjacency = frozen_bools(self.adjacency, "a bipartite adjacency")
        if adjacency.ndim != 2:
            raise InvalidInputError(
                "a bipartite adjacency should have shape (n_observed, n_latent); "
                f"got {adjacency.shape}"
            )
        childless = np.flatnonzero(~adjacency.any(axis=0))
        if len(childless):
            raise InvalidInputError(
                f"each latent needs a child in Γ; latent {int(childless[0])} has none"
            )
        sizes = frozen_domain_sizes(self.domain_sizes, adjacency.shape[1], "domain sizes")
        if not self.residual >= 0:
            raise InvalidInputError(f"a residual should be at least 0; got {self.residual}")
        self._keep(adjacency=adjacency, domain_sizes=sizes, residual=float(self.residual))

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return int(self.adjacency.shape[0])

    @property
    def n_latent(self) -> int:
        """The number of latents, m."""
        return int(self.adjacency.shape[1])

    def __repr__(self) -> str:
        blocks = [
            f"H{j + 1}({size} states)→{{{', '.join(f'X{i + 1}' for i in np.flatnonzero(column))}}}"
            for j, (size, column) in enumerate(
                zip(self.domain_sizes, self.adjacency.T, strict=True)
            )
        ]
        inside = "; ".join(blocks) or f"no latents over {self.n_observed} observed variables"
        return f"Bipartite({inside}; method={self.method!r}, residual={self.residual:.2g})"
