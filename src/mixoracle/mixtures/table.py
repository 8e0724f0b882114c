"""The components over all of X as a table: what labelling hands over and decoding explains.

Each row is one component over X, with its label in every observed variable, the sufficient
statistics of every variable in it, and how many rows of the data it holds. Statistics of a family
add up, so whoever reads the table never goes back to the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.families import Family, Prior
from mixoracle.families.base import Floats
from mixoracle.mixtures.merging import pool
from mixoracle.model.joint_states import distinct_rows


@dataclass(frozen=True)
class ComponentTable:
    """T components over X in n observed variables.

    Attributes
    ----------
    labels : (T, n) int array
        L: the component of each X_i in each component over X.
    statistics : tuple of (T, f_i) arrays
        The sufficient statistics of X_i in each component over X, by its family.
    families, priors : tuple
        The family of each X_i with its prior.
    counts : (T,) array
        How many rows of the data each component over X holds; shares of rows count as such.
    is_family_trusted : bool
        Where the families are not to be relied on, more components always fit better, and the
        evidence must not ask for more than were seen.
    """

    labels: NDArray[np.int64]
    statistics: tuple[Floats, ...]
    families: tuple[Family, ...]
    priors: tuple[Prior, ...]
    counts: Floats
    is_family_trusted: bool = True

    def __post_init__(self) -> None:
        n_components, n_observed = self.labels.shape
        parts = (self.statistics, self.families, self.priors)
        if any(len(part) != n_observed for part in parts):
            raise InvalidInputError(
                f"a table with labels of {n_observed} observed variables needs statistics, a "
                f"family and a prior for each; got {[len(part) for part in parts]}"
            )
        lengths = {len(self.counts), *map(len, self.statistics)}
        if lengths - {n_components}:
            raise InvalidInputError(
                f"a table with labels of {n_components} components over X needs as many counts "
                f"and rows of statistics; got {sorted(lengths)}"
            )

    @property
    def n_components(self) -> int:
        """T, how many components over X there are."""
        return len(self.labels)

    @property
    def n_observed(self) -> int:
        """n, how many observed variables there are."""
        return int(self.labels.shape[1])

    def variables(self) -> Iterator[tuple[Floats, Family, Prior]]:
        """The statistics of each observed variable with its family and prior, one after another."""
        return zip(self.statistics, self.families, self.priors, strict=True)


def tabulate(
    labels: NDArray[np.int64],
    features: Sequence[Floats],
    families: Sequence[Family],
    priors: Sequence[Prior],
) -> ComponentTable:
    """The table in which every tuple of labels that occurs is a component over X.

    ``labels`` (N, n) are those of each row of the data, ``features[i]`` (N, f_i) its features.
    """
    rows, index, counts = distinct_rows(labels)
    statistics = tuple(pool(of_rows, index, len(rows)) for of_rows in features)
    return ComponentTable(
        rows, statistics, tuple(families), tuple(priors), counts.astype(np.float64)
    )
