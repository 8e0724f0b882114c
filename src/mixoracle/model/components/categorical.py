"""Answers: each column of a component has a probability for each of its levels.

Levels are codes 0, 1, …, one less than their number; a yes-or-no column (Bernoulli) has two.
Columns are independent within a component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.model._arrays import frozen_whole_numbers
from mixoracle.model.components.base import Floats, IndependentColumns, parameters

# Rounding of a sum of a thousand levels; more is a mistake of the caller's.
_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalComponents(IndependentColumns):
    """Components over columns with levels.

    Parameters
    ----------
    probabilities : (n_components, n_levels.sum()) array
        The levels of the first column, then those of the second, and so on; each column's sum
        to 1.
    n_levels : (width,) whole numbers
        How many levels each column has.
    """

    probabilities: Floats
    n_levels: NDArray[np.int64]

    family: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        probabilities = parameters(self.probabilities, "level probabilities")
        n_levels = frozen_whole_numbers(self.n_levels, "numbers of levels")
        if n_levels.ndim != 1 or len(n_levels) == 0 or np.any(n_levels < 1):
            raise InvalidInputError(
                "numbers of levels should be at least 1, one for each column; got "
                f"{np.asarray(self.n_levels)!r}"
            )
        if probabilities.shape[1] != n_levels.sum():
            raise InvalidInputError(
                f"columns with {n_levels.tolist()} levels need {int(n_levels.sum())} "
                f"probabilities in each component; got {probabilities.shape[1]}"
            )
        sums = np.add.reduceat(probabilities, level_starts(n_levels), axis=1)
        if np.any(probabilities < 0) or np.any(np.abs(sums - 1.0) > _SUM_TOLERANCE):
            raise InvalidInputError(
                "level probabilities should not be negative, and those of each column should sum "
                f"to 1; got a smallest of {probabilities.min():.3g} and sums from "
                f"{sums.min():.9g} to {sums.max():.9g}"
            )
        object.__setattr__(self, "probabilities", probabilities)
        object.__setattr__(self, "n_levels", n_levels)

    @property
    def n_components(self) -> int:
        return int(self.probabilities.shape[0])

    @property
    def width(self) -> int:
        return len(self.n_levels)

    def of_column(self, column: int) -> Floats:
        """The probabilities of one column's levels, (n_components, levels)."""
        start = int(level_starts(self.n_levels)[column])
        return self.probabilities[:, start : start + int(self.n_levels[column])]

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        codes = level_codes(values, int(self.n_levels[column]), column)
        with np.errstate(divide="ignore"):  # a level of probability 0 has log density -inf
            return np.asarray(np.log(self.of_column(column)).T[codes])

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rows = np.empty((len(labels), self.width))
        for column in range(self.width):
            # The last bound is left out: rounding may put it below a drawn number.
            bounds = np.cumsum(self.of_column(column), axis=1)[:, :-1]
            rows[:, column] = (rng.random((len(labels), 1)) >= bounds[labels]).sum(axis=1)
        return rows

    def take(self, order: NDArray[np.int64]) -> CategoricalComponents:
        return CategoricalComponents(self.probabilities[order], self.n_levels)

    def _by_component(self) -> dict[str, NDArray[Any]]:
        return {"probabilities": self.probabilities}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"probabilities": self.probabilities, "n_levels": self.n_levels}

    def __repr__(self) -> str:
        levels = ", ".join(str(size) for size in self.n_levels)
        return f"CategoricalComponents({self.n_components} components, levels {levels})"


def level_starts(n_levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the levels of each column begin, when they stand side by side."""
    return np.cumsum(n_levels) - n_levels


def level_codes(values: Floats, n_levels: int, column: int) -> NDArray[np.int64]:
    """Codes as whole numbers; what is no code of this column is refused."""
    if np.any((values < 0) | (values >= n_levels) | (values != np.floor(values))):
        wrong = values[(values < 0) | (values >= n_levels) | (values != np.floor(values))]
        raise InvalidInputError(
            f"column {column} has codes 0 to {n_levels - 1}; got {float(wrong[0]):g}: recode it, "
            "or make an unknown level a missing cell (NaN)"
        )
    return values.astype(np.int64)
