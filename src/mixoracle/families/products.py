"""Rows with the products of their coordinates, in which squared distances are linear.

The features of a row x are 1, x and all x_a x_b with a ≤ b. Added up over rows they are the size,
the sum and the second moment of a component; multiplied by the coefficients of a component they
give (x − μ)ᵀ P (x − μ).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from mixoracle._arrays import Floats, Integers

# Products of so many rows are made at a time.
_ROWS_AT_ONCE = 512


def with_products(block: Floats) -> Floats:
    """The features (N, 1 + d + d (d + 1) / 2) of rows (N, d) without missing values.

    Examples
    --------
    >>> with_products(np.array([[2.0, 3.0]])).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    width = block.shape[1]
    first, second = _pairs(width)
    features = np.empty((len(block), 1 + width + len(first)))
    features[:, 0] = 1.0
    features[:, 1 : width + 1] = block
    # A few rows at a time, so that what is multiplied stays in the cache.
    for begin in range(0, len(block), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        some = block[rows]
        products = features[rows, width + 1 :]
        np.multiply(some.take(first, axis=1), some.take(second, axis=1), out=products)
    return features


def squared_distance(means: Floats, precisions: Floats) -> Floats:
    """The coefficients (k, n_features) of squared distances to these means (k, d).

    Examples
    --------
    >>> away = squared_distance(np.array([[1.0, 0.0]]), np.array([[[2.0, 0.0], [0.0, 1.0]]]))
    >>> (with_products(np.array([[3.0, 2.0]])) @ away.T).tolist()
    [[12.0]]
    """
    first, second = _pairs(means.shape[1])
    linear = np.einsum("kab,kb->ka", precisions, means)
    constant = np.einsum("ka,ka->k", linear, means)
    twice = np.where(first == second, 1.0, 2.0)
    return np.hstack([constant[:, None], -2.0 * linear, twice * precisions[:, first, second]])


@cache
def _pairs(width: int) -> tuple[Integers, Integers]:
    """The two coordinates of each product."""
    first, second = np.triu_indices(width)
    return first, second
