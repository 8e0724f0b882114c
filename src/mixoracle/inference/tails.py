"""How heavy the tails of components are, by quantiles that a few strange rows do not move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from mixoracle._arrays import Floats, Integers
from mixoracle.settings import Settings

# Rows that differ by less than this share of their size differ by rounding only.
_BY_ROUNDING = 1e-12


class Tails(NamedTuple):
    """How heavy the tails of components are, in the median; the error of its logarithm."""

    ratio: float
    error: float


def typical_tails(
    block: Floats, inside: Sequence[Integers], enough: int, settings: Settings
) -> Tails | None:
    """The median tail ratio of the components that these rows (r,) of a block are inside.

    About ``enough`` rows are looked at in all, evenly spaced in each component; only components
    with few rows are left out. None if all are.
    """
    fewest = settings.priors.rows_to_judge + block.shape[1]
    judged = [rows for rows in inside if len(rows) >= fewest]
    if not judged:
        return None
    # Of as many rows each, components are looked at all at once; smaller ones one by one.
    each = min(max(fewest, enough // len(judged)), settings.budget.shape_rows)
    large = [rows[np.arange(each) * len(rows) // each] for rows in judged if len(rows) >= each]
    groups = [[rows] for rows in judged if len(rows) < each] + ([large] if large else [])
    ratios = np.concatenate([tail_ratios(block[np.stack(rows)]) for rows in groups])
    n_rows = np.array([len(rows) for group in groups for rows in group])
    known = np.isfinite(ratios)
    if not known.any():
        return None
    error = tail_error(block.shape[1]) / float(np.sqrt(n_rows[known].sum()))
    return Tails(float(np.median(ratios[known])), error)


def tail_ratios(rows: Floats) -> Floats:
    """How heavy the tails of components with rows (k, n, d) are, relative to normal ones, (k,).

    NaN for one without any scatter.
    """
    n_rows, width = rows.shape[1:]
    middle, outer = int(0.5 * (n_rows - 1)), int(0.9 * (n_rows - 1))
    spread, size = np.ptp(rows, axis=1).max(axis=1), np.abs(rows).max(axis=(1, 2))
    # A few rows from elsewhere stretch the scatter; the nearest nine tenths have none of them.
    nearest = np.argpartition(_squared_distances(rows, rows), outer, axis=1)[:, : outer + 1]
    core = np.take_along_axis(rows, nearest[:, :, None], axis=1)
    squared = np.partition(_squared_distances(rows, core), (middle, outer), axis=1)
    has_scatter = (squared[:, middle] > 0) & (spread > _BY_ROUNDING * size)
    quotient = squared[:, outer] / np.where(has_scatter, squared[:, middle], np.nan)
    return np.asarray(quotient / _normal_quantile_ratio(width))


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


@cache
def _normal_quantile_ratio(width: int) -> float:
    """The 90 % over the 50 % quantile of the squared distance of normal rows."""
    return float(chi2.ppf(0.9, width) / chi2.ppf(0.5, width))


def _squared_distances(rows: Floats, core: Floats) -> Floats:
    """Squared Mahalanobis distances (k, n) of rows by the mean and scatter of some of them.

    Both are (k, rows, d), one set of rows for each component.
    """
    n_core, width = core.shape[1:]
    means = np.ones((1, n_core)) @ core / n_core
    centred, inner = rows - means, core - means
    scatter = inner.transpose(0, 2, 1) @ inner / n_core
    # A direction without scatter counts as one with hardly any.
    diagonal = np.einsum("kaa->ka", scatter)
    diagonal += 1e-9 * diagonal.sum(axis=1, keepdims=True) + np.finfo(float).tiny
    return np.asarray((centred @ np.linalg.inv(scatter) * centred) @ np.ones(width))
