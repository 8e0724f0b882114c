"""How a text file is written: compression, encoding, separator, and whether names come first.

Spreadsheets and programs of other countries write tables in their own ways. What the caller does
not say is found from the file itself: bytes tell the encoding, the first lines the separator and
whether the first one holds names. A guess that could be wrong is a warning, and two readings that
are equally good are a question.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from mixoracle.errors import DataWarning, FileFormatError, InvalidInputError
from mixoracle.observations.columns import MISSING_WORDS, spelled_number
from mixoracle.observations.numerals import spell_numerals
from mixoracle.observations.screening import DATES, FEWEST_ROWS, reason_of_cells

# Separators that are looked for; a blank stands for any number of blanks.
SEPARATORS = (",", ";", "\t", "|")
BLANK = " "
# Lines from which separator and names are judged.
_LINES_JUDGED = 200
# Fewer lines fit two separators by chance.
_FEWEST_LINES = 3
_BYTES_AT_ONCE = 1 << 20
_MARKS = {  # longer ones first: UTF-32 begins like UTF-16
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_COMPRESSED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz")
# How files of other kinds begin, whatever they are called.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (perhaps an .npz or a spreadsheet)",
    b"PAR1": "a .parquet file",
    b"\x93NUMPY": "an .npy array",
    b"ARROW1": "a .feather file",
}
# A share of zero bytes that only two bytes for each letter explain.
_ZEROS_OF_UTF16 = 0.3
# Windows writes this where it says Latin-1; the five bytes that it lacks are tried as Latin-1.
_WESTERN = ("cp1252", "latin-1")


@dataclass(frozen=True)
class TextOptions:
    """What the caller says about a text file; None is found from the file."""

    sep: str | None = None
    header: bool | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None and len(self.sep) != 1:
            raise InvalidInputError(
                "sep should be one character, such as ';', or a blank for any number of blanks; "
                f"got {self.sep!r}"
            )
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise InvalidInputError(
                    "encoding should be one that Python knows, such as 'utf-8' or 'latin-1'; got "
                    f"{self.encoding!r}"
                ) from error


@dataclass(frozen=True)
class TextFile:
    """A text file that is understood: its rows can be read."""

    path: Path
    encoding: str
    sep: str
    has_names: bool
    labels: tuple[str, ...]

    def rows(self) -> Iterator[list[str]]:
        """All cases, each checked for its length."""
        width = len(self.labels)
        skipped = 1 if self.has_names else 0
        for line, row in islice(_lines(self.path, self.encoding, self.sep), skipped, None):
            if len(row) != width:
                raise FileFormatError(
                    f"{self.path}, line {line}, should have {width} cells like the header; it has "
                    f"{len(row)}"
                )
            yield row


def understand(path: Path, options: TextOptions, default: str) -> TextFile:
    """Find out how a file is written; ``default`` is the separator that its ending promises."""
    encoding = options.encoding or _encoding(path)
    sep = options.sep or _separator(path, encoding, default)
    first = [row for _, row in islice(_lines(path, encoding, sep), _LINES_JUDGED)]
    if len(first) < (1 if options.header is False else 2):
        raise FileFormatError(
            f"{path} should hold a line of column names and at least one case; "
            f"it has {len(first)} lines that are not blank"
        )
    has_names = options.header
    if has_names is None:
        has_names = _begins_with_names(path, first)
    if not has_names:
        return TextFile(
            path, encoding, sep, False, tuple(f"X{i + 1}" for i in range(len(first[0])))
        )
    labels = _completed(first[0], first[1:])
    named = tuple(label or f"Unnamed: {place}" for place, label in enumerate(labels))
    return TextFile(path, encoding, sep, True, named)


def _completed(names: list[str], cases: Sequence[Sequence[str]]) -> list[str]:
    """Names for rows that have one cell more: a name of the row before, or a separator after."""
    if len(cases) < 2 or any(len(case) != len(names) + 1 for case in cases):
        return names
    if not any(case[-1] for case in cases):
        return [*names, ""]
    return ["", *names] if len({case[0] for case in cases}) == len(cases) else names


def _encoding(path: Path) -> str:
    """By the mark at the beginning, by zero bytes, or by trial."""
    with _opened(path) as stream:
        start = stream.read(_BYTES_AT_ONCE)
    for magic, description in _FOREIGN.items():
        if start.startswith(magic):
            raise FileFormatError(f"{path} should be text, as its ending says; it is {description}")
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    if start.count(0) > _ZEROS_OF_UTF16 * len(start):
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    if _decodes(path, "utf-8"):
        return "utf-8"
    for encoding in _WESTERN:
        if _decodes(path, encoding) and not set(start) & {*range(9), *range(14, 32)}:
            warnings.warn(
                f"the file {path} is not UTF-8 and was read as Latin-1; give encoding= if letters "
                "look wrong",
                DataWarning,
                stacklevel=6,
            )
            return encoding
    raise FileFormatError(
        f"{path} should be UTF-8, UTF-16 or Latin-1 text; it holds bytes that are no text: save it "
        "as UTF-8"
    )


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _opened(path) as stream:
            while block := stream.read(_BYTES_AT_ONCE):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is compressed."""
    with path.open("rb") as plain:
        start = plain.read(max(map(len, _COMPRESSED)))
    opener = next((held for magic, held in _COMPRESSED.items() if start.startswith(magic)), None)
    try:
        with path.open("rb") if opener is None else opener(path) as stream:
            yield stream
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise FileFormatError(f"{path} is cut off or not well compressed: {error}") from error


