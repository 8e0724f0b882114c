"""Whether two blocks are dependent, beyond the component that each row is known to be in.

Blocks of any kind are looked at as coordinates, centred and scaled within each component, with
their columns made uncorrelated. Two such blocks are compared by the correlations of their columns.

Sees linear dependence only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import gamma

from mixoracle._arrays import Bools, Floats, Integers

# Share of a column's variance below which a direction is rounding.
_EMPTY_DIRECTION = 1e-8


def whitened(coordinates: Floats, codes: Integers, has_missing: Bools) -> Floats:
    """Each row centred by its component; columns uncorrelated, with unit variance, or 0.

    A row with a missing value says nothing here, because a filled-in value is no evidence: it is 0.
    """
    residual = np.zeros_like(coordinates)
    for code in np.unique(codes):
        inside = (codes == code) & ~has_missing
        if inside.any():
            residual[inside] = coordinates[inside] - coordinates[inside].mean(axis=0)
            spread = residual[inside].std(axis=0)
            residual[inside] /= np.where(spread > 0, spread, 1.0)
    values, vectors = np.linalg.eigh(residual.T @ residual / max(1, int((~has_missing).sum())))
    # Marks of levels add up to 1, so some directions hold nothing at all.
    kept = values > _EMPTY_DIRECTION
    return np.asarray(residual @ (vectors[:, kept] / np.sqrt(values[kept])))


def dependence(first: Floats, second: Floats, excess: float = 1.0) -> tuple[float, float]:
    """The root-mean-square correlation of two blocks, and how likely one so large is by chance.

    What chance alone leaves of it is taken off. ``excess`` is how much larger that is than in rows
    that were not centred (:func:`excess_of_centring`).

    N times the sum of squared correlations, were the rows of one block shuffled, has a mean and a
    variance that the lengths of the rows give; a Gamma distribution with these stands for its
    own. With light tails it is the usual χ²; rare levels have long rows, and a wider one. Rows of
    which one block holds nothing (0) are left out.
    """
    both = first.any(axis=1) & second.any(axis=1)
    first, second = first[both], second[both]
    n_rows = len(first)
    if n_rows < 3 or min(first.shape[1], second.shape[1]) == 0:
        return 0.0, 1.0
    correlation = first.T @ second / n_rows
    statistic = n_rows * float((correlation**2).sum()) / excess
    mean, same_row, other_row = 1.0, 1.0 / n_rows, 2.0
    for block in (first, second):
        lengths = (block**2).sum(axis=1)
        crossed = float(((block.T @ block) ** 2).sum() - (lengths**2).sum())
        mean *= float(lengths.mean())
        same_row *= float(lengths.var())
        other_row *= max(crossed, 0.0) / (n_rows * (n_rows - 1.0))
    variance = max(same_row + other_row, np.finfo(float).tiny)
    chance = float(gamma.sf(statistic, mean**2 / variance, scale=variance / mean))
    beyond = max(0.0, statistic - mean) / (n_rows * correlation.size)
    return float(np.sqrt(beyond)), chance


def excess_of_centring(first: Integers, second: Integers) -> float:
    """How much larger chance correlations are between rows centred within components.

    Each component takes one degree of freedom from its block, and where the components of both
    blocks are the same rows, both lose the same one: what is left looks alike. ``first`` and
    ``second`` are the components of the rows.

    Examples
    --------
    >>> pairs = np.repeat(np.arange(50), 2)
    >>> excess_of_centring(pairs, pairs)
    2.0
    """
    n_rows = len(first)
    counts, _, _ = np.histogram2d(
        first, second, bins=[np.arange(k.max() + 2) for k in (first, second)]
    )
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    left = [n_rows - float((own > 0).sum()) for own in (rows, columns)]
    if min(left) <= 0:
        return 1.0
    expected = np.outer(np.maximum(rows, 1.0), np.maximum(columns, 1.0))
    shared = float((counts**2 / expected).sum())
    return max(1.0, n_rows * (left[0] + left[1] - n_rows + shared) / (left[0] * left[1]))


def depends_on_another(blocks: Sequence[Floats], variable: int, by_chance: float) -> bool:
    """Whether one of several whitened blocks depends on another, more than ``by_chance``."""
    others = [block for place, block in enumerate(blocks) if place != variable]
    return any(dependence(blocks[variable], other)[1] < by_chance / len(others) for other in others)
