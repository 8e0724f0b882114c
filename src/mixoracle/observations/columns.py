"""One column of anything, as floating-point numbers.

A column is continuous (its numbers) or categorical (codes 0..L-1 of its levels, which are text).
Numbers, and text that spells nothing but numbers, are continuous; other text and truth values are
categorical; a column that mixes the two is refused unless it was declared categorical.

Missing are NaN, None, ``pandas.NA``, masked entries, and in text the words of
:data:`MISSING_WORDS`, so that a frame and the file it was written to mean the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.observations.numerals import DECIMAL_MARKS, Numerals, not_both, read_numerals

if TYPE_CHECKING:
    import pandas as pd

# R, pandas and databases write these for a missing value. "None" is left out: as an answer ("None",
# "Some", "All") it is more common than as a missing value.
MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})

# Above this a float no longer holds every whole number, so 1e300 is not written with 300 digits.
_LARGEST_EXACT = 2.0**53

# Control characters and lone surrogates break files and terminals; a byte-order mark inside a
# name would be eaten by the next reader.
_UNPRINTABLE_CATEGORIES = ("Cc", "Cs")
_BYTE_ORDER_MARK = "\ufeff"

Levels = tuple[str, ...]


class Encoded(NamedTuple):
    """The numbers of a column, what they are codes of, if anything, and the unit in its cells."""

    values: Floats
    levels: Levels | None = None
    unit: str = ""


class ColumnKind(Enum):
    """The meaning of the numbers of a column.

    Examples
    --------
    >>> from mixoracle import Observations
    >>> Observations.from_arrays({"check": ["good", "scratch"]}).kinds
    ((ColumnKind.CATEGORICAL,),)
    """

    CONTINUOUS = "continuous"
    CATEGORICAL = "categorical"

    def __repr__(self) -> str:
        return f"ColumnKind.{self.name}"


@dataclass(frozen=True)
class Spelling:
    """How the cells of a table are spelled: its decimal mark, and further words for missing."""

    decimal: str | None = None
    na: frozenset[str] = frozenset()
    # The mark that other columns have, for cells that leave it open.
    hint: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, *DECIMAL_MARKS):
            raise InvalidInputError(
                f"decimal should be '.' or ','; got {self.decimal!r}: leave it out to have it found"
            )

    @staticmethod
    def of(decimal: str | None, na: Any) -> Spelling:
        """The caller's words, one or several; numbers are words as well."""
        words = [na] if isinstance(na, (str, int, float)) else na
        return Spelling(decimal, frozenset(str(word) for word in words))

    @cached_property
    def missing_words(self) -> frozenset[str]:
        """All words that stand for a missing value."""
        return MISSING_WORDS | self.na

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """The numbers that stand for a missing value, such as -999."""
        return tuple(n for word in self.na if (n := spelled_number(word)) is not None)

    def without_missing(self, numbers: Floats) -> Floats:
        """The same numbers, NaN where they stand for a missing value."""
        if not self.missing_numbers:
            return numbers
        return np.where(np.isin(numbers, self.missing_numbers), np.nan, numbers)


def check_text(text: object, what: str) -> str:
    """Return a name or label that can be written to a file and read back, or refuse it."""
    if not isinstance(text, str) or not text:
        raise InvalidInputError(f"{what} should be text that is not empty; got {text!r}")
    for character in text:
        if unicodedata.category(character) in _UNPRINTABLE_CATEGORIES or (
            character == _BYTE_ORDER_MARK
        ):
            raise InvalidInputError(
                f"{what} should hold no control characters; {text!r} holds {character!r}: "
                "replace it"
            )
    return text


def spelled_number(text: str) -> float | None:
    """Return the number that ``text`` spells, or None; digits joined by ``_`` are no number."""
    if "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


NO_REMARKS = Spelling()


def sorted_levels(labels: Iterable[str]) -> Levels:
    """Order labels by the numbers they spell where all do, else as text."""
    distinct = set(labels)
    numbers = {label: spelled_number(label) for label in distinct}
    if all(number is not None and not np.isnan(number) for number in numbers.values()):
        return tuple(sorted(distinct, key=lambda label: (numbers[label], label)))
    return tuple(sorted(distinct))


