"""Rows in the order in which they came: whether each goes on from the one before.

A walk is cut into as many states as anybody likes, each a stretch of it. So the rows are predicted
twice, by a normal regression of each variable on the row before: of its values as they are, and of
what is left of them when the state is taken away. A variable counts for the states as far as the
second is better. Against them counts how hard it is to tell a row's state from the one before.
States that last, and noise that lasts within them, are no reason to doubt states: where one ends,
the values jump.

Assumes that the order of the rows is that of time; in any other order rows say nothing of their
neighbours. A table that was sorted by one of its measurements is predicted by its order in that one
only.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mixoracle._arrays import Floats, Integers, column_means
from mixoracle.mixtures.merging import means_of


def gain_of_states(blocks: Iterable[Floats], states: Integers, codes: Integers) -> float:
    """By how many nats a row states explain more than they cost, given the row before.

    ``blocks[i]`` is (N, d_i) and ``states`` (N,), in the order of time; ``codes`` (K, n) is the
    component of each variable in each state. Every parameter is charged for as BIC does.
    """
    n_rows = len(states)
    n_components = codes.max(axis=0) + 1
    gain = -_cost(states)
    for block, code, k in zip(blocks, codes.T, n_components, strict=True):
        charge = 0.5 * (k - 1) * block.shape[1] * np.log(n_rows) / n_rows
        own = code[states]
        left = block - means_of(block, own, int(k))[own]
        gain += max(0.0, _log_fit(left) - charge - _log_fit(block))
    return float(gain)


def _log_fit(block: Floats) -> float:
    """The mean log density of rows given the one before, up to a constant."""
    n_pairs = len(block) - 1
    first, last = column_means(block[:-1]), column_means(block[1:])
    # Products of all rows are those of either end's neighbours but for one row.
    products = block.T @ block
    own = (products - np.outer(block[-1], block[-1])) / n_pairs - np.outer(first, first)
    across = block[:-1].T @ block[1:] / n_pairs - np.outer(first, last)
    # Columns that are determined by others have no slopes of their own.
    slopes = np.linalg.lstsq(own, across, rcond=None)[0]
    left = (products - np.outer(block[0], block[0])) / n_pairs - np.outer(last, last)
    left -= across.T @ slopes
    return float(-0.5 * np.linalg.slogdet(np.atleast_2d(left))[1])


def _cost(states: Integers) -> float:
    """Nats a row that it takes to tell states: each lasts with one chance, or is drawn anew."""
    shares = np.bincount(states) / len(states)
    drawn, lasts = shares[states[1:]], states[1:] == states[:-1]
    by_chance = float((shares**2).sum())
    lasting = max(0.0, (float(lasts.mean()) - by_chance) / max(1.0 - by_chance, 1e-12))
    return float(-np.log(lasting * lasts + (1.0 - lasting) * drawn).mean())
