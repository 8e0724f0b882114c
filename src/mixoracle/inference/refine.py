"""EM over the structured model, all rows in memory: refines components, weights and states.

Rows that one variable alone leaves undecided are decided by all of them together; see
:mod:`~mixoracle.inference.structured` for the model and its steps. Where there are thousands of
joint states, each row is compared with those that are plausible for it only. Memory does not grow
with the number of rows, but for the best state of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Prior
from mixoracle.inference.structured import (
    Expected,
    StructuredMixture,
    climb,
    components_of,
)
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Refinement:
    """Where EM ended.

    ``weights`` (∏ domain_sizes,) are P(H) in C order, ``components`` are over the prepared
    coordinates, ``priors`` what was believed of them beforehand, ``assignment`` (N,) is the most
    likely joint state of each prepared row, ``history`` the penalised log-likelihood before each
    iteration. ``log_likelihood`` and ``bic`` are in the units of the observations, the history in
    those of the prepared coordinates.
    """

    weights: Floats
    components: tuple[ComponentSet, ...]
    assignment: Integers
    log_likelihood: float
    bic: float
    history: tuple[float, ...]
    converged: bool
    priors: tuple[Prior, ...] = ()


def refine(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    start: Integers,
    max_iterations: int | None = None,
    settings: Settings = Settings(),
) -> Refinement:
    """Run EM from the joint state ``start`` (N,) of each prepared row.

    ``adjacency`` has the prepared order of the variables. With ``max_iterations=0`` the start
    itself is evaluated.
    """
    iterations = settings.budget.em if max_iterations is None else max_iterations
    with threadpool_limits(limits=1):
        mixture = _started(prepared, adjacency, domain_sizes, start, settings)
        best = np.searchsorted(mixture.active, start)

        def expect(mixture: StructuredMixture) -> Expected:
            nonlocal best
            expected, best = mixture.expect(prepared, best)
            return expected

        climbed = climb(mixture, expect, iterations, settings)
    mixture = climbed.mixture
    log_likelihood = climbed.expected.log_likelihood + prepared.log_units
    n_states = int(np.prod(domain_sizes, dtype=int))
    n_parameters = _n_parameters(mixture, n_states)
    return Refinement(
        weights=mixture.table(n_states),
        components=mixture.components,
        assignment=mixture.active[best],
        log_likelihood=log_likelihood,
        bic=log_likelihood - 0.5 * np.log(prepared.n_samples) * n_parameters,
        history=climbed.history,
        converged=climbed.converged,
        priors=mixture.priors,
    )


def _started(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    start: Integers,
    settings: Settings,
) -> StructuredMixture:
    """The mixture that fits best if every row is in the joint state that it starts in."""
    codes = configurations(adjacency, domain_sizes)
    counts = np.bincount(start, minlength=len(codes)).astype(float)
    active = np.flatnonzero(counts > 0)
    statistics = _hard_statistics(prepared, codes[start], codes.max(axis=0) + 1, settings)
    families = prepared.families
    priors = tuple(family.prior(held) for family, held in zip(families, statistics, strict=True))
    return StructuredMixture(
        families=families,
        active=active,
        codes=codes[active],
        weights=counts[active] / len(start),
        components=components_of(families, statistics, priors),
        priors=priors,
        budget=settings.budget,
    )


def _hard_statistics(
    prepared: Prepared, codes: Integers, n_codes: Integers, settings: Settings
) -> tuple[Floats, ...]:
    """The statistics of each configuration, every row being in its own, ``codes`` (N, n)."""
    totals = []
    for i, (family, n_own) in enumerate(zip(prepared.families, n_codes.tolist(), strict=True)):
        total = np.zeros((n_own, prepared.features(i, slice(0, 1)).shape[1]))
        for rows in prepared.chunks(n_own, settings.budget.chunk_entries):
            features = prepared.features(i, rows)
            patterns = prepared.patterns(i, rows)
            if patterns is not None:
                features = family.completed(features, codes[rows, i], None, patterns)
            total += pool(features, codes[rows, i], n_own)
        totals.append(total)
    return tuple(totals)


def _n_parameters(mixture: StructuredMixture, n_states: int) -> int:
    """Weights of all joint states and parameters of the components in use.

    States without rows are charged for as well, or latents that only make room for noise
    would come almost free.
    """
    components = sum(
        family.n_parameters * len(np.unique(mixture.codes[:, i]))
        for i, family in enumerate(mixture.families)
    )
    return n_states - 1 + components