def encode_column(values: NDArray[Any], what: str, categorical: bool = False) -> Encoded:
    """Encode a 1-d array; ``what`` names the column in errors."""
    if isinstance(values, np.ma.MaskedArray):
        return _encode_masked(values, what, categorical)
    kind = values.dtype.kind
    if kind in "fiu":
        return encode_numbers(values, what, categorical)
    if kind in "bUO":
        return encode_cells(values.tolist(), what, categorical)
    advice = {
        "c": "Complex data not supported, split it into real and imaginary parts",
        "M": "convert it to a number, such as days since a date",
        "m": "convert it to a number, such as seconds",
        "S": "decode it to text",
    }.get(kind, "convert it to numbers or text")
    raise InvalidInputError(
        f"{what} should hold numbers, text or truth values; it has dtype {values.dtype}: {advice}"
    )


def _encode_masked(values: np.ma.MaskedArray[Any, Any], what: str, categorical: bool) -> Encoded:
    plain, masked = np.asarray(values.data), np.ma.getmaskarray(values)
    if plain.dtype.kind in "fiu" and not categorical:
        return encode_numbers(np.where(masked, np.nan, plain), what)
    if plain.dtype.kind in "fiubUO":
        cells = [
            None if hidden else cell for cell, hidden in zip(plain.tolist(), masked, strict=True)
        ]
        return encode_cells(cells, what, categorical)
    return encode_column(plain, what, categorical)


