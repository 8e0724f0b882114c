"""Array chores that every record shares: copy, freeze, compare; rows of few columns summed up."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Beyond this a float no longer holds every whole number.
_LARGEST_EXACT = 2.0**53
# The logarithm of a probability that no sum of larger ones shows: exp(-700) is still a number.
_NOTHING = -700.0
# Up to so many columns are compared one after the other; more of them leave the cache meanwhile.
_FEW_COLUMNS = 24
# So many numbers are put in another order at a time, which stay in the cache: 512 kB.
_ENTRIES_AT_ONCE = 65_536
# So many labels are told apart by 16 bits.
_SHORT = 2**16


@dataclass(frozen=True, eq=False, repr=False)
class FrozenArrays:
    """A record with arrays: equal by value, and read-only through copying and pickling too."""

    def _keep(self, **checked: Any) -> None:
        """Hold what ``__post_init__`` has checked, by the names of the fields."""
        self.__dict__.update(checked)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copied or unpickled array is writable again.
        for value in state.values():
            for held in value if isinstance(value, tuple) else (value,):
                if isinstance(held, np.ndarray):
                    held.setflags(write=False)
        self.__dict__.update(state)

    def _values(self) -> tuple[object, ...]:
        return tuple(_comparable(getattr(self, field.name)) for field in fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())


def _comparable(value: Any) -> object:
    """A value that compares and hashes; arrays, and tuples of them, by their shapes and bytes."""
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def frozen_array(values: Any, dtype: Any, what: str) -> NDArray[Any]:
    """Copy ``values`` to a read-only array of ``dtype``, or say why that cannot be done."""
    try:
        if np.iscomplexobj(values):
            raise InvalidInputError(f"{what} should hold real numbers; got complex ones")
        array = np.array(values, dtype=dtype, order="C", copy=True)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(
            f"{what} should be an array of {np.dtype(dtype).name}: {error}"
        ) from error
    if array.dtype.kind == "f":
        # -0.0 equals 0.0 but has other bytes; without it, equal records hash and save alike.
        array += 0.0
    array.setflags(write=False)
    return array


def frozen_whole_numbers(values: Any, what: str) -> Integers:
    """Copy ``values`` to read-only integers, refusing fractions instead of cutting them off."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return frozen_array(values, np.int64, what)
    array = frozen_array(values, np.float64, what)
    if np.any(np.abs(array) > _LARGEST_EXACT) or np.any(array != np.round(array)):
        raise InvalidInputError(f"{what} should be whole numbers; got {np.asarray(values)!r}")
    return frozen_array(array, np.int64, what)


def frozen_bools(values: Any, what: str) -> Bools:
    """Copy ``values`` to read-only booleans, accepting 0/1 and nothing else."""
    array = frozen_array(values, np.float64, what)
    if not np.all((array == 0) | (array == 1)):
        raise InvalidInputError(f"{what} should hold only 0/1 or False/True")
    return frozen_array(array, np.bool_, what)


def frozen_domain_sizes(values: Any, n_latent: int, what: str) -> tuple[int, ...]:
    """Check one domain size of at least 2 for each latent."""
    sizes = frozen_whole_numbers(values, what)
    if sizes.ndim != 1 or len(sizes) != n_latent:
        raise InvalidInputError(
            f"{what} should hold one size for each of the {n_latent} latents; "
            f"got shape {sizes.shape}"
        )
    if np.any(sizes < 2):
        raise InvalidInputError(f"{what} should all be at least 2; got {tuple(sizes.tolist())}")
    return tuple(int(size) for size in sizes)


