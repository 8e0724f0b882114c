"""Which latent of an estimate stands for which of the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from math import factorial, nan

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle.errors import InvalidInputError
from mixoracle.metrics import edges
from mixoracle.metrics.many_states import match_many_states
from mixoracle.metrics.relabelling import match_states
from mixoracle.model import LatentModel

# Up to this many latents all matchings are tried (8! = 40 320, a few hundredths of a second).
_MAX_EXACT_LATENTS = 8
# Among equally good matchings of latents P(H), the costliest test, decides between this many.
_MAX_TIES = 24
# With more joint states than this two tables are no longer compared as a whole.
_MAX_JOINT_STATES = 100_000


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

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> match_latents(independent_latents(), independent_latents()).latents
    (0, 1)
    """

    latents: tuple[int | None, ...]
    states: tuple[tuple[int, ...], ...] | None


def match_latents(truth: LatentModel, estimate: LatentModel) -> Matching:
    """Pair the latents, and their states, of two models over the same observed variables.

    The matching has the smallest SHD; ties are broken by the number of equal domain sizes, then
    by the distance between the two P(H). It is exact for up to eight latents; beyond, Γ alone is
    matched exactly and the rest by swaps of two latents. States are matched by P(H) as a whole up
    to 100 000 joint states, and by pairs of latents beyond.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> model = independent_latents()
    >>> match_latents(model, model).latents
    (0, 1)
    """
    return best_matching(truth, align_observed(truth, estimate))[2]


def align_observed(truth: LatentModel, estimate: LatentModel) -> LatentModel:
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
        reading=None,
    )


def best_matching(
    truth: LatentModel, estimate: LatentModel
) -> tuple[NDArray[np.int64], float, Matching]:
    """Return the matching of the padded sets of latents, the TV distance, and what it says."""
    costs = _MatchingCosts(truth, estimate)
    if costs.n_padded <= _MAX_EXACT_LATENTS:
        orders = _all_orders(costs.n_padded)
        total = costs.of(orders)
        candidates = orders[total == total.min()]
    else:
        candidates = _match_by_assignment(costs)[None]
    best, tv, states = candidates[0], nan, None
    if truth.n_latent == estimate.n_latent and all(
        size == estimate.domain_sizes[j] for size, j in zip(truth.domain_sizes, best, strict=True)
    ):
        found = [(*_states(truth, estimate, order), order) for order in candidates[:_MAX_TIES]]
        tv, states, best = min(found, key=lambda entry: entry[0])
    latents = tuple(int(j) if j < estimate.n_latent else None for j in best[: truth.n_latent])
    return best, tv, Matching(latents, states)


def _states(
    truth: LatentModel, estimate: LatentModel, order: NDArray[np.int64]
) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """The distance between the two P(H), and the states that bring them closest."""
    if truth.joint.n_joint > _MAX_JOINT_STATES:
        return match_many_states(truth, estimate, order.tolist())
    return match_states(truth.joint.table, np.transpose(estimate.joint.table, order))


class _MatchingCosts:
    """The cost of a matching: its SHD first, then how many domain sizes differ.

    Both sets of latents are padded to the same number with latents that have no edges.
    """

    def __init__(self, truth: LatentModel, estimate: LatentModel) -> None:
        self.n_padded = max(truth.n_latent, estimate.n_latent)
        differ = (
            padded_gamma(truth, self.n_padded)[:, :, None]
            != padded_gamma(estimate, self.n_padded)[:, None, :]
        )
        sizes_truth, sizes_estimate = (
            np.pad(
                np.array(model.domain_sizes, dtype=np.int64), (0, self.n_padded - model.n_latent)
            )
            for model in (truth, estimate)
        )
        # One edge outweighs all the domain sizes together.
        self.edge_weight = self.n_padded + 1
        self.pairs = self.edge_weight * differ.sum(axis=0) + (
            sizes_truth[:, None] != sizes_estimate[None, :]
        )
        self.relations_truth = edges.relations(truth.latent_graph, self.n_padded)
        self.relations_estimate = edges.relations(estimate.latent_graph, self.n_padded)

    def of(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cost of each row of ``orders``: row r pairs truth i with orders[r, i]."""
        total = self.pairs[np.arange(self.n_padded), orders].sum(axis=1)
        for i in range(self.n_padded):
            for j in range(i):
                estimated = self.relations_estimate[orders[:, i], orders[:, j]]
                total += (
                    self.edge_weight * edges.RELATION_COST[self.relations_truth[i, j], estimated]
                )
        return np.asarray(total)


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


def padded_gamma(model: LatentModel, n_padded: int) -> NDArray[np.bool_]:
    """Γ with a column of zeros for each latent that the other model has more."""
    return np.pad(model.bipartite, ((0, 0), (0, n_padded - model.n_latent)))
