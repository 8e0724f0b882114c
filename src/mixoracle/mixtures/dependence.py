"""Whether two blocks are dependent, beyond the component that each row is known to be in.

Blocks of any kind are looked at as coordinates, centred and scaled within each component, with
their columns made uncorrelated. Two such blocks are compared by the correlations of their columns.

Sees linear dependence only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.stats import chi2, gamma

from mixoracle._arrays import Bools, Floats, Integers, row_sums
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.pairs import count_together
from mixoracle.model.joint_states import numbered_columns
from mixoracle.settings import Priors

# Share of a column's variance below which a direction is rounding.
_EMPTY_DIRECTION = 1e-8
# The share of normal rows that are longer than a row may be.
_LONG_ROWS = 0.01
# Two rows always lie on a line.
_FEWEST_ROWS = 3
# So many rows are multiplied at a time, to bound the memory.
_ROWS_AT_ONCE = 4096


def whitened(coordinates: Floats, codes: Integers, has_missing: Bools) -> Floats:
    """Each row centred by its component; columns uncorrelated, with unit variance, or 0.

    A row with a missing value says nothing here, because a filled-in value is no evidence: it is 0.
    """
    some_missing = bool(has_missing.any())
    whole = ~has_missing if some_missing else slice(None)
    labels, seen = codes[whole], coordinates[whole]
    sizes = np.maximum(np.bincount(labels), 1)[:, None]
    residual = seen - (pool(seen, labels, len(sizes)) / sizes).take(labels, axis=0)
    spread = np.sqrt(pool(residual**2, labels, len(sizes)) / sizes)
    residual /= np.where(spread > 0, spread, 1.0).take(labels, axis=0)
    if some_missing:
        seen, residual = residual, np.zeros_like(coordinates)
        residual[whole] = seen
    values, vectors = np.linalg.eigh(residual.T @ residual / max(1, len(labels)))
    # Marks of levels add up to 1, so some directions hold nothing at all.
    kept = values > _EMPTY_DIRECTION
    return np.asarray(residual @ (vectors[:, kept] / np.sqrt(values[kept])))


def shortened(residual: Floats, codes: Integers, has_missing: Bools) -> Floats:
    """Whitened rows, the longest of them cut to the length that one normal row in 100 exceeds.

    A few rows in a wrong state are far off in all that it drives; what the rest says outweighs
    them then. Dependence that matters shows in most rows.
    """
    lengths = np.sqrt(row_sums(residual**2))[:, None]
    most = _usual_length(max(1, residual.shape[1]))
    return whitened(residual * (most / np.maximum(lengths, most)), codes, has_missing)


@cache
def _usual_length(width: int) -> float:
    """What one normal row in 100 exceeds."""
    return float(np.sqrt(chi2.isf(_LONG_ROWS, width)))


def dependence(
    blocks: Sequence[Floats],
    excess: Floats | float = 1.0,
    missing: Sequence[Bools] | None = None,
) -> tuple[Floats, Floats]:
    """The root-mean-square correlation of each two blocks, and how likely that is by chance.

    Two (n, n) arrays. What chance alone leaves of a correlation is taken off. ``excess`` is how
    much larger that is than in rows that were not centred (:func:`excess_of_centring`).

    N times the sum of squared correlations, were the rows of one block shuffled,
    has a mean and a variance that the lengths of the rows give; a Gamma distribution with these
    stands for its own. With light tails it is the usual χ²; rare levels have long rows, and a wider
    one. Rows in which one block is ``missing``, (N,) for each, are left out; where that is not
    said, rows of which it holds nothing (0). Measured rows may hold nothing as well: so do those of
    an item that is always solved in their state.
    """
    widths = np.array([block.shape[1] for block in blocks])
    if missing is None:
        missing = [np.asarray(~block.any(axis=1)) for block in blocks]
    measured = ~np.stack(missing, axis=1)
    products, n_rows = _products(blocks, widths), measured.T.astype(np.float64) @ measured
    firsts = np.cumsum([0, *widths[:-1]])
    own = [row_sums(block**2)[rows] for block, rows in zip(blocks, measured.T, strict=True)]
    with_rows = (widths > 0) & [len(held) > 1 for held in own]
    mean, variance, crossed = np.ones(len(blocks)), np.zeros(len(blocks)), np.zeros(len(blocks))
    for i in np.flatnonzero(with_rows):
        inside = slice(firsts[i], firsts[i] + widths[i])
        n_own, squares = len(own[i]), float((own[i] ** 2).sum())
        mean[i], variance[i] = own[i].mean(), own[i].var()
        among = float((products[inside, inside] ** 2).sum()) - squares
        crossed[i] = max(among, 0.0) / (n_own * (n_own - 1.0))
    judged = np.outer(with_rows, with_rows) & (n_rows >= _FEWEST_ROWS)
    n_rows = np.maximum(n_rows, 1.0)
    squared = np.zeros((len(blocks), len(blocks)))
    wide = widths > 0
    if wide.any():
        by_row = np.add.reduceat(products**2, firsts[wide], axis=0)
        squared[np.ix_(wide, wide)] = np.add.reduceat(by_row, firsts[wide], axis=1)
    spread = np.outer(variance, variance) / n_rows + 2.0 * np.outer(crossed, crossed)
    spread = np.where(judged, np.maximum(spread, np.finfo(float).tiny), 1.0)
    expected = np.outer(mean, mean)
    statistic = squared / n_rows / excess
    chance = gamma.sf(statistic, expected**2 / spread, scale=spread / expected)
    n_entries = np.maximum(np.outer(widths, widths), 1)
    strength = np.sqrt(np.maximum(0.0, statistic - expected) / (n_rows * n_entries))
    return np.where(judged, strength, 0.0), np.where(judged, chance, 1.0)


def excess_of_centring(codes: Integers) -> Floats:
    """How much larger chance correlations are between rows centred within components, (n, n).

    Each component takes one degree of freedom from its block, and where the components of two
    blocks are the same rows, both lose the same one: what is left looks alike. ``codes`` (N, n)
    are the components of the rows in each block.

    Examples
    --------
    >>> pairs = np.repeat(np.arange(50), 2)
    >>> float(excess_of_centring(np.stack([pairs, pairs], axis=1))[0, 1])
    2.0
    """
    n_rows = len(codes)
    labels = numbered_columns(codes)
    n_labels = labels.max(axis=0) + 1
    firsts = np.cumsum([0, *n_labels[:-1]])
    counts = count_together(labels + firsts, int(n_labels.sum()))
    rows = np.diag(counts)
    by_row = np.add.reduceat(counts**2 / np.outer(rows, rows), firsts, axis=0)
    shared = np.add.reduceat(by_row, firsts, axis=1)
    left = np.maximum(n_rows - n_labels, 0.0)
    both = np.maximum(np.outer(left, left), 1.0)
    excess = n_rows * (left[:, None] + left[None] - n_rows + shared) / both
    return np.where(np.outer(left, left) > 0, np.maximum(1.0, excess), 1.0)


def dependent_pairs(
    blocks: Sequence[Floats],
    priors: Priors,
    excess: Floats | float = 1.0,
    missing: Sequence[Bools] | None = None,
) -> tuple[Bools, Floats]:
    """Which two whitened blocks are dependent to a degree that matters, and how much; (n, n) each.

    By chance, so many pairs together are no more often than one is.
    """
    n_pairs = len(blocks) * (len(blocks) - 1) // 2
    strengths, chances = dependence(blocks, excess, missing)
    unlikely = chances < priors.false_alarm / max(1, n_pairs)
    matters = unlikely & (strengths > priors.small_correlation)
    np.fill_diagonal(matters, False)
    return matters, strengths


def _products(blocks: Sequence[Floats], widths: Integers) -> Floats:
    """Products of all columns, summed over the rows."""
    total = np.zeros((widths.sum(), widths.sum()))
    for begin in range(0, len(blocks[0]), _ROWS_AT_ONCE):
        together = np.hstack([block[begin : begin + _ROWS_AT_ONCE] for block in blocks])
        total += together.T @ together
    return total


def enough_rows(
    widths: Sequence[int], missing: Sequence[Bools], n_components: int, priors: Priors
) -> slice:
    """Evenly spaced rows that show whether two blocks are dependent to a degree that matters.

    The sum of squared correlations of the two narrowest blocks (d_i), times the rows, should exceed
    what chance leaves of it, a χ² variable, by four of its standard deviations beyond the limit of
    a false alarm; and ``n_components``, the most that a block has, need rows for their means. Two
    blocks are compared in rows of which neither has ``missing`` values, (N,) for each.

    Examples
    --------
    >>> whole = [np.zeros(10_000, dtype=bool)] * 3
    >>> [enough_rows([width] * 3, whole, 2, Priors()).step for width in (1, 2, 5)]
    [1, 4, 12]
    """
    n_pairs = len(widths) * (len(widths) - 1) // 2
    entries = float(np.prod(sorted(widths)[:2]))
    limit = chi2.isf(priors.false_alarm / max(1, n_pairs), entries) + 4.0 * np.sqrt(2.0 * entries)
    needed = max(
        (limit - entries) / (entries * priors.small_correlation**2),
        priors.rows_to_judge * n_components,
    )
    whole = [len(gaps) * (1.0 - gaps.mean()) ** 2 for gaps in missing]
    return slice(None, None, max(1, int(min(whole) / needed)))


def depend_on_others(blocks: Sequence[Floats], by_chance: float) -> Bools:
    """Which of several whitened blocks (n,) depend on another, more than ``by_chance``."""
    chance = dependence(blocks)[1]
    np.fill_diagonal(chance, 1.0)
    return np.asarray((chance < by_chance / max(1, len(blocks) - 1)).any(axis=1))
