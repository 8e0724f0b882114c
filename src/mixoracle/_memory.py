"""Freed memory stays with the process: fresh pages cost more than what is done with them.

A fit makes and drops hundreds of arrays of some megabytes. The allocator of glibc hands such memory
back to the system at once, and every array that follows pays for its pages again, a tenth of the
time of a small fit. It keeps what is no larger than the largest piece that it ever handed back, up
to 32 MB. It does not learn that where ``MALLOC_TRIM_THRESHOLD_`` says how much to keep, as it does
for the workers of Dask: half of their time went into pages. Other allocators, and other ways to
tell glibc, are left alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import numpy as np

# The largest that glibc learns from, but for its own few bytes.
_LARGE = 32_000_000
# What glibc calls its limits, the one that it has where nobody says otherwise, and the largest.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_USUAL_MMAP_THRESHOLD = 128 * 1024
_LARGEST_LIMIT = 2**31 - 1


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Let freed memory stay within the block, and after it unless the environment forbids that.

    Examples
    --------
    >>> with freed_memory_kept():
    ...     pass
    """
    allocator, asked = _glibc(), _limit("MALLOC_TRIM_THRESHOLD_")
    if allocator is None or asked is None:
        np.empty(_LARGE // 8)  # its pages are never touched
        yield
        return
    raised = _Raised.of(allocator, asked)
    raised.enter()
    try:
        yield
    finally:
        raised.leave()


class _Raised:
    """The limits of the whole process: raised by the first who comes, put back by the last."""

    def __init__(self, allocator: ctypes.CDLL, asked: int) -> None:
        self._allocator, self._asked = allocator, asked
        self._lock, self._n_within = Lock(), 0

    @classmethod
    @cache
    def of(cls, allocator: ctypes.CDLL, asked: int) -> _Raised:
        """The same one for everybody."""
        return cls(allocator, asked)

    def enter(self) -> None:
        with self._lock:
            self._n_within += 1
            if self._n_within == 1:
                self._allocator.mallopt(_MMAP_THRESHOLD, _LARGE)
                self._allocator.mallopt(_TRIM_THRESHOLD, max(2 * _LARGE, self._asked))

    def leave(self) -> None:
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                mapped = _limit("MALLOC_MMAP_THRESHOLD_")
                own = _USUAL_MMAP_THRESHOLD if mapped is None else mapped
                self._allocator.mallopt(_MMAP_THRESHOLD, own)
                self._allocator.mallopt(_TRIM_THRESHOLD, self._asked)
                self._allocator.malloc_trim(0)


def _limit(name: str) -> int | None:
    """A limit that the environment sets, None where it sets none."""
    said = os.environ.get(name, "")
    return min(int(said), _LARGEST_LIMIT) if said.isdecimal() else None


@cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, if it is glibc."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") else None
