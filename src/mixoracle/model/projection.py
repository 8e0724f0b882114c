"""The map L from the components over all of X to the components of each observed variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats, FrozenArrays, Integers, frozen_array, frozen_whole_numbers
from mixoracle.errors import InvalidInputError

_SUM_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class Projection(FrozenArrays):
    """The components over X, each named by its component in every observed variable.

    Parameters
    ----------
    labels : (K, n_observed) int array  # L(j)_i
        Row j holds the 0-based component of each observed variable in component j of X.
    weights : (K,) array  # π(X, j)
        The mixture weights; non-negative, sum to one.

    Examples
    --------
    >>> held = Projection(np.array([[0, 0], [0, 1], [1, 1]]), np.array([0.5, 0.3, 0.2]))
    >>> held.n_components
    3
    """

    labels: Integers
    weights: Floats

    def __post_init__(self) -> None:
        labels = frozen_whole_numbers(self.labels, "labels")
        weights = frozen_array(self.weights, np.float64, "weights")
        if labels.ndim != 2 or weights.shape != labels.shape[:1] or len(labels) == 0:
            raise InvalidInputError(
                "a projection needs labels of shape (K, n_observed) and weights of shape (K,), "
                f"K at least 1; got {labels.shape} and {weights.shape}"
            )
        if labels.size and labels.min() < 0:
            raise InvalidInputError(f"labels count from 0; got {int(labels.min())}")
        if not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise InvalidInputError("component weights should be finite and non-negative")
        if abs(float(weights.sum()) - 1.0) > _SUM_TOLERANCE:
            raise InvalidInputError(f"component weights should sum to 1; got {weights.sum():.10g}")
        self._keep(labels=labels, weights=weights)

    @property
    def n_components(self) -> int:
        """K = k(X), the number of components over all of X."""
        return len(self.weights)

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return int(self.labels.shape[1])

    def __repr__(self) -> str:
        per_variable = [len(np.unique(column)) for column in self.labels.T]
        return (
            f"Projection({self.n_components} components over X, "
            f"{per_variable} over the observed variables)"
        )
