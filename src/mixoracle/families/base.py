"""What all families share: components of one observed variable, and how they are learned.

A :class:`ComponentSet` holds the components C(X_i, j) of one observed variable in its own units,
one for each configuration of pa(X_i). Configurations are counted in C order over the parents'
states, parents in ascending order: with parents H_1 (2 states) and H_3 (3 states), component 4 is
H_1=1, H_3=1.

A :class:`Family` learns such components over coordinates, from *additive statistics*: each row of
a block is turned into a feature vector, and the statistics of a piece of data are the (weighted)
sum of its rows' features. Pieces are then merged by adding, and the evidence, the fit and the log
density all read off sums. That is what keeps counting components, decoding and EM quick: none of
them goes back to the rows.

Values may be missing (NaN), at random. The density of a row is then that of the values that were
seen, and a row without any has log density 0 in every component. A missing value has features 0.
For a family whose columns are independent within a component that is all there is to it, because
each column brings its own count. A family with dependence between the columns is given which
values were seen (:class:`Patterns`), and uses the distribution of those alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import (
    Bools,
    Floats,
    FrozenArrays,
    Integers,
    distinct_patterns,
    frozen_array,
    rows_of_each,
)
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.settings import Priors


@dataclass(frozen=True)
class Entry:
    """What one average is of: a column, or one of its levels, by code."""

    column: int
    level: int | None = None

    def title(self, name: str, width: int) -> str:
        """``X1``, ``X1[2]`` if it is wider than a column, ``X1[2] = 0`` for a level."""
        column = name if width == 1 else f"{name}[{self.column}]"
        return column if self.level is None else f"{column} = {self.level}"


@dataclass(frozen=True, eq=False)
class Averages:
    """The averages of components, whatever their family.

    A column of numbers has its mean; a column of levels has the probability of each level, which
    is the mean of "is it this level?". So an average over components, weighted by how likely they
    are, is right for every column of every family.

    Parameters
    ----------
    entries : tuple of Entry
        In the order of the columns, and within a column in the order of its levels.
    values : (n_components, n_entries) array
        NaN where a component has no mean.
    """

    entries: tuple[Entry, ...]
    values: Floats

    @classmethod
    def of_means(cls, means: Floats) -> Averages:
        """Columns of numbers, ``means`` (n_components, width)."""
        return cls(tuple(map(Entry, range(means.shape[1]))), means)


@dataclass(frozen=True, eq=False, repr=False)
class ComponentSet(FrozenArrays, ABC):
    """The components of one observed variable; one subclass for each family.

    Examples
    --------
    >>> from mixoracle.model import GaussianComponents
    >>> isinstance(GaussianComponents(np.zeros((2, 1)), np.ones((2, 1, 1))), ComponentSet)
    True
    """

    family: ClassVar[str]
    # Parameters that all components share. The first axis of all others counts the components.
    shared: ClassVar[frozenset[str]] = frozenset()
    _families: ClassVar[dict[str, type[ComponentSet]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class that several families share has no name of its own.
        if "family" in vars(cls):
            ComponentSet._families[cls.family] = cls

    @property
    @abstractmethod
    def n_components(self) -> int:
        """How many components there are, k(X_i)."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns the observed variable has."""

    @abstractmethod
    def log_density(self, block: Floats) -> Floats:
        """Return log P(x | component) as an (N, n_components) array for an (N, width) block.

        Missing values are NaN; the density is that of the others.
        """

    @abstractmethod
    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        """Draw one row from component ``labels[r]`` for each r; an (N, width) array."""

    def averages(self) -> Averages:
        """The mean of each column of numbers, the probability of each level of the others."""
        return Averages.of_means(np.full((self.n_components, self.width), np.nan))

    def first_equal(self) -> Integers:
        """Of each component, the first one that is the same distribution."""
        own = [array for name, array in self.arrays().items() if name not in self.shared]
        # Adding zero makes one zero of the two that there are.
        rows = [(array.reshape((self.n_components, -1)) + 0.0) for array in own]
        first: dict[bytes, int] = {}
        return np.array(
            [
                first.setdefault(b"".join(row[k].tobytes() for row in rows), k)
                for k in range(self.n_components)
            ]
        )

    def take(self, order: Integers) -> Self:
        """Return the components ``order``, in that order."""
        return type(self)(
            **{
                name: array if name in self.shared else array[order]
                for name, array in self.arrays().items()
            }
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as plain arrays, keyed by the constructor's argument names."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}

    @staticmethod
    def from_arrays(
        family: str, arrays: Mapping[str, NDArray[Any]], prefix: str = ""
    ) -> ComponentSet:
        """Rebuild what :meth:`arrays` took apart, from the arrays whose names have the prefix."""
        if family not in ComponentSet._families:
            known = ", ".join(sorted(ComponentSet._families))
            raise FileFormatError(
                f"unknown component family {family!r}; this version knows {known}"
            )
        own = {key.removeprefix(prefix): arrays[key] for key in arrays if key.startswith(prefix)}
        return ComponentSet._families[family]._rebuilt(own)

    @classmethod
    def _rebuilt(cls, arrays: Mapping[str, NDArray[Any]]) -> ComponentSet:
        """A family whose arrays are not its constructor's arguments says how they become so."""
        return cls(**arrays)

    def _check_block(self, block: Floats) -> None:
        if block.ndim != 2 or block.shape[1] != self.width:
            raise InvalidInputError(
                f"a block of this variable should have shape (N, {self.width}); got {block.shape}"
            )

    def _check_labels(self, labels: Integers) -> None:
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.n_components:
            raise InvalidInputError(
                f"component labels should run from 0 to {self.n_components - 1}; "
                f"got {int(labels.min())} to {int(labels.max())}"
            )


@dataclass(frozen=True, eq=False, repr=False)
class WithMeans(ComponentSet):
    """Components with ``means`` (n_components, width) as their first parameter."""

    means: Floats

    @property
    def n_components(self) -> int:
        return int(self.means.shape[0])

    @property
    def width(self) -> int:
        return int(self.means.shape[1])

    def averages(self) -> Averages:
        return Averages.of_means(self.means)


class IndependentColumns(ComponentSet):
    """Components whose columns are independent within each: a row's density is a product."""

    @abstractmethod
    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        """The log density of n values of one column, none of them missing: (n, n_components)."""

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        result = np.zeros((len(block), self.n_components))
        for column, values in enumerate(np.asarray(block, dtype=np.float64).T):
            missing = np.isnan(values)
            if not missing.any():
                result += self._log_density_of_column(column, values)
            elif not missing.all():
                seen = np.flatnonzero(~missing)
                result[seen] += self._log_density_of_column(column, values[seen])
        return result


def parameters(values: Any, what: str) -> Floats:
    """A (n_components, width) array of finite numbers, with something in it."""
    array = frozen_array(values, np.float64, what)
    if array.ndim != 2 or array.size == 0:
        raise InvalidInputError(
            f"{what} should have shape (k, d), with at least one component and one column; got "
            f"{array.shape}"
        )
    if not np.all(np.isfinite(array)):
        raise InvalidInputError(f"{what} should be finite; at least one is not")
    return array


def positive_parameters(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """An array of numbers above 0, perhaps infinite, of the shape that the others have."""
    array = frozen_array(values, np.float64, what)
    if array.shape != shape:
        raise InvalidInputError(f"{what} should have shape {shape}; got {array.shape}")
    if not np.all(array > 0):
        raise InvalidInputError(f"{what} should be above 0; the smallest is {array.min():.3g}")
    return array


@dataclass(frozen=True)
class Patterns:
    """Which values of a block were seen.

    ``seen`` (P, width) holds the patterns that occur, ``which`` (N,) the pattern of each row.
    """

    seen: Bools
    which: Integers

    @classmethod
    def of(cls, block: Floats) -> Patterns | None:
        """The patterns of a block, or None if nothing is missing."""
        missing = np.isnan(block)
        if not missing.any():
            return None
        return cls(*distinct_patterns(~missing))

    def take(self, rows: Integers | Bools | slice) -> Patterns:
        """The patterns of some of the rows."""
        return Patterns(self.seen, self.which[rows])

    @cached_property
    def is_all_or_nothing(self) -> bool:
        """Whether each row was seen as a whole or not at all: then its features say it all."""
        return bool(np.all(self.seen.all(axis=1) | ~self.seen.any(axis=1)))

    def of_columns(self, columns: Integers) -> Patterns:
        """The patterns within some of the columns."""
        seen, where = np.unique(self.seen[:, columns], axis=0, return_inverse=True)
        return Patterns(seen, where.ravel()[self.which].astype(np.int64))

    def with_rows(self) -> Iterator[tuple[Bools, Integers]]:
        """Each pattern that occurs, with its rows; that with nothing seen is passed over."""
        for pattern, rows in zip(self.seen, rows_of_each(self.which, len(self.seen)), strict=True):
            if pattern.any() and len(rows):
                yield pattern, rows


# None where no value is missing.
Missing = Patterns | None


class Prior(Protocol):
    """What a family believes of a component before it sees one: made by :meth:`Family.prior`."""


class Family(ABC):
    """One family of component distributions for blocks of one width."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Free parameters of one component."""

    def joined_with(self, other: Family) -> Family | None:
        """One family over the columns of both, if it is quicker and as good; else None."""
        return None

    @abstractmethod
    def features(self, block: Floats) -> Floats:
        """The feature vector of each row, (N, width) to (N, n_features).

        Column 0 is 1, or 0 in a row with nothing in it; missing values (NaN) have features 0.
        """

    @abstractmethod
    def embedding(self, block: Floats) -> Floats:
        """Coordinates in which rows of one component lie close together, with no value missing."""

    @abstractmethod
    def prior(self, statistics: Floats) -> Prior:
        """The prior that these components suggest, (k, n_features)."""

    @abstractmethod
    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        """The log marginal likelihood of each piece as one component, (k, n_features) to (k,)."""

    def own_evidence(self, levels: Sequence[Floats]) -> list[tuple[Prior, float]]:
        """The prior that each set of pieces suggests, and their log evidence under it."""
        priors = [self.prior(level) for level in levels]
        return [
            (prior, float(self.log_evidence(level, prior).sum()))
            for level, prior in zip(levels, priors, strict=True)
        ]

    @abstractmethod
    def components(self, statistics: Floats, prior: Prior) -> ComponentSet:
        """The posterior mode (or mean) component of each piece."""

    @abstractmethod
    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        """What :meth:`components` maximises besides the log-likelihood."""

    @abstractmethod
    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        """The log density of what was seen of each row, (N, n_features) to (N, k).

        Without ``patterns`` it may be asked for the sum over pieces as well.
        """

    def statistics(
        self, features: Floats, share: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        """The expected statistics of each component, ``share`` (N, k) of each row being in it.

        Where nothing is missing, or columns are independent, this will do.
        """
        return np.asarray(share.T @ features)

    def completed(
        self,
        features: Floats,
        labels: Integers,
        components: ComponentSet | None,
        patterns: Missing = None,
    ) -> Floats:
        """Features that may be added up without patterns, given the component of each row.

        Without ``components``, what the rows with the same label show is used instead. Where
        nothing is missing, or columns are independent, all features are such.
        """
        return features


class LinearFamily(Family):
    """A family whose log density is linear in the features, with values missing or not."""

    @abstractmethod
    def natural(self, components: ComponentSet) -> Floats:
        """The coefficients of the features in the log density, (k, n_features)."""

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        return np.asarray(features @ self.natural(components).T)


class ColumnwiseFamily(LinearFamily):
    """Components over ``width`` independent columns, with two parameters for each."""

    def __init__(self, width: int, *, priors: Priors = Priors()) -> None:
        self.width = width
        self.priors = priors

    @property
    def n_parameters(self) -> int:
        return 2 * self.width
