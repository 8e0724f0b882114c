"""Pieces of a large table, each read when it is asked for.

A piece says where its rows are and holds none of them, so that it can be sent to another process
or machine, which reads it there. Pieces of tables in memory and of Dask collections are here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mixoracle._arrays import Integers
from mixoracle.errors import FileFormatError
from mixoracle.observations.record import Observations

if TYPE_CHECKING:
    from mixoracle.observations.grouping import Groups

# Cells that are worked on at a time: some megabytes, which the processor keeps at hand. Twice as
# quick as ten times as many.
CELLS_AT_ONCE = 800_000
# Bytes of each column that are read ahead.
_BYTES_BUFFERED = 1 << 16
# Rows among which those of a sample are looked for.
_ROWS_LOOKED_AT = 50_000


class TableChunk(Protocol):
    """Some consecutive rows of a table; ``title`` names them in messages."""

    @property
    def title(self) -> str:
        """The file, or the place in a collection."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def tables(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        """Tables of at most so many rows each, with these columns or all of them."""

    def taken(self, places: Integers) -> list[Any]:
        """Some rows, by their places in ascending order, as tables to be put together."""


@dataclass(frozen=True)
class ParquetChunk:
    """Some row groups of a parquet file."""

    file: str
    groups: tuple[int, ...]
    n_rows: int

    @property
    def title(self) -> str:
        return self.file

    def tables(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        from mixoracle.observations.files import pyarrow_modules

        arrow, parquet = pyarrow_modules()
        chosen = None if columns is None else list(columns)
        try:
            # Without these, whole columns of a row group would be held at once.
            options = {"pre_buffer": False, "buffer_size": _BYTES_BUFFERED}
            with parquet.ParquetFile(self.file, **options) as source:
                for batch in source.iter_batches(rows, row_groups=self.groups, columns=chosen):
                    yield batch.to_pandas()
        except (arrow.ArrowException, OSError) as error:
            raise FileFormatError(
                f"{self.file} is cut off or not a .parquet file: {error}"
            ) from error
        arrow.default_memory_pool().release_unused()

    def taken(self, places: Integers) -> list[Any]:
        found, start = [], 0
        for table in self.tables(None, _ROWS_LOOKED_AT):
            own = places[(places >= start) & (places < start + len(table))] - start
            found.append(table.iloc[own])
            start += len(table)
        return found


@dataclass(frozen=True, eq=False)
class HeldChunk:
    """A table in memory, or a partition of a Dask collection, which is computed when it is read.

    An array goes by the place of its columns, put together in ``groups``.
    """

    title: str
    held: Any
    n_rows: int
    groups: Groups = None

    def tables(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        table = self._computed()
        for start in range(0, self.n_rows, rows):
            if isinstance(table, np.ndarray):
                yield Observations.from_array(table[start : start + rows], self.groups)
            else:
                some = table.iloc[start : start + rows]
                yield some if columns is None else some[list(columns)]

    def taken(self, places: Integers) -> list[Any]:
        table = self._computed()
        return [table[places] if isinstance(table, np.ndarray) else table.iloc[places]]

    def _computed(self) -> Any:
        if not hasattr(self.held, "compute"):
            return self.held
        # In this process, wherever it is: a worker of a cluster computes its own partition.
        return self.held.compute(scheduler="synchronous")
