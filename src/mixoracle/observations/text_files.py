"""Observations as ``.csv`` and ``.tsv`` text.

Text is read once for its numbers, and once more for the columns that turn out to hold labels. A
line of the wrong length, an unfinished quote or a foreign encoding is refused with its place.

Text files carry no types, so a column whose name ends in ``:categorical`` or ``:continuous`` is
taken at its word; such an ending is written only where the cells alone would mislead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import (
    ColumnKind,
    Encoded,
    Levels,
    Spelling,
    encode_cells,
    encode_numbers,
    row_names,
    spelled_number,
)
from mixoracle.observations.described import Columns
from mixoracle.observations.dialects import TextFile, TextOptions, understand
from mixoracle.observations.gathering import gathered
from mixoracle.observations.grouping import Choices, declared_columns
from mixoracle.observations.input_columns import InputColumns
from mixoracle.observations.numerals import (
    COMMA,
    may_mean_thousands,
    settled_decimal,
    spells_numeral,
)
from mixoracle.observations.record import Observations
from mixoracle.observations.screening import reason_of_cells, reason_of_numbers, screened

if TYPE_CHECKING:
    import pandas as pd

# Rows parsed at a time: enough to be quick, few enough to be held as text.
_CHUNK = 20_000
_ENDINGS = {f":{kind.value}": kind for kind in ColumnKind}
FOUND = TextOptions()


def read_text(
    path: Path, choices: Choices, options: TextOptions = FOUND, *, delimiter: str
) -> Observations:
    """Read a text file; ``delimiter`` is the separator that its ending promises."""
    file = understand(path, options, delimiter)
    labels, kinds = kinds_of(file)
    columns = InputColumns.named(labels)
    choices.said.check(columns)
    categorical = {p for p, kind in enumerate(kinds) if kind is ColumnKind.CATEGORICAL}
    own, left_out = choices.id_position(columns), choices.left_out(columns)
    wanted = [p for p in range(columns.count) if p not in left_out or p == own]
    as_text = {*categorical, own, *declared_columns(columns, choices.categorical)}
    numbers, n_rows = _read_numbers(file, [p for p in wanted if p not in as_text], choices.spelling)
    cells = _read_cells(file, [p for p in wanted if p not in numbers])
    spelling = _completed(choices.spelling, file, columns, cells, numbers)

    def reason(position: int) -> str:
        if kinds[position] is not None:
            return ""
        label = columns.title(position)
        if position in numbers:
            return reason_of_numbers(label, numbers[position])
        return reason_of_cells(label, cells[position], spelling)

    choices = screened(columns, choices, reason)
    ids = None if own is None else row_names(cells[own], columns.describe(own))

    def encoded(position: int, declared: bool) -> Encoded:
        what, unit = columns.describe(position), choices.said.unit(columns.title(position))
        is_categorical = declared or position in categorical
        if position in numbers and not is_categorical:
            return encode_numbers(numbers[position], what)
        held = cells if position in cells else _read_cells(file, [position])
        column = encode_cells(held[position], what, is_categorical, spelling, unit)
        if column.levels is not None and kinds[position] is ColumnKind.CONTINUOUS:
            raise InvalidInputError(f"{what} should hold numbers, as its name says; it holds text")
        return column

    held = gathered(n_rows, columns, choices, encoded, ids)
    written = {key: said for key, said in asdict(options).items() if said is not None}
    read = held.columns or Columns()
    described = replace(read, table={**read.table, **written})
    return Observations(*held._replace(columns=described))


def text_chunks(
    path: Path,
    wanted: Callable[[Sequence[str]], Iterable[str]],
    spelling: Spelling,
    options: TextOptions,
    rows: int,
    *,
    delimiter: str,
) -> Iterator[tuple[pd.DataFrame, Spelling]]:
    """Some columns of a text file, a few rows at a time: numbers as such, all else as text.

    With how they are spelled: a decimal comma that was settled once holds for all that follows.
    """
    import pandas as pd

    file = understand(path, options, delimiter)
    labels, kinds = kinds_of(file)
    InputColumns.named(labels)  # refuses names that occur twice
    places = [labels.index(label) for label in wanted(labels)]
    cases = file.rows()
    while chunk := list(islice(cases, rows)):
        columns: dict[str, Any] = {}
        for place in places:
            cells = [case[place] for case in chunk]
            as_text = kinds[place] is ColumnKind.CATEGORICAL
            numbers = None if as_text else spelled_numbers(cells, spelling)
            columns[labels[place]] = pd.Series(cells, dtype=object) if numbers is None else numbers
            if numbers is None and spelling.decimal is None and spelling.hint is None:
                present = [cell for cell in cells if cell not in spelling.missing_words]
                spelling = replace(spelling, hint=settled_decimal(present))
        yield pd.DataFrame(columns), spelling


def kinds_of(file: TextFile) -> tuple[list[str], list[ColumnKind | None]]:
    """The names of the columns, and their kinds where the names say so."""
    labels: list[str] = []
    kinds: list[ColumnKind | None] = []
    for label in file.labels:
        ending = next((held for held in _ENDINGS if label.endswith(held)), "")
        labels.append(label.removesuffix(ending))
        kinds.append(_ENDINGS.get(ending))
    return labels, kinds


def _completed(
    spelling: Spelling,
    file: TextFile,
    columns: InputColumns,
    cells: Mapping[int, Sequence[str]],
    numbers: Iterable[int],
) -> Spelling:
    """The spelling with the decimal comma where a column settles that it is one."""
    if spelling.decimal is not None:
        return spelling

    def present(column: Iterable[str]) -> list[str]:
        return [cell for cell in column if cell not in spelling.missing_words]

    settled = (settled_decimal(present(column)) for column in cells.values())
    if COMMA not in settled:
        return spelling
    first = list(zip(*islice(file.rows(), _CHUNK), strict=True))
    for position in numbers:
        doubtful = may_mean_thousands(present(first[position]))
        if doubtful is not None:
            raise InvalidInputError(
                f"{columns.describe(position)} holds {doubtful!r}, which may be "
                f"{doubtful.replace('.', '')} or {doubtful}, since other columns have decimal "
                "commas: say which with decimal=',' or decimal='.'"
            )
    # Other columns keep to it only where their own cells leave it open.
    return replace(spelling, hint=COMMA)


def _chunks(file: TextFile) -> Iterator[list[tuple[str, ...]]]:
    """The columns of a few thousand lines at a time."""
    rows = file.rows()
    while chunk := list(islice(rows, _CHUNK)):
        yield list(zip(*chunk, strict=True))


def _read_numbers(
    file: TextFile, wanted: Iterable[int], spelling: Spelling
) -> tuple[dict[int, Floats], int]:
    """Parse those of the wanted columns that hold nothing but numbers; also count the lines."""
    parsed: dict[int, list[Floats]] = {position: [] for position in wanted}
    n_rows = 0
    for chunk in _chunks(file):
        n_rows += len(chunk[0])
        for position in list(parsed):
            numbers = spelled_numbers(chunk[position], spelling)
            if numbers is None:
                del parsed[position]
            else:
                parsed[position].append(numbers)
    return {position: np.concatenate(parts) for position, parts in parsed.items()}, n_rows


def spelled_numbers(cells: Sequence[str], spelling: Spelling) -> Floats | None:
    """Parse cells all at once; None where one of them is a label, or needs a closer look."""
    if "_" in (joined := "".join(cells)) or (spelling.decimal == COMMA and "." in joined):
        return None
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        words = spelling.missing_words
        marked = ["nan" if cell in words else cell for cell in cells]
        try:
            numbers = np.fromiter(map(float, marked), np.float64, len(cells))
        except ValueError:
            return None
    return spelling.without_missing(numbers)


def _read_cells(file: TextFile, wanted: Sequence[int]) -> dict[int, list[str]]:
    if not wanted:
        return {}
    cells: dict[int, list[str]] = {position: [] for position in wanted}
    # Labels repeat; one object for each keeps a long column small.
    seen: dict[str, str] = {}
    for chunk in _chunks(file):
        for position, column in cells.items():
            column.extend(seen.setdefault(cell, cell) for cell in chunk[position])
    return cells


def write_text(observations: Observations, stream: BinaryIO, *, delimiter: str) -> None:
    """Write a text file."""
    levels = [held for block in observations.levels for held in block]
    names = observations.column_names
    # Names that spell numbers could be taken for a case.
    numbered = any(spelled_number(name) is not None or spells_numeral(name) for name in names)
    header = [
        name + _kind_ending(name, column, held, numbered)
        for name, column, held in zip(names, observations.values.T, levels, strict=True)
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


def _kind_ending(name: str, column: Floats, levels: Levels | None, needed: bool) -> str:
    """The ending that a name needs so that the cells below it are not misread."""
    misleading = needed or name.endswith(tuple(_ENDINGS))
    if levels is None:
        needed = misleading or bool(reason_of_numbers(name, column))
        return f":{ColumnKind.CONTINUOUS.value}" if needed else ""
    used = [levels[int(code)] for code in np.unique(without_missing(column))]
    if (
        misleading
        or not used
        or name in used
        or any(spelled_number(label) is not None or spells_numeral(label) for label in used)
    ):
        return f":{ColumnKind.CATEGORICAL.value}"
    cells = ["" if isnan(code) else levels[int(code)] for code in column.tolist()]
    return f":{ColumnKind.CATEGORICAL.value}" if reason_of_cells(name, cells) else ""


def _spell(column: Floats, levels: Levels | None) -> list[Any]:
    """Cells as the csv module writes them: floats by their shortest exact form, None as empty."""
    cells: list[Any] = column.tolist()
    if levels is not None:
        cells = [None if isnan(code) else levels[int(code)] for code in cells]
    elif np.isnan(column).any():
        cells = [None if isnan(value) else value for value in cells]
    return cells
