"""The states of many latents matched, and two P(H) compared, without a table of either.

Where P(H) has too many joint states for a table, states are matched by the marginals of single
latents and of joined pairs: given the states of the others, the best order of one latent's states
is an assignment problem, and the latents take turns. The total variation distance is an average,
E_P[max(0, 1 - Q/P)], so draws from the first distribution estimate it.

Assumption: where the marginals leave states open (a fair coin that is joined to nothing), the
components of the observed variables tell them apart; they give the first start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import Floats
from mixoracle.metrics.relabelling import relabel
from mixoracle.model import Joint, LatentModel

# The standard error of the distance is at most 0.5 / sqrt(this) = 0.0016.
_N_DRAWS = 100_000
_RANDOM_STARTS = 5

Orders = list[list[int]]


def match_many_states(
    truth: LatentModel, estimate: LatentModel, order: Sequence[int]
) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """The TV distance, and for each true latent and state the estimated state that it is.

    ``order[j]`` is the estimate's latent for the truth's latent j; both have as many states.
    """
    moved = relabel(estimate, list(order))
    pairs = _Pairs(truth, moved)
    found = [pairs.improved(start) for start in _starts(truth, moved)]
    _, states = min(found, key=lambda entry: entry[0])
    same = moved.joint.relabelled(range(truth.n_latent), states)
    return drawn_distance(truth.joint, same), tuple(map(tuple, states))


def drawn_distance(first: Joint, second: Joint) -> float:
    """The total variation distance between two P(H), from draws of the first."""
    # A comparison is a function of two models: its draws come from a generator of its own.
    states = first.draw(_N_DRAWS, np.random.default_rng(0))
    ratio = np.exp(np.minimum(second.log_probability(states) - first.log_probability(states), 0.0))
    return float(np.mean(1.0 - ratio))


class _Pairs:
    """The marginals of two models, of single latents and of pairs that either of them joins."""

    def __init__(self, truth: LatentModel, estimate: LatentModel) -> None:
        joined = truth.latent_graph.skeleton | estimate.latent_graph.skeleton
        self._near: list[list[int]] = [[] for _ in range(truth.n_latent)]
        for first, second in joined:
            self._near[first].append(second)
            self._near[second].append(first)
        self._tables: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
        for asked in [*((j,) for j in range(truth.n_latent)), *map(tuple, joined)]:
            true, found = (model.joint.marginal(asked).table for model in (truth, estimate))
            self._tables[asked] = true, found
            self._tables[asked[::-1]] = true.T, found.T

    def improved(self, orders: Orders) -> tuple[float, Orders]:
        """Let latents take turns until none gains; the summed differences, and the orders."""
        best = np.inf
        while True:
            total = 0.0
            for j in range(len(orders)):
                cost = self._cost(j, orders)
                chosen = linear_sum_assignment(cost)[1]
                orders[j] = chosen.tolist()
                total += float(cost[np.arange(len(chosen)), chosen].sum())
            if total >= best:
                return best, orders
            best = total

    def _cost(self, j: int, orders: Orders) -> Floats:
        """The difference that it makes to take one state of latent j for another."""
        true, found = self._tables[j,]
        cost = np.abs(true[:, None] - found[None, :])
        for k in self._near[j]:
            true, found = self._tables[j, k]
            cost += np.abs(true[:, None, :] - found[None, :, orders[k]]).sum(axis=2)
        return cost


def _starts(truth: LatentModel, estimate: LatentModel) -> Iterator[Orders]:
    """Orders that give states the same children's means, then some at random."""
    costs = [
        sum(
            (_mean_costs(truth, estimate, j, i) for i in truth.children(j)),
            start=np.zeros((size, size)),
        )
        for j, size in enumerate(truth.domain_sizes)
    ]
    yield [linear_sum_assignment(cost)[1].tolist() for cost in costs]
    rng = np.random.default_rng(0)
    for _ in range(_RANDOM_STARTS):
        yield [rng.permutation(size).tolist() for size in truth.domain_sizes]


def _mean_costs(truth: LatentModel, estimate: LatentModel, j: int, i: int) -> Floats:
    """How far the means of X_i are from each other, for each two states of latent j."""
    means = [_state_means(model, j, i) for model in (truth, estimate)]
    size = truth.domain_sizes[j]
    if means[0] is None or means[1] is None or means[0].shape != means[1].shape:
        return np.zeros((size, size))
    spread = np.maximum(np.ptp(means[0], axis=0), np.finfo(float).tiny)
    apart = (means[0][:, None, :] - means[1][None, :, :]) / spread
    return np.asarray(np.square(np.nan_to_num(apart)).sum(axis=2))


def _state_means(model: LatentModel, j: int, i: int) -> Floats | None:
    """E[X_i | H_j = state], one row for each state; None where X_i does not show it."""
    if model.components is None or not model.bipartite[i, j]:
        return None
    parents = model.parents(i)
    table = model.joint.marginal(parents).table
    own = np.indices(table.shape)[parents.index(j)].ravel()
    weights = np.where(own == np.arange(model.domain_sizes[j])[:, None], table.ravel(), 0.0)
    total = np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(weights / total @ model.components[i].averages().values)
