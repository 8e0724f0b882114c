"""Numbers that repeat and are a state: whether the other variables say which rows have them.

A sensor that reads exactly 0 in some rows did not measure there, and that says nothing more if it
happens at random. A machine that is off reads exactly 0 too, but then the other variables know:
they are at 0 in the same rows, or have other values than in the rest. So the rows with the repeated
number are marked, and the marks are tested for dependence on each column of the other variables,
cut into bins; a number that repeats is a bin of its own. The columns that depend on them then
predict the marks together, as if they were independent given the answer. If the others agree on the
marked rows, the number is a value like any other. Otherwise it counts as missing. Components
without any scatter have evidence without limit, so a number that is a state is scattered a little,
less than the other values are.

Assumes that a component either consists of the repeated number or hardly has it. Where a limit is
reached in some rows of a component, or zeros are only more frequent in some states, they stay
missing values: the other rows show the component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from zlib import crc32

import numpy as np
from scipy.stats import chi2

from mixoracle._arrays import Bools, Floats, Integers, without_missing
from mixoracle.mixtures.columns import Column
from mixoracle.observations import Observations
from mixoracle.settings import Settings

# Bins of a column: enough to see two components beside each other, few enough to fill.
_BINS = 16
# Marked rows that a bin has on average, so that their count is nearly normal.
_ROWS_PER_BIN = 5
# The chance that any of all the tests of a table finds what is not there. A missing value taken for
# a state makes a latent that does not exist, and a state that others show is far beyond chance.
_BY_CHANCE = 1e-4
# Rows that a bin is believed to have beyond those seen: no bin is impossible.
_UNSEEN_ROWS = 0.5
# The quarter of the marked rows that look most like marked ones: if components overlap, these are
# still clear, but not if a component has both marked rows and others.
_MOST_ALIKE = 0.75
_MISSING = -1
_SEED = 0
# Numbers that are a state are scattered by a third of the shortest interval with an eighth of the
# other values: a tenth of the standard deviation of normal ones, half of it if they are a mixture
# of four. Far less, and the shape of others seems to be made of such narrow components too.
_DENSE_SHARE = 0.125
_OF_DENSE = 1.0 / 3.0


@dataclass(frozen=True)
class Witnesses:
    """Columns (N, C) that may know which rows are marked.

    ``owners`` (C,) are the variables that they belong to, and ``special`` the numbers of each
    column that are bins of their own.
    """

    columns: Floats
    owners: Integers
    special: tuple[tuple[float, ...], ...]

    @cached_property
    def codes(self) -> list[Integers]:
        """The bin of every row in each column, those of special numbers last."""
        return [
            _binned(column, np.unique(_edges(column[_usual(column, own)])[1:-1]), own)
            for column, own in zip(self.columns.T, self.special, strict=True)
        ]

    def dependent(self, marked: Bools, variable: int, n_marks: int, least: float) -> Integers:
        """The columns of other variables that differ between marked rows (N,) and the rest.

        The difference is a correlation of more than ``least``, and beyond chance if so many marks
        are tested.
        """
        fewest = min(marked.sum(), (~marked).sum())
        n_bins = int(np.clip(fewest // _ROWS_PER_BIN, 2, _BINS))
        others = np.flatnonzero(self.owners != variable)
        by_chance = _BY_CHANCE / max(1, n_marks * len(others))
        tests = [_tested(marked, self.codes[c], n_bins) for c in others]
        found = [chance < by_chance and strength > least for chance, strength in tests]
        return np.asarray(others[np.array(found, dtype=bool)])

    def agree(self, marked: Bools, which: Integers, wrong_share: float) -> bool:
        """Whether these columns, together, show the marked rows (N,) as a state of their own.

        Two shares are small: that of marked rows that look like the others, and that of others
        among the rows that look most like marked ones.
        """
        if not len(which) or marked.all() or not marked.any():
            return False
        score = np.zeros(len(marked))
        for c in which:
            codes = self._fitting(c, marked)
            seen = codes != _MISSING
            counts = _counts(codes[seen], marked[seen]) + _UNSEEN_ROWS
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
            score[seen] += (shares[1] - shares[0])[codes[seen]]
        alike = score >= np.quantile(score[marked], _MOST_ALIKE)
        return bool(max(np.mean(score[marked] <= 0), np.mean(~marked[alike])) <= wrong_share)

    def _fitting(self, c: int, marked: Bools) -> Integers:
        """The rows of a column in bins that fit the marked ones, however few, and the others."""
        column, own = self.columns[:, c], self.special[c]
        usual = _usual(column, own)
        parts = [_edges(column[usual & held]) for held in (marked, ~marked)]
        return _binned(column, np.unique(np.concatenate(parts)), own)


def with_states(
    columns: Sequence[Column], observations: Observations, settings: Settings = Settings()
) -> tuple[Column, ...]:
    """The columns, numbers that repeat taken as values where the other variables agree.

    It shows in some of the rows, however many there are.
    """
    if observations.n_observed < 2 or not any(column.repeated for column in columns):
        return tuple(columns)
    priors = settings.priors
    step = max(1, observations.n_samples // settings.budget.mixture_rows)
    witnesses = Witnesses(
        observations.values[::step],
        np.array([column.observed for column in columns]),
        tuple(column.repeated for column in columns),
    )
    marks = _marks(witnesses)
    shown = {
        variable: witnesses.dependent(marked, variable, len(marks), priors.small_correlation)
        for variable, marked in marks.items()
    }

    def judged(column: Column) -> Column:
        which = shown.get(column.observed, np.zeros(0, dtype=np.int64))
        if not column.repeated or not len(which):
            return column
        if witnesses.agree(marks[column.observed], which, priors.left_out_share):
            return replace(column, repeated=(), agreed=column.repeated)
        return replace(column, shown_by=tuple(np.unique(witnesses.owners[which]).tolist()))

    return tuple(map(judged, columns))


def by_chance(
    marks: Mapping[int, Bools],
    values: Floats,
    rows: Integers,
    columns: Sequence[Column],
    settings: Settings,
) -> list[int]:
    """The variables whose marked rows (N,) no other variable depends on.

    ``values`` (N, C) are those of all columns, ``rows`` (N,) the order of the marks.
    """
    if not marks:
        return []
    owners = np.array([column.observed for column in columns])
    step = max(1, len(rows) // settings.budget.mixture_rows)
    witnesses = Witnesses(values[rows[::step]], owners, ((),) * len(columns))
    least = settings.priors.small_correlation
    return [
        variable
        for variable, marked in marks.items()
        if not len(witnesses.dependent(marked[::step], variable, len(marks), least))
    ]


def scattered(block: Floats, rows: Bools) -> Floats:
    """The block (N, d) with these rows, which repeat numbers, scattered a little.

    Rows come in canonical order, and the same rows are always scattered alike. What is drawn
    follows from the order of the values, so that no two variables are given the same.
    """
    scales = np.array([_dense_width(column[~rows]) for column in block.T]) * _OF_DENSE
    own = crc32(np.argsort(block[:, 0], kind="stable").astype(np.int64).tobytes())
    noise = np.random.default_rng([_SEED, own]).standard_normal((int(rows.sum()), block.shape[1]))
    answer = block.copy()
    answer[rows] += scales * noise
    return answer


def _dense_width(values: Floats) -> float:
    """The width of the shortest interval that holds a certain share of the values."""
    ordered = np.sort(without_missing(values))
    n_inside = max(1, int(_DENSE_SHARE * len(ordered)))
    if len(ordered) <= n_inside:
        return 0.0
    return float((ordered[n_inside:] - ordered[:-n_inside]).min())


def _marks(witnesses: Witnesses) -> dict[int, Bools]:
    """For each variable the rows in which no column holds anything but repeated numbers, if any."""
    marks = {}
    for variable in np.unique(witnesses.owners):
        own = np.flatnonzero(witnesses.owners == variable)
        block = witnesses.columns[:, own]
        held = [np.isin(block[:, i], witnesses.special[c]) for i, c in enumerate(own)]
        marked = np.all(held, axis=0)
        if marked.any() and np.array_equal(marked, np.any(held, axis=0)):
            marks[int(variable)] = marked
    return marks


def _usual(column: Floats, special: Sequence[float]) -> Bools:
    return ~np.isin(column, special) & ~np.isnan(column)


def _edges(values: Floats) -> Floats:
    """Edges of bins with about as many values each; a bin holds its lower edge."""
    if not len(values):
        return np.zeros(0)
    edges = np.quantile(values, np.linspace(0.0, 1.0, _BINS + 1), method="lower")
    return np.append(edges[:-1], np.nextafter(edges[-1], np.inf))


def _binned(column: Floats, edges: Floats, special: Sequence[float]) -> Integers:
    """The bin of each row, (N,): by the edges, or one of its own for each special number."""
    codes = np.searchsorted(edges, column, side="right").astype(np.int64)
    for i, value in enumerate(special):
        codes[column == value] = max(_BINS, len(edges) + 1) + i
    codes[np.isnan(column)] = _MISSING
    return codes


def _tested(marked: Bools, codes: Integers, n_bins: int) -> tuple[float, float]:
    """How likely marked rows and others differ so much by chance (χ²), and their correlation."""
    seen = codes != _MISSING
    coarse = np.where(codes < _BINS, codes * n_bins // _BINS, codes)
    counts = _counts(coarse[seen], marked[seen])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return 1.0, 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    statistic, freedom = float(((counts - expected) ** 2 / expected).sum()), counts.shape[1] - 1
    strength = np.sqrt(max(0.0, statistic - freedom) / counts.sum())
    return float(chi2.sf(statistic, freedom)), float(strength)


def _counts(codes: Integers, marked: Bools) -> Floats:
    """How many rows of each bin are not marked, and how many are, (2, bins)."""
    n_bins = int(codes.max(initial=0)) + 1
    held = [np.bincount(codes[marked == side], minlength=n_bins) for side in (False, True)]
    return np.stack(held).astype(np.float64)
