"""The one E-step: how likely each row is in each state of a mixture, and how much in which.

A state is a configuration of every observed variable, ``codes`` (A, n), with a weight. The log
probability of a row and a state is the sum of the state's log weight and of the row's log density
in each variable's component (:func:`log_joint`); its share is what is left when the row's total is
divided out (:func:`share_out`). EM over components, over joint states and over the states of a
finished model, and the assignment of rows, all go through these two functions. Where states are too
many to list, a row's are found first (:mod:`~mixoracle.model.row_posterior`). One caller keeps a
quicker form of the same step: densities that never change are exponentiated once
(:mod:`~mixoracle.labels.tuples`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats, Integers, exp_in_place, row_maxima, row_sums

# So many numbers are worked on at a time, which stay in the cache: 256 kB.
_ENTRIES_AT_ONCE = 32_768


@dataclass(frozen=True)
class Shares:
    """``log_likelihood`` (N,) of each row, and its ``responsibilities`` (N, A) in each state."""

    log_likelihood: Floats
    responsibilities: Floats


def log_joint(
    log_weights: Floats, log_densities: Sequence[Floats], codes: Integers | None = None
) -> Floats:
    """Log probability of each row together with each state, (N, A).

    ``log_densities[i]`` is (N, k_i): each row in each component of X_i. Without ``codes`` the
    states are the components, the same for every variable.
    """
    joint = np.tile(log_weights, (len(log_densities[0]), 1))
    at_once = max(1, _ENTRIES_AT_ONCE // max(1, len(log_weights)))
    for begin in range(0, len(joint), at_once):
        own = joint[begin : begin + at_once]
        for i, density in enumerate(log_densities):
            some = density[begin : begin + at_once]
            own += some if codes is None else some.take(codes[:, i], axis=1)
    return joint


def total(joint: Floats) -> Floats:
    """The log probability (N,) of each row in all states together, by ``joint`` (N, A)."""
    peak = row_maxima(joint)
    share = exp_in_place(joint - np.where(np.isfinite(peak), peak, 0.0)[:, None])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(row_sums(share)) + peak)


def share_out(joint: Floats, weights: Floats | None = None) -> Shares:
    """Share each row out among the states by their log probabilities ``joint`` (N, A).

    A row that is impossible in every state says nothing about it: it is shared out by ``weights``.
    """
    peak = row_maxima(joint)[:, None]
    lost = ~np.isfinite(peak[:, 0])
    if lost.any():
        peak[lost] = 0.0
    share = exp_in_place(joint - peak)
    if lost.any():
        share[lost] = 1.0 if weights is None else weights
    sums = row_sums(share)[:, None]
    log_likelihood = (np.log(sums) + peak)[:, 0]
    log_likelihood[lost] = -np.inf
    share /= sums
    return Shares(log_likelihood, share)
