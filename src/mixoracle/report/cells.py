"""Text in tables that people open with a spreadsheet, which takes some text for a formula.

Names of cases and of causes come from the data. One that begins like a formula gets an apostrophe
in front, as spreadsheets themselves write text; numbers stay as they are. :func:`cell_text` takes
the apostrophe away again, so that nothing is lost.
"""

from __future__ import annotations

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK = "'"


def text_cell(text: str) -> str:
    """The text as a cell that no spreadsheet computes.

    >>> [text_cell(text) for text in ("=1+1", "-3.5", "-x", "A-1", "'=1")]
    ["'=1+1", '-3.5', "'-x", 'A-1', "''=1"]
    """
    return f"{_MARK}{text}" if _needs_mark(text) else text


def cell_text(cell: str) -> str:
    """The text of a cell that :func:`text_cell` made."""
    bare = cell.removeprefix(_MARK)
    return bare if bare != cell and _needs_mark(bare) else cell


def _needs_mark(text: str) -> bool:
    """Whether text begins like a formula, after any of our own marks, and is no number."""
    bare = text.lstrip(_MARK)
    return bare.lstrip(" ").startswith(_FORMULA_STARTS) and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
