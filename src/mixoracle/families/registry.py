"""All families that can be declared or recognised: a new one is registered here.

Whatever differs from family to family is asked of its entry; no other module lists families.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mixoracle.errors import InvalidInputError
from mixoracle.families.categorical import CATEGORICAL
from mixoracle.families.counts import COUNTS
from mixoracle.families.diagonal import DIAGONAL
from mixoracle.families.exposure import EXPOSURE
from mixoracle.families.gamma import GAMMA
from mixoracle.families.gaussian import GAUSSIAN
from mixoracle.families.student import STUDENT
from mixoracle.families.units import FamilyEntry

# The families of columns with levels, and of numbers that no family recognises.
LEVELS = CATEGORICAL.name
NUMBERS = GAUSSIAN.name

_ENTRIES = {
    entry.name: entry for entry in (GAUSSIAN, DIAGONAL, STUDENT, GAMMA, COUNTS, CATEGORICAL)
}


def entries() -> tuple[FamilyEntry, ...]:
    """All families, in the order in which they are listed."""
    return tuple(_ENTRIES.values())


def names() -> tuple[str, ...]:
    """What may be declared."""
    return tuple(_ENTRIES)


def purposes() -> str:
    """What each family is for, as a sentence."""
    return "; ".join(f"{known.name} is for {known.purpose}" for known in entries())


def entry(name: str) -> FamilyEntry:
    """The family of that name."""
    if name == EXPOSURE.name:
        return EXPOSURE
    if name not in _ENTRIES:
        raise InvalidInputError(f"a family should be one of {', '.join(_ENTRIES)}; got {name!r}")
    return _ENTRIES[name]


def register(added: FamilyEntry) -> None:
    """Add a family."""
    if added.name in _ENTRIES:
        raise InvalidInputError(f"there is a family {added.name!r} already: choose another name")
    _ENTRIES[added.name] = added


@contextmanager
def registered(added: FamilyEntry) -> Iterator[None]:
    """Add a family, and remove it again at the end."""
    register(added)
    try:
        yield
    finally:
        del _ENTRIES[added.name]
