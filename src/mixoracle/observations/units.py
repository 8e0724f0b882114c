"""Units of measurement, as far as they are told from other letters behind a number.

A number may be followed by anything: '5 kg', '3D', '12A'. As long as all cells of a column end
alike, it does not matter what that is. Where they do not, '5 kg' beside '300 g' is a question, and
'12A' beside '13B' are names; so one has to know a unit when one sees it. The letters of the
International System with their prefixes and the common others are known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection

CURRENCIES = "$€£¥₹"
SHARES = ("%", "‰")
_PREFIXES = ("", *"pnµμumcdhkMGT")
_WITH_PREFIX = (
    *"gmsAVWNJKFHTlLΩ",
    *("Hz", "Pa", "mol", "bar", "eV", "cal", "Wh", "Ah"),
)
_OTHERS = (
    *("sec", "min", "h", "hr", "hrs", "d", "day", "days", "wk", "week", "weeks"),
    *("month", "months", "yr", "year", "years", "t", "lb", "lbs", "oz", "ha", "px"),
    *("in", "inch", "ft", "yd", "mi", "mph", "kph", "rpm", "psi", "atm", "mmHg", "dB"),
    *("ppm", "ppb", "IU", "U", "°", "°C", "°F", "°K", "C", "F", *CURRENCIES, *SHARES),
)
_KNOWN = frozenset((*_OTHERS, *(prefix + unit for prefix in _PREFIXES for unit in _WITH_PREFIX)))
# 'KG' is meant as 'kg'; of a single letter the case is all there is.
_IN_ANY_CASE = frozenset(unit.lower() for unit in _KNOWN if len(unit) > 1)
# 'm/s²', 'mg/dl', 'kW·h': units of units.
_JOINED = re.compile(r"[/·*]")
_POWERS = "²³"


def is_unit(text: str) -> bool:
    """Whether a text is a unit, or made of units."""
    parts = [part.rstrip(_POWERS) for part in _JOINED.split(text)]
    return all(part in _KNOWN or part.lower() in _IN_ANY_CASE for part in parts)


def is_clear_unit(text: str) -> bool:
    """Whether a text is a unit and no letter that tells things apart, as in '12A' and '13V'."""
    return is_unit(text) and not (len(text) == 1 and text.isupper())


def are_different_units(texts: Collection[str]) -> bool:
    """Whether endings of numbers are several units, and not letters that tell things apart.

    An empty one is a number without a unit.
    """
    named = [text for text in texts if text]
    return len(texts) > 1 and all(map(is_unit, named)) and any(map(is_clear_unit, named))
