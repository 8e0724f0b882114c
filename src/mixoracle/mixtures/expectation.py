"""Rows shared out among joint states that can be listed: the E-step of a structured mixture.

Of more joint states than can be compared, a row is shared out among those that it leaves open
(:mod:`~mixoracle.model.row_posterior`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Shared:
    """Some rows shared out among the joint states.

    ``weights`` (A,) are the rows in each state, ``best`` the most likely state of each row, as one
    number (r,) or as that of each latent (r, m), ``by_code[i]`` (r, n_codes) the share of each row
    in each configuration of pa(X_i).
    """

    log_likelihood: float
    weights: Floats
    best: Integers
    by_code: list[Floats]


def share_out_states(codes: Integers, log_weights: Floats, densities: Sequence[Floats]) -> Shared:
    """Share rows out among joint states with configurations ``codes`` (A, n) and log weights (A,).

    ``densities[i]`` is (r, n_codes).
    """
    shares = share_out(log_joint(log_weights, densities, codes))
    share = shares.responsibilities
    by_code = [
        share @ _selector(codes[:, i], density.shape[1]) for i, density in enumerate(densities)
    ]
    log_likelihood = float(shares.log_likelihood.sum())
    return Shared(log_likelihood, share.sum(axis=0), share.argmax(axis=1), by_code)


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
