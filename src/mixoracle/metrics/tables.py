"""Which state of an estimate stands for which of the truth, by the two P(H)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

# State orders are enumerated up to this many (the largest latent is free); beyond, local search.
_MAX_STATE_ORDERS = 5_000
_STATE_STARTS = 20


def match_states(
    truth: NDArray[np.float64], estimate: NDArray[np.float64]
) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """Find the order of the estimate's states along each axis that minimises the TV distance.

    Given the other axes, the best order along one axis is an assignment problem. So all orders of
    all axes but the longest are tried where they are few; otherwise the axes take turns, from
    several starts, and the answer is an upper bound.
    """
    if truth.ndim == 0:
        return 0.0, ()
    free = int(np.argmax(truth.shape))
    fixed = [axis for axis in range(truth.ndim) if axis != free]
    starts: Iterable[list[Sequence[int]]]
    if prod(factorial(truth.shape[axis]) for axis in fixed) <= _MAX_STATE_ORDERS:
        starts = _all_state_orders(truth.shape, fixed)
        turns = [free]
    else:
        starts = _some_state_orders(truth, estimate)
        turns = list(range(truth.ndim))
    best, best_orders = np.inf, [list(range(size)) for size in truth.shape]
    for start in starts:
        distance, orders = _take_turns(truth, estimate, [list(order) for order in start], turns)
        if distance < best:
            best, best_orders = distance, orders
        if best == 0.0:
            break
    return best, tuple(tuple(int(state) for state in order) for order in best_orders)


def _take_turns(
    truth: NDArray[np.float64],
    estimate: NDArray[np.float64],
    orders: list[list[int]],
    turns: list[int],
) -> tuple[float, list[list[int]]]:
    """Improve the orders along the axes in turn until no axis gains."""
    best = np.inf
    while True:
        for axis in turns:
            others = [
                list(range(size)) if other == axis else order
                for other, (size, order) in enumerate(zip(truth.shape, orders, strict=True))
            ]
            rows = np.moveaxis(truth, axis, 0).reshape(truth.shape[axis], -1)
            columns = np.moveaxis(reordered(estimate, others), axis, 0).reshape(rows.shape)
            cost = 0.5 * np.array([np.abs(row - columns).sum(axis=1) for row in rows])
            chosen = linear_sum_assignment(cost)[1]
            orders[axis] = chosen.tolist()
            distance = float(cost[np.arange(len(chosen)), chosen].sum())
        if len(turns) == 1 or distance >= best:
            return min(best, distance), orders
        best = distance


def _all_state_orders(shape: tuple[int, ...], fixed: list[int]) -> Iterable[list[Sequence[int]]]:
    choices = [
        permutations(range(size)) if axis in fixed else [tuple(range(size))]
        for axis, size in enumerate(shape)
    ]
    return (list(orders) for orders in product(*choices))


def _some_state_orders(
    truth: NDArray[np.float64], estimate: NDArray[np.float64]
) -> Iterable[list[Sequence[int]]]:
    """Start from the orders that sort the marginals alike, then from random ones."""
    sorted_alike: list[Sequence[int]] = []
    for axis in range(truth.ndim):
        others = tuple(other for other in range(truth.ndim) if other != axis)
        ranks = np.argsort(np.argsort(truth.sum(axis=others)))
        sorted_alike.append(np.argsort(estimate.sum(axis=others))[ranks].tolist())
    yield sorted_alike
    # A comparison is a function of two models: its starts come from a generator of its own.
    rng = np.random.default_rng(0)
    for _ in range(_STATE_STARTS):
        yield [rng.permutation(size).tolist() for size in truth.shape]


def reordered(table: NDArray[Any], orders: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Put the states of each axis in the given order."""
    for axis, order in enumerate(orders):
        table = np.take(table, order, axis=axis)
    return table
