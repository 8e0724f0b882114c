"""Student components: as the normal ones, with heavier tails.

A row is a normal row whose covariance was stretched by a random factor, one for all its columns.
The fewer the degrees of freedom, the more rows lie far out; all components share them. The cells
that were seen of a row with gaps are Student again, with the same degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mixoracle.errors import InvalidInputError
from mixoracle.model._arrays import frozen_array
from mixoracle.model.components.base import Floats, rows_by_pattern
from mixoracle.model.components.ellipsoids import (
    Ellipsoids,
    checked_ellipsoids,
    marginal,
    placed,
    squared_distances,
)


@dataclass(frozen=True, eq=False, repr=False)
class StudentComponents(Ellipsoids):
    """Multivariate Student components that share their degrees of freedom.

    Parameters
    ----------
    means : (n_components, width) array
        The centres; they are means where ``degrees`` exceeds 1.
    scales : (n_components, width, width) array
        Symmetric and positive definite; the covariance is ``degrees / (degrees - 2)`` times it.
    degrees : number
        Degrees of freedom ν, above 0.
    """

    means: Floats
    scales: Floats
    degrees: Floats

    family: ClassVar[str] = "student"

    def __post_init__(self) -> None:
        means, scales, factors = checked_ellipsoids(self.means, self.scales, "Student", "scales")
        degrees = frozen_array(self.degrees, np.float64, "degrees of freedom")
        if degrees.shape != () or not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                "the degrees of freedom of Student components should be one number above 0, "
                f"shared by all; got {np.asarray(self.degrees)!r}"
            )
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "degrees", degrees)
        object.__setattr__(self, "_factors", factors)

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        degrees = float(self.degrees)
        result = np.zeros((len(block), self.n_components))
        for rows, columns in rows_by_pattern(block):
            means, factors = marginal(self.means, self.scales, columns)
            squared, volume = squared_distances(block[np.ix_(rows, columns)], means, factors)
            result[rows] = log_student(squared, degrees, len(columns)) - volume
        return result

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        degrees = float(self.degrees)
        rows = rng.standard_normal((len(labels), self.width))
        rows *= np.sqrt(degrees / rng.chisquare(degrees, (len(labels), 1)))
        return placed(rows, labels, self.means, self._cholesky)

    def same_component(self, first: int, second: int) -> bool:
        return np.array_equal(self.means[first], self.means[second]) and np.array_equal(
            self.scales[first], self.scales[second]
        )

    def take(self, order: NDArray[np.int64]) -> StudentComponents:
        return StudentComponents(self.means[order], self.scales[order], self.degrees)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "scales": self.scales, "degrees": self.degrees}

    def __repr__(self) -> str:
        return (
            f"StudentComponents({self.n_components} components in R^{self.width}, "
            f"{float(self.degrees):g} degrees of freedom)"
        )


def log_student(squared: Floats, degrees: float, width: int) -> Floats:
    """The log density at squared Mahalanobis distances, but for the volume of the scale."""
    constant = (
        gammaln(0.5 * (degrees + width))
        - gammaln(0.5 * degrees)
        - 0.5 * width * np.log(degrees * np.pi)
    )
    return np.asarray(constant - 0.5 * (degrees + width) * np.log1p(squared / degrees))
