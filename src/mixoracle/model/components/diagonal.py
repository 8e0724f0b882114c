"""Normal components whose columns are independent within each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.model.components.base import (
    Floats,
    IndependentColumns,
    WithMeans,
    parameters,
    positive_parameters,
)


@dataclass(frozen=True, eq=False, repr=False)
class DiagonalComponents(WithMeans, IndependentColumns):
    """Normal components with diagonal covariances.

    Parameters
    ----------
    means : (n_components, width) array
    variances : (n_components, width) array
        Above 0.
    """

    means: Floats
    variances: Floats

    family: ClassVar[str] = "diagonal"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        variances = positive_parameters(self.variances, means.shape, "component variances")
        if not np.all(np.isfinite(variances)):
            raise InvalidInputError("component variances should be finite; at least one is not")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "variances", variances)

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        variances = self.variances[:, column]
        squared = (values[:, None] - self.means[:, column]) ** 2
        return np.asarray(-0.5 * (squared / variances + np.log(2.0 * np.pi * variances)))

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        standard = rng.standard_normal((len(labels), self.width))
        return np.asarray(standard * np.sqrt(self.variances)[labels] + self.means[labels])

    def take(self, order: NDArray[np.int64]) -> DiagonalComponents:
        return DiagonalComponents(self.means[order], self.variances[order])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "variances": self.variances}

    def __repr__(self) -> str:
        return f"DiagonalComponents({self.n_components} components in R^{self.width})"
