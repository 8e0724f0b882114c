"""How far an estimated model is from the truth, up to the names of latents and states.

Latents and their states have no names of their own, so two models are compared after the best
matching: latents are paired to minimise the structural Hamming distance over G = Γ ∪ Λ, and the
states of paired latents to minimise the total variation distance between the two P(H). Edges are
then counted as the paper counts them (``sec:expts``): an estimated edge without a direction is
right where its skeleton is right, and listed apart.

Observed variables are matched by name, so both models must name the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from math import factorial, nan, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, ComponentSet, JointTable, LatentModel

# Up to this many latents all matchings are tried (8! = 40 320, a few hundredths of a second).
_MAX_EXACT_LATENTS = 8
# Among equally good matchings of latents this many are told apart by P(H), the costliest test.
_MAX_TIES = 24
# State orders are enumerated up to this many (the largest latent is free); beyond, local search.
_MAX_STATE_ORDERS = 5_000
_STATE_STARTS = 20

# How two latents are related: nothing, first → second, second → first, undirected.
_NONE, _FORWARD, _BACKWARD, _UNDIRECTED = range(4)
# SHD cost of [relation in the truth, relation in the estimate].
_RELATION_COST = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])


@dataclass(frozen=True)
class Matching:
    """Which latent and which state of the estimate stands for which of the truth.

    Parameters
    ----------
    latents : tuple of int or None
        For each true latent the estimated one, or None where there are too few of them.
    states : tuple of tuples of int, or None
        For each true latent and each of its states the estimated state; None where the numbers
        of latents or of their states differ.
    """

    latents: tuple[int | None, ...]
    states: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True, repr=False)
class Comparison:
    """The differences between a true and an estimated model, after matching.

    Parameters
    ----------
    bipartite_extra, bipartite_missing : int
        Edges of the estimated Γ that are not in the true one, and the reverse.
    latent_extra, latent_missing : int
        The same for the skeleton of Λ.
    reversed : int
        Edges of Λ that point the other way.
    unoriented_correct : int
        Estimated edges of Λ without a direction whose skeleton is right.
    oriented_unknown : int
        Estimated arrows of Λ where the truth, a CPDAG, has an edge without a direction: neither
        right nor wrong, and no part of the SHD.
    bipartite_exact, domains_exact : bool
        Whether Γ, and the domain sizes, are right in all.
    joint_tv : float
        Total variation distance between the two P(H); NaN where their shapes differ.
    matching : Matching
    """

    bipartite_extra: int
    bipartite_missing: int
    latent_extra: int
    latent_missing: int
    reversed: int
    unoriented_correct: int
    oriented_unknown: int
    bipartite_exact: bool
    domains_exact: bool
    joint_tv: float
    matching: Matching

    @property
    def extra(self) -> int:
        """Edges of the estimated skeleton that are not in the true one."""
        return self.bipartite_extra + self.latent_extra

    @property
    def missing(self) -> int:
        """Edges of the true skeleton that are not in the estimated one."""
        return self.bipartite_missing + self.latent_missing

    @property
    def shd(self) -> int:
        """The structural Hamming distance over G: extra + missing + reversed."""
        return self.extra + self.missing + self.reversed

    def __repr__(self) -> str:
        gamma = "exact" if self.bipartite_exact else "wrong"
        domains = "exact" if self.domains_exact else "wrong"
        return (
            f"Comparison(SHD {self.shd}: {self.extra} extra, {self.missing} missing, "
            f"{self.reversed} reversed; {self.unoriented_correct} right but unoriented; "
            f"Γ {gamma}, domain sizes {domains}, P(H) off by {self.joint_tv:.3g})"
        )


@dataclass(frozen=True)
class StateAgreement:
    """How often the estimated hidden states are the true ones, after matching.

    Parameters
    ----------
    accuracy : tuple of float
        For each true latent the share of rows in the right state; NaN where it has no match.
    joint_accuracy : float
        The share of rows right in every latent; NaN where the numbers of latents differ.
    matching : Matching
    """

    accuracy: tuple[float, ...]
    joint_accuracy: float
    matching: Matching


def compare(truth: LatentModel, estimate: LatentModel) -> Comparison:
    """Count the differences between two models under the best matching of their latents.

    Examples
    --------
    >>> import mixoracle.datasets as datasets
    >>> truth = datasets.independent_latents()
    >>> compare(truth, relabel(truth, [1, 0]))
    Comparison(SHD 0: 0 extra, 0 missing, 0 reversed; 0 right but unoriented; Γ exact, domain \
sizes exact, P(H) off by 0)
    """
    estimate = _align_observed(truth, estimate)
    order, tv, states = _best_matching(truth, estimate)
    in_truth = _padded_gamma(truth, len(order))
    in_estimate = _padded_gamma(estimate, len(order))[:, order]
    extra, missing = in_estimate & ~in_truth, in_truth & ~in_estimate
    tally = _latent_tally(truth, estimate, order)
    same_number = truth.n_latent == estimate.n_latent
    return Comparison(
        bipartite_extra=int(extra.sum()),
        bipartite_missing=int(missing.sum()),
        latent_extra=int(tally[_NONE, 1:].sum()),
        latent_missing=int(tally[1:, _NONE].sum()),
        reversed=int(tally[_FORWARD, _BACKWARD] + tally[_BACKWARD, _FORWARD]),
        unoriented_correct=int(tally[1:, _UNDIRECTED].sum()),
        oriented_unknown=int(tally[_UNDIRECTED, [_FORWARD, _BACKWARD]].sum()),
        bipartite_exact=same_number and not extra.any() and not missing.any(),
        domains_exact=states is not None,
        joint_tv=tv,
        matching=_matching(truth.n_latent, estimate.n_latent, order, states),
    )


def match_latents(truth: LatentModel, estimate: LatentModel) -> Matching:
    """Pair the latents, and their states, of two models over the same observed variables.

    The matching has the smallest SHD; ties are broken by the number of equal domain sizes, then
    by the distance between the two P(H). It is exact for up to eight latents; beyond, Γ alone is
    matched exactly and the rest by swaps of two latents.
    """
    estimate = _align_observed(truth, estimate)
    order, _, states = _best_matching(truth, estimate)
    return _matching(truth.n_latent, estimate.n_latent, order, states)


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
        joint=JointTable(_reordered(np.transpose(model.joint.table, order), states)),
        latent_graph=CPDAG(
            model.n_latent,
            frozenset((position[i], position[j]) for i, j in model.latent_graph.directed),
            frozenset(
                frozenset(position[i] for i in pair) for pair in model.latent_graph.undirected
            ),
        ),
        components=components
        if components is None
        else tuple(
            _relabelled_components(model, i, held, order, states)
            for i, held in enumerate(components)
        ),
    )


def compare_states(true_states: Any, estimated_states: Any) -> StateAgreement:
    """Compare hidden states row by row, up to the names of latents and of states.

    Parameters
    ----------
    true_states, estimated_states : (n_samples, n_latent) int arrays
        The numbers of latents may differ.

    Examples
    --------
    >>> agreement = compare_states([[0, 1], [0, 0], [1, 1]], [[0, 1], [1, 1], [0, 0]])
    >>> agreement.accuracy, agreement.matching.latents
    ((1.0, 1.0), (1, 0))
    """
    truth = _checked_states(true_states, "true_states")
    estimate = _checked_states(estimated_states, "estimated_states")
    if len(truth) != len(estimate):
        raise InvalidInputError(
            f"states should be for the same rows; got {len(truth)} and {len(estimate)} rows"
        )
    tables = [[_contingency(left, right) for right in estimate.T] for left in truth.T]
    right = np.array([[_best_overlap(table)[1] for table in row] for row in tables])
    rows, columns = linear_sum_assignment(-right.reshape(truth.shape[1], estimate.shape[1]))
    pairs = {int(i): int(j) for i, j in zip(rows, columns, strict=True)}
    latents = tuple(pairs.get(i) for i in range(truth.shape[1]))
    accuracy = tuple(
        nan if j is None else float(right[i, j] / len(truth)) for i, j in enumerate(latents)
    )
    if truth.shape[1] != estimate.shape[1]:
        return StateAgreement(accuracy, nan, Matching(latents, None))
    orders = [_best_overlap(tables[i][j])[0] for i, j in pairs.items()]
    agrees = np.ones(len(truth), dtype=bool)
    for (i, j), order in zip(pairs.items(), orders, strict=True):
        agrees &= order[truth[:, i]] == estimate[:, j]
    states = tuple(tuple(int(state) for state in order) for order in orders)
    return StateAgreement(accuracy, float(agrees.mean()), Matching(latents, states))


def _align_observed(truth: LatentModel, estimate: LatentModel) -> LatentModel:
    """Put the observed variables of the estimate in the truth's order."""
    if truth.n_observed != estimate.n_observed:
        raise InvalidInputError(
            f"models over the same observed variables can be compared; the truth has "
            f"{truth.n_observed} and the estimate {estimate.n_observed}"
        )
    if truth.observed_names == estimate.observed_names:
        return estimate
    strange = sorted(set(estimate.observed_names) - set(truth.observed_names))
    if strange:
        raise InvalidInputError(
            f"observed variables are matched by name, and the truth has no {strange[0]!r}; "
            "rename the variables of one model"
        )
    order = [estimate.observed_names.index(name) for name in truth.observed_names]
    components = estimate.components
    return replace(
        estimate,
        observed_names=truth.observed_names,
        bipartite=estimate.bipartite[order],
        components=None if components is None else tuple(components[i] for i in order),
    )


