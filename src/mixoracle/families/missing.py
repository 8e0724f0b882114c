"""Fillings of missing values, for what cannot do without.

Only the search for pieces sees the fillings: it needs coordinates for every row. What is judged
and learned from the pieces uses the values that were seen and nothing else.
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Floats


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
