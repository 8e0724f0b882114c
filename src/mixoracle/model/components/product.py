"""Mixed blocks: some columns of one family, others of another, independent within a component.

The parts are component sets of the same number of components, each over columns of its own.
Taken apart into plain arrays, part p's arrays are prefixed with ``part_p_``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.model._arrays import frozen_whole_numbers
from mixoracle.model.components.base import ComponentSet, Floats


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
    """

    parts: tuple[ComponentSet, ...]
    columns: tuple[tuple[int, ...], ...]

    family: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        parts = tuple(self.parts)
        columns = tuple(
            tuple(frozen_whole_numbers(held, "columns of a part").ravel().tolist())
            for held in self.columns
        )
        if not parts or len(parts) != len(columns):
            raise InvalidInputError(
                "a product needs at least one part and as many sequences of columns; got "
                f"{len(parts)} and {len(columns)}"
            )
        for part, held in zip(parts, columns, strict=True):
            if part.width != len(held) or part.n_components != parts[0].n_components:
                raise InvalidInputError(
                    f"each part needs one column number for each of its columns and "
                    f"{parts[0].n_components} components; got {part!r} for columns {held}"
                )
        flat = sorted(column for held in columns for column in held)
        if flat != list(range(len(flat))):
            raise InvalidInputError(
                f"the columns of the parts should be 0 to {len(flat) - 1}, each once; got {columns}"
            )
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "columns", columns)

    @property
    def n_components(self) -> int:
        return self.parts[0].n_components

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        result = np.zeros((len(block), self.n_components))
        for part, held in zip(self.parts, self.columns, strict=True):
            result += part.log_density(block[:, list(held)])
        return result

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        rows = np.empty((len(labels), self.width))
        for part, held in zip(self.parts, self.columns, strict=True):
            rows[:, list(held)] = part.sample(labels, rng)
        return rows

    def same_component(self, first: int, second: int) -> bool:
        return all(part.same_component(first, second) for part in self.parts)

    def take(self, order: NDArray[np.int64]) -> ProductComponents:
        return ProductComponents(tuple(part.take(order) for part in self.parts), self.columns)

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            "families": np.array([part.family for part in self.parts]),
            "columns": np.array([column for held in self.columns for column in held]),
        }
        for p, part in enumerate(self.parts):
            arrays.update({f"part_{p}_{key}": value for key, value in part.arrays().items()})
        return arrays

    @classmethod
    def _rebuilt(cls, arrays: Mapping[str, NDArray[Any]]) -> ProductComponents:
        parts, columns = [], []
        start = 0
        for p, family in enumerate(arrays["families"].tolist()):
            prefix = f"part_{p}_"
            own = {
                key[len(prefix) :]: held for key, held in arrays.items() if key.startswith(prefix)
            }
            parts.append(ComponentSet.from_arrays(family, own))
            columns.append(tuple(arrays["columns"][start : start + parts[-1].width].tolist()))
            start += parts[-1].width
        return cls(tuple(parts), tuple(columns))

    def __repr__(self) -> str:
        families = " × ".join(part.family for part in self.parts)
        return (
            f"ProductComponents({self.n_components} components, {families}, {self.width} columns)"
        )
