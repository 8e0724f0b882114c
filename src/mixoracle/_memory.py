"""Freed memory stays with the process: fresh pages cost more than what is done with them.

A fit makes and drops hundreds of arrays of some megabytes. The allocator of glibc hands such memory
back to the system at once, and every array that follows pays for its pages again, a tenth of the
time of a small fit. It keeps what is no larger than the largest piece that it ever handed back, up
to 32 MB; but not where the environment says how much to keep, as the workers of Dask are told: half
of their time went into pages. Other allocators are as they were.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

# The largest that glibc learns from, but for its own few bytes.
_LARGE = 32_000_000
# What glibc calls its limits, and the one that it has where nobody says otherwise.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_USUAL_MMAP_THRESHOLD = 128 * 1024


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Within it, and where the environment does not forbid it also after it.

    Examples
    --------
    >>> with freed_memory_kept():
    ...     pass
    """
    asked = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    allocator = _glibc()
    if allocator is None or not asked.isdecimal():
        np.empty(_LARGE // 8)  # its pages are never touched
        yield
        return
    usual = os.environ.get("MALLOC_MMAP_THRESHOLD_", "")
    allocator.mallopt(_MMAP_THRESHOLD, _LARGE)
    allocator.mallopt(_TRIM_THRESHOLD, 2 * _LARGE)
    try:
        yield
    finally:
        own = int(usual) if usual.isdecimal() else _USUAL_MMAP_THRESHOLD
        allocator.mallopt(_MMAP_THRESHOLD, own)
        allocator.mallopt(_TRIM_THRESHOLD, int(asked))
        allocator.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, if it is glibc."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") else None