def _lines(path: Path, encoding: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of each line that is not blank."""
    try:
        with _opened(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
            if sep == BLANK:
                for number, line in enumerate(text, 1):
                    if cells := line.split():
                        yield number, cells
                return
            reader = csv.reader(text, delimiter=sep, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} should be {encoding} text: {error}; save it as UTF-8, or say encoding="
        ) from error
    except csv.Error as error:
        raise FileFormatError(f"{path} is cut off or not well formed: {error}") from error


def _separator(path: Path, encoding: str, default: str) -> str:
    """The separator that the ending promises, unless the lines hold another one."""
    fitting = {}
    for sep in dict.fromkeys((default, *SEPARATORS, BLANK)):
        try:
            rows = [row for _, row in islice(_lines(path, encoding, sep), _LINES_JUDGED)]
        except FileFormatError:
            if sep == default:
                raise
            continue
        if _fits(rows):
            fitting[sep] = rows
    blank = fitting.pop(BLANK, None)
    if default not in fitting:
        best = max(fitting, key=lambda sep: len(fitting[sep][0]), default=default)
        # Words in a cell are apart by blanks too; only numbers make a table of them.
        return BLANK if best == default and blank and _share_of_numbers(blank) == 1 else best
    others = [
        sep
        for sep, rows in fitting.items()
        if sep != default and len(rows) > _FEWEST_LINES and _share_of_numbers(rows) == 1
    ]
    if others and _share_of_numbers(fitting[default]) < 1:
        raise InvalidInputError(
            f"{path} can be read with {default!r} or with {others[0]!r} between its cells: say "
            f"which with sep={default!r} or sep={others[0]!r}"
        )
    return default


def _fits(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all lines have as many cells, at least two; names may be one fewer."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    widths = {len(row) for row in rows[1:]}
    return len(widths) == 1 and widths.pop() - len(rows[0]) in (0, 1)


def _share_of_numbers(rows: Sequence[Sequence[str]]) -> float:
    cells = [cell for row in rows[1:] for cell in row]
    return sum(_is_number(cell) or cell in MISSING_WORDS for cell in cells) / len(cells)


def _is_number(cell: str) -> bool:
    return spelled_number(cell) is not None or spell_numerals([cell])


def _begins_with_names(path: Path, rows: Sequence[list[str]]) -> bool:
    """Whether the first line holds names: it differs from the lines below in some column."""
    first, body = rows[0], rows[1:]
    if any(len(row) != len(first) for row in body):
        return True
    columns = [
        [cell for cell in column if cell not in MISSING_WORDS] for column in zip(*body, strict=True)
    ]
    numeric = [bool(column) and all(map(_is_number, column)) for column in columns]
    above = [cell for cell, is_number in zip(first, numeric, strict=True) if is_number]
    numbers = [spelled_number(cell) for cell in above]
    filled = [held for held in zip(first, columns, numeric, strict=True) if held[1]]
    if filled and all(_may_be_a_case(*held) for held in filled):
        if all(numeric) and _counts_up(numbers):
            return True
        warnings.warn(
            f"the first line of {path} holds no names and was read as a case; the columns are "
            "called X1, X2, …: say header=True if it does hold names",
            DataWarning,
            stacklevel=6,
        )
        return False
    odd = [
        cell
        for cell, number in zip(above, numbers, strict=True)
        if number is not None and not number.is_integer()
    ]
    if odd:
        raise FileFormatError(
            f"the first line of {path} should name the columns; it holds the number {odd[0]!r}: "
            "say header=False if it is a case, or header=True if it does hold names"
        )
    return True


def _may_be_a_case(cell: str, column: Sequence[str], numeric: bool) -> bool:
    """Whether a cell of the first line is like the cells below it."""
    if cell in MISSING_WORDS:
        return bool(cell)
    if numeric:
        return _is_number(cell)
    if cell in column:
        return True
    repeated = [*column, cell] * (FEWEST_ROWS // len(column) + 1)
    return reason_of_cells("cell", repeated) == DATES


def _counts_up(numbers: Sequence[float | None]) -> bool:
    """Whether numbers are 0, 1, 2, … or 2019, 2020, …, as names of columns are."""
    held = [number for number in numbers if number is not None]
    return len(held) == len(numbers) and all(
        number == held[0] + place and number.is_integer() for place, number in enumerate(held)
    )
