"""Columns that are no measurements: dates, identifiers, row numbers, constants, empty columns.

Tables of everyday life hold columns that say which case a row is, or when it was recorded. As
measurements they would be hundreds of levels, each seen once, so they are set aside, and a warning
names each with the reason. Whoever wants such a column all the same keeps it by name.

A column is judged by its values; a few rows can look like anything, so small tables are left alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations.columns import NO_REMARKS, Spelling, is_missing, spelled_number
from mixoracle.observations.grouping import Choices, as_refs
from mixoracle.observations.input_columns import InputColumns
from mixoracle.observations.numerals import spell_numerals, spells_quantity

if TYPE_CHECKING:
    import pandas as pd

# In fewer rows than this, values are all different, equal or in order by chance.
FEWEST_ROWS = 30
# More different texts than this are names of things, even where each occurs many times.
MOST_TEXTS = 1000
# Rows × levels beyond which a column of levels would need gigabytes.
_MOST_CELLS = 50_000_000
# Above this share of different texts a text names the row rather than a level.
_NAMING_SHARE = 0.5
# Steps between row numbers or clock times are equal but for rounding.
_EQUAL_STEPS = 1e-6
# Whole numbers of ten digits and more, no two of them equal, are barcodes and the like.
_LEAST_BARCODE = 1e9
# Seconds since 1970, between 2001 and 2036; programs also count thousandths and millionths.
_SECONDS = (1e9, 2.1e9)

EMPTY = "empty"
CONSTANT = "the same in every row"
DATES = "dates or times"
ROW_NUMBERS = "counts the rows"
UNNAMED = "an index without a name"
IDENTIFIER = "different in every row"
NEARLY_IDENTIFIER = "different in nearly every row"
# What these columns hold is no question of their place, so blocks of equal width skip them too.
_OF_NO_BLOCK = (DATES, UNNAMED, IDENTIFIER, NEARLY_IDENTIFIER)

_UNNAMED = re.compile(r"(Unnamed: [0-9]+)?")
_NAMES_ROWS = re.compile(
    r"(?:.*[ _.\-])?(?:id|ids|uid|uuid|guid|index|idx|row|rowid|rownames|nr|no|timestamp)\.?",
    re.IGNORECASE,
)
# The end of a name such as "PartID", written as programmers do.
_ENDS_IN_ID = re.compile(r".*[a-z](ID|Id)")
_TIME = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?[AaPp]\.?[Mm]\.?)?"
_ZONE = r"( ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_MONTH = r"(jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[^\W\d_]*\.?"
_WHEN = re.compile(
    rf"([0-9]{{4}}(?P<a>[-/.])[0-9]{{1,2}}(?P=a)[0-9]{{1,2}}([ T]{_TIME}{_ZONE})?"
    rf"|[0-9]{{1,2}}(?P<b>[-/.])[0-9]{{1,2}}(?P=b)([0-9]{{4}}|[0-9]{{2}})([ T]{_TIME}{_ZONE})?"
    rf"|{_TIME}|[0-9]{{4}}-(0[1-9]|1[0-2])"
    rf"|[0-9]{{1,2}}\.?[ -]{_MONTH}[ -][0-9]{{2,4}}( {_TIME})?"
    rf"|{_MONTH} [0-9]{{1,2}},? [0-9]{{4}}( {_TIME})?)",
    re.IGNORECASE,
)
_DATE_TYPES = ("date", "datetime", "time", "timedelta", "Timestamp", "Timedelta", "Period")


def reason_of_numbers(label: str, numbers: Floats) -> str:
    """Why a column of numbers is no measurement; empty where it may be one."""
    present = without_missing(numbers)
    distinct = np.unique(present)
    all_different = len(distinct) == len(present)
    whole = bool(np.all(distinct == np.floor(distinct)))
    if _UNNAMED.fullmatch(label) and all_different and whole:
        return UNNAMED if len(present) else EMPTY
    if len(numbers) < FEWEST_ROWS:
        return ""
    if len(distinct) <= 1:
        return CONSTANT if len(distinct) else EMPTY
    if len(present) == len(numbers) and _has_equal_steps(numbers):
        return ROW_NUMBERS
    if whole and (_are_days(distinct) or _are_seconds(present)):
        return DATES
    names = names_rows(label) or bool(distinct[0] >= _LEAST_BARCODE)
    return IDENTIFIER if whole and all_different and names else ""


def reason_of_series(label: str, series: pd.Series[Any], spelling: Spelling = NO_REMARKS) -> str:
    """Why a column of a frame is no measurement; pandas categories are levels by declaration."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return ""
    if dtype.kind in "Mm" or isinstance(dtype, pd.PeriodDtype):
        return DATES
    if dtype.kind in "fiu":
        return reason_of_numbers(label, series.to_numpy(dtype=np.float64, na_value=np.nan))
    return reason_of_cells(label, series.to_numpy(dtype=object).tolist(), spelling)


