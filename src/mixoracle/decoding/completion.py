"""From a proposal to an explanation: parents for each variable, a joint state for each component.

A proposal says in which state each latent is in some of the components over X. Given that, the
parents of each variable are chosen by evidence (:mod:`~mixoracle.decoding.parents`), and every
component over X, also one that the proposal left out, goes to its most likely joint state. The
whole is then scored (:mod:`~mixoracle.decoding.evidence`), so that explanations from different
proposals can be compared.

Assumes that the components over X do not mix joint states: each of them is put into one.
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Bools, Integers
from mixoracle.decoding.evidence import explains_labels, score
from mixoracle.decoding.explanation import Explanation, Proposal
from mixoracle.decoding.parents import choose_parents, join_twins, needed_latents
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import configurations, flat
from mixoracle.settings import Settings


def complete(
    table: ComponentTable, proposal: Proposal, settings: Settings = Settings()
) -> Explanation:
    """The explanation that a proposal leads to."""
    counts = table.counts[proposal.kept]
    needed = needed_latents(proposal, counts, settings)
    proposal = Proposal(proposal.kept, proposal.states[:, needed])
    parents = choose_parents(table, proposal, settings)
    adjacency, states = join_twins(parents, proposal.states)
    joined = Proposal(proposal.kept, states)
    assignment = assign_all(table, joined, adjacency, settings)
    return score(table, adjacency, joined.domain_sizes, assignment, settings)


def assign_all(
    table: ComponentTable, proposal: Proposal, adjacency: Bools, settings: Settings = Settings()
) -> Integers:
    """The joint state of every component over X, (T,): where it is most likely, given the others.

    The components that were left out are assigned first. Then all are assigned anew, because a
    proposal from labels that are partly wrong puts some of them into the wrong state.
    """
    kept, sizes = proposal.kept, proposal.domain_sizes
    codes = configurations(adjacency, sizes)
    proposed = flat(proposal.states, sizes)
    assignment = np.empty(len(kept), dtype=np.int64)
    assignment[kept] = proposed
    if not kept.all():
        likely = _most_likely_states(table, np.flatnonzero(kept), proposed, codes)
        assignment[~kept] = likely[~kept]
    if explains_labels(table.labels, assignment, codes, settings):
        return assignment
    everything = np.arange(len(kept))
    for _ in range(settings.budget.rounds):
        likely = _most_likely_states(table, everything, assignment, codes)
        if np.array_equal(likely, assignment):
            break
        assignment = likely
    return assignment


def _most_likely_states(
    table: ComponentTable, members: Integers, assignment: Integers, codes: Integers
) -> Integers:
    """The best joint state of every component over X, (T,).

    The densities are those of the ``members``, which are in the joint states ``assignment``.
    """
    log_density = np.zeros((table.n_components, len(codes)))
    for i, (statistics, family, prior) in enumerate(table.variables()):
        n_codes = int(codes[:, i].max()) + 1
        pooled = pool(statistics[members], codes[assignment, i], n_codes)
        density = family.log_density(statistics, family.components(pooled, prior))
        # A configuration that no component has is unknown, and nothing may be put there.
        density[:, pooled[:, 0] <= 0] = -np.inf
        log_density += density[:, codes[:, i]]
    return np.asarray(log_density.argmax(axis=1))
