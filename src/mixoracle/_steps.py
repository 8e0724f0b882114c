"""Steps within a stage: who is told that some of many things are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Tell = Callable[[int, int], None]
"""Called with how many of how many are done."""

T = TypeVar("T")


def tell_nobody(_done: int, _total: int) -> None:
    """Nobody asked."""


def counted(items: Iterable[T], total: int, tell: Tell) -> Iterator[T]:
    """The items as they come, each counted when it is there.

    Examples
    --------
    >>> list(counted("ab", 2, lambda done, total: print(f"{done} of {total}")))
    1 of 2
    2 of 2
    ['a', 'b']
    """
    for done, item in enumerate(items, start=1):
        tell(done, total)
        yield item
