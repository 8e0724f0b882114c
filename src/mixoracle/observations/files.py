"""Observations in files: ``.csv``, ``.tsv``, ``.parquet`` and ``.npz``; never a pickle.

Text is read once for its numbers, and once more for the columns that turn out to hold labels. A
file is trusted in nothing: a line of the wrong length, an unfinished quote, a foreign encoding or
an array that would need unpickling is refused with its place. Writing replaces the file in one
step, and what was written reads back with the same names, kinds and values.

Text files carry no types, so a column whose name ends in ``:categorical`` or ``:continuous`` is
taken at its word; such an ending is written only where the cells alone would mislead.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError, InvalidInputError, MissingDependencyError
from mixoracle.observations.columns import (
    MISSING_WORDS,
    ColumnKind,
    Encoded,
    Levels,
    encode_cells,
    encode_column,
    encode_numbers,
    spelled_number,
)
from mixoracle.observations.grouping import Choices, InputColumns, column_names
from mixoracle.observations.record import Observations, as_block, from_frame, gather

# Rows parsed at a time: enough to be quick, few enough to be held as text.
_CHUNK = 20_000
_ENDINGS = {f":{kind.value}": kind for kind in ColumnKind}
_SEPARATORS = (",", ";", "\t", "|")
# How files of other kinds begin, whatever they are called.
_FOREIGN_STARTS = {
    b"PK\x03\x04": "a zip archive (perhaps an .npz or a spreadsheet)",
    b"PAR1": "a .parquet file",
    b"\x1f\x8b": "compressed",
    b"\x93NUMPY": "an .npy array",
}
# The levels of the categorical columns of an .npz. Every variable's entry ends in ".npy", so no
# variable can be called this.
_LEVELS_ENTRY = "levels.json"
# Zip entries carry a date; a fixed one keeps equal observations equal in bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)

_T = TypeVar("_T")


def read_file(path: str | PathLike[str], choices: Choices) -> Observations:
    """Read a file by its ending."""
    file = Path(path)
    readers: dict[str, Callable[[Path, Choices], Observations]] = {
        ".csv": _read_csv,
        ".tsv": _read_tsv,
        ".npz": _read_npz,
        ".parquet": _read_parquet,
    }
    reader = _by_ending(file, readers)
    if not file.is_file():
        raise InvalidInputError(f"{file} should be a file of observations; there is no such file")
    if file.stat().st_size == 0:
        raise FileFormatError(f"{file} is empty; expected the names of columns and their values")
    return reader(file, choices)


def write_file(observations: Observations, path: str | PathLike[str]) -> None:
    """Write a file by its ending, in one step."""
    from mixoracle.model.storage import open_atomically

    file = Path(path)
    writers: dict[str, Callable[[Observations, BinaryIO], None]] = {
        ".csv": _write_csv,
        ".tsv": _write_tsv,
        ".npz": _write_npz,
        ".parquet": _write_parquet,
    }
    writer = _by_ending(file, writers)
    if not file.parent.is_dir():
        raise InvalidInputError(f"{file.parent} should be a folder to write to; make it first")
    with open_atomically(file) as stream:
        writer(observations, stream)


def _by_ending(file: Path, known: Mapping[str, _T]) -> _T:
    ending = file.suffix.lower()
    if ending not in known:
        raise InvalidInputError(
            f"{file} should end in one of {', '.join(sorted(known))}; "
            f"got {repr(ending) if ending else 'no ending'}"
        )
    return known[ending]


def _read_csv(file: Path, choices: Choices) -> Observations:
    return _read_text(file, ",", choices)


def _read_tsv(file: Path, choices: Choices) -> Observations:
    return _read_text(file, "\t", choices)


def _read_text(file: Path, delimiter: str, choices: Choices) -> Observations:
    labels, kinds = _read_header(file, delimiter)
    columns = InputColumns.named(labels)
    plan, declared = choices.applied(columns)
    declared |= {p for p, kind in enumerate(kinds) if kind is ColumnKind.CATEGORICAL}
    numbers, n_rows = _read_numbers(file, delimiter, [p for p in plan.order if p not in declared])
    cells = _read_cells(file, delimiter, [p for p in plan.order if p not in numbers])

    def encoded(position: int) -> Encoded:
        what = columns.describe(position)
        if position in numbers:
            return encode_numbers(numbers[position], what)
        column = encode_cells(cells[position], what, position in declared)
        if column[1] is not None and kinds[position] is ColumnKind.CONTINUOUS:
            raise InvalidInputError(f"{what} should hold numbers, as its name says; it holds text")
        return column

    return gather(n_rows, plan, encoded)


def _read_header(file: Path, delimiter: str) -> tuple[list[str], list[ColumnKind | None]]:
    """Read the names of the columns, and their kinds where the names say so."""
    _refuse_foreign(file)
    first_rows = list(islice(_rows(file, delimiter), 2))
    if len(first_rows) < 2:
        raise FileFormatError(
            f"{file} should hold a line of column names and at least one case; "
            f"it has {len(first_rows)} lines that are not blank"
        )
    _refuse_other_separator(file, delimiter, first_rows)
    labels: list[str] = []
    kinds: list[ColumnKind | None] = []
    for cell in first_rows[0]:
        ending = next((held for held in _ENDINGS if cell.endswith(held)), "")
        labels.append(cell.removesuffix(ending))
        kinds.append(_ENDINGS.get(ending))
    return labels, kinds


def _refuse_foreign(file: Path) -> None:
    with file.open("rb") as stream:
        start = stream.read(max(map(len, _FOREIGN_STARTS)))
    for magic, description in _FOREIGN_STARTS.items():
        if start.startswith(magic):
            raise FileFormatError(f"{file} should be text, as its ending says; it is {description}")


def _refuse_other_separator(file: Path, delimiter: str, rows: Sequence[Sequence[str]]) -> None:
    """Refuse a file whose lines look like one cell because its separator is another."""
    (head, *rest), (first, *_) = rows
    with file.open(encoding="utf-8-sig", newline="") as stream:
        quoted = stream.readline().startswith('"')
    for other in _SEPARATORS:
        if not rest and not quoted and other in head and head.count(other) == first.count(other):
            raise FileFormatError(
                f"{file} should separate its cells by {delimiter!r}; its lines hold {other!r} "
                "instead: convert it, or rename it if it is a .tsv"
            )


def _rows(file: Path, delimiter: str) -> Iterator[list[str]]:
    """All lines that are not blank, the header first, each checked for its length."""
    width = None
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            for row in reader:
                if not row:
                    continue
                width = len(row) if width is None else width
                if len(row) != width:
                    raise FileFormatError(
                        f"{file}, line {reader.line_num}, should have {width} cells like the "
                        f"header; it has {len(row)}"
                    )
                yield row
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file} should be UTF-8 text: {error}; save it as UTF-8") from error
    except csv.Error as error:
        raise FileFormatError(f"{file} is cut off or not well formed: {error}") from error


def _chunks(file: Path, delimiter: str) -> Iterator[list[tuple[str, ...]]]:
    """The columns of a few thousand lines at a time, without the header."""
    rows = islice(_rows(file, delimiter), 1, None)
    while chunk := list(islice(rows, _CHUNK)):
        yield list(zip(*chunk, strict=True))


def _read_numbers(
    file: Path, delimiter: str, wanted: Iterable[int]
) -> tuple[dict[int, NDArray[np.float64]], int]:
    """Parse those of the wanted columns that hold nothing but numbers; also count the lines."""
    parsed: dict[int, list[NDArray[np.float64]]] = {position: [] for position in wanted}
    n_rows = 0
    for chunk in _chunks(file, delimiter):
        n_rows += len(chunk[0])
        for position in list(parsed):
            numbers = _spelled_numbers(chunk[position])
            if numbers is None:
                del parsed[position]
            else:
                parsed[position].append(numbers)
    return {position: np.concatenate(parts) for position, parts in parsed.items()}, n_rows


def _spelled_numbers(cells: tuple[str, ...]) -> NDArray[np.float64] | None:
    """Parse cells all at once; None where one of them is a label."""
    if "_" in "".join(cells):
        return None
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        missing_marked = ["nan" if cell in MISSING_WORDS else cell for cell in cells]
    try:
        return np.fromiter(map(float, missing_marked), np.float64, len(cells))
    except ValueError:
        return None


def _read_cells(file: Path, delimiter: str, wanted: Sequence[int]) -> dict[int, list[str]]:
    if not wanted:
        return {}
    cells: dict[int, list[str]] = {position: [] for position in wanted}
    # Labels repeat; one object for each keeps a long column small.
    seen: dict[str, str] = {}
    for chunk in _chunks(file, delimiter):
        for position, column in cells.items():
            column.extend(seen.setdefault(cell, cell) for cell in chunk[position])
    return cells


def _write_csv(observations: Observations, stream: BinaryIO) -> None:
    _write_text(observations, stream, ",")


def _write_tsv(observations: Observations, stream: BinaryIO) -> None:
    _write_text(observations, stream, "\t")


def _write_text(observations: Observations, stream: BinaryIO, delimiter: str) -> None:
    levels = [held for block in observations.levels for held in block]
    header = [
        name + _kind_ending(name, column, held)
        for name, column, held in zip(
            observations.column_names, observations.values.T, levels, strict=True
        )
    ]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    # A lone name that holds a semicolon must not look like a file with another separator.
    quoted = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    (quoted if len(header) == 1 else writer).writerow(header)
    for start in range(0, observations.n_samples, _CHUNK):
        chunk = observations.values[start : start + _CHUNK]
        columns = [_spell(column, held) for column, held in zip(chunk.T, levels, strict=True)]
        writer.writerows(zip(*columns, strict=True))
    text.flush()
    text.detach()


def _kind_ending(name: str, column: NDArray[np.float64], levels: Levels | None) -> str:
    """The ending that a name needs so that the cells below it are not misread."""
    misleading = name.endswith(tuple(_ENDINGS))
    if levels is None:
        return f":{ColumnKind.CONTINUOUS.value}" if misleading else ""
    used = [levels[int(code)] for code in np.unique(column[~np.isnan(column)])]
    if misleading or not used or any(spelled_number(label) is not None for label in used):
        return f":{ColumnKind.CATEGORICAL.value}"
    return ""


def _spell(column: NDArray[np.float64], levels: Levels | None) -> list[Any]:
    """Cells as the csv module writes them: floats by their shortest exact form, None as empty."""
    missing = np.isnan(column)
    if levels is not None:
        return [
            None if gap else levels[int(code)] for code, gap in zip(column, missing, strict=True)
        ]
    if missing.any():
        return [None if gap else value for value, gap in zip(column.tolist(), missing, strict=True)]
    cells: list[Any] = column.tolist()
    return cells


def _read_npz(file: Path, choices: Choices) -> Observations:
    entries, levels = _load_npz(file)
    blocks = {name: as_block(held, name) for name, held in entries.items()}
    widths = [block.shape[1] for block in blocks.values()]
    lengths = {len(block) for block in blocks.values()}
    if len(lengths) != 1:
        raise FileFormatError(
            f"{file} should hold arrays with the same number of rows; got "
            + (", ".join(f"{name!r}: {len(held)}" for name, held in blocks.items()) or "no array")
        )
    # Named this way, the columns group by themselves into the entries they came from.
    columns = InputColumns.named(column_names(list(blocks), widths))
    plan, declared = choices.applied(columns)
    flat = [block[:, c] for block in blocks.values() for c in range(block.shape[1])]
    flat_levels = [
        held
        for name, width in zip(blocks, widths, strict=True)
        for held in _levels_of(levels, name, width, file)
    ]

    def encoded(position: int) -> Encoded:
        held = flat_levels[position]
        column = encode_column(flat[position], columns.describe(position), position in declared)
        return column if held is None else (column[0], held)

    return gather(lengths.pop(), plan, encoded)


def _load_npz(file: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    levels: dict[str, Any] = {}
    entry = "the archive"
    try:
        with zipfile.ZipFile(file) as archive:
            _refuse_repeated(archive, file)
            for entry in archive.namelist():
                with archive.open(entry) as stream:
                    if entry == _LEVELS_ENTRY:
                        levels = json.loads(stream.read().decode("utf-8"))
                    elif entry.endswith(".npy"):
                        array = np.lib.format.read_array(stream, allow_pickle=False)
                        arrays[entry.removesuffix(".npy")] = array
                    else:
                        raise FileFormatError(f"{file} should hold arrays only; it holds {entry!r}")
    except zipfile.BadZipFile as error:
        raise FileFormatError(f"{file} is cut off or not an .npz archive: {error}") from error
    except (ValueError, EOFError, OSError, zlib.error, NotImplementedError, RuntimeError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{entry!r} in {file} is cut off or pickled, not a plain array: {error}; save numbers "
            "or text, never objects"
        ) from error
    return arrays, levels


def _refuse_repeated(archive: zipfile.ZipFile, file: Path) -> None:
    repeated = [entry for entry, n in Counter(archive.namelist()).items() if n > 1]
    if repeated:
        raise FileFormatError(f"{file} should hold each array once; it repeats {repeated[0]!r}")


def _levels_of(levels: Any, name: str, width: int, file: Path) -> list[Levels | None]:
    held = levels.get(name, [None] * width) if isinstance(levels, dict) else None
    if (
        not isinstance(held, list)
        or len(held) != width
        or not all(labels is None or isinstance(labels, list) for labels in held)
    ):
        raise FileFormatError(
            f"{_LEVELS_ENTRY} in {file} should list the levels of the {width} columns of {name!r}; "
            "write the file again"
        )
    return [None if labels is None else tuple(labels) for labels in held]


def _write_npz(observations: Observations, stream: BinaryIO) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in observations.names:
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_ZIP_EPOCH)
            # An entry's size is not known beforehand; without this flag 2 GiB are the limit.
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, observations[name], allow_pickle=False)
        levels = {
            name: block
            for name, block in zip(observations.names, observations.levels, strict=True)
            if any(held is not None for held in block)
        }
        if levels:
            info = zipfile.ZipInfo(_LEVELS_ENTRY, date_time=_ZIP_EPOCH)
            archive.writestr(info, json.dumps(levels, ensure_ascii=False))


def _read_parquet(file: Path, choices: Choices) -> Observations:
    arrow, parquet = _pyarrow()
    try:
        # One file as it is: read_table would take folder names for columns.
        with parquet.ParquetFile(file) as source:
            frame = source.read().to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{file} is cut off or not a .parquet file: {error}") from error
    return from_frame(frame, choices)


def _write_parquet(observations: Observations, stream: BinaryIO) -> None:
    arrow, parquet = _pyarrow()
    levels = [held for block in observations.levels for held in block]
    arrays = []
    for column, held in zip(observations.values.T, levels, strict=True):
        if held is None:
            arrays.append(arrow.array(column, from_pandas=True))
        else:
            missing = np.isnan(column)
            codes = np.where(missing, 0, column).astype(np.int32)
            arrays.append(
                arrow.DictionaryArray.from_arrays(
                    arrow.array(codes, mask=missing), arrow.array(held, type=arrow.string())
                )
            )
    parquet.write_table(arrow.table(arrays, names=list(observations.column_names)), stream)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError(
            ".parquet files need pyarrow, which is not installed: install mixoracle[parquet]"
        ) from error
    return pyarrow, pyarrow.parquet