def encode_series(
    series: pd.Series[Any],
    what: str,
    categorical: bool = False,
    spelling: Spelling = NO_REMARKS,
    unit: str = "",
) -> Encoded:
    """Encode a column of a frame, whatever its dtype stores missing values as."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _encode_categories(series, what)
    if dtype.kind in "cMmSV":
        return encode_column(np.empty(0, dtype=np.dtype(dtype.kind)), what)
    if dtype.kind in "fiu" and not categorical:
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return encode_numbers(spelling.without_missing(numbers), what)
    return encode_cells(series.to_numpy(dtype=object).tolist(), what, categorical, spelling, unit)


def _encode_categories(series: pd.Series[Any], what: str) -> Encoded:
    """Keep the levels of a pandas categorical in their order, used or not."""
    labels = [None if is_missing(held) else _label(held, what) for held in series.cat.categories]
    levels = tuple(label for label in labels if label is not None)
    # A category that spells a missing value, and code -1 (the last entry), become NaN.
    codes = np.full(len(labels) + 1, np.nan)
    kept = [i for i, label in enumerate(labels) if label is not None]
    codes[kept] = np.arange(len(kept))
    return Encoded(codes[series.cat.codes.to_numpy()], levels)


def encode_numbers(values: NDArray[Any], what: str, categorical: bool = False) -> Encoded:
    """Encode integers or floats, NaN being missing."""
    if not categorical:
        numbers = values.astype(np.float64, copy=False)
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            raise InvalidInputError(
                f"{what} should hold finite numbers; row {row} is {numbers[row]}: "
                "write NaN where the value is missing"
            )
        return Encoded(numbers)
    distinct, inverse = np.unique(values, return_inverse=True)
    labels = [None if is_missing(held) else _label(held, what) for held in distinct.tolist()]
    codes, levels, _ = _encode_labels(labels)
    return Encoded(codes[inverse.ravel()], levels)


def encode_cells(
    cells: Sequence[Any],
    what: str,
    categorical: bool = False,
    spelling: Spelling = NO_REMARKS,
    unit: str = "",
) -> Encoded:
    """Encode a list of Python objects: numbers, text, truth values, missing.

    ``unit`` is the one that numbers are known to have.
    """
    present = [None if is_missing(cell, spelling) else cell for cell in cells]
    types = {type(cell) for cell in present if cell is not None}
    foreign = [
        held  # Decimal is a number that does not register as Real
        for held in types
        if not issubclass(held, (str, bool, np.bool_, Real)) and held.__name__ != "Decimal"
    ]
    if foreign:
        raise InvalidInputError(
            f"{what} should hold numbers, text or truth values; it holds {foreign[0].__name__} "
            "objects: convert them"
        )
    truths = {held for held in types if issubclass(held, (bool, np.bool_))}
    if categorical and unit and types == {str}:
        # Levels that are numbers in a unit go by their numbers, as those that nobody declared.
        written = _written_numbers(present, what, spelling, unit)
        if written is not None:
            return encode_numbers(written.values, what, True)._replace(unit=written.unit)
    if categorical or (types and types == truths):
        return _encode_labels([None if c is None else _label(c, what) for c in present])
    if not any(issubclass(held, str) for held in types) and not truths:
        numbers = np.array(
            [np.nan if c is None else _as_float(c) for c in present], dtype=np.float64
        )
        return encode_numbers(numbers, what)
    if types == {str}:
        written = _written_numbers(present, what, spelling, unit)
        if written is not None:
            return encode_numbers(written.values, what)._replace(unit=written.unit)
    return _encode_spelled(present, what)


def _written_numbers(
    cells: Sequence[str | None], what: str, spelling: Spelling, unit: str
) -> Numerals | None:
    """Text that spells numbers as people write them, where Python would not read it as it is."""
    if spelling.decimal != "," and not any(
        cell is not None and spelled_number(cell) is None for cell in cells
    ):
        return None
    return read_numerals(cells, what, spelling.decimal, spelling.hint, unit)


def _encode_spelled(cells: Sequence[Any], what: str) -> Encoded:
    """Text among the cells: numbers if all spell one, labels if none does, else a refusal."""
    numbers = np.full(len(cells), np.nan)
    first_number = first_text = None
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, str):
            number = spelled_number(cell)
        else:  # a truth value among other things is no number
            number = None if isinstance(cell, (bool, np.bool_)) else _as_float(cell)
        if number is None:
            first_text = row if first_text is None else first_text
        else:
            first_number = row if first_number is None else first_number
            numbers[row] = number
    if first_text is None:
        return encode_numbers(numbers, what)
    if first_number is None:
        return _encode_labels([None if cell is None else _label(cell, what) for cell in cells])
    raise not_both(what, cells, first_number, first_text)


def _encode_labels(labels: Sequence[str | None]) -> Encoded:
    levels = sorted_levels(label for label in labels if label is not None)
    position: dict[str | None, float] = {label: float(i) for i, label in enumerate(levels)}
    position[None] = np.nan
    return Encoded(np.array([position[label] for label in labels], dtype=np.float64), levels)


def is_missing(cell: Any, spelling: Spelling = NO_REMARKS) -> bool:
    """Whether a cell holds no value."""
    if cell is None or cell is np.ma.masked:
        return True
    if isinstance(cell, str):
        return cell in spelling.missing_words
    # pandas.NA refuses comparison; it is known by name so that pandas need not be imported.
    if type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, (float, np.floating)) and bool(np.isnan(cell)):
        return True
    return (
        bool(spelling.missing_numbers)
        and isinstance(cell, Real)
        and (cell in spelling.missing_numbers)
    )


def row_names(cells: Iterable[Any], what: str) -> tuple[str, ...]:
    """The names of the rows that a column holds, empty where it holds none."""
    return tuple("" if is_missing(cell) else _label(cell, what) for cell in cells)


def _as_float(cell: Any) -> float:
    """Return a number as a float; one too large for it counts as infinite, and is refused so."""
    try:
        return float(cell)
    except OverflowError:
        return float("inf")


def _label(cell: Any, what: str) -> str:
    if isinstance(cell, (float, np.floating)):
        return number_label(float(cell))
    return check_text(str(cell), f"a label of {what}")


def number_label(number: float) -> str:
    """A number as a label, whole ones without a point."""
    whole = number.is_integer() and abs(number) <= _LARGEST_EXACT
    return str(int(number)) if whole else repr(number)
