"""The components over all of X as a table: what labelling hands over and decoding explains.

Each row is one component over X, with its label in every observed variable, the sufficient
statistics of every variable in it, and how many rows of the data it holds. Statistics of a family
add up, so whoever reads the table never goes back to the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families import Family, Prior


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
    most : tuple of int, optional
        The most components that each X_i may have, where that is known.
    """

    labels: Integers
    statistics: tuple[Floats, ...]
    families: tuple[Family, ...]
    priors: tuple[Prior, ...]
    counts: Floats
    most: tuple[int, ...] | None = None

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
