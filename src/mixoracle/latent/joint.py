"""Algorithm 1: which component over X belongs to which joint state of the latents.

Components that agree on all X outside ne(H_j) differ in the state of H_j alone
(``lem:hidden-directions``), so L gives the lines of a grid along each latent. Put any component
in one corner; its lines fill the axes, and every other cell is where two lines cross (``thm:Ph``).
The states of a latent have no names, so the answer is unique up to their order along each axis;
here it is the order of the component numbers on the axis.

Assumes nondegeneracy and the subset condition. An L that contradicts Γ raises the error that says
how: lines are counted before the grid is filled, and the filled grid is checked against all lines,
because Algorithm 1 itself looks at two lines through each cell and no more.

The pseudo-code of Algorithm 1 has slips: ``arrows[H_t]`` should be ``arrows[H_j]``, ``dim(H_t)``
should be dim(H_j), r is never increased, and L is called bijective where only injectivity holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from mixoracle._arrays import Integers, frozen_whole_numbers
from mixoracle.errors import (
    AmbiguousIntersectionError,
    EmptyIntersectionError,
    GroupSizeError,
    InvalidInputError,
    NotInjectiveError,
)
from mixoracle.model import Bipartite, JointTable, Projection
from mixoracle.model.joint_states import distinct_rows, numbered_columns

# An error that lists a thousand components says less than one that lists these.
_COMPONENTS_NAMED = 8
_NON_ZERO = slice(1, None)


def layout(labels: Any, adjacency: Any, domain_sizes: Any) -> Integers:
    """Return the component that sits in each cell of the joint table.

    Parameters
    ----------
    labels : (K, n_observed) int array
        L: row c holds the component of each observed variable in component c over X.
    adjacency : (n_observed, n_latent) bool array
        Γ: row i is pa(X_i).
    domain_sizes : sequence of int
        dim(H_j); their product is K.

    Returns
    -------
    array of shape ``domain_sizes``
        Component 0 sits in the cell (0, …, 0), and along each axis through it the components
        ascend.

    Raises
    ------
    NotInjectiveError, GroupSizeError, EmptyIntersectionError, AmbiguousIntersectionError
        Where L contradicts Γ or the domain sizes; latents and components count from 0.

    Notes
    -----
    Takes O((nm + max dim(H_j)) K) steps and m sorts of K integers (``obs:Phruntime``).

    Examples
    --------
    Two binary latents, each with an observed variable of its own:

    >>> layout([[0, 1], [1, 1], [1, 0], [0, 0]], [[1, 0], [0, 1]], [2, 2]).tolist()
    [[0, 3], [1, 2]]
    """
    graph = Bipartite(adjacency, domain_sizes)
    known = _checked_labels(labels, graph.n_observed)
    groups = _lines(known, graph)
    if len(known) != prod(graph.domain_sizes):
        raise GroupSizeError(
            f"domain sizes {graph.domain_sizes} need {prod(graph.domain_sizes)} components over "
            f"X, one for each joint state; got {len(known)}"
        )
    members = [
        np.argsort(ids, kind="stable").reshape(-1, size)
        for ids, size in zip(groups, graph.domain_sizes, strict=True)
    ]
    cells = _fill(groups, members, graph.domain_sizes)
    _check_grid(cells, groups)
    return cells


def joint_table(labels: Any, weights: Any, adjacency: Any, domain_sizes: Any) -> JointTable:
    """Return P(H), laid out by :func:`layout`, from the weights π(X, ·) of the components.

    Examples
    --------
    >>> labels, weights = [[0, 1], [1, 1], [1, 0], [0, 0]], [0.4, 0.3, 0.2, 0.1]
    >>> joint_table(labels, weights, [[1, 0], [0, 1]], [2, 2]).table.tolist()
    [[0.4, 0.1], [0.3, 0.2]]
    """
    projection = Projection(labels, weights)
    return JointTable(projection.weights[layout(projection.labels, adjacency, domain_sizes)])


def marginal(projection: Projection, subset: Iterable[int]) -> Projection:
    """Return the mixture over the observed variables in ``subset``, columns in that order.

    Its number of components is k(S), its weights are π(S, ·) and its rows their names.

    Examples
    --------
    >>> joint = Projection([[0, 0], [0, 1], [1, 1]], [0.5, 0.25, 0.25])
    >>> over_first = marginal(joint, [0])
    >>> over_first.n_components, over_first.weights.tolist()
    (2, [0.75, 0.25])
    """
    columns = [int(i) for i in subset]
    outside = [i for i in columns if not 0 <= i < projection.n_observed]
    if outside or len(set(columns)) != len(columns):
        raise InvalidInputError(
            f"a marginal needs distinct observed variables from 0 to {projection.n_observed - 1}; "
            f"got {columns}"
        )
    rows, groups, _ = distinct_rows(projection.labels[:, columns])
    weights = np.asarray(np.bincount(groups, projection.weights), dtype=np.float64)
    return Projection(rows, weights)


def _checked_labels(labels: Any, n_observed: int) -> Integers:
    """Return L as a (K, n_observed) array of component numbers that leave no gaps.

    The components of each observed variable are renumbered 0, 1, … in ascending order. L must be
    injective, which nondegeneracy (b) for S = X promises; the paper calls it bijective, but it
    reaches only k(X) of the ∏ k(X_i) tuples.
    """
    array = frozen_whole_numbers(labels, "labels")
    if array.ndim != 2 or array.shape[1] != n_observed or len(array) == 0:
        raise InvalidInputError(
            f"labels should have shape (K, {n_observed}), a row for each component over X and a "
            f"column for each observed variable; got {array.shape}"
        )
    if array.size and array.min() < 0:
        raise InvalidInputError(f"labels count from 0; got {int(array.min())}")
    numbers = numbered_columns(array)
    _, groups, counts = distinct_rows(numbers)
    if np.any(counts > 1):
        first, second = np.flatnonzero(groups == np.argmax(counts > 1))[:2]
        raise NotInjectiveError(
            f"components {first} and {second} over X have the same component in every observed "
            f"variable, {numbers[first].tolist()}; merge them and add their weights"
        )
    return numbers


def _lines(labels: Integers, graph: Bipartite) -> list[Integers]:
    """For each latent, number the groups of components that differ in its state alone."""
    groups = []
    for j, size in enumerate(graph.domain_sizes):
        outside = np.flatnonzero(~graph.adjacency[:, j])
        ids = distinct_rows(labels[:, outside])[1]
        wrong = np.flatnonzero(np.bincount(ids) != size)
        if len(wrong):
            found = np.flatnonzero(ids == wrong[0])
            raise GroupSizeError(
                f"latent {j} has {size} states, so {size} components over X should agree on "
                f"the observed variables {outside.tolist()} outside its neighbourhood; "
                f"{len(found)} do: components {_named(found)}. Check the subset condition, "
                "the domain sizes and whether a component is missing"
            )
        groups.append(ids)
    return groups


def _fill(groups: list[Integers], members: list[Integers], sizes: tuple[int, ...]) -> Integers:
    """Phases 2 and 3 of Algorithm 1, one slab of cells at a time.

    The cells whose first non-zero coordinate is i and whose last is j need only cells with first
    non-zero coordinate beyond i or last one before j, so each such slab is filled at once.
    """
    cells = np.zeros(sizes, dtype=np.int64)
    n_latent = len(sizes)
    for j in range(n_latent):
        axis = (0,) * j + (slice(None),) + (0,) * (n_latent - j - 1)
        cells[axis] = members[j][groups[j][0]]
        for i in reversed(range(j)):
            moved_i = cells[_slab(i, j, n_latent, last=0)][..., None]
            moved_j = cells[_slab(i, j, n_latent, first=0)][None]
            found, hits = _crossings(moved_i, moved_j, groups[j], groups[i], members[i])
            if np.any(hits != 1):
                raise _crossing_error(i, j, moved_i, moved_j, hits)
            cells[_slab(i, j, n_latent)] = found
    return cells


def _slab(
    i: int, j: int, n_latent: int, first: int | slice = _NON_ZERO, last: int | slice = _NON_ZERO
) -> tuple[int | slice, ...]:
    """Index the cells that are zero before axis i and beyond j, and anything between them."""
    between = (slice(None),) * (j - i - 1)
    return ((0,) * i) + (first, *between, last) + ((0,) * (n_latent - j - 1))


def _crossings(
    moved_i: Integers,
    moved_j: Integers,
    groups_j: Integers,
    groups_i: Integers,
    members_i: Integers,
) -> tuple[Integers, Integers]:
    """Find the components on the line of ``moved_i`` along j and of ``moved_j`` along i.

    Returns the component for each cell, and how many there were where it should be one.
    """
    shape = np.broadcast_shapes(moved_i.shape, moved_j.shape)
    found = np.zeros(shape, dtype=np.int64)
    hits = np.zeros(shape, dtype=np.int64)
    wanted = groups_j[moved_i]
    # Member by member of the line along i, so that memory stays at the size of the slab.
    for candidates in np.moveaxis(members_i[groups_i[moved_j]], -1, 0):
        fits = groups_j[candidates] == wanted
        found = np.where(fits, candidates, found)
        hits += fits
    return found, hits


def _crossing_error(
    i: int, j: int, moved_i: Integers, moved_j: Integers, hits: Integers
) -> EmptyIntersectionError | AmbiguousIntersectionError:
    """Name the first cell of a slab where two lines do not cross in one component."""
    where = tuple(np.argwhere(hits != 1)[0])
    first = np.broadcast_to(moved_i, hits.shape)[where]
    second = np.broadcast_to(moved_j, hits.shape)[where]
    count = int(hits[where])
    message = (
        f"one component over X should differ from component {first} in the state of latent {j} "
        f"alone and from component {second} in the state of latent {i} alone; "
        f"{count or 'none'} {'do' if count else 'does'}. Γ or the labels of these components "
        "are wrong"
    )
    return AmbiguousIntersectionError(message) if count else EmptyIntersectionError(message)


def _check_grid(cells: Integers, groups: list[Integers]) -> None:
    """Raise unless each component sits in one cell and each line of cells is a group."""
    times = np.bincount(cells.ravel(), minlength=cells.size)
    if np.any(times > 1):
        twice = int(np.argmax(times > 1))
        places = [tuple(map(int, cell)) for cell in np.argwhere(cells == twice)[:2]]
        raise AmbiguousIntersectionError(
            f"component {twice} over X fits both joint states {places[0]} and {places[1]}; "
            "Γ or the labels are wrong"
        )
    for j, ids in enumerate(groups):
        along = np.moveaxis(ids[cells], j, -1)
        broken = np.argwhere(along != along[..., :1])
        if len(broken):
            *line, state = map(int, broken[0])
            on_line = np.moveaxis(cells, j, -1)[tuple(line)]
            raise EmptyIntersectionError(
                f"components {on_line[0]} and {on_line[state]} should differ in the state of "
                f"latent {j} alone, but differ outside its neighbourhood too, so that no "
                "component fits the cell of the latter; Γ or the labels are wrong"
            )


def _named(components: Integers) -> str:
    shown = ", ".join(map(str, components[:_COMPONENTS_NAMED].tolist()))
    return f"{shown}, …" if len(components) > _COMPONENTS_NAMED else shown
