"""Positive amounts: Gamma components, the rate integrated out and the shape kept to a grid.

With the shape fixed the rate has a conjugate Gamma prior, so the statistics of a column are its
count, its sum and the sum of its logarithms. The prior of a component's mean is the same for each
shape: inverse Gamma about the column's mean, so that no unit of measurement enters.

Assumes numbers above 0, and columns that are independent within a component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import (
    ComponentSet,
    IndependentColumns,
    WithMeans,
    parameters,
    positive_parameters,
)
from mixoracle.families.grid import GridFamily
from mixoracle.families.missing import standardised
from mixoracle.families.units import Columns, FamilyEntry, Part
from mixoracle.settings import Priors

# From far more scatter than exponential amounts to 1 % of the mean, in steps of a factor 1.4,
# which misjudge the variance by at most 18 %, less than 0.01 nats a row.
SHAPES = np.geomspace(0.25, 10_000.0, 32)
# The shape parameter of the prior of the rate. With 2 a component's mean has the column's mean as
# expectation and no finite variance: factors of several are nothing unusual.
_PRIOR_SHAPE = 2.0
# The penalty on a component's mean is worth this many rows of exponential amounts, so that a
# component without rows has the column's mean.
_PENALTY_ROWS = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class GammaComponents(WithMeans, IndependentColumns):
    """Gamma components; the variance is mean² / shape.

    ``means`` and ``shapes`` are (n_components, width) and above 0; a shape of 1 is exponential.

    Examples
    --------
    >>> held = GammaComponents(np.array([[1.0], [5.0]]), np.full((2, 1), 2.0))
    >>> held.log_density(np.array([[0.5], [8.0]])).argmax(axis=1).tolist()
    [0, 1]
    """

    shapes: Floats

    family: ClassVar[str] = "gamma"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        means = positive_parameters(means, means.shape, "component means")
        shapes = positive_parameters(self.shapes, means.shape, "component shapes")
        if not np.all(np.isfinite(shapes)):
            raise InvalidInputError("component shapes should be finite; at least one is not")
        self._keep(means=means, shapes=shapes)

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        possible = values > 0
        amounts = np.where(possible, values, 1.0)[:, None]
        shapes = self.shapes[:, column]
        rates = shapes / self.means[:, column]
        result = (
            shapes * np.log(rates)
            - gammaln(shapes)
            + (shapes - 1.0) * np.log(amounts)
            - rates * amounts
        )
        return np.where(possible[:, None], result, -np.inf)

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        shapes = self.shapes[labels]
        return np.asarray(rng.standard_gamma(shapes) * self.means[labels] / shapes)

    def __repr__(self) -> str:
        return f"GammaComponents({self.n_components} components over {self.width} amounts)"


class GammaFamily(GridFamily):
    """Gamma components over ``width`` independent columns.

    The features are 1, then for all columns whether the value was seen, x, and log x.
    """

    grid = SHAPES
    made = GammaComponents

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        if np.any(block[seen] <= 0):
            raise InvalidInputError(
                f"Gamma components need amounts above 0; got {float(block[seen].min()):g}: "
                "declare the column as continuous, or make impossible amounts missing (NaN)"
            )
        values = np.where(seen, block, 0.0)
        logarithms = np.log(np.where(seen, block, 1.0))
        return np.hstack([seen.any(axis=1, keepdims=True), seen, values, logarithms])

    def embedding(self, block: Floats) -> Floats:
        return standardised(np.log(block))

    def natural(self, components: ComponentSet) -> Floats:
        known = cast(GammaComponents, components)
        rates = known.shapes / known.means
        constant = known.shapes * np.log(rates) - gammaln(known.shapes)
        nothing = np.zeros((known.n_components, 1))
        return np.hstack([nothing, constant, -rates, known.shapes - 1.0])

    def _log_evidence_on_grid(self, statistics: Floats, mean: Floats) -> Floats:
        seen, sums, logarithms = (
            part[:, :, None] for part in np.split(statistics[:, 1:], 3, axis=1)
        )
        # E[shape / rate] is then the column's mean, whatever the shape.
        rate = (_PRIOR_SHAPE - 1.0) * mean[:, None] / SHAPES
        shape = _PRIOR_SHAPE + seen * SHAPES
        return np.asarray(
            (SHAPES - 1.0) * logarithms
            - seen * gammaln(SHAPES)
            + _PRIOR_SHAPE * np.log(rate)
            - gammaln(_PRIOR_SHAPE)
            + gammaln(shape)
            - shape * np.log(rate + sums)
        )

    def _fit_on_grid(self, statistics: Floats, mean: Floats) -> tuple[Floats, Floats]:
        seen, sums, logarithms = (
            part[:, :, None] for part in np.split(statistics[:, 1:], 3, axis=1)
        )
        mean = mean[:, None]
        means = (SHAPES * sums + _PENALTY_ROWS * mean) / (SHAPES * seen + _PENALTY_ROWS)
        rates = SHAPES / means
        fit = (
            seen * (SHAPES * np.log(rates) - gammaln(SHAPES))
            + (SHAPES - 1.0) * logarithms
            - rates * sums
        )
        return means, fit + self._mean_penalty(means, SHAPES, mean)

    def _mean_penalty(self, means: Floats, values: Floats, mean: Floats) -> Floats:
        """The likelihood of exponential amounts of the prior's mean; the shape does not matter."""
        ratio = mean / means
        return np.asarray(_PENALTY_ROWS * (np.log(ratio) + 1.0 - ratio))

    def _typical_mean(self, sums: Floats, n_rows: Floats) -> Floats:
        return np.where(sums > 0, sums / n_rows, 1.0)


@dataclass(frozen=True)
class GammaPart(Part):
    """Positive amounts, in units of their mean."""

    mean: Floats

    @classmethod
    def fit(
        cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors
    ) -> GammaPart:
        return cls(columns, np.nanmean(block, axis=0), priors=priors)

    made = GammaFamily

    def encode(self, block: Floats) -> Floats:
        return np.asarray(block / self.mean)

    def decode(self, components: ComponentSet) -> GammaComponents:
        known = cast(GammaComponents, components)
        means = known.means * self.mean
        return GammaComponents(means[:, self._ascending], known.shapes[:, self._ascending])

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        return -float(((~np.isnan(block)).sum(axis=0) * np.log(self.mean)).sum())


def _check(seen: Floats, variable: str) -> None:
    if seen.min() <= 0:
        raise InvalidInputError(
            f"amounts of the family gamma should be above 0; {variable} is declared so and holds "
            f"{seen.min():g}: leave zeros missing, or add a small amount"
        )


GAMMA = FamilyEntry(
    name=GammaComponents.family,
    purpose="positive amounts",
    words="positive amounts",
    part=GammaPart,
    check=_check,
)
