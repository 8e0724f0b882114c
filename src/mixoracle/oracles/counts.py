"""Component counts k(S) with how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mixoracle.errors import InvalidInputError


class ComponentCount(int):
    """A count k(S) that carries its confidence; in every other way an int.

    Examples
    --------
    >>> count = ComponentCount(3, confidence=0.9, seen=2)
    >>> int(count), count.confidence, count.seen
    (3, 0.9, 2)
    """

    confidence: float | None
    seen: int | None

    def __new__(
        cls, value: int, confidence: float | None = None, seen: int | None = None
    ) -> ComponentCount:
        """``seen`` is the number of label tuples before any repair, ``confidence`` in [0, 1]."""
        count = super().__new__(cls, value)
        count.confidence = confidence
        count.seen = seen
        return count

    def __repr__(self) -> str:
        trust = "" if self.confidence is None else f", confidence={self.confidence:.3f}"
        seen = "" if self.seen in (None, int(self)) else f", seen={self.seen}"
        return f"ComponentCount({int(self)}{trust}{seen})"


class ComponentCounts:
    """All counts of an oracle: ``counts[{0, 2}]`` is k({X_1, X_3}).

    Members may be positions or names. Counts are worked out when they are asked for.

    Examples
    --------
    >>> counts = ComponentCounts(["heat", "sound"], lambda members: 2 ** len(members))
    >>> int(counts["heat"]), int(counts[{"heat", "sound"}])
    (2, 4)
    """

    def __init__(self, names: Iterable[str], ask: Callable[[frozenset[int]], int]) -> None:
        self._names = tuple(names)
        self._ask = ask

    def __getitem__(self, subset: Iterable[int | str] | int | str) -> ComponentCount:
        members = [subset] if isinstance(subset, int | str | np.integer) else list(subset)
        places = frozenset(self._place(member) for member in members)
        answer = self._ask(places)
        return answer if isinstance(answer, ComponentCount) else ComponentCount(answer)

    def _place(self, member: int | str) -> int:
        if isinstance(member, str):
            if member not in self._names:
                raise InvalidInputError(
                    f"no observed variable is called {member!r}; there are {', '.join(self._names)}"
                )
            return self._names.index(member)
        if not 0 <= member < len(self._names):
            raise InvalidInputError(
                f"observed variables are numbered 0 to {len(self._names) - 1}; got {member}"
            )
        return int(member)

    def __repr__(self) -> str:
        singles = ", ".join(f"{name}: {int(self[i])}" for i, name in enumerate(self._names))
        return f"ComponentCounts({singles})"
