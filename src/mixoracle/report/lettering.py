"""How wide a name is when drawn, and how to show one that is too wide, hostile or foreign.

A picture made without a browser cannot measure text, so widths are estimated on the generous side
from the kind of each character. Names are data: characters that XML forbids are replaced, text
that runs from right to left is kept from turning its surroundings, and long names are cut with
the full name left to a tooltip.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

# Widths in units of the font size, generous for common sans-serif fonts.
_NARROW = frozenset("iljtfrI.,:;'|!()[]{}/\\ -")
_BROAD = frozenset("mwMWQO@%&#")
_NARROW_WIDTH, _PLAIN_WIDTH, _CAPITAL_WIDTH, _BROAD_WIDTH, _FULL_WIDTH = 0.4, 0.6, 0.72, 0.92, 1.3
# Letters up to here are Latin; the estimate is not to be relied on for those beyond.
_LAST_LATIN = 0x24F
# Beyond the Latin letters, but well behaved: Greek and the punctuation that we add ourselves.
_FAMILIAR = frozenset("…–—→ΓΛαβγδεθλμπσφωΔΣΩ")
_RIGHT_TO_LEFT = frozenset(
    {"R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF", "RLI", "LRI", "FSI"}
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_ISOLATE, _END_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def printable(text: str) -> str:
    """The text with line breaks, and characters that XML forbids, replaced."""
    return "".join(_REPLACEMENT if _forbidden(letter) else letter for letter in text)


def _forbidden(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} or letter in "\ufffe\uffff"


def escaped(text: str) -> str:
    """Text for XML, between tags or within a quoted attribute."""
    return escape(printable(text), quote=True)


def width_of(text: str, size: float) -> float:
    """An upper estimate of the width of a line in pixels."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Cf", "Mn"}:
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return _FULL_WIDTH
    if letter in _NARROW:
        return _NARROW_WIDTH
    if letter in _BROAD or (ord(letter) > _LAST_LATIN and letter not in _FAMILIAR):
        return _BROAD_WIDTH
    return _CAPITAL_WIDTH if letter.isupper() else _PLAIN_WIDTH


def fitted(text: str, room: float, size: float) -> str:
    """The text, cut with an ellipsis where it is wider than ``room``."""
    text = printable(text)
    if width_of(text, size) <= room:
        return text
    kept = ""
    for letter in text:
        if width_of(kept + letter + "…", size) > room:
            break
        kept += letter
    return f"{kept.rstrip()}…"


def is_familiar(text: str) -> bool:
    """Whether the estimate of the width can be relied on."""
    return all(ord(letter) <= _LAST_LATIN or letter in _FAMILIAR for letter in text)


def shortened(text: str, most: int = 40) -> str:
    """A name for a sentence: printable, cut, and kept from turning the text around it."""
    text = printable(text)
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    turning = any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text)
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if turning else text


@cache
def page_environment(package: str) -> Environment:
    """The templates of a package; everything is escaped, and a missing value is an error.

    ``xml`` makes a name fit for a picture, ``px`` rounds a coordinate.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["xml"] = lambda text: Markup(escaped(text))
    environment.filters["px"] = lambda value, digits=1: f"{value:.{digits}f}"
    return environment


def sentence(text: str) -> str:
    """The text with its first letter large; k(S) and the like stay as they are."""
    return f"{text[:1].upper()}{text[1:]}" if text[1:2].isalpha() or text[1:2] == " " else text


def full(text: str) -> str:
    """A sentence with its full stop."""
    return sentence(text) + ("" if text.endswith((".", "!", "?")) else ".")