def distinct_patterns(
    seen: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The different rows of ``seen`` (N, width) in order, and which of them each row is.

    Eight values make a byte and bytes make a number, which sorts far more quickly than a row.
    """
    packed = np.packbits(seen, axis=1)
    padded = np.zeros((len(seen), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(">u8")
    keys = words[:, 0] if words.shape[1] == 1 else words
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return seen[first], which.ravel().astype(np.int64)


def row_maxima(table: Floats) -> Floats:
    """The largest number (N,) of each row of (N, k).

    Over few columns numpy takes several times as long as for one column after the other.

    Examples
    --------
    >>> row_maxima(np.array([[1.0, 3.0], [5.0, 2.0]])).tolist()
    [3.0, 5.0]
    """
    if not 0 < table.shape[1] <= _FEW_COLUMNS:
        return np.asarray(table.max(axis=1))
    largest = table[:, 0].copy()
    for column in table.T[1:]:
        np.maximum(largest, column, out=largest)
    return largest


def unlikely_at_nan(log_densities: Floats) -> Floats:
    """Log densities that overflowed as the least likely ones, and all as finite as can be.

    Examples
    --------
    >>> unlikely_at_nan(np.array([np.nan, 1.0])).tolist()
    [-inf, 1.0]
    """
    if np.isfinite(log_densities).all():
        return log_densities
    return np.asarray(np.nan_to_num(log_densities, nan=-np.inf))


def exp_in_place(logs: Floats) -> Floats:
    """The exponential of log probabilities, which is 0 where they are far below any that counts.

    Most of them are, and there ``np.exp`` takes five times as long.

    Examples
    --------
    >>> exp_in_place(np.array([0.0, -5000.0, -np.inf])).tolist()
    [1.0, 0.0, 0.0]
    """
    counts = logs > _NOTHING
    np.maximum(logs, _NOTHING, out=logs)
    np.exp(logs, out=logs)
    return np.multiply(logs, counts, out=logs)


def row_sums(table: Floats) -> Floats:
    """The sum (N,) of each row of (N, k), as a product: for few columns that is quicker."""
    return np.asarray(table @ np.ones(table.shape[1]))


def column_means(table: Floats) -> Floats:
    """The mean (k,) of each column of (N, k), by a product for the same reason.

    Examples
    --------
    >>> column_means(np.array([[1.0, 3.0], [5.0, 2.0]])).tolist()
    [3.0, 2.5]
    """
    return np.asarray(np.ones(len(table)) @ table / len(table))


def column_moments(table: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column (N, k), of the values that are not missing.

    Examples
    --------
    >>> [held.tolist() for held in column_moments(np.array([[1.0, 3.0], [5.0, np.nan]]))]
    [[3.0, 3.0], [2.0, 0.0]]
    """
    means = column_means(table)
    if np.isnan(means).any():
        return np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    apart = table - means
    apart *= apart
    return means, np.sqrt(column_means(apart))


def column_ranges(table: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest number of each column (N, k); NaN where all are missing.

    Examples
    --------
    >>> [held.tolist() for held in column_ranges(np.array([[1.0, np.nan], [5.0, 2.0]]))]
    [[1.0, 2.0], [5.0, 2.0]]
    """
    low, high = np.full((2, table.shape[1]), np.nan)
    # A few rows at a time, with each column in one piece: over few columns numpy is slow otherwise.
    step = max(1, _ENTRIES_AT_ONCE // max(1, table.shape[1]))
    for begin in range(0, len(table), step):
        columns = np.ascontiguousarray(table[begin : begin + step].T)
        low = np.fmin(low, np.fmin.reduce(columns, axis=1))
        high = np.fmax(high, np.fmax.reduce(columns, axis=1))
    return low, high


def without_missing(values: Floats) -> Floats:
    """The values of an array that are not missing, (n,); the array itself if none is.

    Examples
    --------
    >>> without_missing(np.array([1.0, np.nan, 2.0])).tolist()
    [1.0, 2.0]
    """
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def rows_of_each(labels: Integers, n_labels: int = 0) -> list[Integers]:
    """The rows with each of the labels 0, 1, …, in their order, up to ``n_labels`` at least.

    Examples
    --------
    >>> [rows.tolist() for rows in rows_of_each(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    # Numbers of 16 bits are put in order by counting, ten times as quickly as others.
    ends = np.cumsum(np.bincount(labels, minlength=n_labels)).tolist()
    order = (labels.astype(np.uint16) if len(ends) <= _SHORT else labels).argsort(kind="stable")
    return [order[begin:end] for begin, end in pairwise([0, *ends])]


def rows_with_missing(block: Floats) -> Bools:
    """Which rows of (N, d) have a missing value, (N,); quick where none has.

    Examples
    --------
    >>> rows_with_missing(np.array([[1.0, np.nan], [5.0, 2.0]])).tolist()
    [True, False]
    """
    if not np.isnan(block).any():
        return np.zeros(len(block), dtype=bool)
    return np.asarray(np.isnan(block).any(axis=1))
