"""The distribution of one observed variable in each state of its parents.

A :class:`ComponentSet` holds the components C(X_i, j) of one observed variable, one for each
configuration of pa(X_i). Configurations are counted in C order over the parents' states, parents
in ascending order: with parents H_1 (2 states) and H_3 (3 states), component 4 is H_1=1, H_3=1.
A family of components is a subclass; saving and loading go through :meth:`ComponentSet.arrays`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model._arrays import FrozenArrays, frozen_array

_LOG_2PI = float(np.log(2.0 * np.pi))
_SYMMETRY_TOLERANCE = 1e-8


class ComponentSet(FrozenArrays, ABC):
    """The components of one observed variable; one subclass for each family."""

    family: ClassVar[str]
    _families: ClassVar[dict[str, type[ComponentSet]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
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
    def log_density(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log P(x | component) as an (N, n_components) array for an (N, width) block."""

    @abstractmethod
    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
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
        return ComponentSet._families[family](**arrays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ComponentSet):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return self.family == other.family and all(
            np.array_equal(mine[key], theirs[key]) for key in mine
        )

    def __hash__(self) -> int:
        return hash((self.family, *(array.tobytes() for array in self.arrays().values())))


@dataclass(frozen=True, eq=False, repr=False)
class GaussianComponents(ComponentSet):
    """Normal components with full covariances.

    Parameters
    ----------
    means : (n_components, width) array
    covariances : (n_components, width, width) array
        Symmetric and positive definite.
    """

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    family: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        means = frozen_array(self.means, np.float64, "component means")
        covariances = frozen_array(self.covariances, np.float64, "component covariances")
        if means.ndim != 2 or covariances.shape != (*means.shape, means.shape[-1]):
            raise InvalidInputError(
                "Gaussian components need means of shape (k, d) and covariances of shape "
                f"(k, d, d); got {means.shape} and {covariances.shape}"
            )
        if means.size == 0:
            raise InvalidInputError(
                "Gaussian components need at least one component and one column; got means of "
                f"shape {means.shape}"
            )
        if not (np.all(np.isfinite(means)) and np.all(np.isfinite(covariances))):
            raise InvalidInputError("Gaussian components need finite means and covariances")
        scale = np.abs(covariances).max()
        asymmetry = np.abs(covariances - np.swapaxes(covariances, 1, 2)).max()
        if asymmetry > _SYMMETRY_TOLERANCE * scale:
            raise InvalidInputError("component covariances should be symmetric")
        try:
            factors = np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError as error:
            raise InvalidInputError(
                "component covariances should be positive definite; at least one is not"
            ) from error
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "covariances", covariances)
        object.__setattr__(self, "_factors", factors)

    @property
    def n_components(self) -> int:
        return int(self.means.shape[0])

    @property
    def width(self) -> int:
        return int(self.means.shape[1])

    @property
    def _cholesky(self) -> NDArray[np.float64]:
        factors: NDArray[np.float64] = self.__dict__["_factors"]
        return factors

    def log_density(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        if block.ndim != 2 or block.shape[1] != self.width:
            raise InvalidInputError(
                f"a block of this variable should have shape (N, {self.width}); got {block.shape}"
            )
        result = np.empty((len(block), self.n_components))
        for j, (mean, factor) in enumerate(zip(self.means, self._cholesky, strict=True)):
            whitened = solve_triangular(factor, (block - mean).T, lower=True, check_finite=False)
            log_volume = float(np.log(np.diag(factor)).sum())
            result[:, j] = -0.5 * np.einsum("dn,dn->n", whitened, whitened) - log_volume
        return result - 0.5 * self.width * _LOG_2PI

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.n_components:
            raise InvalidInputError(
                f"component labels should run from 0 to {self.n_components - 1}; "
                f"got {int(labels.min())} to {int(labels.max())}"
            )
        rows = rng.standard_normal((len(labels), self.width))
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(self.n_components + 1))
        for j in range(self.n_components):
            members = order[bounds[j] : bounds[j + 1]]
            rows[members] = rows[members] @ self._cholesky[j].T + self.means[j]
        return rows

    def same_component(self, first: int, second: int) -> bool:
        return np.array_equal(self.means[first], self.means[second]) and np.array_equal(
            self.covariances[first], self.covariances[second]
        )

    def take(self, order: NDArray[np.int64]) -> GaussianComponents:
        return GaussianComponents(self.means[order], self.covariances[order])

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"means": self.means, "covariances": self.covariances}

    def __repr__(self) -> str:
        return f"GaussianComponents({self.n_components} components in R^{self.width})"
