"""How rows came to be learned from, so that new rows are read in the same way.

Rows may come as Observations, as a table with named columns, as a mapping from names to arrays or
as an array; new rows may come as any of them. Named columns go by name, in any order, and further
ones are left alone; the columns of an array go by place, and all are grouped as before.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Bools, Floats, without_missing
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.model.reading import Repeated, learned_reading
from mixoracle.observations.choosing import with_description
from mixoracle.observations.described import Columns, Said
from mixoracle.observations.exposure import with_own_group
from mixoracle.observations.frames import (
    as_blocks,
    as_dense,
    as_frame,
    flat_frame,
    row_ids,
    row_index,
)
from mixoracle.observations.gathering import as_array, gathered_columns, screened_frame
from mixoracle.observations.grouping import Choices
from mixoracle.observations.input_columns import IN_A_PIPELINE, InputColumns
from mixoracle.observations.record import Observations
from mixoracle.observations.screening import check_levels

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.model import LatentModel
    from mixoracle.model.exposure import Exposure

# Means are 0 and standard deviations 1 up to rounding, also of single-precision numbers.
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Source:
    """How the rows came to fit, so that new rows are read in the same way.

    ``columns`` are the names in a frame that were learned from, ``all_columns`` also those that
    were set aside; ``widths`` and ``names`` are those of Observations, for arrays after them;
    ``n_columns`` is the number of columns of an array; ``inputs`` are the names that the columns
    had in their table, in the order of the variables. ``choices`` are those of a frame, without
    columns that are no measurements; with the units that were found once rows were read.
    """

    groups: Any
    columns: tuple[str, ...] | None = None
    all_columns: tuple[str, ...] = ()
    widths: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None
    n_columns: int | None = None
    inputs: tuple[str, ...] | None = None
    choices: Choices = field(default_factory=Choices)

    @classmethod
    def read(
        cls, X: Any, groups: Any, exposure: str | None = None, columns: Said = None
    ) -> tuple[Source, Observations]:
        """How these rows are read, and the rows; refuse levels that would exhaust memory."""
        source = cls.of(X, groups, exposure, columns)
        frame = None if source.columns is None else as_frame(X)
        if frame is None:
            held = source.observe(X)
        else:
            held = Observations(*gathered_columns(*flat_frame(frame), source.choices))
        if source.note and _is_standardised(held.values):
            # Standardised by a step of a pipeline, most likely, and somebody had names before it.
            warnings.warn(source.note, DataWarning, stacklevel=3)
        levels = [labels for block in held.levels for labels in block]
        check_levels(held.titles, levels, held.n_samples)
        said = Columns() if held.columns is None else held.columns
        return replace(source, choices=replace(source.choices, said=said)), held

    @classmethod
    def of(cls, X: Any, groups: Any, exposure: str | None = None, columns: Said = None) -> Source:
        """How these rows are read; a warning names columns that are no measurements.

        The column of an ``exposure`` is needed, whatever it looks like.
        """
        blocks, said = as_blocks(X), Columns.of(columns)
        frame = as_frame(X) if blocks is None and not isinstance(X, Observations) else None
        if frame is None and columns is not None:
            raise InvalidInputError(
                "columns describes a table whose columns have names, such as a frame; got "
                f"{type(X).__name__}: describe them where the table is read, by Observations.read "
                "or from_frame"
            )
        if isinstance(X, Observations) or blocks is not None:
            held = X if blocks is None else Observations.from_arrays(blocks)
            if groups is not None:
                raise InvalidInputError(
                    f"{type(held if blocks is None else X).__name__} are grouped already; leave "
                    "groups out"
                )
            return cls(None, widths=held.widths, names=held.names, inputs=held.inputs)
        if frame is None:
            array = as_array(X, "the array of observations")
            return cls(groups, n_columns=array.shape[1] if array.ndim == 2 else None)
        frame, named = flat_frame(frame)
        needed = () if exposure is None else (exposure,)
        groups = with_own_group(groups, exposure or said.exposure)
        choices = with_description(Choices(groups, described=needed), said)
        choices = screened_frame(frame, named, choices)
        plan, _ = choices.applied(named)
        labels = named.labels or ()
        listed = {
            name: [labels[position] for position in block]
            for name, block in zip(plan.names, plan.members, strict=True)
        }
        kept = tuple(labels[position] for position in sorted(plan.order))
        inputs = tuple(label for block in listed.values() for label in block)
        return cls(listed, columns=kept, all_columns=tuple(labels), inputs=inputs, choices=choices)

    @property
    def note(self) -> str:
        """That the columns of an array came without names, and how names are kept."""
        if self.n_columns is None or isinstance(self.groups, Mapping):
            return ""
        return (
            f"the {self.n_columns} columns came without names, so measurements are called X1, X2, …"
            f"; a frame keeps its names{IN_A_PIPELINE}"
        )

    def kept_with(
        self,
        model: LatentModel,
        learned: Observations,
        aside: Bools,
        limits: Floats,
        exposure: Exposure | None = None,
        repeated: Repeated = (),
    ) -> LatentModel:
        """The model with all that reading new rows needs."""
        if model.components is None:
            return model
        ends = np.cumsum(learned.widths)
        exposed = [exposure is not None and name in exposure.variables for name in learned.names]
        names = learned.titles if exposure is not None else self.inputs or learned.column_names
        columns = [
            names[end - width : end - last]
            for end, width, last in zip(ends, learned.widths, exposed, strict=True)
        ]
        levels = [block[: len(own)] for block, own in zip(learned.levels, columns, strict=True)]
        blocks = [learned[name] for name in learned.names]
        numbers = tuple(block[: len(own)] for block, own in zip(repeated, columns, strict=True))
        units = [
            learned.units[end - width : end - last]
            for end, width, last in zip(ends, learned.widths, exposed, strict=True)
        ]
        reading = learned_reading(
            model, columns, levels, blocks, aside, limits, exposure, numbers, units
        )
        return replace(model, reading=reading)

    def observe(self, X: Any) -> Observations:
        """Rows of any kind as Observations, with the variables that fit saw."""
        if isinstance(X, Observations):
            return X
        blocks = as_blocks(X)
        if blocks is not None:
            return replace(Observations.from_arrays(blocks), ids=row_ids(row_index(X)))
        frame = as_frame(X)
        if frame is not None:
            return self._observe_frame(*flat_frame(frame))
        if self.columns is not None:
            return self._observe_places(as_dense(X), self.columns)
        n_columns = self.n_columns if self.widths is None else sum(self.widths)
        array = as_array(X, "the array of observations")
        if n_columns is not None and array.ndim == 2 and array.shape[1] != n_columns:
            raise InvalidInputError(
                f"new rows should have the {n_columns} columns that were learned from; X has "
                f"{array.shape[1]} features, but LatentGraphLearner is expecting {n_columns} "
                "features as input: select them, or give a frame, whose columns go by name"
            )
        if self.widths is None:
            return Observations.from_array(array, self.groups)
        ends = np.cumsum(self.widths)
        places = [
            list(range(end - width, end)) for end, width in zip(ends, self.widths, strict=True)
        ]
        return Observations.from_array(array, dict(zip(self.names or (), places, strict=True)))

    def _observe_places(self, X: Any, kept: tuple[str, ...]) -> Observations:
        """The columns of an array after a frame, all of them or those that were learned from."""
        import pandas as pd

        array = np.asarray(X)
        names = kept if array.ndim == 2 and array.shape[1] == len(kept) else self.all_columns
        if array.ndim != 2 or array.shape[1] != len(names):
            raise InvalidInputError(
                f"new rows should have the {len(names)} columns of the frame that was "
                f"learned from; got shape {array.shape}"
            )
        return self._observe_frame(*flat_frame(pd.DataFrame(array, columns=list(names))))

    def _observe_frame(self, frame: pd.DataFrame, columns: InputColumns) -> Observations:
        labels = columns.labels or ()
        spelling, said = self.choices.spelling, self.choices.said
        if self.columns is None:
            choices = Choices(keep=True, spelling=spelling, said=said)
            return Observations(*gathered_columns(frame, columns, choices))
        unknown = [column for column in self.columns if column not in labels]
        if unknown:
            raise InvalidInputError(
                f"new rows should have the columns that were learned from; {unknown[0]!r} is "
                "missing"
            )
        own = self.choices.id if self.choices.id in labels else None
        kept = frame[[*self.columns, *([] if own is None else [own])]]
        categorical = self.choices.categorical
        choices = Choices(
            self.groups, categorical=categorical, keep=True, id=own, spelling=spelling, said=said
        )
        return Observations(*gathered_columns(kept, InputColumns.named(kept.columns), choices))


def _is_standardised(values: Floats) -> bool:
    """Whether all columns have mean 0 and standard deviation 1, but for columns of zeros."""
    scaled = [without_missing(column) for column in values.T if np.nan_to_num(column).any()]
    return bool(scaled) and all(
        len(numbers) > 1 and abs(numbers.mean()) < _ROUNDING and abs(numbers.std() - 1) < _ROUNDING
        for numbers in scaled
    )
