"""EM over the structured model, all rows in memory: refines components, weights and states.

Rows that one variable alone leaves undecided are decided by all of them together; see
:mod:`~mixoracle.inference.structured` for the model and its steps. Where there are more joint
states than can be compared, each row is compared with those that it leaves open
(:mod:`~mixoracle.inference.factored`). Memory does not grow with the number of rows, but for the
best state of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family, Prior
from mixoracle.inference.factored import FactoredMixture, factor_counts, starting_joint
from mixoracle.inference.structured import (
    Climbed,
    Expected,
    StructuredMixture,
    climb,
    components_of,
)
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet, JointTable
from mixoracle.model.graphs import Edge
from mixoracle.model.joint import Joint
from mixoracle.model.joint_states import (
    codes_of_parents,
    flat,
    n_configurations,
    states_of_cells,
)
from mixoracle.settings import Settings

FindArrows = Callable[[Integers, tuple[int, ...]], frozenset[Edge]]
"""The arrows of a DAG over the latents, from the states (N, m) of rows and the domain sizes."""


@dataclass(frozen=True)
class Refinement:
    """Where EM ended.

    ``joint`` is P(H), ``components`` are over the prepared coordinates, ``priors`` what was
    believed of them beforehand, ``states`` (N, m) is the most likely joint state of each prepared
    row, ``history`` the penalised log-likelihood before each iteration. ``log_likelihood`` and
    ``bic`` are in the units of the observations, the history in those of the prepared coordinates.
    """

    joint: Joint
    components: tuple[ComponentSet, ...]
    states: Integers
    log_likelihood: float
    bic: float
    history: tuple[float, ...]
    converged: bool
    priors: tuple[Prior, ...] = ()


@dataclass(frozen=True, eq=False)
class _Start:
    """Components and priors that fit best if every row is in the joint state that it starts in."""

    states: Integers
    codes: Integers
    statistics: tuple[Floats, ...]
    components: tuple[ComponentSet, ...]
    priors: tuple[Prior, ...]

    def sums(self, weights: Floats) -> Expected:
        """What an E-step adds up that leaves every row where it is; ``weights`` are of P(H)."""
        return Expected(len(self.states), -np.inf, weights, self.statistics)


def refine(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    start: Integers,
    max_iterations: int | None = None,
    settings: Settings = Settings(),
    arrows: FindArrows | None = None,
) -> Refinement:
    """Run EM from the joint state ``start`` (N, m) of each prepared row.

    ``adjacency`` has the prepared order of the variables. With ``max_iterations=0`` the start
    itself is evaluated. Where P(H) has too many joint states for a table, it is a network along the
    ``arrows`` that the start shows; without them, its latents are independent.
    """
    iterations = settings.budget.em if max_iterations is None else max_iterations
    started = _started(prepared, adjacency, domain_sizes, start, settings)
    if prod(domain_sizes) <= settings.budget.listed:
        return _listed(prepared, domain_sizes, started, iterations, settings)
    edges = None
    if prod(domain_sizes) > settings.budget.joint_states:
        edges = arrows(start, domain_sizes) if arrows is not None else frozenset[Edge]()
    joint = starting_joint(start, domain_sizes, edges)
    return _factored(prepared, adjacency, joint, started, iterations, settings)


AnyMixture = StructuredMixture | FactoredMixture


def mixture_of(
    families: tuple[Family, ...], adjacency: Bools, refinement: Refinement, settings: Settings
) -> AnyMixture:
    """A mixture that goes on where a refinement ended, over rows of whatever table."""
    joint, budget = refinement.joint, settings.budget
    rest = refinement.components, refinement.priors, budget
    if joint.n_joint > budget.listed:
        return FactoredMixture(families, adjacency, joint, *rest)
    sizes = joint.domain_sizes
    return StructuredMixture.of_table(families, adjacency, sizes, joint.table.ravel(), *rest)


def joint_of(mixture: AnyMixture, domain_sizes: tuple[int, ...]) -> Joint:
    """P(H) of a mixture."""
    if isinstance(mixture, FactoredMixture):
        return mixture.joint
    return JointTable(mixture.table(prod(domain_sizes)).reshape(domain_sizes))


def _listed(
    prepared: Prepared,
    domain_sizes: tuple[int, ...],
    start: _Start,
    iterations: int,
    settings: Settings,
) -> Refinement:
    """EM over the joint states that occur at the start."""
    n_states = prod(domain_sizes)
    rows = flat(start.states, domain_sizes)
    counts = np.bincount(rows, minlength=n_states).astype(float)
    active, first = np.unique(rows, return_index=True)
    mixture = StructuredMixture(
        families=prepared.families,
        active=active,
        codes=start.codes[first],
        weights=counts[active] / len(rows),
        components=start.components,
        priors=start.priors,
        budget=settings.budget,
    )
    best = np.searchsorted(active, rows)

    def expect(mixture: StructuredMixture) -> Expected:
        nonlocal best
        sums, best = mixture.expect(prepared)
        return sums

    climbed = climb(mixture, expect, iterations, settings, before=start.sums(counts[active]))
    states = states_of_cells(active[best], domain_sizes)
    joint = joint_of(climbed.mixture, domain_sizes)
    return _ended(prepared, climbed, joint, states, _n_parameters(climbed.mixture, n_states))


def _factored(
    prepared: Prepared,
    adjacency: Bools,
    joint: Joint,
    start: _Start,
    iterations: int,
    settings: Settings,
) -> Refinement:
    """EM over the joint states that each row leaves open."""
    mixture = FactoredMixture(
        prepared.families, adjacency, joint, start.components, start.priors, settings.budget
    )
    states = start.states

    def expect(mixture: FactoredMixture) -> Expected:
        nonlocal states
        sums, states = mixture.expect(prepared, states)
        return sums

    before = start.sums(factor_counts(joint, states))
    climbed = climb(mixture, expect, iterations, settings, before=before)
    ended = climbed.mixture
    return _ended(prepared, climbed, ended.joint, states, ended.n_parameters)


def _ended(
    prepared: Prepared,
    climbed: Climbed[StructuredMixture] | Climbed[FactoredMixture],
    joint: Joint,
    states: Integers,
    n_parameters: int,
) -> Refinement:
    log_likelihood = climbed.expected.log_likelihood + prepared.log_units
    return Refinement(
        joint=joint,
        components=climbed.mixture.components,
        states=states,
        log_likelihood=log_likelihood,
        bic=log_likelihood - 0.5 * np.log(prepared.n_samples) * n_parameters,
        history=climbed.history,
        converged=climbed.converged,
        priors=climbed.mixture.priors,
    )


def _started(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    start: Integers,
    settings: Settings,
) -> _Start:
    codes = codes_of_parents(start, adjacency, domain_sizes)
    n_codes = n_configurations(adjacency, domain_sizes)
    statistics = _hard_statistics(prepared, codes, n_codes, settings)
    families = prepared.families
    priors = tuple(family.prior(held) for family, held in zip(families, statistics, strict=True))
    components = components_of(families, statistics, priors)
    return _Start(start, codes, statistics, components, priors)


def _hard_statistics(
    prepared: Prepared, codes: Integers, n_codes: Sequence[int], settings: Settings
) -> tuple[Floats, ...]:
    """The statistics of each configuration, every row being in its own, ``codes`` (N, n)."""
    totals = []
    for i, (family, n_own) in enumerate(zip(prepared.families, n_codes, strict=True)):
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
