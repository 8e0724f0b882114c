"""Freed memory stays with the process: fresh pages cost more than what is done with them.

A fit makes and drops hundreds of arrays of some megabytes. The allocator of glibc hands such memory
back to the system at once, and every array that follows pays for its pages again, a tenth of the
time of a small fit. It keeps what is no larger than the largest piece that it ever handed back, up
to 32 MB. Other allocators are as they were.
"""

from __future__ import annotations

import numpy as np

# The largest that glibc learns from, but for its own few bytes.
_NUMBERS = 4_000_000


def keep_freed_memory() -> None:
    """Show the allocator one large array, whose pages are never touched.

    Examples
    --------
    >>> keep_freed_memory()
    """
    np.empty(_NUMBERS)
