"""Blocks with missing values: which were seen, and fillings for what cannot do without.

Only the search for pieces sees the fillings: it needs coordinates for every row. What is judged
and learned from the pieces uses the values that were seen and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixoracle.families.base import Floats, distinct_patterns


def rows_by_pattern(block: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows with the same values seen, and those columns; rows without any are passed over."""
    for pattern, rows in rows_of_patterns(*distinct_patterns(~np.isnan(block))):
        yield rows, np.flatnonzero(pattern)


def rows_of_patterns(
    seen: NDArray[np.bool_], which: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Each pattern of ``seen`` (P, width) that occurs in ``which`` (N,), with its rows.

    The pattern of rows with nothing seen is passed over.
    """
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(seen) + 1))
    for p, pattern in enumerate(seen):
        if pattern.any() and bounds[p] < bounds[p + 1]:
            yield pattern, order[bounds[p] : bounds[p + 1]]


def filled_with_means(block: Floats) -> Floats:
    """Missing values replaced by the mean of their column, or 0 where nothing was seen at all."""
    missing = np.isnan(block)
    if not missing.any():
        return block
    zeroed = np.where(missing, 0.0, block)
    means = zeroed.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, block)


def standardised(block: Floats) -> Floats:
    """Columns with mean 0 and variance 1, or 0 where constant; missing values at the mean."""
    whole = filled_with_means(block)
    centred = whole - whole.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
