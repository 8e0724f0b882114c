"""Random tables that somebody might hand to ``fit``: small, odd, and sometimes impossible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
_STATES = 3
_ROW_SHARES = (0.02, 0.04, 0.04, 0.2, 0.4, 0.25, 0.05)


COLUMNS: dict[str, Callable[[np.random.Generator, NDArray[np.int64]], Column]] = {
    "clusters": lambda rng, h: 8.0 * h + rng.normal(size=len(h)),
    "overlap": lambda rng, h: 1.0 * h + rng.normal(size=len(h)),
    "noise": lambda rng, h: rng.normal(size=len(h)),
    "heavy": lambda rng, h: 5.0 * h + rng.standard_t(1.5, len(h)),
    "constant": lambda rng, h: np.full(len(h), rng.normal()),
    "nearly constant": lambda rng, h: 0.3 + 1e-16 * rng.integers(0, 4, len(h)),
    "rounded": lambda rng, h: np.round(2.0 * h + rng.normal(size=len(h)), 1),
    "counts": lambda rng, h: rng.poisson(1.0 + 6.0 * h).astype(float),
    "huge counts": lambda rng, h: np.floor(10.0 ** rng.uniform(0, 22, len(h))),
    "two values": lambda rng, h: rng.integers(0, 2, len(h)).astype(float),
    "copies": lambda rng, h: np.repeat(rng.normal(size=5), -(-len(h) // 5))[: len(h)],
    "large": lambda rng, h: 1e90 * (h + rng.normal(size=len(h))),
    "tiny": lambda rng, h: 1e-90 * (h + rng.normal(size=len(h))),
    "too tiny": lambda rng, h: 1e-200 * rng.normal(size=len(h)),
    "shifted": lambda rng, h: 1e13 + 8.0 * h + rng.normal(size=len(h)),
    "wide range": lambda rng, h: np.exp(rng.normal(0, 30, len(h))),
    "zeros": lambda rng, h: np.where(rng.random(len(h)) < 0.6, 0.0, rng.exponential(size=len(h))),
    "outlier": lambda rng, h: np.append(rng.normal(size=len(h) - 1), 1e8),
    "infinite": lambda rng, h: np.append(rng.normal(size=len(h) - 1), np.inf),
    "empty": lambda rng, h: np.full(len(h), np.nan),
    "one value": lambda rng, h: np.append(np.full(len(h) - 1, np.nan), 1.0),
    "words": lambda rng, h: np.array(["a", "b", "=1+1", "ä\n", ""], dtype=object)[
        rng.integers(0, 5, len(h))
    ],
    "states as words": lambda rng, h: np.array([f"s{state}" for state in h], dtype=object),
    "identifiers": lambda rng, h: np.array([f"id{i}" for i in range(len(h))], dtype=object),
    "dates": lambda rng, h: np.array(
        [f"2020-01-{1 + i % 28:02d}" for i in range(len(h))], dtype=object
    ),
    "mixed": lambda rng, h: np.array([i if i % 3 else "x" for i in range(len(h))], dtype=object),
    "booleans": lambda rng, h: rng.random(len(h)) < 0.3 + 0.2 * h,
}
NAMES = (
    *("x", "y", "z", "a b", "", "=cmd()", "<b>", "H1", "name[0]", "name[1]", "ä\n", "x" * 300),
    *("\u202eright to left", "a,b", '"', "'", "\\", "0", "NaN"),
)


def table(rng: np.random.Generator) -> Any:
    """A frame, or an array where all columns are numbers."""
    import pandas as pd

    n_rows = int(rng.choice([1, 2, 3, 5, 12, 40, 120], p=_ROW_SHARES))
    kinds = rng.choice(list(COLUMNS), int(rng.integers(1, 7)), p=_chances())
    states = rng.integers(0, _STATES, n_rows)
    columns = [COLUMNS[kind](rng, states) for kind in kinds]
    for column in columns:
        if rng.random() < 0.2 and column.dtype == float:
            column[rng.random(n_rows) < rng.choice([0.02, 0.5])] = np.nan
    if all(column.dtype == float for column in columns) and rng.random() < 0.5:
        return np.stack(columns, axis=1)
    names = [f"x{place}" for place in range(len(columns))]
    if rng.random() < 0.4:
        drawn = rng.choice(NAMES, len(columns), replace=rng.random() < 0.1)
        names = [str(name) for name in drawn]
    frame = pd.concat([pd.Series(column) for column in columns], axis=1)
    frame.columns = pd.Index(names)
    return frame


def _chances() -> NDArray[np.float64]:
    """Half of all columns are of the kinds that something can be learned from."""
    usual = {"clusters", "overlap", "noise", "rounded", "counts", "booleans"}
    weights = np.array([5.0 if kind in usual else 1.0 for kind in COLUMNS])
    return weights / weights.sum()
