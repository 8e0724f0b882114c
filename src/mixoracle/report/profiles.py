"""The profile of a latent: what each measurement is on average in each of its states.

A line for each column of numbers and for each level; of two levels the second one says it all, so
a test of many items is one picture with a line for each item. Averages stand in the column's own
units and, to be compared, in units of its spread over all cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.columns import Column
from mixoracle.report.evidence import Effect

Row = tuple[float | None, ...]
# More lines than this are not read at a glance; those that differ most between states come first.
MAX_PROFILE_LINES = 40


@dataclass(frozen=True)
class ProfileLine:
    """One measurement, or one of its columns or levels, in each state of a latent."""

    title: str
    observed: int
    is_share: bool
    means: Row
    low: Row
    high: Row
    centre: float
    spread: float

    def standardised(self, values: Row) -> Row:
        """Values in units of the spread over all cases, from the mean of all cases on."""
        spread = self.spread or 1.0
        return tuple(
            None if value is None else round((value - self.centre) / spread, 4) for value in values
        )


def profile_of(
    effects: Sequence[Effect], columns: Sequence[Column], latent: int
) -> tuple[ProfileLine, ...]:
    """The lines of a latent's profile, in the order of the table.

    Where there are many, those of the measurements that it drives most come first.
    """
    own = [effect for effect in effects if effect.latent == latent]
    lines = [line for effect in own for line in _lines(effect, columns)]
    if len(lines) > MAX_PROFILE_LINES:
        share = {effect.observed: effect.share for effect in own}
        lines.sort(key=lambda line: -share[line.observed])
    return tuple(lines)


def _lines(effect: Effect, columns: Sequence[Column]) -> Iterator[ProfileLine]:
    said = _said_by_the_other(columns, effect.observed)
    for c, title in enumerate(effect.columns):
        if c in said:
            continue
        yield ProfileLine(
            title,
            effect.observed,
            effect.is_share[c],
            tuple(row[c] for row in effect.means),
            tuple(row[c] for row in effect.low),
            tuple(row[c] for row in effect.high),
            effect.centre[c],
            effect.spread[c],
        )


def _said_by_the_other(columns: Sequence[Column], observed: int) -> set[int]:
    """The places of first levels of two, among the columns and levels of a variable."""
    place, places = 0, set()
    for column in columns:
        if column.observed == observed and column.family != EXPOSURE.name:
            if column.n_levels == 2:
                places.add(place)
            place += column.n_levels or 1
    return places


def is_item(columns: Sequence[Column], observed: int) -> bool:
    """Whether a variable is one column of two levels, which its line in the profile shows whole."""
    own = [column for column in columns if column.observed == observed]
    return len(own) == 1 and own[0].n_levels == 2
