"""The small interface that all component families share.

A family is used through *additive statistics*: each row of a block is turned into a feature
vector, and the statistics of a piece of data are the (weighted) sum of its rows' features. Pieces
are then merged by adding, and the evidence, the fit and the log density all read off sums. That is
what keeps counting components, decoding and EM quick: none of them goes back to the rows.

A cell that is missing has features 0. For a family whose columns are independent within a
component that is all there is to it, because each column brings its own count. A family with
dependence between the columns is told which cells were seen (:class:`Patterns`), and uses the
distribution of those alone.

Assumes that a log density is linear in the features, as it is for exponential families, or that
the family overrides what :class:`LinearFamily` makes of that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import ComponentSet

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Patterns:
    """Which cells of a block were seen.

    ``seen`` (P, width) holds the patterns that occur, ``which`` (N,) the pattern of each row.
    """

    seen: NDArray[np.bool_]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, block: Floats) -> Patterns | None:
        """The patterns of a block, or None if nothing is missing."""
        missing = np.isnan(block)
        if not missing.any():
            return None
        seen, which = np.unique(~missing, axis=0, return_inverse=True)
        return cls(seen, which.ravel().astype(np.int64))

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Patterns:
        """The patterns of some of the rows."""
        return Patterns(self.seen, self.which[rows])

    def of_columns(self, columns: NDArray[np.int64]) -> Patterns:
        """The patterns within some of the columns."""
        seen, where = np.unique(self.seen[:, columns], axis=0, return_inverse=True)
        return Patterns(seen, where.ravel()[self.which].astype(np.int64))


class Prior(Protocol):
    """What a family believes of a component before it sees one: made by :meth:`Family.prior`."""


class Family(ABC):
    """One family of component distributions for blocks of one width."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Free parameters of one component."""

    @abstractmethod
    def features(self, block: Floats) -> Floats:
        """The feature vector of each row, (N, width) to (N, n_features).

        Column 0 is 1, or 0 in a row with nothing in it; missing cells (NaN) have features 0.
        """

    @abstractmethod
    def embedding(self, block: Floats) -> Floats:
        """Coordinates in which rows of one component lie close together, without gaps."""

    @abstractmethod
    def prior(self, statistics: Floats) -> Prior:
        """The prior that these components suggest, (k, n_features)."""

    @abstractmethod
    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        """The log marginal likelihood of each piece as one component, (k, n_features) to (k,)."""

    @abstractmethod
    def components(self, statistics: Floats, prior: Prior) -> ComponentSet:
        """The posterior mode (or mean) component of each piece."""

    @abstractmethod
    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        """What :meth:`components` maximises besides the log-likelihood."""

    @abstractmethod
    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        """The log density of what was seen of each row, (N, n_features) to (N, k).

        Without ``patterns`` it may be asked for the sum over pieces as well.
        """

    @abstractmethod
    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        """The expected statistics of each component, ``share`` (N, k) of each row being in it."""

    @abstractmethod
    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        """Features that may be added up without patterns, given the component of each row.

        Without ``components``, what the rows with the same label show is used instead.
        """


class LinearFamily(Family):
    """A family whose log density is linear in the features, gaps or not."""

    @abstractmethod
    def natural(self, components: ComponentSet) -> Floats:
        """The coefficients of the features in the log density, (k, n_features)."""

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        return np.asarray(features @ self.natural(components).T)

    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        return np.asarray(share.T @ features)

    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        return features
