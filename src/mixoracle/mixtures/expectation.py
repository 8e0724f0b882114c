"""Rows shared out among joint states: all of them or, of thousands, those that are worth a look.

The log probability of a state is a sum over the observed variables. One variable alone can rule a
state out: if its part is so low that even the best parts of all others do not bring the state
within reach of the one that the row was in before, the row has nothing to do with it. The variable
with the most configurations does that, and the states that are left are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.settings import Settings

# States less likely than the best by so many nats hold nothing that double precision could add.
_OUT_OF_REACH = 40.0


@dataclass(frozen=True)
class Shared:
    """Some rows shared out among the joint states.

    ``weights`` (A,) are the rows in each state, ``best`` (r,) the most likely state of each row,
    ``by_code[i]`` (r, n_codes) the share of each row in each configuration of pa(X_i).
    """

    log_likelihood: float
    weights: Floats
    best: Integers
    by_code: list[Floats]


class JointStates:
    """The joint states with their configurations ``codes`` (A, n) and log weights (A,).

    Up to ``few`` of them it is quicker to compare a row with all.
    """

    def __init__(self, codes: Integers, log_weights: Floats, few: int) -> None:
        self._codes = codes
        self._log_weights = log_weights
        self._few = few
        self._deciding = int(np.argmax([len(np.unique(column)) for column in codes.T]))

    def share_out(self, densities: list[Floats], before: Integers | None) -> Shared:
        """Share rows out; ``densities[i]`` (r, n_codes), ``before`` (r,) a good state of each."""
        if before is None or len(self._codes) <= self._few:
            return self._share_out_at_once(densities)
        n_rows = len(before)
        best = np.empty(n_rows, dtype=np.int64)
        peak, total = np.full(n_rows, -np.inf), np.zeros(n_rows)
        blocks = list(self._blocks(densities, before))
        for rows, states in blocks:
            joint = self._joint(densities, rows, states)
            at = joint.argmax(axis=1)
            highest = joint[np.arange(len(rows)), at]
            higher = highest > peak[rows]
            best[rows[higher]] = states[at[higher]]
            raised = np.maximum(peak[rows], highest)
            total[rows] *= np.exp(peak[rows] - raised)
            total[rows] += np.exp(joint - raised[:, None]).sum(axis=1)
            peak[rows] = raised
        weights = np.zeros(len(self._codes))
        by_code = [np.zeros(density.shape) for density in densities]
        for rows, states in blocks:
            share = np.exp(self._joint(densities, rows, states) - peak[rows][:, None])
            share /= total[rows][:, None]
            weights[states] += share.sum(axis=0)
            for i, own in enumerate(by_code):
                present, code = np.unique(self._codes[states, i], return_inverse=True)
                own[np.ix_(rows, present)] += share @ _selector(code, len(present))
        return Shared(float((np.log(total) + peak).sum()), weights, best, by_code)

    def _share_out_at_once(self, densities: list[Floats]) -> Shared:
        """The same with all states for each row."""
        shares = share_out(log_joint(self._log_weights, densities, self._codes))
        share = shares.responsibilities
        by_code = [
            share @ _selector(self._codes[:, i], density.shape[1])
            for i, density in enumerate(densities)
        ]
        log_likelihood = float(shares.log_likelihood.sum())
        return Shared(log_likelihood, share.sum(axis=0), share.argmax(axis=1), by_code)

    def _joint(self, densities: list[Floats], rows: Integers, states: Integers) -> Floats:
        """Log probability of some rows in some states, (rows, states)."""
        return log_joint(
            self._log_weights[states], [density[rows] for density in densities], self._codes[states]
        )

    def _blocks(
        self, densities: list[Floats], before: Integers
    ) -> Iterator[tuple[Integers, Integers]]:
        """Rows with states that they may be in; a row may be in several blocks."""
        everyone = np.arange(len(before))
        reached = self._log_weights[before].copy()
        at_most = np.full(len(before), self._log_weights.max())
        for i, density in enumerate(densities):
            reached += density[everyone, self._codes[before, i]]
            if i != self._deciding:
                at_most += density.max(axis=1)
        deciding = densities[self._deciding]
        is_open = deciding >= (reached - at_most - _OUT_OF_REACH)[:, None]
        code_of = self._codes[:, self._deciding]
        for code in np.unique(code_of):
            rows = np.flatnonzero(is_open[:, code])
            if len(rows):
                yield rows, np.flatnonzero(code_of == code)


def _selector(codes: Integers, n_codes: int) -> Floats:
    """The matrix that adds up states by their code, (states, n_codes)."""
    selector = np.zeros((len(codes), n_codes))
    selector[np.arange(len(codes)), codes] = 1.0
    return selector


def most_likely_states(
    prepared: Prepared,
    components: Sequence[ComponentSet],
    codes: Integers,
    weights: Floats,
    settings: Settings,
) -> Integers:
    """The most likely joint state of every prepared row, (N,).

    ``codes`` (A, n) are the configurations of all joint states, ``weights`` (A,) their
    probabilities; those without any take no part.
    """
    occupied = np.flatnonzero(weights > 0)
    log_weights, own_codes = np.log(weights[occupied]), codes[occupied]
    states = np.empty(prepared.n_samples, dtype=np.int64)
    for rows in prepared.chunks(len(occupied), settings.budget.chunk_entries):
        joint = log_joint(log_weights, prepared.log_densities(components, rows), own_codes)
        states[rows] = occupied[joint.argmax(axis=1)]
    return states
