"""Values that repeat: rounded numbers, single values that stick out, and copied rows.

A thermometer that shows tenths of a degree repeats each value hundreds of times. To a mixture of
densities every repeated value is a component without any scatter, and the evidence for it has no
limit. A rounded value is known to lie within half a step of what was written down, and nothing is
known beyond that: so it is drawn uniformly from there. The rows come in canonical order, and the
same rows are always spread alike; what is drawn follows from the values themselves, so that no two
variables are given the same, which would make them dependent. A sensor that reads exactly 0 in a
tenth of the rows, or stands at its limit, says that it did not measure there. A row that was
entered five times is evidence once.

Assumes that columns with a few different values only were read as levels before.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mixoracle._arrays import Bools, Floats, Integers, without_missing
from mixoracle.errors import DataWarning
from mixoracle.observations import Observations

# Multiples of a rounding step, in floating point, are off by far less than this share of it.
_ON_GRID = 0.01
# In numbers that were not rounded hardly a value repeats; in rounded ones most do.
_MOSTLY_DIFFERENT = 0.5
# Fewer different numbers are a scale of marks, or too few to tell.
_FEWEST_DIFFERENT = 20
_SEED = 0
# How much more often than its neighbours a value occurs that is no measurement, and how often.
_STICKS_OUT = 8
# So many different values on each side are its neighbours: in a column with few digits, one of ten
# ends in the digit that people prefer.
_NEIGHBOURS = 10


def ties_and_quantiles(values: Floats, shares: Sequence[float]) -> tuple[Bools, Floats]:
    """In which columns (N, d) two rows have the same number, (d,), and quantiles of each, (d, q).

    Missing values are left out; ``shares`` (q,) are the shares of rows below the quantiles.
    """
    tied = np.zeros(values.shape[1], dtype=bool)
    quantiles = np.empty((values.shape[1], len(shares)))
    for c, column in enumerate(values.T):
        held = np.sort(column)
        held = held[: np.searchsorted(held, np.nan)]
        tied[c] = np.any(held[1:] == held[:-1])
        quantiles[c] = held[[int(share * (len(held) - 1)) for share in shares]]
    return tied, quantiles


def rounding_steps(block: Floats) -> Floats:
    """The rounding step of each column (d,), 0 for one that was not rounded."""
    return np.array([rounding_step(column) for column in block.T])


def spread_by(block: Floats, steps: Floats, *numbers: int) -> Floats:
    """The block with its columns spread by these steps; ``numbers`` tell its rows from others."""
    if not steps.any():
        return block
    own = _fingerprint(block[:, steps > 0] / steps[steps > 0])
    noise = np.random.default_rng([_SEED, *numbers, own]).uniform(-0.5, 0.5, size=block.shape)
    return np.asarray(block + steps * noise)


def _fingerprint(multiples: Floats) -> int:
    """A number that differs from block to block, whatever the unit and the zero of its columns."""
    missing = np.isnan(multiples)
    above = multiples - np.min(multiples, axis=0, where=~missing, initial=np.inf)
    return crc32(np.where(missing, -1, np.round(above)).astype(np.int64).tobytes())


def rounding_step(column: Floats) -> float:
    """The step of the grid on which all values of a column (N,) lie; 0 if there is none.

    Examples
    --------
    >>> rounding_step(np.round(np.linspace(3.0, 5.0, 200), 1)).__round__(6)
    0.1
    >>> rounding_step(np.linspace(3.0, 5.0, 200))
    0.0
    """
    seen = without_missing(column)
    distinct = np.unique(seen)
    if len(distinct) < 2 or len(distinct) > _MOSTLY_DIFFERENT * len(seen):
        return 0.0
    gaps = np.diff(distinct)
    step = float(gaps.min())
    multiples = (distinct - distinct[0]) / step
    is_grid = bool(np.all(np.abs(multiples - np.round(multiples)) < _ON_GRID))
    return step if is_grid else 0.0


def repeated_values(column: Floats) -> tuple[float, ...]:
    """Values of a column (N,) that occur far more often than those next to them.

    It is one value that is no measurement, or a limit at either end. Several inner ones that stick
    out are digits that people prefer; then another must stick out from these as well. Values that
    make up most of a column are what it measures.

    Examples
    --------
    >>> repeated_values(np.concatenate([np.zeros(30), np.linspace(-1.0, 1.0, 99)]))
    (0.0,)
    >>> repeated_values(np.round(np.linspace(0.0, 2.0, 300), 1))
    ()
    >>> repeated_values(np.concatenate([np.repeat([2.0, 3.0, 4.0], 30), np.linspace(0, 9, 300)]))
    ()
    """
    values, counts = np.unique(without_missing(column), return_counts=True)
    if len(values) < _FEWEST_DIFFERENT or counts.max() < _STICKS_OUT:
        return ()
    places = np.flatnonzero(counts >= _STICKS_OUT)
    apart = places[counts[places] >= _STICKS_OUT * _most_beside(counts, places, 1)]
    inner = np.sort(counts[apart[(apart > 0) & (apart < len(values) - 1)]])
    preferred = inner[-2] if len(inner) > 1 else 0
    beside = np.maximum(_most_beside(counts, apart, _NEIGHBOURS), preferred)
    often = apart[counts[apart] >= _STICKS_OUT * beside]
    if counts[often].sum() > _MOSTLY_DIFFERENT * len(column):
        return ()
    return tuple(float(value) for value in values[often])


def _most_beside(counts: Integers, places: Integers, reach: int) -> Integers:
    """The largest count among so many values beside these; one at an end is no measure."""
    inner = counts.copy()
    inner[[0, -1]] = 1
    windows = sliding_window_view(np.pad(inner, reach, constant_values=1), 2 * reach + 1)
    return np.asarray(np.delete(windows[places], reach, axis=1).max(axis=1))


def without_copies(observations: Observations) -> tuple[Observations, Integers]:
    """The rows that are no copy of an earlier one, and which of them each row is, (N,).

    Two rows are copies if they agree in every column, and one of the values that they share is a
    number of a column in which hardly one repeats otherwise: answers and rounded numbers agree by
    chance, and so do numbers that occur far more often than others. Missing values agree.
    """
    values = observations.values
    numbers = [held is None for block in observations.levels for held in block]
    rows = np.arange(len(values))
    # Copies agree in every column, so one in which nothing repeats ends the search.
    if not any(numbers) or not all(_has_ties(values[:, c]) for c in np.flatnonzero(numbers)):
        return observations, rows
    comparable = np.where(np.isnan(values), np.inf, values)
    _, first, member = np.unique(comparable, axis=0, return_index=True, return_inverse=True)
    telling = np.array(numbers) & [_hardly_repeats(column) for column in values[first].T]
    told = [~np.isnan(own) & ~np.isin(own, repeated_values(own)) for own in values[:, telling].T]
    is_copy = np.any(told, axis=0) if told else np.zeros(len(rows), dtype=bool)
    original = np.where(is_copy, first[member.ravel()], rows)
    kept = np.unique(original)
    if len(kept) == len(rows):
        return observations, rows
    for note in copies_note(len(rows) - len(kept), len(rows)):
        warnings.warn(note, DataWarning, stacklevel=3)
    return observations.take(kept), np.searchsorted(kept, original)


def copies_note(n_copies: int, n_rows: int) -> tuple[str, ...]:
    """That copies were counted once, in a sentence; none where there are none."""
    if not n_copies:
        return ()
    return (f"{n_copies} of {n_rows} rows are exact copies of others; each is counted once",)


def _has_ties(column: Floats) -> bool:
    return len(np.unique(column)) < len(column)


def _hardly_repeats(column: Floats) -> bool:
    n_different = len(np.unique(without_missing(column)))
    return n_different > max(_FEWEST_DIFFERENT, _MOSTLY_DIFFERENT * len(column))
