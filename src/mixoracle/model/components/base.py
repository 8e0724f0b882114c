"""The distribution of one observed variable in each state of its parents.

A :class:`ComponentSet` holds the components C(X_i, j) of one observed variable, one for each
configuration of pa(X_i). Configurations are counted in C order over the parents' states, parents
in ascending order: with parents H_1 (2 states) and H_3 (3 states), component 4 is H_1=1, H_3=1.
A family of components is a subclass; saving and loading go through :meth:`ComponentSet.arrays`.

Cells may be missing (NaN), at random: the density of a row is then that of the cells that were
seen, and a row without any has log density 0 in every component.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model._arrays import FrozenArrays, frozen_array

Floats = NDArray[np.float64]


class ComponentSet(FrozenArrays, ABC):
    """The components of one observed variable; one subclass for each family."""

    family: ClassVar[str]
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

        Missing cells are NaN; the density is that of the others.
        """

    @abstractmethod
    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Draw one row from component ``labels[r]`` for each r; an (N, width) array."""

    @abstractmethod
    def same_component(self, first: int, second: int) -> bool:
        """Whether two components are the same distribution."""

    @abstractmethod
    def take(self, order: NDArray[np.int64]) -> ComponentSet:
        """Return the components ``order``, in that order."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parameters as plain arrays, keyed by the constructor's argument names."""

    @staticmethod
    def from_arrays(family: str, arrays: Mapping[str, NDArray[Any]]) -> ComponentSet:
        """Rebuild what :meth:`arrays` took apart."""
        if family not in ComponentSet._families:
            known = ", ".join(sorted(ComponentSet._families))
            raise FileFormatError(
                f"unknown component family {family!r}; this version knows {known}"
            )
        return ComponentSet._families[family]._rebuilt(arrays)

    @classmethod
    def _rebuilt(cls, arrays: Mapping[str, NDArray[Any]]) -> ComponentSet:
        """A family whose arrays are not its constructor's arguments says how they become so."""
        return cls(**arrays)

    def _check_block(self, block: Floats) -> None:
        if block.ndim != 2 or block.shape[1] != self.width:
            raise InvalidInputError(
                f"a block of this variable should have shape (N, {self.width}); got {block.shape}"
            )

    def _check_labels(self, labels: NDArray[np.int64]) -> None:
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.n_components:
            raise InvalidInputError(
                f"component labels should run from 0 to {self.n_components - 1}; "
                f"got {int(labels.min())} to {int(labels.max())}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComponentSet):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return (
            self.family == other.family
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[key], theirs[key]) for key in mine)
        )

    def __hash__(self) -> int:
        return hash((self.family, *(array.tobytes() for array in self.arrays().values())))


class WithMeans(ComponentSet):
    """Components with ``means`` (n_components, width) among their parameters."""

    means: Floats

    @property
    def n_components(self) -> int:
        return int(self.means.shape[0])

    @property
    def width(self) -> int:
        return int(self.means.shape[1])


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

    def same_component(self, first: int, second: int) -> bool:
        return all(
            np.array_equal(array[first], array[second]) for array in self._by_component().values()
        )

    def _by_component(self) -> dict[str, NDArray[Any]]:
        """The arrays whose first axis counts the components."""
        return self.arrays()


def rows_by_pattern(block: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows with the same cells seen, and those columns; rows without any are passed over."""
    seen, which = np.unique(~np.isnan(block), axis=0, return_inverse=True)
    for pattern, rows in rows_of_patterns(seen, which.ravel()):
        yield rows, np.flatnonzero(pattern)


def rows_of_patterns(
    seen: NDArray[np.bool_], which: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Each pattern of ``seen`` (P, width) that occurs in ``which`` (N,), with its rows.

    The pattern of rows with nothing seen is passed over.
    """
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(seen) + 1))
    for p, pattern in enumerate(seen):
        if pattern.any() and bounds[p] < bounds[p + 1]:
            yield pattern, order[bounds[p] : bounds[p + 1]]


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
