"""Linear algebra on one thread: small matrices lose more to handing over than they gain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, the libraries of numpy and scipy work on one thread.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    with _linear_algebra().limit(limits=1):
        yield


@cache
def _linear_algebra() -> ThreadpoolController:
    """The libraries that are loaded; to look for them takes milliseconds, so it is done once."""
    return ThreadpoolController()