def _matching(
    n_truth: int,
    n_estimate: int,
    order: NDArray[np.int64],
    states: tuple[tuple[int, ...], ...] | None,
) -> Matching:
    """Drop the padding from a matching of padded sets."""
    latents = tuple(int(j) if j < n_estimate else None for j in order[:n_truth])
    return Matching(latents, states)


def _best_matching(
    truth: LatentModel, estimate: LatentModel
) -> tuple[NDArray[np.int64], float, tuple[tuple[int, ...], ...] | None]:
    """Return the matching of the padded sets of latents, the TV distance and the state orders."""
    costs = _MatchingCosts(truth, estimate)
    if costs.n_padded <= _MAX_EXACT_LATENTS:
        candidates = _match_exactly(costs)
    else:
        candidates = _match_by_assignment(costs)[None]
    best = candidates[0]
    if truth.n_latent != estimate.n_latent or any(
        size != estimate.domain_sizes[j] for size, j in zip(truth.domain_sizes, best, strict=True)
    ):
        return best, nan, None
    found = [
        (*_match_states(truth.joint.table, np.transpose(estimate.joint.table, order)), order)
        for order in candidates[:_MAX_TIES]
    ]
    tv, states, best = min(found, key=lambda entry: entry[0])
    return best, tv, states


class _MatchingCosts:
    """What a matching costs: its SHD first, then how many domain sizes differ.

    Both sets of latents are padded to the same number with latents that have no edges.
    """

    def __init__(self, truth: LatentModel, estimate: LatentModel) -> None:
        self.n_padded = max(truth.n_latent, estimate.n_latent)
        gamma_truth = _padded_gamma(truth, self.n_padded)
        gamma_estimate = _padded_gamma(estimate, self.n_padded)
        differ = gamma_truth[:, :, None] != gamma_estimate[:, None, :]
        sizes_truth = _padded_sizes(truth, self.n_padded)
        sizes_estimate = _padded_sizes(estimate, self.n_padded)
        # One edge outweighs all the domain sizes together.
        self.edge_weight = self.n_padded + 1
        self.pairs = self.edge_weight * differ.sum(axis=0) + (
            sizes_truth[:, None] != sizes_estimate[None, :]
        )
        self.relations_truth = _relations(truth.latent_graph, self.n_padded)
        self.relations_estimate = _relations(estimate.latent_graph, self.n_padded)

    def of(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cost of each row of ``orders``: row r pairs truth i with orders[r, i]."""
        total = self.pairs[np.arange(self.n_padded), orders].sum(axis=1)
        for i in range(self.n_padded):
            for j in range(i):
                estimated = self.relations_estimate[orders[:, i], orders[:, j]]
                total += self.edge_weight * _RELATION_COST[self.relations_truth[i, j], estimated]
        return np.asarray(total)


def _match_exactly(costs: _MatchingCosts) -> NDArray[np.int64]:
    """Return all matchings of the smallest cost."""
    orders = _all_orders(costs.n_padded)
    total = costs.of(orders)
    return np.asarray(orders[total == total.min()])


def _match_by_assignment(costs: _MatchingCosts) -> NDArray[np.int64]:
    """Match Γ and the domain sizes by the assignment problem, then swap while Λ gains by it."""
    order = np.asarray(linear_sum_assignment(costs.pairs)[1], dtype=np.int64)
    pairs = [(i, j) for i in range(costs.n_padded) for j in range(i)]
    best = int(costs.of(order[None])[0])
    while True:
        swapped = np.repeat(order[None], len(pairs), axis=0)
        for row, (i, j) in zip(swapped, pairs, strict=True):
            row[[i, j]] = row[[j, i]]
        totals = costs.of(swapped)
        if totals.min() >= best:
            return order
        order, best = swapped[totals.argmin()], int(totals.min())


@lru_cache(maxsize=_MAX_EXACT_LATENTS + 1)
def _all_orders(n: int) -> NDArray[np.int64]:
    orders = np.array(list(permutations(range(n))), dtype=np.int64).reshape(factorial(n), n)
    orders.setflags(write=False)
    return orders


def _padded_gamma(model: LatentModel, n_padded: int) -> NDArray[np.bool_]:
    return np.pad(model.bipartite, ((0, 0), (0, n_padded - model.n_latent)))


def _padded_sizes(model: LatentModel, n_padded: int) -> NDArray[np.int64]:
    padding = (0,) * (n_padded - model.n_latent)
    return np.array(model.domain_sizes + padding, dtype=np.int64)


def _relations(graph: CPDAG, n_padded: int) -> NDArray[np.int64]:
    relations = np.full((n_padded, n_padded), _NONE, dtype=np.int64)
    for i, j in graph.directed:
        relations[i, j], relations[j, i] = _FORWARD, _BACKWARD
    for i, j in graph.undirected:
        relations[i, j] = relations[j, i] = _UNDIRECTED
    return relations


def _latent_tally(
    truth: LatentModel, estimate: LatentModel, order: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the pairs of latents by [relation in the truth, relation in the estimate]."""
    upper = np.triu_indices(len(order), k=1)
    in_truth = _relations(truth.latent_graph, len(order))[upper]
    in_estimate = _relations(estimate.latent_graph, len(order))[np.ix_(order, order)][upper]
    tally = np.zeros((4, 4), dtype=np.int64)
    np.add.at(tally, (in_truth, in_estimate), 1)
    return tally


def _match_states(
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
            columns = np.moveaxis(_reordered(estimate, others), axis, 0).reshape(rows.shape)
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


def _reordered(table: NDArray[Any], orders: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Put the states of each axis in the given order."""
    for axis, order in enumerate(orders):
        table = np.take(table, order, axis=axis)
    return table


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
    moved = _reordered(np.transpose(numbers, axes), [states[a] for a in new_parents])
    return held.take(moved.ravel())


def _contingency(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows by pair of states, in a square table so that each state finds a partner."""
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (left, right), 1)
    return table


def _best_overlap(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the order of the columns with the most rows on the diagonal, and how many."""
    rows, columns = linear_sum_assignment(-table)
    return np.asarray(columns, dtype=np.int64), int(table[rows, columns].sum())


def _checked_states(states: Any, what: str) -> NDArray[np.int64]:
    array = frozen_whole_numbers(states, what)
    if array.ndim != 2 or len(array) == 0:
        raise InvalidInputError(
            f"{what} should have shape (n_samples, n_latent) with at least one row; "
            f"got {array.shape}"
        )
    if array.size and array.min() < 0:
        raise InvalidInputError(f"{what} count from 0; got {int(array.min())}")
    return array


def _checked_order(order: Sequence[int], size: int, what: str) -> list[int]:
    checked = [int(entry) for entry in frozen_whole_numbers(order, what)]
    if sorted(checked) != list(range(size)):
        raise InvalidInputError(
            f"{what} should name each of 0 to {size - 1} once; got {list(order)}"
        )
    return checked
