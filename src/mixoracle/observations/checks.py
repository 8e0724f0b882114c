"""What a record of observations refuses, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import MISSING_WORDS, Levels, check_text
from mixoracle.observations.gathering import as_array, frozen
from mixoracle.observations.grouping import shown


def frozen_values(values: ArrayLike) -> NDArray[np.float64]:
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


def check_cells(
    values: NDArray[np.float64],
    names: Sequence[str],
    levels: Sequence[Sequence[Levels | None]],
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
            codes = column[~np.isnan(column)]
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
