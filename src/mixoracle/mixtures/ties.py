"""Rounded numbers: values on a grid are spread evenly over their rounding step.

A thermometer that shows tenths of a degree repeats each value hundreds of times. To a mixture of
densities every repeated value is a component without any scatter, and the evidence for it has no
limit. A rounded value is known to lie within half a step of what was written down, and nothing is
known beyond that: so it is drawn uniformly from there. The rows come in canonical order, and the
same rows are always spread alike.

Assumes that columns with a few different values only were read as levels before.
"""

from __future__ import annotations

import numpy as np

from mixoracle.families.base import Floats

# Multiples of a rounding step, in floating point, are off by far less than this share of it.
_ON_GRID = 0.01
# In numbers that were not rounded hardly a value repeats; in rounded ones most do.
_MOSTLY_DIFFERENT = 0.5
_SEED = 0


def spread_ties(block: Floats) -> Floats:
    """The block (N, d) with its rounded columns spread; the same block where there are none."""
    steps = np.array([rounding_step(column) for column in block.T])
    if not steps.any():
        return block
    noise = np.random.default_rng(_SEED).uniform(-0.5, 0.5, size=block.shape)
    return np.asarray(block + steps * noise)


def rounding_step(column: Floats) -> float:
    """The step of the grid on which all values of a column (N,) lie; 0 if there is none.

    Examples
    --------
    >>> rounding_step(np.round(np.linspace(3.0, 5.0, 200), 1)).__round__(6)
    0.1
    >>> rounding_step(np.linspace(3.0, 5.0, 200))
    0.0
    """
    seen = column[~np.isnan(column)]
    distinct = np.unique(seen)
    if len(distinct) < 2 or len(distinct) > _MOSTLY_DIFFERENT * len(seen):
        return 0.0
    gaps = np.diff(distinct)
    step = float(gaps.min())
    multiples = (distinct - distinct[0]) / step
    is_grid = bool(np.all(np.abs(multiples - np.round(multiples)) < _ON_GRID))
    return step if is_grid else 0.0
