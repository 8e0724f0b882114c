"""From proposed binary columns to a graph that fits the counts best.

Given the columns of Γ, log k(S) is linear in the weights log dim(H_j), one equation for each set
(``cor:weight-observed-hidden``), so least squares with non-negative weights gives them, and
rounding their exponentials gives the domain sizes. Given the weights, what a flip of one edge
does to the squared error is a sum over the sets it touches, so all flips are judged at once and
the best is taken while it helps. Both work on counts, not on the tensor, whose entries mix the
errors of many counts.

Assumes that errors of the counts, if any, are alike in size on the scale of log k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csr_matrix

from mixoracle._arrays import Bools, Floats
from mixoracle.bipartite.scores import Counts

# Eigenvalues of a Gram matrix of 0/1 columns are sums of whole numbers; this is far below any
# that a set of independent columns has, and far above rounding.
_GRAM_CUTOFF = 1e-10
# Logarithms of whole numbers come back whole to within rounding.
_WHOLE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fit:
    """A graph and its squared error over the sets it was fitted to."""

    adjacency: Bools
    domain_sizes: tuple[int, ...]
    squared_error: float

    @property
    def n_latent(self) -> int:
        """The number of latents."""
        return len(self.domain_sizes)


class CountEquations:
    """log k(S) for all sets of at most ``order`` members, as equations for a graph."""

    def __init__(self, counts: Counts, order: int) -> None:
        tables = [counts.of_size(s) for s in range(1, min(order, counts.n_observed) + 1)]
        self.log_counts = np.concatenate([values for _, values in tables])
        members = np.concatenate([subsets.ravel() for subsets, _ in tables])
        sizes = np.concatenate([np.full(len(v), s) for s, (_, v) in enumerate(tables, start=1)])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        # Row S has a one for each member of S.
        self._incidence = csr_matrix(
            (np.ones(len(members)), members, starts), shape=(len(sizes), counts.n_observed)
        )

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return int(self._incidence.shape[1])

    @property
    def are_whole(self) -> bool:
        """Whether all counts are whole numbers, as they are unless noise was added."""
        counts = np.exp(self.log_counts)
        return bool(np.all(np.abs(counts - np.round(counts)) <= _WHOLE_TOLERANCE * counts))

    def children(self, adjacency: Bools) -> Floats:
        """How many children each latent has in each set: (n_sets, n_latent)."""
        return np.asarray(self._incidence @ adjacency.astype(np.float64))

    def fit(self, adjacency: Bools) -> Fit:
        """The whole domain sizes that fit best, without latents that come out with one state."""
        columns = _distinct_columns(adjacency)
        while True:
            hit = self.children(columns) > 0
            weights = self._weights(hit)
            sizes = np.round(np.exp(weights)).astype(np.int64)
            if np.all(sizes >= 2):
                break
            columns = columns[:, sizes >= 2]
        predicted = hit @ np.log(sizes.astype(float))
        error = float(np.sum((self.log_counts - predicted) ** 2))
        return Fit(columns, tuple(sizes.tolist()), error)

    def share_explained(self, fit: Fit) -> float:
        """The share of the sets whose count the graph reproduces."""
        predicted = (self.children(fit.adjacency) > 0) @ np.log(np.array(fit.domain_sizes, float))
        return float(np.mean(np.abs(self.log_counts - predicted) < _WHOLE_TOLERANCE))

    def polish(self, adjacency: Bools) -> Fit:
        """Flip single edges, the best first, while the squared error falls."""
        best = self.fit(adjacency)
        while best.n_latent:
            columns = best.adjacency.copy()
            weights = np.log(np.array(best.domain_sizes, dtype=float))
            gains = self._flip_gains(columns, weights)
            i, j = np.unravel_index(int(gains.argmin()), gains.shape)
            columns[i, j] = not columns[i, j]
            flipped = self.fit(columns)
            if not flipped.squared_error < best.squared_error:
                break
            best = flipped
        return best

    def _weights(self, design: Bools) -> Floats:
        """Non-negative least squares, through the small Gram matrix of the design."""
        if design.shape[1] == 0:
            return np.zeros(0)
        dense = design.astype(np.float64)
        values, vectors = np.linalg.eigh(dense.T @ dense)
        kept = values > _GRAM_CUTOFF * values[-1]
        roots = np.sqrt(values[kept])
        target = (vectors[:, kept].T @ (dense.T @ self.log_counts)) / roots
        return np.asarray(nnls(roots[:, None] * vectors[:, kept].T, target)[0])

    def _flip_gains(self, adjacency: Bools, weights: Floats) -> Floats:
        """The change of the squared error by each flip, weights held: (n_observed, n_latent)."""
        children = self.children(adjacency)
        error = (self.log_counts - (children > 0) @ weights)[:, None]
        # A new edge reaches the sets without a child of H_j; a removed one loses the sets whose
        # only child of H_j it was.
        added = np.where(children == 0, weights**2 - 2 * weights * error, 0.0)
        removed = np.where(children == 1, weights**2 + 2 * weights * error, 0.0)
        return np.asarray(
            np.where(adjacency, self._incidence.T @ removed, self._incidence.T @ added)
        )


def _distinct_columns(adjacency: Bools) -> Bools:
    """The columns that are not empty, each once."""
    first = {column.tobytes(): j for j, column in enumerate(adjacency.T) if column.any()}
    return adjacency[:, sorted(first.values())]


def canonical(adjacency: Bools, domain_sizes: Sequence[int]) -> tuple[Bools, tuple[int, ...]]:
    """Sort the latents by their children, so that equal graphs have equal arrays."""
    order = canonical_order(adjacency, domain_sizes)
    return adjacency[:, order], tuple(int(domain_sizes[j]) for j in order)


def canonical_order(adjacency: Bools, domain_sizes: Sequence[int]) -> list[int]:
    """The latents by their children, then by their domain sizes.

    Examples
    --------
    >>> canonical_order(np.array([[0, 1], [1, 1]], dtype=bool), (2, 3))
    [1, 0]
    """
    children = [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]
    return sorted(range(len(domain_sizes)), key=lambda j: (children[j], domain_sizes[j]))
