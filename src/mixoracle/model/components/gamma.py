"""Positive amounts: Gamma components whose columns are independent within each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mixoracle.errors import InvalidInputError
from mixoracle.model.components.base import (
    Floats,
    IndependentColumns,
    WithMeans,
    parameters,
    positive_parameters,
)


@dataclass(frozen=True, eq=False, repr=False)
class GammaComponents(WithMeans, IndependentColumns):
    """Gamma components; the variance is mean² / shape.

    Parameters
    ----------
    means : (n_components, width) array
        Above 0.
    shapes : (n_components, width) array
        Above 0; 1 is exponential.
    """

    means: Floats
    shapes: Floats

    family: ClassVar[str] = "gamma"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        means = positive_parameters(means, means.shape, "component means")
        shapes = positive_parameters(self.shapes, means.shape, "component shapes")
        if not np.all(np.isfinite(shapes)):
            raise InvalidInputError("component shapes should be finite; at least one is not")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "shapes", shapes)

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

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        shapes = self.shapes[labels]
        return np.asarray(rng.standard_gamma(shapes) * self.means[labels] / shapes)

    def take(self, order: NDArray[np.int64]) -> GammaComponents:
        return GammaComponents(self.means[order], self.shapes[order])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "shapes": self.shapes}

    def __repr__(self) -> str:
        return f"GammaComponents({self.n_components} components over {self.width} amounts)"
