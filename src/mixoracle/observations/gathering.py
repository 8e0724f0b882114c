"""Input columns, encoded and in their order: all that the constructor of the record takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import Encoded, Levels, encode_series
from mixoracle.observations.grouping import Choices, InputColumns, Plan

if TYPE_CHECKING:
    import pandas as pd

# Values, names, widths and levels.
Gathered = tuple[
    NDArray[np.float64], tuple[str, ...], tuple[int, ...], tuple[tuple[Levels | None, ...], ...]
]


def gathered(n_samples: int, plan: Plan, encoded: Callable[[int], Encoded]) -> Gathered:
    """Put the encoded input columns in the order of the plan."""
    values = np.empty((n_samples, len(plan.order)))
    levels: list[tuple[Levels | None, ...]] = []
    target = 0
    for block in plan.members:
        held: list[Levels | None] = []
        for position in block:
            values[:, target], column_levels = encoded(position)
            held.append(column_levels)
            target += 1
        levels.append(tuple(held))
    return frozen(values), plan.names, plan.widths, tuple(levels)


def gathered_frame(frame: pd.DataFrame, choices: Choices) -> Gathered:
    """Take the columns of a frame as the choices say."""
    if getattr(getattr(frame, "columns", None), "nlevels", 0) != 1:
        raise InvalidInputError(
            "from_frame needs a pandas frame with one level of column names; got "
            f"{type(frame).__name__}: flatten its names, or use from_array"
        )
    columns = InputColumns.named(frame.columns)
    plan, declared = choices.applied(columns)
    return gathered(
        len(frame),
        plan,
        lambda p: encode_series(frame.iloc[:, p], columns.describe(p), p in declared),
    )


def frozen(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array, read-only from now on."""
    values.setflags(write=False)
    return values


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of any dtype, masked where it was masked."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(
            f"{what} should have rows of equal length; got rows of different lengths"
        ) from error
    mixed = array.dtype.kind in "US" and not isinstance(values, np.ndarray)
    # Lists that mix numbers with text or None would lose their types as an array of text.
    return np.asarray(values, dtype=object) if mixed else array


def as_block(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return the columns of one variable as a 2-d array of any dtype."""
    array = as_array(values, f"the block of {name!r}")
    if array.ndim == 1:
        return array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidInputError(
            f"the block of {name!r} should have shape (N,) or (N, d), d at least 1; "
            f"got {array.shape}"
        )
    return array
