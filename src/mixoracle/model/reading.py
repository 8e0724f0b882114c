"""How a table becomes the observed variables of a model, kept with the model.

A model that was learned from a table is asked about new tables: which columns make which variable,
what the codes of a column of levels stand for, which numbers counted as missing because they only
repeat, and how unlikely the least likely values were that it was learned from. A new value that is
far less likely than all of those, in its best component, is unlike everything learned; so is a row
whose values are usual one by one but not together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Bools, Floats, row_maxima, rows_with_missing, unlikely_at_nan
from mixoracle.errors import InvalidInputError
from mixoracle.families import ComponentSet
from mixoracle.model.exposure import Exposure

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

Levels = tuple[str, ...]
# For each variable, for each of its columns, the numbers that count as missing.
Repeated = tuple[tuple[tuple[float, ...], ...], ...]
# How many nats less likely than the least likely of all that was learned from: those are a
# sample, and the next one may be a little more extreme.
MARGIN = 10.0
_NOTHING = -np.inf


@dataclass(frozen=True)
class Reading:
    """The columns, levels and limits of each observed variable.

    Parameters
    ----------
    columns : for each variable the names of its columns in a table
    levels : for each column of each variable its labels by code, or None for numbers
    set_aside : for each variable the log density, in its best component, below which a value
        counts as missing; minus infinity where none does
    usual : for each variable the log density below which a value is unlike everything learned
    together : the same for all values of a row, in the best joint state and apart
    exposure : what counts are out of; the variables out of it have it as one more, last column
    repeated : for each column of each variable the numbers that occur far more often than those
        next to them, and count as missing
    units : for each column of each variable the unit of its numbers, empty where it has none
    """

    columns: tuple[tuple[str, ...], ...]
    levels: tuple[tuple[Levels | None, ...], ...]
    set_aside: tuple[float, ...] = field(default=())
    usual: tuple[float, ...] = field(default=())
    together: float = _NOTHING
    exposure: Exposure | None = None
    repeated: Repeated = field(default=())
    units: tuple[tuple[str, ...], ...] = field(default=())

    def __post_init__(self) -> None:
        n = len(self.columns)
        for name in ("set_aside", "usual"):
            held = tuple(map(float, getattr(self, name))) or (_NOTHING,) * n
            object.__setattr__(self, name, held)
        if not self.repeated:
            nothing = tuple(((),) * len(block) for block in self.columns)
            object.__setattr__(self, "repeated", nothing)
        if not self.units:
            object.__setattr__(self, "units", tuple(("",) * len(block) for block in self.columns))
        widths = [len(block) for block in self.columns]
        every = (self.levels, self.repeated, self.units)
        by_column = ([len(block) for block in held] for held in every)
        if not all(held == widths for held in by_column) or not all(
            len(held) == n for held in (self.set_aside, self.usual)
        ):
            raise InvalidInputError(
                "a reading should hold columns, levels and limits for the same variables; it does "
                "not"
            )

    @property
    def flat_columns(self) -> tuple[str, ...]:
        """All columns, in the order of the model."""
        return tuple(column for block in self.columns for column in block)

    @property
    def exposed(self) -> tuple[str, ...]:
        """The observed variables whose last column is an exposure."""
        return () if self.exposure is None else self.exposure.variables

    @property
    def table_columns(self) -> tuple[str, ...]:
        """All columns that a table of new rows needs, that of the exposure last."""
        named = None if self.exposure is None else self.exposure.column
        return self.flat_columns if named is None else (*self.flat_columns, named)

    def code(self, observed: int, column: int, label: str) -> int | None:
        """The code of a level; None where the column has no such level."""
        levels = self.levels[observed][column] or ()
        return levels.index(label) if label in levels else None

    def to_json(self) -> dict[str, Any]:
        """Plain lists; minus infinity is written as null."""
        return {
            "columns": [list(block) for block in self.columns],
            "levels": [[None if h is None else list(h) for h in block] for block in self.levels],
            "set_aside": [_or_none(limit) for limit in self.set_aside],
            "usual": [_or_none(limit) for limit in self.usual],
            "together": _or_none(self.together),
            "exposure": None if self.exposure is None else self.exposure.to_json(),
            "repeated": [[list(held) for held in block] for block in self.repeated],
            "units": [list(block) for block in self.units],
        }

    @staticmethod
    def from_json(document: Any) -> Reading | None:
        """Read what :meth:`to_json` gave; None stays None."""
        if document is None:
            return None
        return Reading(
            tuple(tuple(map(_text, _list(block))) for block in _list(document["columns"])),
            tuple(
                tuple(None if h is None else tuple(map(_text, _list(h))) for h in _list(block))
                for block in _list(document["levels"])
            ),
            tuple(map(_limit, _list(document["set_aside"]))),
            tuple(map(_limit, _list(document["usual"]))),
            _limit(document["together"]),
            Exposure.from_json(document.get("exposure")),
            tuple(
                tuple(tuple(map(_number, _list(held))) for held in _list(block))
                for block in _list(document.get("repeated", []))
            ),
            tuple(tuple(map(_text, _list(block))) for block in _list(document.get("units", []))),
        )


def learned_reading(
    model: LatentModel,
    columns: Sequence[Sequence[str]],
    levels: Sequence[Sequence[Levels | None]],
    blocks: Sequence[Floats],
    aside: Bools,
    limits: Floats,
    exposure: Exposure | None = None,
    repeated: Repeated = (),
    units: Sequence[Sequence[str]] = (),
) -> Reading:
    """The reading of a model that was learned from these blocks.

    ``aside`` (N, n) marks values that were set aside, ``limits`` (n,) is what new values are set
    aside by, and the numbers ``repeated`` count as missing.
    """
    held = model.components or ()
    seen = without_repeated(blocks, repeated)
    kept = [
        np.where(aside[:, [i]], np.nan, block) if aside[:, i].any() else block
        for i, block in enumerate(seen)
    ]
    usual, together = _least_likely(model, kept) if held else ((), _NOTHING)
    return Reading(
        tuple(map(tuple, columns)),
        tuple(map(tuple, levels)),
        tuple(limits),
        usual,
        together,
        exposure,
        repeated,
        tuple(map(tuple, units)),
    )


def with_unit(title: str, unit: str) -> str:
    """What stands above numbers: their title, and their unit where they have one."""
    return f"{title} ({unit})" if unit else title


def unlike(model: LatentModel, reading: Reading, blocks: Sequence[Floats]) -> Bools:
    """Which values of new rows are unlike everything learned, (N, n + 1).

    The last column is for rows whose values are usual, but not together.
    """
    answer = np.zeros((len(blocks[0]), len(blocks) + 1), dtype=bool)
    for rows, best, fit in _fits(model, blocks):
        for i, (block, limit) in enumerate(zip(blocks, reading.usual, strict=True)):
            whole = ~rows_with_missing(block[rows])
            answer[rows, i] = whole & (best[i] < limit)
        answer[rows, -1] = ~answer[rows].any(axis=1) & (fit < reading.together)
    return answer


def without_repeated(blocks: Iterable[Floats], repeated: Repeated) -> list[Floats]:
    """The block of each variable with the numbers that only repeat as missing values.

    A block may have a further column, its exposure.
    """
    kept = []
    for place, block in enumerate(blocks):
        own = repeated[place] if repeated else ()
        kept.append(block.copy() if any(own) else block)
        for c, numbers in enumerate(own):
            if numbers:
                kept[-1][np.isin(block[:, c], numbers), c] = np.nan
    return kept


def without_outlying(
    components: Sequence[ComponentSet], blocks: Sequence[Floats], limits: Sequence[float] | Floats
) -> list[Floats]:
    """The blocks of new rows, values below the limit of their variable being missing."""
    kept = []
    for held, block, limit in zip(components, blocks, limits, strict=True):
        if np.isfinite(limit):
            outlying = best_log_density(held, block) < limit
            kept.append(np.where(outlying[:, None], np.nan, block))
        else:
            kept.append(block)
    return kept


def best_log_density(components: ComponentSet, block: Floats) -> Floats:
    """The log density of each row in its best component; 0 where nothing of it was seen."""
    # A value far from everything may overflow its own distance: it is then as unlikely as can be.
    with np.errstate(over="ignore", invalid="ignore"):
        return _best(components.log_density(block))


def _best(density: Floats) -> Floats:
    """The largest log density (N,) of each row among (N, k)."""
    return row_maxima(unlikely_at_nan(density))


def _least_likely(model: LatentModel, blocks: Sequence[Floats]) -> tuple[tuple[float, ...], float]:
    """What every value has at least in its best component, and all of a row together, less a bit.

    A variable without a whole value has no such limit.
    """
    least, together = np.full(len(blocks), np.inf), np.inf
    for rows, best, fit in _fits(model, blocks):
        for i, block in enumerate(blocks):
            whole = ~rows_with_missing(block[rows])
            least[i] = min(least[i], best[i][whole].min(initial=np.inf))
        together = min(together, fit.min(initial=np.inf))
    usual = np.where(np.isfinite(least), least, _NOTHING) - MARGIN
    return tuple(usual.tolist()), float(together) - MARGIN


def _fits(
    model: LatentModel, blocks: Sequence[Floats]
) -> Iterator[tuple[slice, list[Floats], Floats]]:
    """Some rows at a time, with how likely their values are, apart and together.

    Apart is the log density of each value in its best component, (r,) for each X_i; together is how
    much less likely the row is, in nats.
    """
    from mixoracle.model.posterior import density_chunks

    for rows, densities, posterior in density_chunks(model, blocks):
        best = [_best(density) for density in densities]
        fit = posterior.log_likelihood - np.sum(best, axis=0)
        yield rows, best, unlikely_at_nan(fit)


def _or_none(limit: float) -> float | None:
    return limit if np.isfinite(limit) else None


def _limit(held: Any) -> float:
    if held is None:
        return _NOTHING
    if isinstance(held, bool) or not isinstance(held, (int, float)):
        raise InvalidInputError(f"a limit of a reading should be a number; got {held!r}")
    return float(held)


def _number(held: Any) -> float:
    if held is None:
        raise InvalidInputError("a repeated number of a reading should be one; got nothing")
    return _limit(held)


def _list(held: Any) -> list[Any]:
    if not isinstance(held, list):
        raise InvalidInputError(f"a reading should hold lists; got {type(held).__name__}")
    return held


def _text(held: Any) -> str:
    if not isinstance(held, str):
        raise InvalidInputError(f"a reading should name columns and levels by text; got {held!r}")
    return held
