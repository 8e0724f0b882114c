"""How often the estimated states of single rows are the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from mixoracle._arrays import frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.metrics.matching import Matching


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

    Examples
    --------
    >>> from mixoracle.datasets import random_model, sample
    >>> model = random_model(2, 5, 3, random_state=1)
    >>> states = sample(model, 50, 0)[1]
    >>> compare_states(states, states).joint_accuracy
    1.0
    """

    accuracy: tuple[float, ...]
    joint_accuracy: float
    matching: Matching


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
    overlaps = [[_best_overlap(left, right) for right in estimate.T] for left in truth.T]
    right = np.array([[n_right for _, n_right in row] for row in overlaps])
    rows, columns = linear_sum_assignment(-right.reshape(truth.shape[1], estimate.shape[1]))
    pairs = {int(i): int(j) for i, j in zip(rows, columns, strict=True)}
    latents = tuple(pairs.get(i) for i in range(truth.shape[1]))
    accuracy = tuple(
        nan if j is None else float(right[i, j] / len(truth)) for i, j in enumerate(latents)
    )
    if truth.shape[1] != estimate.shape[1]:
        return StateAgreement(accuracy, nan, Matching(latents, None))
    orders = [overlaps[i][j][0] for i, j in pairs.items()]
    agrees = np.ones(len(truth), dtype=bool)
    for (i, j), order in zip(pairs.items(), orders, strict=True):
        agrees &= order[truth[:, i]] == estimate[:, j]
    states = tuple(tuple(int(state) for state in order) for order in orders)
    return StateAgreement(accuracy, float(agrees.mean()), Matching(latents, states))


def _best_overlap(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Return for each state on the left the one on the right that it stands for; in how many rows.

    The table of pairs of states is square, so that each state finds a partner.
    """
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (left, right), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
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
