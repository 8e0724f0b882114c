"""Numbers that are answers: columns whose numbers name levels, and new rows read like the old.

A column that holds two different numbers only, or a few whole ones (a mark from 1 to 5), has no
density to speak of: its numbers are taken as levels. The order of ordinal answers is not used.
New rows are read with the levels that were learned from; a level that was never seen then is a
missing value, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations.columns import Levels, encode_numbers
from mixoracle.observations.input_columns import shown
from mixoracle.observations.record import Observations

# A scale of marks has at most so many points; more different whole numbers are counts or sizes.
MOST_LEVELS = 10
# Fewer rows for each different number say nothing about what kind of number it is.
_ROWS_PER_LEVEL = 10


def recognise_answers(observations: Observations, keep: Collection[str] = ()) -> Observations:
    """Make columns of answers categorical, but for the variables and columns ``keep``."""
    owners = np.repeat(observations.names, observations.widths)
    numbers = [held is None for block in observations.levels for held in block]
    return with_levels(
        observations,
        [
            place
            for place, column in enumerate(observations.values.T)
            if numbers[place]
            and not {owners[place], observations.titles[place]} & set(keep)
            and _are_answers(column)
        ],
    )


def with_levels(observations: Observations, places: Sequence[int]) -> Observations:
    """Make some columns of numbers, by place among all columns, categorical."""
    if not places:
        return observations
    flat = [held for block in observations.levels for held in block]
    owners = np.repeat(observations.names, observations.widths)
    values = observations.values.copy()
    for place in places:
        values[:, place], flat[place], _ = encode_numbers(values[:, place], owners[place], True)
    ends = np.cumsum(observations.widths)
    levels = tuple(
        tuple(flat[end - width : end]) for end, width in zip(ends, observations.widths, strict=True)
    )
    return replace(observations, values=values, levels=levels)


def _are_answers(column: Floats) -> bool:
    seen = without_missing(column)
    # A few rows usually show that there are too many different numbers; only then is it quick.
    if len(np.unique(seen[: MOST_LEVELS * _ROWS_PER_LEVEL])) > MOST_LEVELS:
        return False
    distinct = np.unique(seen)
    if len(distinct) < 2 or len(seen) < _ROWS_PER_LEVEL * len(distinct):
        return False
    whole = bool(np.all(distinct == np.floor(distinct)))
    return len(distinct) == 2 or (whole and len(distinct) <= MOST_LEVELS)


# Told of the variable, how many of how many cells hold an unseen level, and one such level.
Report = Callable[[str, int, int, str], None]


def warn_of_unseen(name: str, lost: int, cells: int, level: str) -> None:
    """Warn of levels that were never seen."""
    warnings.warn(
        f"{name}: {lost} of {cells} new cells hold a level that was not learned from (such as "
        f"{level!r}); they count as missing",
        DataWarning,
        stacklevel=5,
    )


def warn_of_missing(values: Floats, titles: Sequence[str]) -> None:
    """Warn of missing values in new rows, (N, columns)."""
    missing = np.isnan(values)
    if not missing.any():
        return
    named = [title for title, column in zip(titles, missing.T, strict=True) if column.any()]
    empty = int(missing.all(axis=1).sum())
    warnings.warn(
        f"{missing.sum()} of {values.size} new cells are missing (in {shown(named)}); the others "
        "of their row decide"
        + (f", and {empty} rows without any value get the most frequent states" * bool(empty)),
        DataWarning,
        stacklevel=4,
    )


def conform(
    observations: Observations,
    names: tuple[str, ...],
    like: Observations,
    report: Report = warn_of_unseen,
) -> list[Floats]:
    """The blocks of the variables ``names``, coded with the levels of ``like``."""
    blocks = []
    ends = np.cumsum(like.widths)
    for name in names:
        place = like.index(name)
        known, titles = like.levels[place], like.titles[ends[place] - like.widths[place] :]
        given = observations.levels[observations.index(name)]
        block = observations[name]
        if len(known) != len(given):
            raise InvalidInputError(
                f"{name} should have {len(known)} columns as in the rows that were learned from; "
                f"got {len(given)}"
            )
        _check_units(observations, like, name)
        if any(held is not None for held in (*known, *given)):
            columns = [
                _recoded(block[:, c], given[c], known[c], titles[c], report)
                for c in range(len(known))
            ]
            block = np.stack(columns, axis=1)
        blocks.append(block)
    return blocks


def _check_units(observations: Observations, like: Observations, name: str) -> None:
    """Refuse numbers of a variable in another unit than those that were learned from."""
    new, old = (held.select(name) for held in (observations, like))
    for title, unit, learned in zip(old.titles, new.units, old.units, strict=True):
        if unit and learned and unit != learned:
            raise InvalidInputError(
                f"{title} was learned in {learned}; new rows hold it in {unit}: convert them"
            )


def _recoded(
    column: Floats, given: Levels | None, known: Levels | None, name: str, report: Report
) -> Floats:
    """One column with the codes of the known levels."""
    if known is None:
        there = ~np.isnan(column)
        if given is not None and there.any():
            raise InvalidInputError(
                f"{name} held numbers in the rows that were learned from; new rows hold "
                f"{given[int(column[there][0])]!r}: give numbers"
            )
        return column
    codes, labels = (column, given) if given is not None else encode_numbers(column, name, True)[:2]
    assert labels is not None  # encode_numbers was asked for levels
    if labels == known:
        return codes
    position = {label: float(code) for code, label in enumerate(known)}
    translation = np.array([*(position.get(label, np.nan) for label in labels), np.nan])
    there = ~np.isnan(codes)
    answer = translation[np.where(there, codes, len(labels)).astype(np.int64)]
    lost = there & np.isnan(answer)
    if lost.any():
        report(name, int(lost.sum()), len(codes), labels[int(codes[lost][0])])
    return np.asarray(answer)
