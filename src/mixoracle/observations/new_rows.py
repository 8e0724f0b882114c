"""New rows for a model: read as those that were learned from, and what to tell about them.

Named columns go by name, in any order, and further ones are left alone; those of an array go by
place. Levels that were never seen count as missing values. The model itself knows its columns and
levels (:mod:`mixoracle.model.reading`), so that a saved one needs no data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.model.posterior import most_likely_states, state_probabilities
from mixoracle.model.reading import Reading, unlike, without_outlying, without_repeated
from mixoracle.observations.answers import Report, conform, warn_of_missing, warn_of_unseen
from mixoracle.observations.columns import NO_REMARKS, Spelling, number_label, spelled_number
from mixoracle.observations.described import Columns, Described
from mixoracle.observations.exposure import exposure_of
from mixoracle.observations.frames import as_blocks, as_frame, flat_frame
from mixoracle.observations.gathering import as_array, gathered_columns
from mixoracle.observations.grouping import Choices
from mixoracle.observations.input_columns import InputColumns, did_you_mean, shown
from mixoracle.observations.record import Observations

if TYPE_CHECKING:
    from mixoracle.model import LatentModel


# Told of the values of new rows, and of the titles of their columns.
MissingReport = Callable[[Floats, Sequence[str]], None]


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows as the model takes them: a block for each observed variable, in its order."""

    model: LatentModel
    blocks: tuple[Floats, ...]

    @property
    def seen(self) -> list[Floats]:
        """The blocks without numbers that only repeat."""
        return without_repeated(self.blocks, reading_of(self.model).repeated)

    @property
    def kept(self) -> list[Floats]:
        """The blocks as the states are judged by: all that counts as missing is missing."""
        limits = reading_of(self.model).set_aside
        return without_outlying(self.model.components or (), self.seen, limits)

    def states(self) -> Integers:
        """The most likely state of each latent in each row, (N, m)."""
        return most_likely_states(self.model, self.kept)

    def probabilities(self) -> list[Floats]:
        """For each latent the probability of each of its states, an (N, dim_j) array each."""
        return state_probabilities(self.model, self.kept)

    def unlike(self) -> Bools:
        """The values that are unlike everything learned, (N, n + 1); the last for whole rows."""
        return unlike(self.model, reading_of(self.model), self.seen)


def reading_of(model: LatentModel) -> Reading:
    """How the tables of a model are read; a model that was not learned goes by its own names."""
    if model.reading is not None:
        return model.reading
    if model.components is None:
        raise InvalidInputError(
            "new rows need a model with components; this one has none: learn it from data"
        )
    widths = [held.width for held in model.components]
    columns = tuple(
        (name,) if width == 1 else tuple(f"{name}[{c}]" for c in range(width))
        for name, width in zip(model.observed_names, widths, strict=True)
    )
    return Reading(columns, tuple((None,) * width for width in widths))


def new_rows(
    model: LatentModel,
    table: Any,
    spelling: Spelling = NO_REMARKS,
    report: Report = warn_of_unseen,
    missing: MissingReport | None = warn_of_missing,
) -> NewRows:
    """Read any table for a model.

    ``report`` is told of levels that were never seen, ``missing`` of cells without a value.
    """
    reading = reading_of(model)
    held = _observed(model, reading, table, spelling)
    exposure = None
    if reading.exposure is not None and not _is_exposed(held, model):
        exposure = exposure_of(held, reading.exposure)[:, None]
    lacking = [name for name in model.observed_names if name not in held]
    if lacking:
        raise InvalidInputError(
            f"new rows should have the variables that were learned from; {lacking[0]!r} is "
            f"missing, there are {', '.join(held.names)}"
        )
    if missing is not None:
        depth = None if reading.exposure is None else reading.exposure.column
        also = [depth] if depth is not None and depth in held else []
        own = held.select([*model.observed_names, *also])
        missing(own.values, own.titles)
    if reading.exposure is not None and exposure is None:  # rows that were learned from
        return NewRows(model, tuple(held[name] for name in model.observed_names))
    widths = tuple(map(len, reading.columns))
    nothing, columns = np.full((1, sum(widths)), np.nan), reading.flat_columns
    like = Observations(
        *(nothing, model.observed_names, widths, reading.levels),
        inputs=columns,
        columns=_in_units(reading),
    )
    if model.reading is None:  # nobody knows its levels, so codes are taken as they are
        return NewRows(model, tuple(held[name] for name in model.observed_names))
    blocks = conform(held, model.observed_names, like, report)
    if exposure is not None and reading.exposure is not None:
        blocks = [
            np.hstack([block, exposure]) if name in reading.exposure.variables else block
            for name, block in zip(model.observed_names, blocks, strict=True)
        ]
    return NewRows(model, tuple(blocks))


