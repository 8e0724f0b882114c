"""From a variable's own units to the coordinates that learning uses, and back.

A block is split into parts by the family of its columns, and each part has an encoder of its own:
numbers are centred and scaled, amounts are divided by their mean, counts and levels stay as they
are. So no unit of measurement enters, and components that were learned over coordinates are
brought back into the units that they came in. A part with gaps keeps them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray

from mixoracle.families import (
    CategoricalFamily,
    CountFamily,
    DiagonalFamily,
    Family,
    GammaFamily,
    GaussianFamily,
    ProductFamily,
    StudentFamily,
)
from mixoracle.families.base import Floats
from mixoracle.families.gaussian import VARIANCE_FLOOR
from mixoracle.model import (
    CategoricalComponents,
    ComponentSet,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)

MAX_WIDTH = 24
# A column whose spread is below this share of its size differs by rounding only.
_CONSTANT_SHARE = 1e-12
# Standard deviation given to a constant column, relative to its size, where a density is needed.
_CONSTANT_SPREAD = 1e-3
# Degrees of freedom of Student components: heavy tails, but with a variance and a skewness. EM
# with degrees of their own for each component rarely beats a fixed few.
STUDENT_DEGREES = 4.0

Columns = NDArray[np.int64]


class Part(ABC):
    """The columns of a block that share a family; ``columns`` (w,) are their places in it.

    Coordinates stand in the order of ``columns``, components in own units in ascending order.
    """

    columns: Columns

    @property
    def _ascending(self) -> Columns:
        return np.argsort(self.columns)

    @property
    @abstractmethod
    def family(self) -> Family:
        """The family of the components over coordinates."""

    @property
    @abstractmethod
    def n_coordinates(self) -> int:
        """How many coordinates the part has."""

    @abstractmethod
    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, w) to (N, n_coordinates)."""

    @abstractmethod
    def decode(self, components: ComponentSet) -> ComponentSet:
        """Components over coordinates to components in own units."""

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        return 0.0

    def moved(self, order: Columns) -> Self:
        """The same part of a block whose columns stand in another order."""
        return replace(self, columns=order[self.columns])  # type: ignore[type-var]


@dataclass(frozen=True)
class NumberPart(Part):
    """Numbers of any size: normal, or Student, components.

    ``coordinates = ((block - shift) / scale) @ rotation``, where ``rotation`` is (w, d) with
    orthonormal columns, and ``leftover`` the variance of each scaled column outside of them. It
    selects columns where there are gaps.
    """

    columns: Columns
    shift: Floats
    scale: Floats
    rotation: Floats
    leftover: float
    kind: str

    @cached_property
    def family(self) -> Family:
        if self.kind == "diagonal":
            return DiagonalFamily(self.n_coordinates)
        if self.kind == "student":
            return StudentFamily(self.n_coordinates, STUDENT_DEGREES)
        return GaussianFamily(self.n_coordinates)

    @property
    def n_coordinates(self) -> int:
        return int(self.rotation.shape[1])

    @cached_property
    def _selected(self) -> Columns | None:
        """The columns that are the coordinates, if nothing is rotated."""
        chosen = self.rotation.argmax(axis=0)
        plain = np.eye(len(self.rotation))[:, chosen]
        return chosen if np.array_equal(plain, self.rotation) else None

    def encode(self, block: Floats) -> Floats:
        scaled = np.asarray((block - self.shift) / self.scale)
        if self._selected is not None:
            return scaled if len(self._selected) == scaled.shape[1] else scaled[:, self._selected]
        return scaled @ self.rotation

    def decode(self, components: ComponentSet) -> ComponentSet:
        if isinstance(components, DiagonalComponents):
            return self._decode_diagonal(components)
        if isinstance(components, GaussianComponents):
            return GaussianComponents(*self._unrotated(components.means, components.covariances))
        held = cast(StudentComponents, components)
        return StudentComponents(*self._unrotated(held.means, held.scales), held.degrees)

    def _unrotated(self, means: Floats, matrices: Floats) -> tuple[Floats, Floats]:
        outside = np.eye(len(self.scale)) - self.rotation @ self.rotation.T
        whole = self.rotation @ matrices @ self.rotation.T + self.leftover * outside
        whole = whole * self.scale[:, None] * self.scale[None, :]
        whole = 0.5 * (whole + np.swapaxes(whole, 1, 2))
        own = means @ self.rotation.T * self.scale + self.shift
        order = self._ascending
        return own[:, order], whole[:, order][:, :, order]

    def _decode_diagonal(self, components: DiagonalComponents) -> DiagonalComponents:
        outside = 1.0 - (self.rotation**2).sum(axis=1)
        variances = components.variances @ (self.rotation**2).T + self.leftover * outside
        variances = variances * self.scale**2
        means = components.means @ self.rotation.T * self.scale + self.shift
        return DiagonalComponents(means[:, self._ascending], variances[:, self._ascending])

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        seen = ~np.isnan(block)
        scaled = np.where(seen, (block - self.shift) / self.scale, 0.0)
        n_outside = float(seen.sum() - (~np.isnan(coordinates)).sum())
        energy = max(float((scaled**2).sum() - np.nansum(coordinates**2)), 0.0)
        volume = 0.5 * n_outside * np.log(2.0 * np.pi * self.leftover)
        volume += float((seen.sum(axis=0) * np.log(self.scale)).sum())
        return float(-0.5 * energy / self.leftover - volume)


