"""Input columns, encoded, checked and in their order: all that a record of observations holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import InvalidInputError
from mixoracle.observations.choosing import read_as
from mixoracle.observations.columns import (
    MISSING_WORDS,
    Encoded,
    Levels,
    check_text,
    encode_column,
    encode_series,
    row_names,
)
from mixoracle.observations.described import Columns
from mixoracle.observations.frames import as_dense, as_frame, flat_frame, row_ids
from mixoracle.observations.grouping import Choices, column_names
from mixoracle.observations.input_columns import InputColumns, shown
from mixoracle.observations.screening import reason_of_series, screened

if TYPE_CHECKING:
    import pandas as pd

# Enough rows to tell data sets apart without reading hundreds of megabytes for one hash.
_ROWS_HASHED = 64


class Gathered(NamedTuple):
    """The fields of a record of observations."""

    values: Floats
    names: tuple[str, ...]
    widths: tuple[int, ...]
    levels: tuple[tuple[Levels | None, ...], ...]
    ids: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    columns: Columns | None = None


def gathered(
    n_samples: int,
    columns: InputColumns,
    choices: Choices,
    encoded: Callable[[int, bool], Encoded],
    ids: tuple[str, ...] | None = None,
) -> Gathered:
    """Put the encoded input columns in the order of the choices.

    ``encoded`` is told whether a column was declared categorical.
    """
    plan, declared = choices.applied(columns)
    values = np.empty((n_samples, len(plan.order)))
    levels: list[tuple[Levels | None, ...]] = []
    units: list[str] = []
    for block in plan.members:
        held: list[Levels | None] = []
        for position in block:
            values[:, len(units)], column_levels, unit = encoded(position, position in declared)
            held.append(column_levels)
            units.append(unit or choices.said.unit(columns.title(position)))
        levels.append(tuple(held))
    inputs = None if columns.labels is None else tuple(columns.labels[p] for p in plan.order)
    described = read_as(columns, choices, plan, declared, units)
    return Gathered(
        *(frozen(values), plan.names, plan.widths, tuple(levels), ids, inputs, described)
    )


def gathered_blocks(
    blocks: Mapping[str, NDArray[Any]], choices: Choices, levels: Sequence[Levels | None] = ()
) -> Gathered:
    """Take 2-d arrays of equal length; ``levels``, if any, are those of all columns."""
    widths = [block.shape[1] for block in blocks.values()]
    # Named this way, the columns group by themselves into the blocks they came from.
    columns = InputColumns.named(column_names(list(blocks), widths))
    choices.said.check(columns)
    flat = [block[:, c] for block in blocks.values() for c in range(block.shape[1])]

    def encoded(position: int, categorical: bool) -> Encoded:
        column = encode_column(flat[position], columns.describe(position), categorical)
        known = levels[position] if levels else None
        return column if known is None else Encoded(column.values, known)

    own = choices.id_position(columns)
    ids = None
    if own is not None:
        codes, labels, _ = encode_column(flat[own], columns.describe(own), categorical=True)
        known = (levels[own] if levels else None) or labels or ()
        held = flat[own] if levels and levels[own] else codes
        ids = tuple("" if np.isnan(code) else known[int(code)] for code in held)
    n_samples = len(flat[0]) if flat else 0
    held_as = gathered(n_samples, columns, choices, encoded, ids)
    # Columns of blocks have no names of their own; what was said of them goes by those of theirs.
    return held_as if choices.said.described else held_as._replace(inputs=None, columns=None)


def gathered_frame(X: Any, choices: Choices) -> Gathered:
    """Take the columns of a frame as the choices say."""
    frame = as_frame(X)
    if frame is None:
        raise InvalidInputError(
            "from_frame needs a table with named columns, such as a pandas frame; got "
            f"{type(X).__name__}: use from_array"
        )
    frame, columns = flat_frame(frame)
    return gathered_columns(frame, columns, screened_frame(frame, columns, choices))


def screened_frame(frame: pd.DataFrame, columns: InputColumns, choices: Choices) -> Choices:
    """The choices without the columns of a frame that are no measurements."""
    choices.said.check(columns)
    return screened(
        columns,
        choices,
        lambda p: reason_of_series(columns.title(p), frame.iloc[:, p], choices.spelling),
    )


def gathered_columns(frame: pd.DataFrame, columns: InputColumns, choices: Choices) -> Gathered:
    """Take the columns of a flat frame, screened already."""
    own = choices.id_position(columns)
    ids = row_ids(frame.index)
    if own is not None:
        ids = row_names(frame.iloc[:, own].tolist(), columns.describe(own))

    def encoded(position: int, categorical: bool) -> Encoded:
        what, unit = columns.describe(position), choices.said.unit(columns.title(position))
        return encode_series(frame.iloc[:, position], what, categorical, choices.spelling, unit)

    return gathered(len(frame), columns, choices, encoded, ids)


def frozen(values: Floats) -> Floats:
    """The same array, read-only from now on."""
    values.setflags(write=False)
    return values


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of any dtype, masked where it was masked."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    values = as_dense(values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(
            f"{what} should have rows of equal length; got rows of different lengths"
        ) from error
    if array.ndim == 0:
        raise InvalidInputError(
            f"{what} should have a row for each case; got {values!r:.60}, "
            f"a {type(values).__name__}: Observations.read(path) reads a file, and a list of such "
            "values is one column"
        )
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


def frozen_values(values: ArrayLike) -> Floats:
    """Values as the record holds them, copied where somebody could change them."""
    array = as_array(values, "values")
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InvalidInputError(
            "values should be a 2-d array of numbers, one row for each case; got shape "
            f"{array.shape} and dtype {array.dtype}"
        )
    if len(array) == 0:
        raise InvalidInputError("observations should have at least one row; got none")
    # An array that nobody can write to, and that is no window on one, needs no copy.
    kept = array.dtype == np.float64 and array.flags.c_contiguous and array.base is None
    if kept and not array.flags.writeable:
        return array
    return frozen(np.array(array, dtype=np.float64, order="C"))


def checked_texts(
    texts: Iterable[object] | None, count: int, what: str, of: str
) -> tuple[str, ...] | None:
    """One text for each row or column, where there are any."""
    held = None if texts is None else tuple(map(str, texts))
    if held is not None and len(held) != count:
        raise InvalidInputError(
            f"{what} should name each of the {count} {of}; got {len(held)} of them"
        )
    return held


def fingerprint(values: Floats) -> bytes:
    """The first rows; equal values have equal ones."""
    # Adding 0.0 makes -0.0 and 0.0, which are equal, the same bytes; so are all NaN.
    first = values[:_ROWS_HASHED] + 0.0
    first[np.isnan(first)] = np.nan
    return first.tobytes()


def check_cells(
    values: Floats, names: Sequence[str], levels: Sequence[Sequence[Levels | None]]
) -> None:
    """Refuse infinite numbers, and codes that are not those of a column's levels."""
    flat_levels = [held for block in levels for held in block]
    for name, column, held in zip(names, values.T, flat_levels, strict=True):
        if np.isinf(column).any():
            raise InvalidInputError(
                f"column {name!r} should hold finite numbers; it holds infinite ones: write "
                "NaN where the value is missing"
            )
        if held is not None:
            codes = without_missing(column)
            if np.any((codes < 0) | (codes >= len(held)) | (codes != np.floor(codes))):
                raise InvalidInputError(
                    f"the categorical column {name!r} should hold codes 0 to "
                    f"{len(held) - 1} of its {len(held)} levels, or NaN; it holds others"
                )


