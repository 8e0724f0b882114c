"""The small interface that all component families share.

A family is used through *additive statistics*: each row of a block is turned into a feature
vector whose first entry is 1, and the statistics of a piece of data are the (weighted) sum of its
rows' features. Pieces are then merged by adding, and the evidence, the fit and the log density
all read off sums. That is what keeps counting components, decoding and EM quick: none of them
goes back to the rows.

Assumes that a log density is linear in the features, as it is for exponential families.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import ComponentSet

Floats = NDArray[np.float64]


class Prior(Protocol):
    """What a family believes of a component before it sees one: made by :meth:`Family.prior`."""


class Family(Protocol):
    """One family of component distributions for blocks of one width."""

    @property
    def n_parameters(self) -> int:
        """Free parameters of one component."""
        ...

    def features(self, block: Floats) -> Floats:
        """The feature vector of each row, (N, width) to (N, n_features); column 0 is all ones."""
        ...

    def prior(self, statistics: Floats) -> Prior:
        """The prior that these components suggest, (k, n_features)."""
        ...

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        """The log marginal likelihood of each piece as one component, (k, n_features) to (k,)."""
        ...

    def components(self, statistics: Floats, prior: Prior) -> ComponentSet:
        """The posterior mean component of each piece."""
        ...

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        """What :meth:`components` maximises besides the log-likelihood."""
        ...

    def log_density(self, features: Floats, components: ComponentSet) -> Floats:
        """The log density of rows, or its sum over pieces: (r, n_features) to (r, k)."""
        ...
