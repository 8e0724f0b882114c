"""One table in many files: which files, whether they fit together, and how to cut them up.

Whatever does not fit together is refused before anything is learned, in one sentence that names
the file: other columns than in the first file, text where the others have numbers, a file that is
empty or cut off. A file of parquet without rows is passed over: programs that write a part for each
of their workers leave such.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.observations.columns import ColumnKind, Spelling, encode_cells
from mixoracle.observations.dialects import TextOptions, understand
from mixoracle.observations.files import (
    OUR_METADATA,
    TEXT,
    checked_file,
    file_ending,
    is_packed,
    pyarrow_modules,
)
from mixoracle.observations.grouping import Choices, as_refs
from mixoracle.observations.input_columns import shown
from mixoracle.observations.table_chunks import ParquetChunk
from mixoracle.observations.text_files import kinds_of, text_chunks

_PARQUET = ".parquet"
# Cells of one chunk, which is read, worked on and reported as a whole: 80 MB of numbers.
_CELLS_OF_CHUNK = 10_000_000
# Lines of text that are converted at a time.
_LINES_AT_ONCE = 50_000
_BYTES_OF_NUMBER = 8
# A number in a text file takes about twice the bytes that it takes in memory; packed, half of them.
_BYTES_IN_TEXT = 0.5
_BYTES_IN_PACKED = 2.0
_NUMBERS, _WORDS, _TRUTH, _DATES = "numbers", "text", "truth values", "dates"


@dataclass(frozen=True)
class Files:
    """Files that are one table, in the order of their rows."""

    paths: tuple[Path, ...]

    @property
    def is_text(self) -> bool:
        """Whether they are text, or parquet."""
        return file_ending(self.paths[0]) in TEXT

    def n_bytes(self) -> int:
        """About how many bytes all rows would take in memory."""
        if not self.is_text:
            return sum(_rows_and_columns(path) for path in self.paths) * _BYTES_OF_NUMBER
        return int(sum(path.stat().st_size * _share_in_memory(path) for path in self.paths))


def _share_in_memory(path: Path) -> float:
    return _BYTES_IN_PACKED if is_packed(path) else _BYTES_IN_TEXT


class Converted(NamedTuple):
    """Text files as parquet, and the choices with all that was found out on the way."""

    chunks: tuple[ParquetChunk, ...]
    choices: Choices


def listed_files(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
) -> Files:
    """The files that were named: one by one, by a folder of parquet, or by a pattern."""
    named = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found = [file for path in named for file in _files_of(str(path))]
    if not found:
        raise InvalidInputError("expected the name of at least one file; got none")
    twice = [file for place, file in enumerate(found) if file in found[:place]]
    if twice:
        raise InvalidInputError(f"{twice[0]} is named twice; name each file once")
    for file in found:
        ending = file_ending(file)
        if ending != _PARQUET and ending not in TEXT:
            raise InvalidInputError(
                f"files that are read in chunks should end in {_PARQUET} or one of "
                f"{', '.join(TEXT)}; got {file}"
            )
        if (ending == _PARQUET) != (file_ending(found[0]) == _PARQUET):
            raise InvalidInputError(
                f"all files should be {_PARQUET}, or all text; {found[0]} and {file} are not"
            )
        checked_file(file)
    return Files(tuple(found))


def _files_of(path: str) -> list[Path]:
    if Path(path).is_dir():
        found = sorted(Path(path).glob(f"*{_PARQUET}"))
        if not found:
            raise InvalidInputError(f"{path} should be a folder of {_PARQUET} files; it has none")
        return found
    if Path(path).exists() or not glob.has_magic(path):
        return [Path(path)]
    matched = sorted(map(Path, glob.glob(path)))
    if not matched:
        raise InvalidInputError(f"no file matches {path!r}")
    return matched


def parquet_chunks(files: Files, choices: Choices) -> tuple[tuple[ParquetChunk, ...], bool]:
    """The row groups of all files, put together to chunks; whether we wrote the files."""
    chunks: list[ParquetChunk] = []
    known = _Known(choices)
    ours = True
    for path in files.paths:
        schema, sizes = _opened(path)
        ours = ours and OUR_METADATA.items() <= (schema.metadata or {}).items()
        kinds = zip(schema.names, map(_arrow_kind, schema.types), strict=True)
        known.check(path, dict(kinds))
        chunks += _cut(str(path), sizes, _CELLS_OF_CHUNK // max(1, len(schema.names)))
    return tuple(chunks), ours


def _opened(path: Path) -> tuple[Any, list[int]]:
    """The schema of a parquet file, and the rows of each of its row groups."""
    arrow, parquet = pyarrow_modules()
    try:
        with parquet.ParquetFile(path) as source:
            held = source.metadata
            sizes = [held.row_group(g).num_rows for g in range(held.num_row_groups)]
            return source.schema_arrow, sizes
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{path} is cut off or not a .parquet file: {error}") from error


def _rows_and_columns(path: Path) -> int:
    """How many cells a parquet file has."""
    schema, sizes = _opened(path)
    return sum(sizes) * len(schema.names)


def _cut(file: str, sizes: Sequence[int], at_most: int) -> Iterator[ParquetChunk]:
    """Neighbouring row groups together, up to so many rows; a larger one alone."""
    groups: list[int] = []
    rows = 0
    for group, size in enumerate(sizes):
        if groups and rows + size > at_most:
            yield ParquetChunk(file, tuple(groups), rows)
            groups, rows = [], 0
        if size:
            groups.append(group)
            rows += size
    if groups:
        yield ParquetChunk(file, tuple(groups), rows)


def text_to_parquet(
    files: Files, folder: Path, choices: Choices, options: TextOptions
) -> Converted:
    """Convert text files into a folder, some lines at a time."""
    arrow, parquet = pyarrow_modules()
    chunks: list[ParquetChunk] = []
    known = _Known(choices)
    spelling = choices.spelling
    for path in files.paths:
        delimiter = TEXT[file_ending(path)]
        labels, kinds = kinds_of(understand(path, options, delimiter))
        known.declare(labels, kinds)
        found: dict[str, str | None] = dict.fromkeys(labels)
        lines = text_chunks(path, list, spelling, options, _LINES_AT_ONCE, delimiter=delimiter)
        for table, spelling in lines:
            known.widen(path, found, table, spelling)
            file = folder / f"part-{len(chunks) + 1:05d}{_PARQUET}"
            parquet.write_table(arrow.Table.from_pandas(table, preserve_index=False), file)
            chunks.append(ParquetChunk(str(file), (0,), len(table)))
        known.check(path, found)
    return Converted(tuple(chunks), replace(known.choices, spelling=spelling))


class _Known:
    """The columns of the first file and their kinds, which those of all others have to match."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._first: Path | None = None
        self._kinds: dict[str, str | None] = {}
        self._since: dict[str, Path] = {}

    def declare(self, labels: Sequence[str], kinds: Sequence[ColumnKind | None]) -> None:
        """Take over what the names of text columns say about their kind."""
        if self.choices.categorical is True:
            return
        held = as_refs(self.choices.categorical)
        levels = [
            label
            for label, kind in zip(labels, kinds, strict=True)
            if kind is ColumnKind.CATEGORICAL and label not in held
        ]
        self.choices = replace(self.choices, categorical=[*held, *levels])

    def is_declared(self, label: str) -> bool:
        """Whether a column holds levels, or is not learned from, whatever it looks like."""
        held = self.choices
        aside = [*as_refs(held.drop), held.id]
        return held.categorical is True or label in [*as_refs(held.categorical), *aside]

    def widen(
        self, path: Path, found: dict[str, str | None], table: Any, spelling: Spelling
    ) -> None:
        """Note what some lines of a text file hold; numbers and words in one column are refused."""
        for label in table.columns:
            if self.is_declared(label):
                continue
            own = self._text_kind(path, label, table[label], spelling)
            if None not in (own, found[label]) and own != found[label]:
                raise InvalidInputError(
                    f"{path} holds {found[label]} and {own} in column {label!r}; correct the "
                    "cells, or declare the column categorical"
                )
            found[label] = found[label] or own

    def _text_kind(self, path: Path, label: str, column: Any, spelling: Spelling) -> str | None:
        if column.dtype.kind == "f":
            return None if column.isna().all() else _NUMBERS
        try:
            encoded = encode_cells(column.tolist(), f"column {label!r}", False, spelling)
        except InvalidInputError as error:
            raise InvalidInputError(f"in {path}, {error}") from error
        return _NUMBERS if encoded.levels is None else _WORDS

    def check(self, path: Path, kinds: Mapping[str, str | None]) -> None:
        """Refuse a file that has other columns, or columns of another kind, than those before."""
        if self._first is None:
            self._first, self._kinds = path, dict(kinds)
            self._since = dict.fromkeys(kinds, path)
            return
        lacking = [label for label in self._kinds if label not in kinds]
        further = [label for label in kinds if label not in self._kinds]
        if lacking or further:
            what = f"lacks {shown(lacking)}" if lacking else f"also has {shown(further)}"
            raise InvalidInputError(f"{path} should have the columns of {self._first}; it {what}")
        for label, kind in kinds.items():
            before = self._kinds[label]
            if before is None:
                self._kinds[label], self._since[label] = kind, path
            elif kind not in (None, before) and not self.is_declared(label):
                raise InvalidInputError(
                    f"{path} holds {kind} in column {label!r}, but {self._since[label]} holds "
                    f"{before}; correct the cells, or declare the column categorical"
                )


def _arrow_kind(held: Any) -> str | None:
    """What a column of parquet holds; None where it is empty."""
    from pyarrow import types

    if types.is_null(held):
        return None
    if types.is_boolean(held):
        return _TRUTH
    if types.is_temporal(held):
        return _DATES
    is_number = types.is_integer(held) or types.is_floating(held) or types.is_decimal(held)
    return _NUMBERS if is_number else _WORDS