@dataclass(frozen=True)
class AmountPart(Part):
    """Positive amounts, in units of their mean: Gamma components."""

    columns: Columns
    mean: Floats

    @cached_property
    def family(self) -> Family:
        return GammaFamily(len(self.columns))

    @property
    def n_coordinates(self) -> int:
        return len(self.columns)

    def encode(self, block: Floats) -> Floats:
        return np.asarray(block / self.mean)

    def decode(self, components: ComponentSet) -> ComponentSet:
        held = cast(GammaComponents, components)
        means = held.means * self.mean
        return GammaComponents(means[:, self._ascending], held.shapes[:, self._ascending])

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        return -float(((~np.isnan(block)).sum(axis=0) * np.log(self.mean)).sum())


@dataclass(frozen=True)
class CountPart(Part):
    """Counts as they are: Poisson and negative binomial components."""

    columns: Columns

    @cached_property
    def family(self) -> Family:
        return CountFamily(len(self.columns))

    @property
    def n_coordinates(self) -> int:
        return len(self.columns)

    def encode(self, block: Floats) -> Floats:
        return block

    def decode(self, components: ComponentSet) -> CountComponents:
        held = cast(CountComponents, components)
        return CountComponents(held.means[:, self._ascending], held.sizes[:, self._ascending])


@dataclass(frozen=True)
class LevelPart(Part):
    """Codes of levels as they are: categorical components."""

    columns: Columns
    n_levels: tuple[int, ...]

    @cached_property
    def family(self) -> Family:
        return CategoricalFamily(self.n_levels)

    @property
    def n_coordinates(self) -> int:
        return len(self.columns)

    def encode(self, block: Floats) -> Floats:
        return block

    def decode(self, components: ComponentSet) -> CategoricalComponents:
        held = cast(CategoricalComponents, components)
        by_column = [held.of_column(int(column)) for column in self._ascending]
        return CategoricalComponents(np.hstack(by_column), held.n_levels[self._ascending])


