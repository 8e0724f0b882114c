"""Components that are not of the family: told apart by density valleys, not by fit.

A skewed or heavy-tailed component is cut in two by a family that cannot bend. Such a cut has two
marks. The rows on both sides are alike in all other variables, and no valley lies between. When
most components have heavier tails than the family allows, pieces with both marks are joined
before anything is merged by fit. The tails are judged by quantiles of the squared Mahalanobis
distance, which a few rows that belong elsewhere do not move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.special import gammaln
from scipy.stats import chi2

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.model.joint_states import distinct_rows, numbered
from mixoracle.settings import Settings

# Windows between the medians of two pieces: two at the medians and an odd number between them.
_WINDOWS = 7


@dataclass(frozen=True)
class WholeRows:
    """The rows of a block of numbers without missing values, which alone show a shape."""

    block: Floats
    is_whole: Bools | None

    @classmethod
    def of(cls, block: Floats) -> WholeRows:
        """Look for missing values once, because rows are asked for again and again."""
        missing = np.asarray(np.isnan(block).any(axis=1))
        return cls(block, ~missing if missing.any() else None)

    def where(self, chosen: Bools) -> Floats:
        """The rows that are whole among those chosen."""
        return self.block[chosen if self.is_whole is None else chosen & self.is_whole]


def join_alike_labels(
    labels: Integers, variable: int, shape: WholeRows | None, settings: Settings
) -> Integers:
    """Join labels of one variable with no valley between them that all other variables see alike.

    ``labels`` is (N, n); the answer (N,) is the new column for ``variable``. Without numbers
    there are no valleys to see, and all labels stay.
    """
    column = labels[:, variable]
    n_labels = int(column.max()) + 1
    if shape is None or n_labels == 1:
        return column
    joined = np.arange(n_labels)
    tables = [
        np.histogram2d(column, other, bins=(np.arange(n_labels + 1), np.arange(other.max() + 2)))[0]
        for place, other in enumerate(labels.T)
        if place != variable
    ]
    rows = [shape.where(column == label) for label in range(n_labels)]
    alike = np.ones((n_labels, n_labels), dtype=bool)
    for table in tables:
        alike &= _are_alike(table)
    # Labels without whole rows show no shape, and would glue all others together.
    shown = [label for label in range(n_labels) if len(rows[label])]
    for first, second in combinations(shown, 2):
        if joined[first] == joined[second] or not alike[first, second]:
            continue
        if not are_apart(rows[first], rows[second], settings):
            joined[joined == joined[second]] = joined[first]
    return numbered(joined[column])


def _are_alike(table: Floats) -> Bools:
    """For which pairs of rows the evidence is for one distribution behind both.

    The Dirichlet–multinomial evidence, with concentration 1, of two rows of counts together is
    set against that of each on its own.
    """
    n_categories = table.shape[1]
    total = table.sum(axis=1)
    alone = gammaln(table + 1.0).sum(axis=1) - gammaln(total + n_categories)
    both = gammaln(table[:, None] + table[None] + 1.0).sum(axis=2)
    both -= gammaln(total[:, None] + total[None] + n_categories)
    return np.asarray(both >= alone[:, None] + alone[None] + gammaln(n_categories))


def join_uncut_pieces(
    labels: Integers, variable: int, shape: WholeRows | None, members: Integers, settings: Settings
) -> Integers:
    """Join components over X that differ in one variable only, and there without a valley.

    ``labels`` (T, n) are the components over X, ``members`` (N,) the component of each row. The
    answer (T,) numbers the pieces.
    """
    pieces = np.arange(len(labels))
    if shape is None:
        return pieces
    others = np.delete(labels, variable, axis=1)
    _, group, _ = distinct_rows(others)
    for shared in np.flatnonzero(np.bincount(group) > 1):
        inside = np.flatnonzero(group == shared)
        rows = {int(t): shape.where(members == t) for t in inside}
        for first, second in combinations([t for t in rows if len(rows[t])], 2):
            if pieces[first] == pieces[second]:
                continue
            if not are_apart(rows[first], rows[second], settings):
                pieces[pieces == pieces[second]] = pieces[first]
    return numbered(pieces)


def are_apart(first: Floats, second: Floats, settings: Settings) -> bool:
    """Whether a density valley lies between two pieces, along the line that parts them best."""
    if min(len(first), len(second)) == 0:
        return False
    difference = second.mean(axis=0) - first.mean(axis=0)
    centred = np.vstack([first - first.mean(axis=0), second - second.mean(axis=0)])
    scatter = centred.T @ centred / len(centred)
    ridge = np.finfo(float).eps + 1e-6 * np.trace(scatter) / len(scatter)
    direction = np.linalg.solve(scatter + ridge * np.eye(len(scatter)), difference)
    left, right = np.sort(first @ direction), np.sort(second @ direction)
    distance = float(np.median(right) - np.median(left))
    if distance <= 0:
        return False
    edges = np.median(left) + distance * (np.arange(_WINDOWS + 1) - 0.5) / (_WINDOWS - 1)
    counts = np.histogram(np.concatenate([left, right]), edges)[0]
    valley = 1 + int(np.argmin(counts[1:-1]))
    depth = counts[valley]
    peak = min(counts[:valley].max(), counts[valley + 1 :].max())
    if peak - depth > settings.priors.clear_errors * np.sqrt(peak + depth):
        return True
    nothing_between = float(right[0] - left[-1]) > 0
    return nothing_between and distance > settings.priors.clear_errors * float(
        left.std() + right.std()
    )


def rows_of_a_peak(settings: Settings) -> float:
    """The fewest rows of a component of unknown shape: a peak that fewer make could be chance."""
    return settings.priors.clear_errors**2


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
    mean = core.mean(axis=0)
    scatter = (core - mean).T @ (core - mean) / len(core)
    scatter += 1e-9 * np.trace(scatter) * np.eye(len(scatter)) + np.finfo(float).tiny
    centred = block - mean
    return np.asarray(np.einsum("na,na->n", centred @ np.linalg.inv(scatter), centred))