def reason_of_cells(label: str, cells: Sequence[Any], spelling: Spelling = NO_REMARKS) -> str:
    """Why a column of text or other objects is no measurement; empty where it may be one."""
    present = [cell for cell in cells if not is_missing(cell, spelling)]
    types = {type(cell).__name__ for cell in present}
    if types and types <= set(_DATE_TYPES):
        return DATES
    distinct = set(map(str, present))
    if _UNNAMED.fullmatch(label) and len(distinct) == len(present):
        return UNNAMED if present else EMPTY
    if len(cells) < FEWEST_ROWS:
        return ""
    if len(distinct) <= 1:
        return CONSTANT if distinct else EMPTY
    return _reason_of_texts(present, distinct) if types == {"str"} else ""


def _reason_of_texts(present: Sequence[str], distinct: set[str]) -> str:
    if all(_WHEN.fullmatch(text.strip()) for text in distinct):
        return DATES
    few = len(distinct) <= min(MOST_TEXTS, _NAMING_SHARE * len(present))
    if few or _are_mostly_numbers(distinct):
        return ""
    if len(distinct) == len(present):
        return IDENTIFIER
    if len(distinct) > _NAMING_SHARE * len(present):
        return NEARLY_IDENTIFIER
    return f"{len(distinct)} different texts"


def _are_mostly_numbers(distinct: set[str]) -> bool:
    """Numbers, perhaps with a few words among them, which are a question and no identifiers."""
    if spell_numerals(sorted(distinct)):
        return True
    numbers = (spelled_number(text) is not None or spells_quantity(text) for text in distinct)
    return sum(numbers) > _NAMING_SHARE * len(distinct)


def names_rows(label: str) -> bool:
    """Whether the name of a column says that it names rows."""
    return bool(_NAMES_ROWS.fullmatch(label) or _ENDS_IN_ID.fullmatch(label))


def _has_equal_steps(numbers: Floats) -> bool:
    steps = np.diff(numbers)
    return bool(steps[0] != 0 and np.all(np.abs(steps - steps[0]) <= _EQUAL_STEPS * abs(steps[0])))


def _are_seconds(numbers: Floats) -> bool:
    """Whether numbers that never fall from row to row are seconds since 1970, or parts of them."""
    low, high = _SECONDS
    return bool(np.all(np.diff(numbers) >= 0)) and any(
        low * scale <= numbers[0] and numbers[-1] <= high * scale for scale in (1.0, 1e3, 1e6, 1e9)
    )


def _are_days(distinct: Floats) -> bool:
    """Whether whole numbers are days written as 20240131."""
    if distinct[0] < 19000101 or distinct[-1] > 20991231:
        return False
    days, months = distinct % 100, distinct // 100 % 100
    return bool(np.all((days >= 1) & (days <= 31) & (months >= 1) & (months <= 12)))


def screened(columns: InputColumns, choices: Choices, reason_of: Callable[[int], str]) -> Choices:
    """The same choices, leaving out the columns that are no measurements, which a warning names.

    ``reason_of`` judges a column by its position.
    """
    reasons = {position: reason_of(position) for position in choices.unsettled(columns)}
    labels = {
        columns.title(position): reason
        for position, reason in reasons.items()
        if reason and (not choices.in_blocks or reason in _OF_NO_BLOCK)
    }
    if not labels:
        return choices
    listed = ", ".join(f"{label!r} ({reason})" for label, reason in labels.items())
    if len(labels) == columns.count - len(choices.left_out(columns)):
        raise InvalidInputError(
            f"at least one column should be a measurement; none seems to be one: {listed}: name "
            "those that are with keep="
        )
    warnings.warn(
        f"set aside as no measurements: {listed}; keep= brings a column back",
        DataWarning,
        stacklevel=5,
    )
    return replace(choices, drop=[*as_refs(choices.drop), *labels], aside=labels)


def check_levels(
    titles: Sequence[str], levels: Sequence[Sequence[str] | None], n_rows: int
) -> None:
    """Refuse a column whose levels are so many that they would exhaust memory."""
    for title, held in zip(titles, levels, strict=True):
        if held is not None and len(held) > MOST_TEXTS and len(held) * n_rows > _MOST_CELLS:
            raise InvalidInputError(
                f"a column of levels should have at most {MOST_TEXTS} of them; {title!r} has "
                f"{len(held)} in {n_rows} rows: leave it out, or put levels together"
            )
