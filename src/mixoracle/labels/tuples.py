"""The components over all of X, found as tuples of the components of each X_i.

Rows are labelled variable by variable, and each label tuple that occurs may be a component over
X. Where components overlap many tuples are only mislabelled rows. The maximum-likelihood weights
of the tuples, given each variable's component densities, tell them apart: a tuple that overlap
created loses its weight to the one that its rows came from. What little weight is left where the
likelihood hardly misses a tuple is taken by a penalty.

Assumes that the rows of a component are labelled alike often enough for its tuple to occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.model.joint_states import distinct_rows
from mixoracle.model.responsibilities import log_joint
from mixoracle.settings import Settings

# The far tail of EM on weights alone does not matter: pruning follows. It spares no tuple of a
# small part of one row, so these are dropped on the way.
_WEIGHT_TOLERANCE = 1e-4
_PRUNE_EVERY = 5
_NEGLIGIBLE_ROWS = 0.1


@dataclass(frozen=True)
class JointComponents:
    """Components over X: ``labels`` (T, n) and the ``responsibilities`` (N, T) for each row."""

    labels: Integers
    responsibilities: Floats


def find_joint_components(
    labels: Integers,
    log_densities: Sequence[Floats],
    max_components: int,
    settings: Settings,
    weight: float = 1.0,
) -> JointComponents:
    """Find the label tuples that are components over X, at most ``max_components`` of them.

    ``labels`` is (N, n), ``log_densities[i]`` is (N, k_i). Each row counts as ``weight`` of one.
    """
    tuples, _, occurrences = distinct_rows(labels)
    tuples, counts = _heaviest(tuples, occurrences.astype(np.float64), settings.budget.tuples)
    log_density = _tuple_log_density(tuples, log_densities)
    alive, weights = _weigh(log_density, counts / counts.sum(), settings.budget.em)
    kept, weights = _prune(log_density[:, alive], weights, settings.priors.same_evidence, weight)
    tuples, weights = _heaviest(tuples[alive[kept]], weights, max_components)
    return share_rows(tuples, weights / weights.sum(), log_densities)


def share_rows(
    tuples: Integers, weights: Floats, log_densities: Sequence[Floats]
) -> JointComponents:
    """Share each row out among these tuples, by their weights and its densities."""
    density = _rescaled_density(_tuple_log_density(tuples, log_densities))
    return JointComponents(tuples, _responsibilities(density, weights))


def _heaviest(tuples: Integers, weights: Floats, limit: int) -> tuple[Integers, Floats]:
    if len(tuples) <= limit:
        return tuples, weights
    kept = np.sort(np.argsort(-weights, kind="stable")[:limit])
    return tuples[kept], weights[kept]


def _tuple_log_density(tuples: Integers, log_densities: Sequence[Floats]) -> Floats:
    """Log density of each row in each tuple, relative to its largest: (N, T)."""
    total = log_joint(np.zeros(len(tuples)), log_densities, tuples)
    return np.asarray(total - total.max(axis=1, keepdims=True))


def _weigh(log_density: Floats, weights: Floats, max_iterations: int) -> tuple[Integers, Floats]:
    """EM on the weights alone: the tuples that keep weight, and their weights."""
    n_rows = len(log_density)
    alive = np.arange(len(weights))
    density = np.exp(log_density)
    for iteration in range(1, max_iterations + 1):
        updated = _responsibilities(density, weights).mean(axis=0)
        change = np.abs(updated - weights).sum()
        weights = updated
        strong = weights > _NEGLIGIBLE_ROWS / n_rows
        if iteration % _PRUNE_EVERY == 0 and not strong.all():
            alive, weights = alive[strong], weights[strong] / weights[strong].sum()
            density = _rescaled_density(log_density[:, alive])
        elif change < _WEIGHT_TOLERANCE:
            break
    return alive, weights


def _prune(
    log_density: Floats, weights: Floats, surplus: float, weight: float
) -> tuple[Integers, Floats]:
    """Drop tuples that the likelihood does not miss, the weakest half of them at a time.

    A tuple must be worth half a log N of log-likelihood, as BIC asks of its weight, and a
    ``surplus`` for being one of many that might have been.
    """
    needed = 0.5 * np.log(max(1.0, weight * len(log_density))) + surplus
    kept = np.arange(len(weights))
    while True:
        responsibilities = _responsibilities(_rescaled_density(log_density[:, kept]), weights)
        loss = weight * _log_likelihood_lost(responsibilities, weights)
        weak = np.flatnonzero(loss < needed)
        if len(weak) == 0 or len(kept) == 1:
            return kept, weights
        weakest = weak[np.argsort(loss[weak], kind="stable")[: max(1, len(weak) // 2)]]
        if len(weakest) == len(kept):
            weakest = weakest[:-1]
        kept = np.delete(kept, weakest)
        weights = np.delete(weights, weakest)
        weights = weights / weights.sum()


def _log_likelihood_lost(responsibilities: Floats, weights: Floats) -> Floats:
    """By how much the log-likelihood falls if a tuple is dropped and its weight given away."""
    almost_one = 1.0 - np.finfo(float).eps
    without = -np.log1p(-np.minimum(responsibilities, almost_one)).sum(axis=0)
    return np.asarray(without + len(responsibilities) * np.log1p(-np.minimum(weights, almost_one)))


def _rescaled_density(log_density: Floats) -> Floats:
    """Densities with each row's largest at 1, so that no row underflows."""
    return np.asarray(np.exp(log_density - log_density.max(axis=1, keepdims=True)))


def _responsibilities(density: Floats, weights: Floats) -> Floats:
    """The E-step where densities stay as they are: exponentials are taken once, not each time."""
    weighted = density * weights
    return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))