def _is_exposed(held: Observations, model: LatentModel) -> bool:
    """Whether these rows hold their exposure already, as those that were learned from do."""
    widths = tuple(components.width for components in model.components or ())
    return held.names == model.observed_names and held.widths == widths


def further_columns(model: LatentModel, labels: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that the model was not learned from."""
    known = set(reading_of(model).table_columns)
    return tuple(label for label in labels if label not in known)


def check_columns(reading: Reading, labels: Sequence[str]) -> None:
    """Refuse a table that lacks a column."""
    missing = [column for column in reading.table_columns if column not in labels]
    if missing:
        raise InvalidInputError(
            f"new rows should have the columns that were learned from; {shown(missing)} is missing"
            + did_you_mean(missing[0], list(labels))
        )


def _observed(model: LatentModel, reading: Reading, table: Any, spelling: Spelling) -> Observations:
    if isinstance(table, Observations):
        return table
    blocks = as_blocks(table)
    if blocks is not None:
        return Observations.from_arrays(blocks)
    groups = dict(zip(model.observed_names, map(list, reading.columns), strict=True))
    frame = as_frame(table)
    if frame is not None:
        frame, columns = flat_frame(frame)
        check_columns(reading, columns.labels or ())
        frame = frame[list(reading.table_columns)]
        if reading.exposure is not None and reading.exposure.column is not None:
            groups[reading.exposure.column] = [reading.exposure.column]
        choices = Choices(
            groups,
            categorical=_labelled(reading),
            keep=True,
            spelling=spelling,
            said=_in_units(reading),
        )
        named = InputColumns.named(frame.columns)
        return Observations(*gathered_columns(frame, named, choices))
    array = as_array(table, "the array of new rows")
    exposed = [] if reading.exposure is None else [reading.exposure.column]
    every = [*reading.columns, *((column,) for column in exposed if column is not None)]
    called = [*model.observed_names, *(column for column in exposed if column is not None)]
    n_columns = len(reading.table_columns)
    if array.ndim != 2 or array.shape[1] != n_columns:
        raise InvalidInputError(
            f"new rows should have the {n_columns} columns that were learned from; got shape "
            f"{array.shape}: select them, or give a frame, whose columns go by name"
        )
    ends = np.cumsum([len(block) for block in every])
    places = [list(range(end - len(block), end)) for end, block in zip(ends, every, strict=True)]
    return Observations.from_array(array, dict(zip(called, places, strict=True)))


def _in_units(reading: Reading) -> Columns:
    """The columns that numbers were learned from in a unit."""
    flat = [unit for block in reading.units for unit in block]
    units = zip(reading.flat_columns, flat, strict=True)
    return Columns({column: Described(unit=unit) for column, unit in units if unit})


def _labelled(reading: Reading) -> list[str]:
    """Columns whose labels are more than numbers, and are taken as they are spelled."""
    return [
        column
        for columns, block in zip(reading.columns, reading.levels, strict=True)
        for column, levels in zip(columns, block, strict=True)
        if levels is not None and not all(map(_is_plain_number, levels))
    ]


def _is_plain_number(label: str) -> bool:
    number = spelled_number(label)
    return number is not None and number_label(number) == label
