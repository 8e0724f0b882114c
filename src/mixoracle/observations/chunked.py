"""Observations that do not fit into memory: where their rows are, and a random sample of them.

The rows lie in parquet files, in text files, or in the partitions of a Dask collection. Text is
converted once, a few thousand lines at a time, into parquet files that vanish with the record. All
files have the same columns, and each column is of one kind in all of them.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixoracle._arrays import Integers
from mixoracle._scratch import LOCK_FILE, hold, left_folders, remove_folder
from mixoracle.errors import InvalidInputError
from mixoracle.observations.choosing import text_options, with_description
from mixoracle.observations.columns import Spelling
from mixoracle.observations.described import Columns, Said
from mixoracle.observations.dialects import TextOptions
from mixoracle.observations.frames import flat_frame
from mixoracle.observations.gathering import gathered_columns
from mixoracle.observations.grouping import Choices, Groups
from mixoracle.observations.input_columns import ColumnRef
from mixoracle.observations.many_files import Files, listed_files, parquet_chunks, text_to_parquet
from mixoracle.observations.record import Observations
from mixoracle.observations.screening import ROW_NUMBERS, reason_of_series, screened
from mixoracle.observations.table_chunks import CELLS_AT_ONCE, HeldChunk, TableChunk

# Consecutive rows that show whether a column counts the rows, which a random sample does not.
_FIRST_ROWS = 1_000
# What folders of converted text are called.
_SCRATCH = "mixoracle-text-"
# Applies a function to each item, in order, here or elsewhere.
Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class ChunkedObservations:
    """N cases in files or partitions, read chunk by chunk.

    Use :meth:`scan`, :meth:`from_dask` or :meth:`from_frames`, and give it to
    :meth:`LatentGraphLearner.fit <mixoracle.LatentGraphLearner.fit>`: structure is learned from a
    random sample of the rows, P(H) and the components from all of them.

    Examples
    --------
    >>> import pandas as pd
    >>> days = [pd.DataFrame({"flow": [0.1, 0.2]}), pd.DataFrame({"flow": [0.3]})]
    >>> ChunkedObservations.from_frames(days)
    ChunkedObservations(3 rows in 2 chunks)
    """

    chunks: tuple[TableChunk, ...]
    choices: Choices = field(default_factory=Choices)
    # A sample that was drawn already, from which structure is to be learned.
    drawn: Observations | None = None
    # Keeps converted text files for as long as somebody may read them.
    _scratch: _Scratch | None = None

    def __post_init__(self) -> None:
        if not self.n_rows:
            raise InvalidInputError(
                "observations should have at least one row; the files hold none"
            )

    def __repr__(self) -> str:
        return f"ChunkedObservations({self.n_rows:,} rows in {len(self.chunks)} chunks)"

    @classmethod
    def scan(
        cls,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        groups: Groups = None,
        names: Sequence[str] | None = None,
        *,
        categorical: bool | ColumnRef | Iterable[ColumnRef] = (),
        drop: ColumnRef | Iterable[ColumnRef] = (),
        keep: bool | ColumnRef | Iterable[ColumnRef] = (),
        id: ColumnRef | None = None,
        decimal: str | None = None,
        na: str | float | Iterable[str | float] = (),
        sep: str | None = None,
        header: bool | None = None,
        encoding: str | None = None,
        columns: Said = None,
    ) -> ChunkedObservations:
        """Find the rows of files: one, several, a folder of parquet, or a pattern.

        ``paths`` are files that end in ``.parquet``, ``.csv``, ``.tsv`` or ``.txt``, such as
        ``"data/*.parquet"``. All other arguments are those of :meth:`Observations.read
        <mixoracle.Observations.read>`.
        """
        said = Columns.of(columns)
        spelling = Spelling.of(decimal, na)
        choices = Choices(groups, names, categorical, drop, keep, id, spelling)
        options = text_options(TextOptions(sep, header, encoding), said)
        return cls.of_files(listed_files(paths), with_description(choices, said), options)

    @classmethod
    def of_files(cls, files: Files, choices: Choices, options: TextOptions) -> ChunkedObservations:
        """The rows of files that were found, read as the choices say."""
        if files.is_text:
            scratch = _Scratch()
            found = text_to_parquet(files, scratch.folder, choices, options)
            return cls(found.chunks, found.choices, _scratch=scratch)
        chunks, ours = parquet_chunks(files, choices)
        # All columns of files that we wrote are measurements, whatever they look like.
        return cls(chunks, replace(choices, keep=ours or choices.keep))

    @classmethod
    def from_dask(
        cls, collection: Any, groups: Groups = None, *, columns: Said = None
    ) -> ChunkedObservations:
        """The partitions of a Dask DataFrame, or the rows of a 2-d Dask array.

        A partition is computed anew in each pass, by whoever works on it, so it should come from
        files or be quick to compute.
        """
        choices = with_description(Choices(groups), Columns.of(columns))
        if hasattr(collection, "map_partitions"):
            sizes = [int(n) for n in collection.map_partitions(len).compute()]
            held: list[Any] = [collection.partitions[p] for p in range(len(sizes))]
            groups = None
        else:
            if getattr(collection, "ndim", 0) != 2:
                raise InvalidInputError(
                    "a Dask array of observations should have 2 dimensions, one row for each case; "
                    f"got {getattr(collection, 'ndim', 0)}"
                )
            if np.isnan(collection.shape[0]):
                collection = collection.compute_chunk_sizes()
            collection = collection.rechunk({1: -1})
            sizes = [int(n) for n in collection.chunks[0]]
            held = [collection.blocks[p] for p in range(len(sizes))]
        return cls(_held_chunks("partition", held, sizes, groups), choices)

    @classmethod
    def from_frames(
        cls, frames: Iterable[Any], groups: Groups = None, *, columns: Said = None
    ) -> ChunkedObservations:
        """Frames of pandas, one after the other."""
        held = list(frames)
        choices = with_description(Choices(groups), Columns.of(columns))
        return cls(_held_chunks("frame", held, list(map(len, held)), None), choices)

    @property
    def n_rows(self) -> int:
        """The number of cases, N."""
        return sum(chunk.n_rows for chunk in self.chunks)

    @cached_property
    def _first(self) -> Any:
        """The first rows: a frame, or observations from an array."""
        return next(iter(self.chunks[0].tables(None, _FIRST_ROWS)))

    @property
    def n_columns(self) -> int:
        """The number of columns of the table."""
        first = self._first
        return int((first.values if isinstance(first, Observations) else first).shape[1])

    def sample(self, at_most: int, rng: np.random.Generator, mapped: Mapped = map) -> Observations:
        """All rows, or ``at_most`` of them at random and in their order.

        The same generator gives the same rows however they are cut into chunks.
        """
        chosen = np.arange(self.n_rows)
        if at_most < self.n_rows:
            chosen = np.sort(rng.choice(self.n_rows, at_most, replace=False, shuffle=False))
        tables = [table for own in mapped(_taken, self._with_places(chosen)) for table in own]
        return self._observed(tables)

    def rows_at_once(self, n_columns: int) -> int:
        """How many rows with so many columns are read at a time."""
        return max(1, CELLS_AT_ONCE // max(1, n_columns))

    def _with_places(self, chosen: Integers) -> Iterator[tuple[TableChunk, Integers]]:
        """Each chunk that holds chosen rows, with their places in it."""
        start = 0
        for chunk in self.chunks:
            low, high = np.searchsorted(chosen, [start, start + chunk.n_rows])
            if high > low:
                yield chunk, chosen[low:high] - start
            start += chunk.n_rows

    def _observed(self, tables: list[Any]) -> Observations:
        """The rows of a sample as they are learned from."""
        if isinstance(tables[0], np.ndarray):
            return Observations.from_array(np.concatenate(tables), self.choices.groups)
        import pandas as pd

        frame, columns = flat_frame(pd.concat(tables, ignore_index=True))
        first, _ = flat_frame(self._first)

        def reason(position: int) -> str:
            title, spelling = columns.title(position), self.choices.spelling
            alone = reason_of_series(title, frame.iloc[:, position], spelling)
            in_order = reason_of_series(title, first.iloc[:, position], spelling)
            return alone or (in_order if in_order == ROW_NUMBERS else "")

        self.choices.said.check(columns)
        choices = screened(columns, self.choices, reason)
        return Observations(*gathered_columns(frame, columns, choices))


class _Scratch:
    """A folder that vanishes with this object, or with the process; killed, with the next one."""

    def __init__(self) -> None:
        for left in left_folders(Path(tempfile.gettempdir()), _SCRATCH):
            remove_folder(left)
        self.folder = Path(tempfile.mkdtemp(prefix=_SCRATCH))
        self._lock = (self.folder / LOCK_FILE).open("ab")
        hold(self._lock)
        weakref.finalize(self, _cleared, self._lock, self.folder)


def _cleared(lock: BinaryIO, folder: Path) -> None:
    lock.close()
    remove_folder(folder)


def _taken(asked: tuple[TableChunk, Integers]) -> list[Any]:
    chunk, places = asked
    return chunk.taken(places)


def _held_chunks(
    what: str, held: Sequence[Any], sizes: Sequence[int], groups: Groups
) -> tuple[TableChunk, ...]:
    numbered = enumerate(zip(held, sizes, strict=True), 1)
    return tuple(HeldChunk(f"{what} {p}", own, size, groups) for p, (own, size) in numbered if size)


def as_chunked(X: Any, groups: Groups, columns: Said) -> ChunkedObservations | None:
    """Observations in chunks, if ``X`` are such or a Dask collection; else None."""
    if isinstance(X, ChunkedObservations):
        if groups is not None or columns is not None:
            raise InvalidInputError(
                "ChunkedObservations are grouped and described where they are scanned; leave "
                "groups and columns out"
            )
        return X
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask"):
        return ChunkedObservations.from_dask(X, groups, columns=columns)
    return None