@dataclass(frozen=True)
class Encoder:
    """The map of one variable's block to coordinates: its parts side by side."""

    parts: tuple[Part, ...]

    @cached_property
    def family(self) -> Family:
        """The family of this variable's components."""
        if len(self.parts) == 1:
            return self.parts[0].family
        spans = np.split(
            np.arange(sum(part.n_coordinates for part in self.parts)),
            np.cumsum([part.n_coordinates for part in self.parts])[:-1],
        )
        return ProductFamily(
            [(part.family, span.tolist()) for part, span in zip(self.parts, spans, strict=True)]
        )

    def for_search(self) -> Encoder:
        """The same map with families whose evidence is exact, as the search for structure needs.

        Heavy tails are told by gaps in density there, and by Student components afterwards.
        """
        if not any(isinstance(p, NumberPart) and p.kind == "student" for p in self.parts):
            return self
        return Encoder(
            tuple(
                replace(p, kind="gaussian") if isinstance(p, NumberPart) else p for p in self.parts
            )
        )

    @property
    def is_identifiable(self) -> bool:
        """Whether the components of such a variable can be told from the variable alone.

        A mixture of products of levels needs three columns for that (Kruskal's condition).
        """
        return len(self.parts) > 1 or not (
            isinstance(self.parts[0], LevelPart) and len(self.parts[0].columns) < 3
        )

    @property
    def numbers(self) -> Columns | None:
        """The coordinates whose shape may be judged, if all are numbers of any size."""
        only = self.parts[0] if len(self.parts) == 1 else None
        if isinstance(only, NumberPart) and only.kind != "diagonal":
            return np.arange(only.n_coordinates)
        return None

    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, width) to (N, d)."""
        coded = [part.encode(_taken(block, part.columns)) for part in self.parts]
        return coded[0] if len(coded) == 1 else np.hstack(coded)

    def decode(self, components: ComponentSet) -> ComponentSet:
        """Components over coordinates to components in the variable's own units."""
        if len(self.parts) == 1:
            return self.parts[0].decode(components)
        held = cast(ProductComponents, components)
        decoded = [part.decode(own) for part, own in zip(self.parts, held.parts, strict=True)]
        columns = tuple(tuple(np.sort(part.columns).tolist()) for part in self.parts)
        return ProductComponents(tuple(decoded), columns)

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        total, start = 0.0, 0
        for part in self.parts:
            own = coordinates[:, start : start + part.n_coordinates]
            total += part.log_units(_taken(block, part.columns), own)
            start += part.n_coordinates
        return total


def _taken(block: Floats, columns: Columns) -> Floats:
    """Some columns, without a copy where they are all in order."""
    if np.array_equal(columns, np.arange(block.shape[1])):
        return block
    return block[:, columns]


def number_part(block: Floats, columns: Columns, kind: str) -> NumberPart:
    """Learn the units of numbers; more than :data:`MAX_WIDTH` columns are seen through fewer.

    With gaps they are taken as independent within a component instead, because a rotation would
    spread each gap over all coordinates.
    """
    seen = ~np.isnan(block)
    shift = np.nanmean(block, axis=0)
    spread = np.nanstd(block, axis=0)
    size = np.nanmax(np.abs(block), axis=0)
    constant = spread <= _CONSTANT_SHARE * size
    fallback = np.where(size > 0, size, 1.0) * _CONSTANT_SPREAD
    scale = np.where(constant, fallback, spread)
    varying = np.flatnonzero(~constant)
    identity = np.eye(block.shape[1])
    if len(varying) == 0:
        # One coordinate that is always 0, so that all variables can be treated alike.
        return NumberPart(columns, shift, scale, identity[:, :1], 1.0, kind)
    is_wide = len(varying) > MAX_WIDTH
    if is_wide and not seen.all():
        kind = "diagonal"
    if not is_wide or kind == "diagonal":
        return NumberPart(columns, shift, scale, identity[:, varying], 1.0, kind)
    scaled = (block[:, varying] - shift[varying]) / scale[varying]
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    rotation = np.zeros((block.shape[1], MAX_WIDTH))
    rotation[varying] = vectors[:, ::-1][:, :MAX_WIDTH]
    leftover = float(np.maximum(values[::-1][MAX_WIDTH:].mean(), VARIANCE_FLOOR))
    return NumberPart(columns, shift, scale, rotation, leftover, kind)


def fit_encoder(block: Floats, kinds: Sequence[str], n_levels: Sequence[int]) -> Encoder:
    """Learn the units of a block whose columns are of these kinds (see ``choice``)."""
    parts: list[Part] = []
    for kind in dict.fromkeys(kinds):
        columns = np.array([c for c, own in enumerate(kinds) if own == kind], dtype=np.int64)
        own = _taken(block, columns)
        if kind == "categorical":
            parts.append(LevelPart(columns, tuple(n_levels[c] for c in columns)))
        elif kind == "counts":
            parts.append(CountPart(columns))
        elif kind == "gamma":
            parts.append(AmountPart(columns, np.nanmean(own, axis=0)))
        else:
            parts.append(number_part(own, columns, kind))
    return Encoder(tuple(parts))
