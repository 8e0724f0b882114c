"""Latents and states in another order, and the order of states that brings two P(H) closest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, ComponentSet, LatentModel

# State orders are enumerated up to this many (the largest latent is free); beyond, local search.
_MAX_STATE_ORDERS = 5_000
_STATE_STARTS = 20


def relabel(
    model: LatentModel,
    latent_order: Sequence[int],
    state_orders: Sequence[Sequence[int]] | None = None,
) -> LatentModel:
    """Return the same model with its latents and their states in another order.

    Parameters
    ----------
    model : LatentModel
    latent_order : sequence of int
        New latent a is the old latent ``latent_order[a]`` and keeps its name.
    state_orders : sequence of sequences of int, optional
        New state s of new latent a is its old state ``state_orders[a][s]``.

    Notes
    -----
    With ``matching = match_latents(truth, estimate)``, ``relabel(estimate, matching.latents,
    matching.states)`` has the latents and states of the truth, where both are as many.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> model = independent_latents()
    >>> relabel(model, [1, 0]).latent_names
    ('H2', 'H1')
    """
    order = _checked_order(latent_order, model.n_latent, "latent_order")
    sizes = tuple(model.domain_sizes[j] for j in order)
    states = [list(range(size)) for size in sizes]
    if state_orders is not None:
        if len(state_orders) != len(sizes):
            raise InvalidInputError(
                f"state_orders should hold one order for each of the {len(sizes)} latents; "
                f"got {len(state_orders)}"
            )
        states = [
            _checked_order(given, size, f"state_orders[{a}]")
            for a, (given, size) in enumerate(zip(state_orders, sizes, strict=True))
        ]
    position = {old: new for new, old in enumerate(order)}
    components = model.components
    return replace(
        model,
        latent_names=tuple(model.latent_names[j] for j in order),
        bipartite=model.bipartite[:, order],
        domain_sizes=sizes,
        joint=model.joint.relabelled(order, states),
        latent_graph=CPDAG(
            model.n_latent,
            frozenset((position[i], position[j]) for i, j in model.latent_graph.directed),
            frozenset(
                frozenset(position[i] for i in pair) for pair in model.latent_graph.undirected
            ),
        ),
        state_names=tuple(
            None if held is None else tuple(held[s] for s in states[a])
            for a, held in enumerate(model.state_names[j] for j in order)
        ),
        components=components
        if components is None
        else tuple(
            _relabelled_components(model, i, held, order, states)
            for i, held in enumerate(components)
        ),
    )


def _relabelled_components(
    model: LatentModel,
    observed: int,
    held: ComponentSet,
    order: list[int],
    states: list[list[int]],
) -> ComponentSet:
    """Put the components of one observed variable in the order of its relabelled parents."""
    parents = model.parents(observed)
    new_parents = [a for a, old in enumerate(order) if old in parents]
    numbers = np.arange(held.n_components).reshape([model.domain_sizes[j] for j in parents])
    axes = [parents.index(order[a]) for a in new_parents]
    moved = reordered(np.transpose(numbers, axes), [states[a] for a in new_parents])
    return held.take(moved.ravel())


def _checked_order(order: Sequence[int], size: int, what: str) -> list[int]:
    checked = [int(entry) for entry in frozen_whole_numbers(order, what)]
    if sorted(checked) != list(range(size)):
        raise InvalidInputError(
            f"{what} should name each of 0 to {size - 1} once; got {list(order)}"
        )
    return checked


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
    starts: Iterable[Sequence[Sequence[int]]]
    if prod(factorial(truth.shape[axis]) for axis in fixed) <= _MAX_STATE_ORDERS:
        choices = [
            permutations(range(size)) if axis in fixed else [tuple(range(size))]
            for axis, size in enumerate(truth.shape)
        ]
        starts, turns = product(*choices), [free]
    else:
        starts, turns = _some_state_orders(truth, estimate), list(range(truth.ndim))
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
