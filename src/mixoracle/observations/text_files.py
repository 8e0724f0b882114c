"""Observations as ``.csv`` and ``.tsv`` text.

Text is read once for its numbers, and once more for the columns that turn out to hold labels. A
line of the wrong length, an unfinished quote or a foreign encoding is refused with its place.

Text files carry no types, so a column whose name ends in ``:categorical`` or ``:continuous`` is
taken at its word; such an ending is written only where the cells alone would mislead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.observations.columns import (
    MISSING_WORDS,
    ColumnKind,
    Encoded,
    Levels,
    encode_cells,
    encode_numbers,
    spelled_number,
)
from mixoracle.observations.gathering import gathered
from mixoracle.observations.grouping import Choices, InputColumns
from mixoracle.observations.record import Observations

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


def read_text(file: Path, choices: Choices, *, delimiter: str) -> Observations:
    """Read a text file."""
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

    return Observations(*gathered(n_rows, plan, encoded))


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
) -> tuple[dict[int, Floats], int]:
    """Parse those of the wanted columns that hold nothing but numbers; also count the lines."""
    parsed: dict[int, list[Floats]] = {position: [] for position in wanted}
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


def _spelled_numbers(cells: tuple[str, ...]) -> Floats | None:
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


def write_text(observations: Observations, stream: BinaryIO, *, delimiter: str) -> None:
    """Write a text file."""
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


def _kind_ending(name: str, column: Floats, levels: Levels | None) -> str:
    """The ending that a name needs so that the cells below it are not misread."""
    misleading = name.endswith(tuple(_ENDINGS))
    if levels is None:
        return f":{ColumnKind.CONTINUOUS.value}" if misleading else ""
    used = [levels[int(code)] for code in np.unique(column[~np.isnan(column)])]
    if misleading or not used or any(spelled_number(label) is not None for label in used):
        return f":{ColumnKind.CATEGORICAL.value}"
    return ""


def _spell(column: Floats, levels: Levels | None) -> list[Any]:
    """Cells as the csv module writes them: floats by their shortest exact form, None as empty."""
    cells: list[Any] = column.tolist()
    if levels is not None:
        cells = [None if isnan(code) else levels[int(code)] for code in cells]
    elif np.isnan(column).any():
        cells = [None if isnan(value) else value for value in cells]
    return cells
