"""Independent numbers: normal components with diagonal covariances, Normal–inverse-gamma evidence.

Each column brings its own count of seen values, sum and sum of squares, so that missing values
need no further care. Priors are those of ``elliptical`` for one column at a time: the prior
variance of a column is its pooled scatter within the pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import (
    ColumnwiseFamily,
    ComponentSet,
    IndependentColumns,
    Prior,
    WithMeans,
    parameters,
    positive_parameters,
)
from mixoracle.families.missing import filled_with_means
from mixoracle.families.units import FamilyEntry, NumberPart


@dataclass(frozen=True, eq=False, repr=False)
class DiagonalComponents(WithMeans, IndependentColumns):
    """Normal components with diagonal covariances.

    ``means`` and ``variances``, which are above 0, are (n_components, width).

    Examples
    --------
    >>> held = DiagonalComponents(np.array([[0.0], [4.0]]), np.ones((2, 1)))
    >>> held.log_density(np.array([[4.0]])).argmax(axis=1).tolist()
    [1]
    """

    variances: Floats

    family: ClassVar[str] = "diagonal"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        variances = positive_parameters(self.variances, means.shape, "component variances")
        if not np.all(np.isfinite(variances)):
            raise InvalidInputError("component variances should be finite; at least one is not")
        self._keep(means=means, variances=variances)

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        variances = self.variances[:, column]
        squared = (values[:, None] - self.means[:, column]) ** 2
        return np.asarray(-0.5 * (squared / variances + np.log(2.0 * np.pi * variances)))

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        standard = rng.standard_normal((len(labels), self.width))
        return np.asarray(standard * np.sqrt(self.variances)[labels] + self.means[labels])

    def __repr__(self) -> str:
        return f"DiagonalComponents({self.n_components} components in R^{self.width})"


@dataclass(frozen=True)
class NormalInverseGamma:
    """The prior of each column: mean ~ N(0, variance / mean_rows), scale / variance ~ χ²."""

    mean_rows: float  # κ_0
    degrees: float  # ν_0, of χ²
    scale: Floats  # (width,)

    @cached_property
    def log_normaliser(self) -> Floats:
        """The part of the evidence that no data enter, (width,)."""
        return np.asarray(
            0.5 * (self.degrees * np.log(self.scale) + np.log(self.mean_rows))
            - gammaln(0.5 * self.degrees)
        )


class DiagonalFamily(ColumnwiseFamily):
    """Normal components over ``width`` independent columns.

    The features are 1, then for all columns whether the value was seen, x, and x².
    """

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        values = np.where(seen, block, 0.0)
        return np.hstack([seen.any(axis=1, keepdims=True), seen, values, values**2])

    def embedding(self, block: Floats) -> Floats:
        return filled_with_means(block)

    def prior(self, statistics: Floats) -> NormalInverseGamma:
        counts, sums, squares = np.split(statistics[:, 1:], 3, axis=1)
        scatter = (squares - sums**2 / np.maximum(counts, 1.0)).sum(axis=0)
        spare = counts.sum(axis=0) - (counts > 0).sum(axis=0)
        within = np.maximum(scatter, 0.0) / np.maximum(spare, 1.0)
        within = within + self.priors.variance_floor
        extra_rows = self.priors.extra_rows
        # The inverse Wishart of one column has 2 degrees of freedom that count as no rows.
        return NormalInverseGamma(self.priors.mean_rows, 2.0 + extra_rows, extra_rows * within)

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        prior = cast(NormalInverseGamma, prior)
        counts, sums, squares = np.split(statistics[:, 1:], 3, axis=1)
        mean_rows = prior.mean_rows + counts
        degrees = prior.degrees + counts
        scale = prior.scale + np.maximum(squares - sums**2 / mean_rows, 0.0)
        by_column = (
            prior.log_normaliser
            + gammaln(0.5 * degrees)
            - 0.5 * (degrees * np.log(scale) + np.log(mean_rows) + counts * np.log(np.pi))
        )
        return np.asarray(by_column.sum(axis=1))

    def components(self, statistics: Floats, prior: Prior) -> DiagonalComponents:
        prior = cast(NormalInverseGamma, prior)
        counts, sums, squares = np.split(statistics[:, 1:], 3, axis=1)
        # A column that a piece never saw sits at the origin, with the prior's variance.
        means = sums / np.maximum(counts, np.finfo(float).tiny)
        scatter = np.maximum(squares - sums * means, 0.0)
        rows = counts + self.priors.extra_rows
        return DiagonalComponents(means, (scatter + prior.scale) / rows)

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        variances = cast(DiagonalComponents, components).variances
        scale = cast(NormalInverseGamma, prior).scale
        by_column = self.priors.extra_rows * np.log(variances) + scale / variances
        return float(-0.5 * by_column.sum())

    def natural(self, components: ComponentSet) -> Floats:
        known = cast(DiagonalComponents, components)
        precisions = 1.0 / known.variances
        linear = known.means * precisions
        constant = -0.5 * (known.means * linear + np.log(2.0 * np.pi * known.variances))
        nothing = np.zeros((known.n_components, 1))
        return np.hstack([nothing, constant, linear, -0.5 * precisions])


@dataclass(frozen=True)
class DiagonalPart(NumberPart):
    """Numbers for normal components with independent columns; they are never rotated."""

    made = DiagonalFamily

    def decode(self, components: ComponentSet) -> DiagonalComponents:
        known = cast(DiagonalComponents, components)
        outside = 1.0 - (self.rotation**2).sum(axis=1)
        variances = known.variances @ (self.rotation**2).T + self.leftover * outside
        variances = variances * self.scale**2
        return DiagonalComponents(self.decoded_means(known.means), variances[:, self._ascending])


DIAGONAL = FamilyEntry(
    name=DiagonalComponents.family,
    purpose="numbers, columns independent within a component",
    words="independent numbers",
    part=DiagonalPart,
)