def row_numbers(rows: ArrayLike, n_samples: int) -> NDArray[Any]:
    """Row numbers or a mask, checked."""
    chosen = np.asarray(rows)
    if chosen.ndim == 1 and chosen.dtype.kind == "b" and len(chosen) == n_samples:
        return chosen
    whole = chosen.ndim == 1 and (chosen.dtype.kind in "iu")
    if whole and len(chosen) and -n_samples <= chosen.min() and chosen.max() < n_samples:
        return chosen
    raise InvalidInputError(
        f"rows should be numbers from 0 to {n_samples - 1} (at least one), or a mask of "
        f"{n_samples} truth values; got shape {chosen.shape} and dtype {chosen.dtype}"
    )


def checked_levels(
    levels: Sequence[Sequence[Sequence[str] | None]], names: Sequence[str], widths: Sequence[int]
) -> tuple[tuple[Levels | None, ...], ...]:
    """Levels for each column of each variable; none where none are given."""
    if not levels:
        return tuple((None,) * width for width in widths)
    if tuple(map(len, levels)) != tuple(widths):
        raise InvalidInputError(
            f"levels should hold an entry for each column of each variable, {tuple(widths)}; "
            f"got {tuple(map(len, levels))}"
        )
    return tuple(
        tuple(_checked_labels(held, name) for held in block)
        for name, block in zip(names, levels, strict=True)
    )


def _checked_labels(labels: Sequence[str] | None, name: str) -> Levels | None:
    if labels is None:
        return None
    checked = tuple(check_text(label, f"a label of {name!r}") for label in labels)
    if len(set(checked)) != len(checked) or MISSING_WORDS & set(checked):
        raise InvalidInputError(
            f"the levels of {name!r} should be distinct, and none a word for a missing value; "
            f"got {shown(checked)}"
        )
    return checked
