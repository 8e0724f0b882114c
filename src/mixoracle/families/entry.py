"""What the registry knows of a family: its name, its words, and which columns it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mixoracle.families.base import Floats
from mixoracle.families.units import Part


def _accept(_seen: Floats, _variable: str) -> None:
    """Any numbers will do."""


def _never(_seen: Floats) -> bool:
    """Values alone do not show this family."""
    return False


@dataclass(frozen=True)
class FamilyEntry:
    """A family as users declare it and as the report shows it.

    Parameters
    ----------
    name : str
        As it is declared, and as its components are stored.
    purpose : str
        What it is for.
    words : str
        Its columns in the report, in words that need no statistics.
    part : subclass of Part
        Learns the units of such columns, and makes the family.
    check : (values, name of the variable) -> None
        Refuses values that such a column cannot have where the family was declared.
    recognises : values -> bool
        Whether a column of numbers is taken for one of this family where nothing was declared.
    """

    name: str
    purpose: str
    words: str
    part: type[Part]
    check: Callable[[Floats, str], None] = _accept
    recognises: Callable[[Floats], bool] = _never
