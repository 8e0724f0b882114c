"""Mixed blocks: some columns of one family, others of another, independent within a component.

The parts are component sets of the same number of components, each over columns of its own.
Features, statistics and embeddings stand side by side; log densities and evidences add up. Taken
apart into plain arrays, part p's arrays are prefixed with ``part_p_``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats, Integers, frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Averages, ComponentSet, Entry, Family, Missing, Prior

_Fitted = TypeVar("_Fitted", ComponentSet, ComponentSet | None)


@dataclass(frozen=True, eq=False, repr=False)
class ProductComponents(ComponentSet):
    """Components that are products of components over fewer columns.

    Parameters
    ----------
    parts : component sets
        All with the same number of components; component j is the product of their components j.
    columns : one sequence of column numbers for each part
        ``columns[p][c]`` is the column of the block that column c of part p describes. Together
        they are 0 to width - 1, each once.

    Examples
    --------
    >>> from mixoracle.families.diagonal import DiagonalComponents
    >>> one = DiagonalComponents(np.array([[0.0], [4.0]]), np.ones((2, 1)))
    >>> ProductComponents((one, one), ((0,), (1,))).width
    2
    """

    parts: tuple[ComponentSet, ...]
    columns: tuple[tuple[int, ...], ...]

    family: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        columns = tuple(
            tuple(frozen_whole_numbers(places, "columns of a part").ravel().tolist())
            for places in self.columns
        )
        if not parts or len(parts) != len(columns):
            raise InvalidInputError(
                "a product needs at least one part and as many sequences of columns; got "
                f"{len(parts)} and {len(columns)}"
            )
        for part, places in zip(parts, columns, strict=True):
            if part.width != len(places) or part.n_components != parts[0].n_components:
                raise InvalidInputError(
                    f"each part needs one column number for each of its columns and "
                    f"{parts[0].n_components} components; got {part!r} for columns {places}"
                )
        _check_places(columns)
        self._keep(parts=parts, columns=columns)

    @property
    def n_components(self) -> int:
        return self.parts[0].n_components

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        result = np.zeros((len(block), self.n_components))
        for part, places in zip(self.parts, self.columns, strict=True):
            result += part.log_density(block[:, list(places)])
        return result

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        rows = np.empty((len(labels), self.width))
        for part, places in zip(self.parts, self.columns, strict=True):
            rows[:, list(places)] = part.sample(labels, rng)
        return rows

    def averages(self) -> Averages:
        parts = [part.averages() for part in self.parts]
        entries = [
            Entry(own[entry.column], entry.level)
            for part, own in zip(parts, self.columns, strict=True)
            for entry in part.entries
        ]
        order = sorted(range(len(entries)), key=lambda place: entries[place].column)
        values = np.hstack([part.values for part in parts])
        return Averages(tuple(entries[place] for place in order), values[:, order])

    def first_equal(self) -> Integers:
        rows = np.stack([part.first_equal() for part in self.parts], axis=1)
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(row.tobytes(), k) for k, row in enumerate(rows)])

    def take(self, order: Integers) -> ProductComponents:
        return ProductComponents(tuple(part.take(order) for part in self.parts), self.columns)

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            "families": np.array([part.family for part in self.parts]),
            "columns": np.array([column for places in self.columns for column in places]),
        }
        for p, part in enumerate(self.parts):
            arrays.update({f"part_{p}_{key}": value for key, value in part.arrays().items()})
        return arrays

    @classmethod
    def _rebuilt(cls, arrays: Mapping[str, NDArray[Any]]) -> ProductComponents:
        parts, columns = [], []
        start = 0
        for p, family in enumerate(arrays["families"].tolist()):
            parts.append(ComponentSet.from_arrays(family, arrays, prefix=f"part_{p}_"))
            columns.append(tuple(arrays["columns"][start : start + parts[-1].width].tolist()))
            start += parts[-1].width
        return cls(tuple(parts), tuple(columns))

    def __repr__(self) -> str:
        families = " × ".join(part.family for part in self.parts)
        return (
            f"ProductComponents({self.n_components} components, {families}, {self.width} columns)"
        )


@dataclass(frozen=True)
class ProductPrior:
    """The priors of the parts."""

    parts: tuple[Prior, ...]


class ProductFamily(Family):
    """Components that are products, one factor for each of ``parts``: (family, its columns).

    The features are 1 or 0 (something was seen of the row) and then those of all parts.
    """

    def __init__(self, parts: Sequence[tuple[Family, Sequence[int]]]) -> None:
        self.families = tuple(family for family, _ in parts)
        self.columns = tuple(np.array(columns, dtype=np.int64) for _, columns in parts)
        width = _check_places([places.tolist() for places in self.columns])
        # How many features a part has shows in a row without anything.
        empty = np.full((1, width), np.nan)
        sizes = [family.features(own).shape[1] for family, own in self._blocks(empty)]
        bounds = 1 + np.concatenate([[0], np.cumsum(sizes)])
        self._slices = tuple(slice(int(a), int(b)) for a, b in pairwise(bounds))

    @property
    def n_parameters(self) -> int:
        return sum(family.n_parameters for family in self.families)

    def features(self, block: Floats) -> Floats:
        parts = [family.features(own) for family, own in self._blocks(block)]
        some = np.max([part[:, 0] for part in parts], axis=0)
        return np.hstack([some[:, None], *parts])

    def embedding(self, block: Floats) -> Floats:
        return np.hstack([family.embedding(own) for family, own in self._blocks(block)])

    def prior(self, statistics: Floats) -> ProductPrior:
        return ProductPrior(tuple(family.prior(part) for family, part in self._parts(statistics)))

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        result = np.zeros(len(statistics))
        for (family, part), own in zip(self._parts(statistics), _priors(prior), strict=True):
            result += family.log_evidence(part, own)
        return result

    def components(self, statistics: Floats, prior: Prior) -> ProductComponents:
        parts = tuple(
            family.components(part, own)
            for (family, part), own in zip(self._parts(statistics), _priors(prior), strict=True)
        )
        return ProductComponents(parts, tuple(tuple(places.tolist()) for places in self.columns))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        return sum(
            family.log_penalty(fitted, own)
            for family, fitted, own in zip(
                self.families, _components(components), _priors(prior), strict=True
            )
        )

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        result = np.zeros((len(features), components.n_components))
        for family, part, fitted, own in self._apart(features, _components(components), patterns):
            result += family.log_density(part, fitted, own)
        return result

    def statistics(
        self, features: Floats, share: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        parts = [
            family.statistics(part, share, fitted, own)
            for family, part, fitted, own in self._apart(
                features, _components(components), patterns
            )
        ]
        return np.hstack([share.T @ features[:, :1], *parts])

    def completed(
        self,
        features: Floats,
        labels: Integers,
        components: ComponentSet | None,
        patterns: Missing = None,
    ) -> Floats:
        known: Sequence[ComponentSet | None] = (
            [None] * len(self.families) if components is None else _components(components)
        )
        parts = [
            family.completed(part, labels, fitted, own)
            for family, part, fitted, own in self._apart(features, known, patterns)
        ]
        return np.hstack([features[:, :1], *parts])

    def _blocks(self, block: Floats) -> Iterator[tuple[Family, Floats]]:
        """Each family with its own columns."""
        for family, columns in zip(self.families, self.columns, strict=True):
            yield family, block[:, columns]

    def _parts(self, features: Floats) -> Iterator[tuple[Family, Floats]]:
        """Each family with its own features or statistics."""
        for family, inside in zip(self.families, self._slices, strict=True):
            yield family, features[:, inside]

    def _apart(
        self, features: Floats, components: Sequence[_Fitted], patterns: Missing
    ) -> Iterator[tuple[Family, Floats, _Fitted, Missing]]:
        """Each family with its own features, components and patterns.

        There are no patterns where nothing is missing, which is quicker.
        """
        for (family, part), fitted, columns in zip(
            self._parts(features), components, self.columns, strict=True
        ):
            own = None if patterns is None else patterns.of_columns(columns)
            yield family, part, fitted, None if own is None or own.seen[own.which].all() else own


def _check_places(columns: Sequence[Sequence[int]]) -> int:
    """The number of columns, all parts together; raise unless each column is in one part."""
    flat = sorted(place for places in columns for place in places)
    if not flat or flat != list(range(len(flat))):
        raise InvalidInputError(
            f"the columns of the parts should be 0 to {max(len(flat) - 1, 0)}, each once; got "
            f"{columns}"
        )
    return len(flat)


def _priors(prior: Prior) -> tuple[Prior, ...]:
    return cast(ProductPrior, prior).parts


def _components(components: ComponentSet) -> tuple[ComponentSet, ...]:
    return cast(ProductComponents, components).parts


def joined_families(families: Sequence[Family]) -> tuple[list[int], list[tuple[Family, list[int]]]]:
    """The places of families that stand alone, and the others joined, each with its places.

    Joined families are independent within a component, so they need no patterns.
    """
    alone: list[int] = []
    joined: list[tuple[Family, list[int]]] = []
    for place, family in enumerate(families):
        if family.joined_with(family) is None:
            alone.append(place)
            continue
        for j, (known, places) in enumerate(joined):
            both = known.joined_with(family)
            if both is not None:
                joined[j] = (both, places)
                places.append(place)
                break
        else:
            joined.append((family, [place]))
    return alone, joined
