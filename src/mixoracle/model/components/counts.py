"""Counts: Poisson, or negative binomial where they scatter more than that.

A column counts events whose rate is the same for all rows of a component (Poisson) or differs
from row to row by a Gamma factor of mean 1 (negative binomial). The variance is
mean + mean² / size; an infinite size is Poisson. Columns are independent within a component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mixoracle.model.components.base import (
    Floats,
    IndependentColumns,
    WithMeans,
    parameters,
    positive_parameters,
)


@dataclass(frozen=True, eq=False, repr=False)
class CountComponents(WithMeans, IndependentColumns):
    """Negative binomial or Poisson components.

    Parameters
    ----------
    means : (n_components, width) array
        Above 0.
    sizes : (n_components, width) array
        Above 0; infinity is Poisson.
    """

    means: Floats
    sizes: Floats

    family: ClassVar[str] = "counts"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        means = positive_parameters(means, means.shape, "component means")
        sizes = positive_parameters(self.sizes, means.shape, "component sizes")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "sizes", sizes)

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        possible = (values >= 0) & (values == np.floor(values)) & np.isfinite(values)
        counts = np.where(possible, values, 0.0)[:, None]
        means, sizes = self.means[:, column], self.sizes[:, column]
        result = np.empty((len(values), self.n_components))
        poisson = np.isinf(sizes)
        rate, size = means[~poisson], sizes[~poisson]
        result[:, poisson] = counts * np.log(means[poisson]) - means[poisson]
        result[:, ~poisson] = (
            gammaln(counts + size)
            - gammaln(size)
            - size * np.log1p(rate / size)
            + counts * (np.log(rate) - np.log(rate + size))
        )
        return np.where(possible[:, None], result - gammaln(counts + 1.0), -np.inf)

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rates, sizes = self.means[labels], self.sizes[labels]
        mixed = np.isfinite(sizes)
        rates[mixed] *= rng.standard_gamma(sizes[mixed]) / sizes[mixed]
        return rng.poisson(rates).astype(np.float64)

    def take(self, order: NDArray[np.int64]) -> CountComponents:
        return CountComponents(self.means[order], self.sizes[order])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "sizes": self.sizes}

    def __repr__(self) -> str:
        return f"CountComponents({self.n_components} components over {self.width} counts)"
