"""Numbers as people write them: '1,000.50', '12,5', '12%', '$3', "1'234", '5 kg'.

A column of text is read as numbers if all its cells are written in one style: the same decimal
mark, the same mark between thousands, the same unit, which is kept. Cells in different units are a
question to the caller. Which mark is which follows from the cells
together: '0,5' settles that the comma is decimal, '1,000,000' and '1,000.50' that it is not. Cells
that fit both readings with different results ('1,234' alone) are a question to the caller, who
answers it with ``decimal``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.observations.units import (
    CURRENCIES,
    SHARES,
    are_different_units,
    is_clear_unit,
    is_unit,
)

POINT, COMMA = ".", ","
DECIMAL_MARKS = (POINT, COMMA)
# Fewer different numbers with a unit ("2D", "3D"; "10 mg", "20 mg") are names of levels.
_FEWEST_WITH_UNIT = 11
# Blanks and minus signs as spreadsheets and typesetters write them.
_PLAIN = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "’": "'"})
_NUMERAL = re.compile(
    rf"(?P<open>\()?(?P<sign>[+-]?)\s*(?P<before>[{re.escape(CURRENCIES)}]?)\s*(?P<minus>-?)"
    r"(?P<digits>[0-9][0-9.,' ]*|[.,][0-9]+)(?P<power>[eE][+-]?[0-9]+)?"
    rf"\s*(?P<after>[%‰{re.escape(CURRENCIES)}]|[^\W\d_](?:[^\W\d_]|[/·*²³]){{0,11}}|°[CFK]?)?(?P<close>\))?"
)
# Thousands are set apart by blanks or apostrophes without any doubt about the decimal mark.
_APART = re.compile(r"[1-9][0-9]{0,2}([ '])[0-9]{3}(\1[0-9]{3})*(?=[.,]|$)")


class Numerals(NamedTuple):
    """The numbers of a column, NaN where a cell is missing, and their unit, empty without one."""

    values: Floats
    unit: str


def read_numerals(
    cells: Sequence[str | None],
    what: str,
    decimal: str | None = None,
    hint: str | None = None,
    unit: str = "",
) -> Numerals | None:
    """Return the numbers that all cells spell, None being missing; None where one spells none.

    ``decimal`` is the decimal mark; ``hint`` is it where the cells leave it open. ``unit`` is the
    unit that the numbers are known to have; numbers that are few are then no levels either.
    """
    parsed = _Written.parsed(cells)
    if parsed is None:
        _refuse_words(cells, what)
        return None
    _check_units(parsed, what, unit)
    if len(parsed.units) > 1:
        return None
    readings = {
        mark: numbers
        for mark in DECIMAL_MARKS
        if decimal in (None, mark) and (numbers := parsed.numbers(mark)) is not None
    }
    if len(readings) == 2 and readings[POINT] != readings[COMMA]:
        mark = hint or parsed.settled_by_short_cells()
        if mark is None:
            example = next(digits for digits in parsed.digits if COMMA in digits)
            row = parsed.digits.index(example)
            raise InvalidInputError(
                f"{what} holds {example!r}, which may be {readings[POINT][row]:.15g} or "
                f"{readings[COMMA][row]:.15g}: say which with decimal='.' or decimal=','"
            )
        readings = {mark: readings[mark]}
    if not readings:
        return None
    (numbers, *_) = readings.values()
    (found,) = parsed.units
    if not (unit or parsed.is_plain_unit) and len(set(numbers)) < _FEWEST_WITH_UNIT:
        return None
    answer = np.full(len(cells), np.nan)
    there = [row for row, cell in enumerate(cells) if cell is not None]
    answer[there] = np.array(numbers) * np.array(parsed.signs)
    return Numerals(answer, found)


def _refuse_words(cells: Sequence[str | None], what: str) -> None:
    """Refuse a few words among many numbers; many words with some numbers in them are labels."""
    distinct = {cell for cell in cells if cell is not None}
    numbers = {cell for cell in distinct if spells_quantity(cell)}
    if len(numbers) >= max(_FEWEST_WITH_UNIT, len(distinct) / 2):
        number = next(row for row, cell in enumerate(cells) if cell in numbers)
        word = next(row for row, cell in enumerate(cells) if cell in distinct - numbers)
        raise not_both(what, cells, number, word)


def not_both(what: str, cells: Sequence[Any], number: int, word: int) -> InvalidInputError:
    """The error that a column holds a number in one row and a word in another."""
    return InvalidInputError(
        f"{what} should hold numbers or labels, not both; row {number} is {cells[number]!r} and "
        f"row {word} is {cells[word]!r}: mark missing numbers by NaN or an empty cell, name the "
        "word with na=, or declare the column categorical"
    )


def _check_units(parsed: _Written, what: str, unit: str) -> None:
    """Refuse numbers in several units, or in another one than they are known to have."""
    named = [f"in {name}" if name else "without a unit" for name in sorted(parsed.units)]
    many = unit or len(set(parsed.digits)) >= _FEWEST_WITH_UNIT
    if many and are_different_units(parsed.units):
        raise InvalidInputError(
            f"{what} should hold numbers in one unit; it holds some {' and some '.join(named)}: "
            "convert them, or declare the column categorical"
        )
    if unit and parsed.units not in ({unit}, {""}) and all(map(is_unit, parsed.units)):
        raise InvalidInputError(
            f"{what} should hold numbers in {unit}; it holds numbers {named[0]}: convert them"
        )


def spells_numeral(text: str) -> bool:
    """Whether a text spells a number with any unit and either decimal mark."""
    parsed = _Written.parsed([text])
    return parsed is not None and any(parsed.numbers(mark) is not None for mark in DECIMAL_MARKS)


def spells_quantity(text: str) -> bool:
    """Whether a text spells a number, in a unit that is known or in none."""
    parsed = _Written.parsed([text])
    known = parsed is not None and all(not unit or is_clear_unit(unit) for unit in parsed.units)
    return known and spells_numeral(text)


def spell_numerals(texts: Sequence[str]) -> bool:
    """Whether different texts are numbers in one style, even if it is open in which."""
    parsed = _Written.parsed(texts)
    if (
        parsed is None
        or len(parsed.units) > 1
        or not (parsed.is_plain_unit or len(texts) >= _FEWEST_WITH_UNIT)
    ):
        return False
    return any(parsed.numbers(mark) is not None for mark in DECIMAL_MARKS)


def settled_decimal(cells: Sequence[str | None]) -> str | None:
    """The decimal mark that these cells can only have; None where they leave it open."""
    parsed = _Written.parsed(cells)
    if parsed is None or len(parsed.units) > 1:
        return None
    fitting = [mark for mark in DECIMAL_MARKS if parsed.numbers(mark) is not None]
    return fitting[0] if len(fitting) == 1 else None


def may_mean_thousands(cells: Sequence[str | None]) -> str | None:
    """A cell such as '1.234' where all that hold a point could set thousands apart by it."""
    marked = [cell.strip() for cell in cells if cell is not None and POINT in cell]
    if marked and all(re.fullmatch(r"-?[1-9][0-9]{0,2}(\.[0-9]{3})+", cell) for cell in marked):
        return marked[0]
    return None


class _Written:
    """The digits, signs and units of the cells that are not missing."""

    def __init__(self, digits: list[str], signs: list[float], units: set[str]) -> None:
        self.digits = digits
        self.signs = signs
        self.units = units
        self.is_plain_unit = all(not unit or unit in (*SHARES, *CURRENCIES) for unit in units)

    @classmethod
    def parsed(cls, cells: Sequence[str | None]) -> _Written | None:
        digits, signs, units = [], [], set()
        for cell in cells:
            if cell is None:
                continue
            match = _NUMERAL.fullmatch(cell.translate(_PLAIN).strip())
            if match is None or bool(match["open"]) != bool(match["close"]):
                return None
            units.add(match["before"] + (match["after"] or ""))
            negative = (match["sign"] == "-") + bool(match["minus"]) + bool(match["open"])
            if negative > 1:
                return None
            held = match["digits"].rstrip()
            whole = _APART.match(held)
            if whole:
                held = re.sub("[ ']", "", whole[0]) + held[whole.end() :]
            digits.append(held + (match["power"] or ""))
            signs.append(-1.0 if negative else 1.0)
        return cls(digits, signs, units) if digits else None

    def numbers(self, decimal: str) -> list[float] | None:
        """The numbers, read with this decimal mark; None where a cell does not fit it."""
        thousands = COMMA if decimal == POINT else POINT
        fraction = rf"({re.escape(decimal)}[0-9]*)?([eE][+-]?[0-9]+)?"
        grouped = re.compile(rf"[1-9][0-9]{{0,2}}({re.escape(thousands)}[0-9]{{3}})+{fraction}")
        plain = re.compile(rf"([0-9]+{fraction}|{re.escape(decimal)}[0-9]+([eE][+-]?[0-9]+)?)")
        any_grouped = any_long = False
        for cell in self.digits:
            if plain.fullmatch(cell):
                any_long |= len(re.match(r"[0-9]*", cell)[0]) > 3  # type: ignore[index]
            elif grouped.fullmatch(cell):
                any_grouped = True
            else:
                return None
        # Who sets thousands apart does so in every cell.
        if any_grouped and any_long:
            return None
        return [float(cell.replace(thousands, "").replace(decimal, POINT)) for cell in self.digits]

    def settled_by_short_cells(self) -> str | None:
        """The mark where both readings fit: '950' beside '1,020' shows thousands."""
        if not any(COMMA in cell for cell in self.digits):
            return POINT
        return None if all(COMMA in cell for cell in self.digits) else POINT
