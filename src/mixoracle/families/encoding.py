"""A variable's block as coordinates: its parts, one for each family of its columns, side by side.

What a part does with its columns is its family's business (:mod:`~mixoracle.families.units`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.families.base import ComponentSet, Family
from mixoracle.families.counts import COUNTS
from mixoracle.families.exposure import EXPOSURE
from mixoracle.families.gaussian import GaussianPart
from mixoracle.families.product import ProductComponents, ProductFamily
from mixoracle.families.registry import entry
from mixoracle.families.submixture import Subcomponents, SubmixturePart
from mixoracle.families.units import Columns, Part
from mixoracle.settings import Priors


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
        """The same map with families whose evidence is exact, as the search for structure needs."""
        parts = tuple(part.for_search() for part in self.parts)
        changed = any(new is not old for new, old in zip(parts, self.parts, strict=True))
        return Encoder(parts) if changed else self

    def with_subcomponents(self, held: Subcomponents | None) -> Encoder:
        """The same map with components that are mixtures of these, if it is one of numbers."""
        part = self.parts[0]
        if held is None or len(self.parts) > 1 or not isinstance(part, GaussianPart):
            return self
        return Encoder((SubmixturePart.of(part, held),))

    @property
    def is_identifiable(self) -> bool:
        """Whether the components of such a variable can be told from the variable alone."""
        return len(self.parts) > 1 or self.parts[0].is_identifiable

    @property
    def is_shape_judged(self) -> bool:
        """Whether the rows may show components of another shape than the family's."""
        return len(self.parts) == 1 and self.parts[0].is_shape_judged

    def encode(self, block: Floats) -> Floats:
        """Own units to coordinates, (N, width) to (N, d)."""
        coded = [part.encode(_taken(block, part.columns)) for part in self.parts]
        return coded[0] if len(coded) == 1 else np.hstack(coded)

    def decode(self, components: ComponentSet) -> ComponentSet:
        """Components over coordinates to components in the variable's own units."""
        if len(self.parts) == 1:
            return self.parts[0].decode(components)
        known = cast(ProductComponents, components)
        decoded = [part.decode(own) for part, own in zip(self.parts, known.parts, strict=True)]
        columns = tuple(tuple(np.sort(part.columns).tolist()) for part in self.parts)
        return ProductComponents(tuple(decoded), columns)

    def log_units(self, block: Floats, coordinates: Floats) -> float:
        """Log density, summed over rows, of all that the coordinates leave out of a block."""
        parts = self._by_part(block, coordinates)
        return sum(part.log_units(own, coded) for part, own, coded in parts)

    def left_out(self, block: Floats, coordinates: Floats) -> Floats:
        """The same for each row (N,), up to what is the same for all whole rows."""
        parts = self._by_part(block, coordinates)
        return np.asarray(sum(part.left_out(own, coded) for part, own, coded in parts))

    def _by_part(self, block: Floats, coordinates: Floats) -> Iterator[tuple[Part, Floats, Floats]]:
        """Each part with its columns and coordinates."""
        start = 0
        for part in self.parts:
            end = start + part.n_coordinates
            yield part, _taken(block, part.columns), coordinates[:, start:end]
            start = end


def _taken(block: Floats, columns: Columns) -> Floats:
    """Some columns, without a copy where they are all in order."""
    if np.array_equal(columns, np.arange(block.shape[1])):
        return block
    return block[:, columns]


def fit_encoder(
    block: Floats, kinds: Sequence[str], n_levels: Sequence[int], priors: Priors = Priors()
) -> Encoder:
    """Learn the units of a block whose columns are of these families (see ``choice``)."""
    parts = []
    # Counts that are out of an exposure are one part with it, the exposure last.
    exposed = EXPOSURE.name in kinds
    for kind in dict.fromkeys(kinds):
        if exposed and kind == COUNTS.name:
            continue
        members = [c for c, own in enumerate(kinds) if own == kind]
        if kind == EXPOSURE.name:
            members = [c for c, own in enumerate(kinds) if own == COUNTS.name] + members
        columns = np.array(members, dtype=np.int64)
        sizes = [n_levels[c] for c in columns]
        parts.append(entry(kind).part.fit(_taken(block, columns), columns, sizes, priors))
    return Encoder(tuple(parts))
