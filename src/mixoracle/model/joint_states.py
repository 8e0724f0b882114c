"""Joint states as numbers: flat codes, configurations of parents, distinct rows of labels.

A joint state of the latents is one number, its place in the joint table in C order. Labels have
no meaning but that they differ, so they are numbered 0, 1, … without gaps; a row of labels becomes
one number by mixed radix, because numbers sort about ten times as quickly as rows do. All orders
are kept: a smaller label gets a smaller number, and rows are ordered as :func:`numpy.unique`
orders them.

Assumes whole numbers; those of :func:`flat` are non-negative and below their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers

# Codes stay below this, so that they fit a signed 64-bit word.
_CODE_LIMIT = 2**62


def configurations(adjacency: Bools, domain_sizes: Sequence[int]) -> Integers:
    """The configuration of pa(X_i) in each joint state, (∏ domain_sizes, n), in C order.

    Examples
    --------
    >>> configurations(np.array([[True, False], [True, True]]), (2, 2)).tolist()
    [[0, 0], [0, 1], [1, 2], [1, 3]]
    """
    states = np.indices(domain_sizes).reshape(len(domain_sizes), prod(domain_sizes)).T
    return codes_of_parents(states, adjacency, domain_sizes)


def codes_of_parents(states: Integers, adjacency: Bools, domain_sizes: Sequence[int]) -> Integers:
    """The configuration of pa(X_i) in each row of latent states, (N, m) to (N, n)."""
    # One column after the other in memory, as they are written and mostly read.
    codes = np.zeros((len(adjacency), len(states)), dtype=np.int64)
    columns = np.ascontiguousarray(states.T)
    for i, parents in enumerate(adjacency):
        for j in map(int, np.flatnonzero(parents)):
            codes[i] *= domain_sizes[j]
            codes[i] += columns[j]
    return codes.T


def n_configurations(adjacency: Bools, domain_sizes: Sequence[int]) -> list[int]:
    """How many configurations each pa(X_i) has.

    Examples
    --------
    >>> n_configurations(np.array([[True, False], [True, True], [False, False]]), (2, 3))
    [2, 6, 1]
    """
    return [
        prod(domain_sizes[j] for j in np.flatnonzero(parents).tolist()) for parents in adjacency
    ]


def flat(states: Integers, sizes: Sequence[int]) -> Integers:
    """Rows of states (T, m) as joint states (T,): their places in a table of these sizes.

    Examples
    --------
    >>> flat(np.array([[0, 2], [1, 0]]), (2, 3)).tolist()
    [2, 3]
    """
    code = np.zeros(len(states), dtype=np.int64)
    for column, size in zip(states.T, sizes, strict=True):
        code = code * size + column
    return code


def frequencies(states: Integers, sizes: Sequence[int]) -> Floats:
    """The share of rows of states (T, m) in each joint state, (∏ sizes,).

    Examples
    --------
    >>> frequencies(np.array([[0, 1], [1, 0], [0, 1], [0, 0]]), (2, 2)).tolist()
    [0.25, 0.5, 0.25, 0.0]
    """
    return np.asarray(np.bincount(flat(states, sizes), minlength=prod(sizes)) / len(states))


def states_of_cells(cells: Integers, domain_sizes: Sequence[int]) -> Integers:
    """Flat cells in C order to one column of states for each latent."""
    if not domain_sizes:
        return np.zeros((len(cells), 0), dtype=np.int64)
    return np.stack(np.unravel_index(cells, tuple(domain_sizes)), axis=1).astype(np.int64)


def numbered(labels: Integers) -> Integers:
    """The labels (T,) as consecutive numbers from 0, in the order of the labels.

    Examples
    --------
    >>> numbered(np.array([7, 2, 7, 5])).tolist()
    [2, 0, 2, 1]
    """
    low = int(labels.min(initial=0))
    if int(labels.max(initial=0)) - low > 4 * len(labels):
        return np.unique(labels, return_inverse=True)[1].astype(np.int64, copy=False)
    # Nearly all labels are small, and need not be sorted.
    numbers = np.cumsum(np.bincount(labels - low) > 0) - 1
    return np.asarray(numbers[labels - low])


def numbered_columns(labels: Integers) -> Integers:
    """Each column of the labels (T, n) numbered by itself."""
    if labels.shape[1] == 0:
        return labels.astype(np.int64)
    return np.stack([numbered(column) for column in labels.T], axis=1)


def distinct_rows(labels: Integers) -> tuple[Integers, Integers, Integers]:
    """The distinct rows of labels (T, n) in lexicographic order, for any number of columns.

    Returns the rows (R, n) as ``np.unique(labels, axis=0)`` gives them, the distinct row that each
    row of the labels is, (T,), and how often each of them occurs, (R,).

    Examples
    --------
    >>> rows, index, counts = distinct_rows(np.array([[1, 0], [0, 5], [1, 0]]))
    >>> rows.tolist(), index.tolist(), counts.tolist()
    ([[0, 5], [1, 0]], [1, 0, 1], [1, 2])
    """
    labels = np.asarray(labels, dtype=np.int64)
    index = numbered(_row_codes(labels))
    counts = np.bincount(index)
    any_of = np.empty(len(counts), dtype=np.int64)
    any_of[index] = np.arange(len(index))
    return labels[any_of], index, counts.astype(np.int64, copy=False)


def _row_codes(labels: Integers) -> Integers:
    """One number for each row, in the order of the rows.

    Columns are packed by mixed radix; numbers are replaced by their ranks only where the next
    column would overflow them, so that nearly all the work is one sort.
    """
    codes, radix = np.zeros(len(labels), dtype=np.int64), 1
    if len(labels) == 0:
        return codes
    for column in labels.T:
        low, width = _range(column)
        if radix * width >= _CODE_LIMIT:
            codes = numbered(codes)
            radix = int(codes.max()) + 1
        if radix * width >= _CODE_LIMIT:
            column = numbered(column)  # noqa: PLW2901 (ranks say the same)
            low, width = _range(column)
        codes = codes * width + (column - low)
        radix *= width
    return codes


def _range(column: Integers) -> tuple[int, int]:
    """The smallest number, and how many there are from it to the largest."""
    low = int(column.min())
    return low, int(column.max()) - low + 1
