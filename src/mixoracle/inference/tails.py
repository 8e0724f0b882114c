"""How heavy the tails of a component are, by quantiles that a few strange rows do not move."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.stats import chi2

from mixoracle._arrays import Floats, column_means, row_sums
from mixoracle.settings import Settings


def typical_tails(block: Floats, settings: Settings) -> float | None:
    """:func:`tail_ratio` of some of the rows, evenly spaced: they are in the order of values."""
    return tail_ratio(
        block[:: max(1, len(block) // settings.budget.shape_rows)], settings.priors.rows_to_judge
    )


def tail_ratio(block: Floats, fewest_rows: int) -> float | None:
    """How heavy the tails of one component are, relative to a normal one (1); None for few rows."""
    if len(block) < fewest_rows + block.shape[1]:
        return None
    squared = _squared_distances(block, block)
    # A few rows from elsewhere stretch the scatter; the nearest nine tenths have none of them.
    core = block[squared <= _quantiles(squared, 0.9)[0]]
    squared = _squared_distances(block, core)
    median, outer = _quantiles(squared, 0.5, 0.9)
    if median <= 0:
        return None
    return float(outer / median) / _normal_quantile_ratio(block.shape[1])


@cache
def tail_error(width: int) -> float:
    """The standard error of the median tail ratio of normal components, or its log, times √(rows).

    By the joint distribution of two sample quantiles; a median has 1.25 times the error of a mean.
    The ratio of few rows is skewed: its logarithm is the one that is nearly normal.
    """
    law = chi2(width)
    low, high = law.ppf([0.5, 0.9])
    at_low, at_high = low * law.pdf(low), high * law.pdf(high)
    variance = 0.25 / at_low**2 + 0.09 / at_high**2 - 2.0 * 0.5 * 0.1 / (at_low * at_high)
    return 1.25 * float(np.sqrt(variance))


def _quantiles(values: Floats, *shares: float) -> Floats:
    """Order statistics, which hundreds of rows need no interpolation for."""
    places = [int(share * (len(values) - 1)) for share in shares]
    return np.asarray(np.partition(values, places)[places])


@cache
def _normal_quantile_ratio(width: int) -> float:
    """The 90 % over the 50 % quantile of the squared distance of normal rows."""
    return float(chi2.ppf(0.9, width) / chi2.ppf(0.5, width))


def _squared_distances(block: Floats, core: Floats) -> Floats:
    """Squared Mahalanobis distances of all rows by the mean and scatter of some of them."""
    mean = column_means(core)
    centred = block - mean
    inner = centred if core is block else core - mean
    scatter = inner.T @ inner / len(core)
    # A direction without scatter counts as one with hardly any.
    diagonal = np.einsum("aa->a", scatter)
    diagonal += 1e-9 * diagonal.sum() + np.finfo(float).tiny
    return row_sums(centred @ np.linalg.inv(scatter) * centred)
