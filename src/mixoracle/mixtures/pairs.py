"""How often labels of different variables are in one row: the tables of all pairs at once."""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers

# So many rows are counted at a time, to bound the memory.
_ROWS_AT_ONCE = 4096


def count_together(codes: Integers, n_codes: int, counted: Bools | None = None) -> Floats:
    """In how many of the rows (T, n) each code is with each other, (codes, codes).

    Codes of different columns differ. Only cells that are ``counted`` (T, n) count.

    Examples
    --------
    >>> count_together(np.array([[0, 2], [0, 3], [1, 3]]), 4)[:2, 2:].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    together = np.zeros((n_codes, n_codes), dtype=np.float32)
    for begin in range(0, len(codes), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        occurs = np.zeros((len(codes[part]), n_codes), dtype=np.float32)
        np.put_along_axis(occurs, codes[part], 1.0 if counted is None else counted[part], axis=1)
        together += occurs.T @ occurs
    return together.astype(np.float64)
