"""Rows as coordinates with the families of their components: all that an E-step looks at.

They may be all the rows of prepared data, or one chunk of rows that do not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mixoracle._arrays import Floats, Integers
from mixoracle.families.base import Family, Patterns
from mixoracle.families.encoding import Encoder
from mixoracle.model import ComponentSet

# Features of all rows that are kept because EM looks at them again and again: 16 MB.
_KEPT_ENTRIES = 2_000_000


class CodedRows:
    """Rows of every variable, ``blocks[i]`` (N, d_i), as the family of its encoder sees them."""

    encoders: tuple[Encoder, ...]
    blocks: tuple[Floats, ...]

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The family of each variable's components over the coordinates."""
        return tuple(encoder.family for encoder in self.encoders)

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.blocks[0])

    @cached_property
    def _patterns(self) -> tuple[Patterns | None, ...]:
        """For each variable which values are missing, or None where none is."""
        return tuple(map(Patterns.of, self.blocks))

    @cached_property
    def _features(self) -> tuple[Floats, ...] | None:
        """The features of all rows of each variable, or None where they would take much memory."""
        pairs = tuple(zip(self.families, self.blocks, strict=True))
        n_features = sum(family.features(block[:1]).shape[1] for family, block in pairs)
        if self.n_samples * n_features > _KEPT_ENTRIES:
            return None
        return tuple(family.features(block) for family, block in pairs)

    def features(self, place: int, rows: Integers | slice) -> Floats:
        """The family's features of some rows of the variable at ``place``."""
        held = self._features
        if held is not None:
            return held[place][rows]
        return self.families[place].features(self.blocks[place][rows])

    def patterns(self, place: int, rows: Integers | slice) -> Patterns | None:
        """Which values of these rows are missing, or None where none of the variable is."""
        held = self._patterns[place]
        return None if held is None else held.take(rows)

    def log_densities(
        self, components: Sequence[ComponentSet], rows: Integers | slice
    ) -> list[Floats]:
        """The log density of some rows in each component of each variable, (r, k_i)."""
        return [self.log_density(i, held, rows) for i, held in enumerate(components)]

    def log_density(self, place: int, components: ComponentSet, rows: Integers | slice) -> Floats:
        """The same for the variable at ``place``, (r, k)."""
        features, patterns = self.features(place, rows), self.patterns(place, rows)
        return self.families[place].log_density(features, components, patterns)

    def chunks(self, n_columns: int, entries: int) -> Iterator[slice]:
        """All rows, so many at a time that ``n_columns`` for each make at most ``entries``."""
        return chunks(self.n_samples, n_columns, entries)


def chunks(n_rows: int, n_columns: int, entries: int) -> Iterator[slice]:
    """So many rows at a time that ``n_columns`` for each make at most ``entries``."""
    step = max(1, entries // n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


@dataclass(frozen=True, eq=False)
class Chunk(CodedRows):
    """Some rows of a table that is read chunk by chunk."""

    encoders: tuple[Encoder, ...]
    blocks: tuple[Floats, ...]
    log_units: float
    """Added to a log-likelihood over the coordinates, it gives that in the original units."""
