"""Families with one parameter that no conjugate prior fits: it is kept to a grid.

Given that parameter (the size of a negative binomial, the shape of a Gamma) the mean of a column
has a conjugate prior, and everything is a closed form. So the evidence of a column is an average
over the grid, and the best component is the best point of it. How the average weighs the grid is
learned from all pieces together: their evidence for each value, worth a few rows.

Assumes that columns are independent within a component.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import ColumnwiseFamily, ComponentSet, Prior


@dataclass(frozen=True)
class GridPrior:
    """The prior of each column: its typical ``mean`` (width,), weights of the grid (width, G)."""

    mean: Floats
    log_weights: Floats


class GridFamily(ColumnwiseFamily):
    """Components over ``width`` independent columns, one of their parameters on ``grid`` (G,).

    They are ``made`` of their means and of that parameter. The features begin with 1, then for all
    columns whether the value was seen, and x.
    """

    grid: ClassVar[Floats]
    made: ClassVar[Callable[..., ComponentSet]]

    def _seen_and_sums(self, statistics: Floats) -> tuple[Floats, Floats]:
        """How many values of each column were seen, and their sum; each (k, width)."""
        width = self.width
        return statistics[:, 1 : width + 1], statistics[:, width + 1 : 2 * width + 1]

    @abstractmethod
    def _log_evidence_on_grid(self, statistics: Floats, mean: Floats) -> Floats:
        """The evidence of each column for each value of the grid, (k, width, G)."""

    @abstractmethod
    def _fit_on_grid(self, statistics: Floats, mean: Floats) -> tuple[Floats, Floats]:
        """The best mean for each value of the grid and what it reaches, both (k, width, G).

        Best by likelihood and :meth:`_mean_penalty` together.
        """

    @abstractmethod
    def _mean_penalty(self, means: Floats, values: Floats, mean: Floats) -> Floats:
        """The penalty on a mean, 0 at the prior's, with that value of the grid; broadcasts."""

    def prior(self, statistics: Floats) -> GridPrior:
        seen, sums = self._seen_and_sums(statistics)
        n_rows = np.maximum(seen.sum(axis=0), 1.0)
        mean = self._typical_mean(sums.sum(axis=0), n_rows)
        evidence = self._log_evidence_on_grid(statistics, mean).sum(axis=0)
        extra_rows = self.priors.extra_rows
        log_weights = evidence * extra_rows / np.maximum(n_rows, extra_rows)[:, None]
        return GridPrior(
            mean, log_weights - np.logaddexp.reduce(log_weights, axis=1, keepdims=True)
        )

    @abstractmethod
    def _typical_mean(self, sums: Floats, n_rows: Floats) -> Floats:
        """The mean of each column over all rows, kept above 0."""

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        known = cast(GridPrior, prior)
        by_value = self._log_evidence_on_grid(statistics, known.mean) + known.log_weights
        return np.asarray(np.logaddexp.reduce(by_value, axis=2).sum(axis=1))

    def components(self, statistics: Floats, prior: Prior) -> ComponentSet:
        """The means and the grid's values that maximise likelihood and penalty together."""
        known = cast(GridPrior, prior)
        means, reached = self._fit_on_grid(statistics, known.mean)
        best = (reached + known.log_weights).argmax(axis=2)
        chosen = np.take_along_axis(means, best[:, :, None], axis=2)[:, :, 0]
        return self.made(chosen, self.grid[best])

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        known = cast(GridPrior, prior)
        means, values = components.arrays().values()
        log_weights = known.log_weights[np.arange(self.width), self._places(values)]
        return float((self._mean_penalty(means, values, known.mean) + log_weights).sum())

    def _places(self, values: Floats) -> Integers:
        """Where values stand on the grid."""
        matches = values[..., None] == self.grid
        if not matches.any(axis=-1).all():
            raise InvalidInputError(
                "these components were not made by this family: "
                f"{values[~matches.any(axis=-1)].flat[0]:g} is not among {self.grid.tolist()}"
            )
        return np.asarray(matches.argmax(axis=-1))
