"""Γ from the states of the latents: which of them each variable needs, and which none needs.

A variable depends on the latents whose configurations give its components the largest evidence.
Two things are no latents of their own, whatever the labels suggest: one that the others determine
leaves joint states empty that the model does not allow (``assump:strong``), and twins drive the
same variables, so that no data tell them from one latent with the pairs of their states
(``assm:twins``).

Assumes that the proposed states are right but for a few rows.
"""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.decoding.evidence import Grouping
from mixoracle.decoding.explanation import Proposal
from mixoracle.families import Family, Prior
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import distinct_rows, flat, numbered
from mixoracle.settings import Settings

# Numbers that are put in order for several choices of parents at once: 32 MB of them.
_AT_ONCE = 4_000_000

Choices = tuple[tuple[int, ...], ...]
"""Sets of latents that may be the parents of a variable."""


def choose_parents(
    table: ComponentTable, proposal: Proposal, settings: Settings = Settings()
) -> Bools:
    """Γ by the evidence of each variable's components, (n, m)."""
    adjacency = np.zeros((table.n_observed, proposal.states.shape[1]), dtype=bool)
    groupings = Groupings(proposal)
    for i, (statistics, family, prior) in enumerate(table.variables()):
        chosen = best_parents(statistics[proposal.kept], family, prior, groupings, settings)
        adjacency[i, list(chosen)] = True
    return adjacency


def needed_latents(
    proposal: Proposal, counts: Floats, settings: Settings = Settings()
) -> list[int]:
    """The latents with the fewest joint states that tell apart what all latents together do.

    A latent that the others determine leaves joint states empty that the model does not allow
    (``assump:strong``): an item that needs two skills is no third skill. Rows that contradict this
    are few, where there are components over X that do not exist; ``counts`` are the rows of the
    components that the proposal keeps.
    """
    sizes = proposal.domain_sizes
    everything = list(range(len(sizes)))
    together = flat(proposal.states, sizes)
    n_together = len(np.unique(together))
    allowed = settings.priors.stray_share * float(counts.sum())

    def tell_apart(chosen: tuple[int, ...]) -> bool:
        code = flat(proposal.states[:, list(chosen)], [sizes[j] for j in chosen])
        return rows_in_minority(code, together, counts) <= allowed

    choices = [c for size in range(1, len(sizes)) for c in combinations(everything, size)]
    choices.sort(key=lambda c: prod(sizes[j] for j in c))
    for chosen in choices:
        if prod(sizes[j] for j in chosen) >= n_together and tell_apart(chosen):
            return list(chosen)
    return everything


def join_twins(adjacency: Bools, states: Integers) -> tuple[Bools, Integers]:
    """One latent for all that drive the same variables (``assm:twins``), none where that is none.

    Twins have the evidence of one latent whose states are the pairs of theirs, and no data tell
    the two apart. Returns Γ (n, m') and the states (T, m').
    """
    groups: dict[bytes, list[int]] = {}
    for j, column in enumerate(adjacency.T):
        if column.any():
            groups.setdefault(column.tobytes(), []).append(j)
    joined = np.empty((len(states), len(groups)), dtype=np.int64)
    for place, twins in enumerate(groups.values()):
        sizes = [int(size) for size in states[:, twins].max(axis=0) + 1]
        code = flat(states[:, twins], sizes)
        joined[:, place] = numbered(code) if len(twins) > 1 else code
    return adjacency[:, [twins[0] for twins in groups.values()]], joined


def rows_in_minority(code: Integers, finer: Integers, counts: Floats) -> float:
    """Rows that are not in the commonest finer state of their code."""
    pairs, index, _ = distinct_rows(np.stack([code, finer], axis=1))
    largest = np.zeros(int(code.max()) + 1)
    np.maximum.at(largest, pairs[:, 0], np.bincount(index, counts))
    return float(counts.sum() - largest.sum())


class Groupings:
    """Which kept components have the same states of some latents: the same for every variable."""

    def __init__(self, proposal: Proposal) -> None:
        self._states, self._sizes = proposal.states, proposal.domain_sizes
        self._known: dict[Choices, tuple[Grouping, Integers]] = {}

    @property
    def n_latents(self) -> int:
        """How many latents there are to choose from."""
        return len(self._sizes)

    def of(self, choices: Choices) -> tuple[Grouping, Integers]:
        """The groups that each choice makes, one after the other, and where those of each begin."""
        if choices not in self._known:
            codes = (flat(self._states[:, list(c)], [self._sizes[j] for j in c]) for c in choices)
            groups = [Grouping.by(code) for code in codes]
            starts = [each.starts + at * len(self._states) for at, each in enumerate(groups)]
            order = np.concatenate([each.order for each in groups])
            firsts = np.cumsum([0, *(len(each.starts) for each in groups[:-1])])
            self._known[choices] = Grouping(order, np.concatenate(starts)), firsts
        return self._known[choices]


def best_parents(
    statistics: Floats, family: Family, prior: Prior, groupings: Groupings, settings: Settings
) -> tuple[int, ...]:
    """The latents that this variable depends on, by the evidence of its components."""

    def evidence(choices: Choices) -> Floats:
        at_once = max(1, _AT_ONCE // statistics.size)
        if len(choices) > at_once:
            return np.concatenate([evidence(choices[:at_once]), evidence(choices[at_once:])])
        grouping, firsts = groupings.of(choices)
        return np.add.reduceat(family.log_evidence(grouping.sums(statistics), prior), firsts)

    n_latents = groupings.n_latents
    latents = range(n_latents)
    if n_latents <= settings.budget.all_parent_sets:
        choices = tuple(c for size in range(n_latents + 1) for c in combinations(latents, size))
        return choices[int(np.argmax(evidence(choices)))]
    chosen: tuple[int, ...] = ()
    best = float(evidence((chosen,))[0])
    while True:
        neighbours = tuple(tuple(sorted(set(chosen) ^ {j})) for j in latents)
        scores = evidence(neighbours)
        if scores.max() <= best:
            return chosen
        best, chosen = float(scores.max()), neighbours[int(np.argmax(scores))]
