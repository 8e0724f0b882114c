"""Mixed blocks: a product of families, each over columns of its own.

Features, statistics and embeddings stand side by side, log densities and evidences add up.

Assumes that, within a component, the parts are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Family, Floats, Patterns, Prior
from mixoracle.model import ComponentSet, ProductComponents


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
        flat = sorted(int(column) for held in self.columns for column in held)
        if not parts or flat != list(range(len(flat))):
            raise InvalidInputError(
                f"the columns of the parts should be 0 to {max(len(flat) - 1, 0)}, each once; got "
                f"{[held.tolist() for held in self.columns]}"
            )
        # How many features a part has shows in a row without anything.
        sizes = [
            family.features(np.full((1, len(columns)), np.nan)).shape[1]
            for family, columns in zip(self.families, self.columns, strict=True)
        ]
        bounds = 1 + np.concatenate([[0], np.cumsum(sizes)])
        self._slices = tuple(slice(int(a), int(b)) for a, b in pairwise(bounds))

    @property
    def n_parameters(self) -> int:
        return sum(family.n_parameters for family in self.families)

    def features(self, block: Floats) -> Floats:
        parts = [
            family.features(block[:, columns])
            for family, columns in zip(self.families, self.columns, strict=True)
        ]
        some = np.max([part[:, 0] for part in parts], axis=0)
        return np.hstack([some[:, None], *parts])

    def embedding(self, block: Floats) -> Floats:
        return np.hstack(
            [
                family.embedding(block[:, columns])
                for family, columns in zip(self.families, self.columns, strict=True)
            ]
        )

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
        return ProductComponents(parts, tuple(tuple(held.tolist()) for held in self.columns))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        return sum(
            family.log_penalty(held, own)
            for family, held, own in zip(
                self.families, _components(components), _priors(prior), strict=True
            )
        )

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        result = np.zeros((len(features), components.n_components))
        for (family, part), held, own in zip(
            self._parts(features), _components(components), self._patterns(patterns), strict=True
        ):
            result += family.log_density(part, held, own)
        return result

    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        parts = [
            family.statistics(part, share, held, own)
            for (family, part), held, own in zip(
                self._parts(features),
                _components(components),
                self._patterns(patterns),
                strict=True,
            )
        ]
        return np.hstack([share.T @ features[:, :1], *parts])

    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        known: Sequence[ComponentSet | None] = (
            [None] * len(self.families) if components is None else _components(components)
        )
        parts = [
            family.completed(part, labels, held, own)
            for (family, part), held, own in zip(
                self._parts(features), known, self._patterns(patterns), strict=True
            )
        ]
        return np.hstack([features[:, :1], *parts])

    def _parts(self, features: Floats) -> Iterator[tuple[Family, Floats]]:
        """Each family with its own features or statistics."""
        for family, inside in zip(self.families, self._slices, strict=True):
            yield family, features[:, inside]

    def _patterns(self, patterns: Patterns | None) -> Iterator[Patterns | None]:
        """The patterns of each part; None where nothing is missing, which is quicker."""
        for columns in self.columns:
            own = None if patterns is None else patterns.of_columns(columns)
            yield None if own is None or own.seen[own.which].all() else own


def _priors(prior: Prior) -> tuple[Prior, ...]:
    return cast(ProductPrior, prior).parts


def _components(components: ComponentSet) -> tuple[ComponentSet, ...]:
    return cast(ProductComponents, components).parts
