"""The columns of a table as they came, and what the caller may call them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixoracle.errors import InvalidInputError

# Names that a message lists one by one.
SHOWN = 5

# A step of scikit-learn gives an array unless it is asked for a frame.
IN_A_PIPELINE = ' (after a step of a pipeline: let it keep names by set_output(transform="pandas"))'

ColumnRef = str | int


@dataclass(frozen=True)
class InputColumns:
    """The columns as they came: how many, and what the caller may call them.

    Columns of a bare array have no labels; the caller numbers them from 0. ``groups`` is the group
    of each column where the table itself has groups, as a frame with two levels of names does.
    """

    count: int
    labels: tuple[str, ...] | None = None
    keys: Mapping[Hashable, int] | None = None
    groups: tuple[str, ...] | None = None

    @staticmethod
    def named(labels: Iterable[Hashable]) -> InputColumns:
        """Columns with labels, which have to be distinct."""
        original = list(labels)
        texts = tuple(map(str, original))
        repeated = [text for text, times in Counter(texts).items() if times > 1]
        if repeated:
            raise InvalidInputError(
                f"columns should have distinct names; {shown(repeated)} occurs more than once: "
                "rename one"
            )
        keys: dict[Hashable, int] = {text: i for i, text in enumerate(texts)}
        keys.update({label: i for i, label in enumerate(original)})
        return InputColumns(len(original), texts, keys)

    def grouped(self, groups: Sequence[str], names: Mapping[Any, int]) -> InputColumns:
        """The same columns in groups, which the caller may also call by these names."""
        return replace(self, keys={**(self.keys or {}), **names}, groups=tuple(groups))

    def position(self, ref: ColumnRef, what: str) -> int:
        """Where the column is that the caller means by ``ref``."""
        if not isinstance(ref, Hashable):
            raise InvalidInputError(f"{what} should name columns by text or number; got {ref!r}")
        if self.keys is not None and ref in self.keys:
            return self.keys[ref]
        if isinstance(ref, (int, np.integer)) and not isinstance(ref, bool):
            if 0 <= ref < self.count:
                return int(ref)
            raise InvalidInputError(
                f"{what} names column {ref}, but columns are numbered 0 to {self.count - 1}"
            )
        hint = f"; columns of an array are named by number{IN_A_PIPELINE}"
        hint = hint if self.labels is None else ""
        raise InvalidInputError(
            f"{what} names the column {ref!r}, which is not there"
            + (hint or did_you_mean(ref, self.labels or ()))
        )

    def title(self, position: int) -> str:
        """What the caller may call a column."""
        return str(position) if self.labels is None else self.labels[position]

    def describe(self, position: int) -> str:
        """Name a column in an error."""
        return f"column {position if self.labels is None else repr(self.labels[position])}"


def shown(names: Iterable[Any]) -> str:
    """List a few names, and say how many more there are."""
    held = list(names)
    text = ", ".join(map(repr, held[:SHOWN]))
    return text if len(held) <= SHOWN else f"{text} and {len(held) - SHOWN} more"


def did_you_mean(wrong: object, known: Sequence[str]) -> str:
    """Suggest what was probably meant."""
    close = difflib.get_close_matches(str(wrong), known, n=3)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {shown(known)}"
