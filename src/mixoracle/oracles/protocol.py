"""What the rest of the library asks of a mixture oracle (``defn:mixoracle``).

The paper's oracle hands over weights and components of every marginal mixture. Its own remark
after the definition says how much less is needed: the counts k(S), the weights over X, and the
map L. That is the whole protocol, so an exact oracle and one that learns from data look alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import Projection


@runtime_checkable
class MixtureOracle(Protocol):
    """Answers questions about the mixtures that the latents induce on subsets of X."""

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        ...

    def count(self, subset: Iterable[int], /) -> int:
        """k(S): the number of mixture components over the observed variables in ``subset``."""
        ...

    def projection(self) -> Projection:
        """The map L with the weights of the components over X."""
        ...


@runtime_checkable
class BatchMixtureOracle(MixtureOracle, Protocol):
    """An oracle that answers many counts at once, for callers that need thousands of them."""

    def log_counts(self, subsets: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Return log k(S) for each row of ``subsets``, an (n_subsets, size) array.

        Repeated members of a row are harmless. Logarithms, because k(S) outgrows 64 bits.
        """
        ...
