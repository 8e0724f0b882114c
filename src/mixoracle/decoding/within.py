"""Explanations from within the states of a cause that drives everything.

If one latent drives all variables, the subset condition fails: no two variables share a smaller
part of it than its own states, so the common parts of labels show no other latent. But within each
of its states the others are seen as if it were not there. So each state is decoded on its own, and
the latents found in several of them are taken for the same one if they drive the same variables.
Which state of such a latent is which in another state of the first no data tell; any numbers do.

Assumes that the latent that drives everything is among those already proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import entropy

from mixoracle._arrays import Floats, Integers
from mixoracle.decoding.completion import complete
from mixoracle.decoding.explanation import Explanation, Proposal
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import numbered, numbered_columns
from mixoracle.settings import Settings

Decode = Callable[[ComponentTable, Settings], Explanation]
"""How a part of the table is explained."""


def within_states(
    table: ComponentTable,
    explanations: Iterable[Explanation],
    decode: Decode,
    settings: Settings = Settings(),
) -> list[Explanation]:
    """Explanations by the latent that drives everything and by what is found within its states."""
    outer = _outermost(table, explanations, settings)
    if outer is None:
        return []
    # All states together take as many moves as one explanation of everything would.
    n_moves = settings.budget.moves // (int(outer.max()) + 1)
    fewer = replace(settings, budget=replace(settings.budget, moves=n_moves))
    found: list[tuple[Integers, Explanation]] = []
    for state in range(int(outer.max()) + 1):
        inside = np.flatnonzero(outer == state)
        if len(inside) > 1:
            found.append((inside, decode(_restricted(table, inside), fewer)))
    together = (_put_together(outer, model, found) for _, model in found if model.domain_sizes)
    proposed = {states.tobytes(): states for states in together}
    return [complete(table, Proposal.of_all(states), settings) for states in proposed.values()]


def _outermost(
    table: ComponentTable, explanations: Iterable[Explanation], settings: Settings
) -> Integers | None:
    """The states (T,) of the latent that explains most for what it takes to tell its states.

    Alone it has to drive all variables.
    """
    columns = {
        states.tobytes(): states
        for explanation in explanations
        for column in explanation.states.T
        if 0 < (states := numbered(column)).max() < table.n_components - 1
    }
    nothing = complete(table, Proposal.of_all(np.zeros((table.n_components, 0), dtype=np.int64)))
    best, chosen = -inf, None
    for states in columns.values():
        alone = complete(table, Proposal.of_all(states[:, None]), settings)
        if alone.adjacency.shape[1] != 1 or not alone.adjacency.all():
            continue
        told = table.counts.sum() * entropy(np.bincount(alone.assignment, table.counts))
        gain = (alone.log_evidence - nothing.log_evidence) / max(float(told), 1.0)
        if gain > best:
            best, chosen = gain, numbered(alone.assignment)
    return chosen


def _restricted(table: ComponentTable, inside: Integers) -> ComponentTable:
    return replace(
        table,
        labels=numbered_columns(table.labels[inside]),
        statistics=tuple(held[inside] for held in table.statistics),
        counts=table.counts[inside],
    )


def _put_together(
    outer: Integers, model: Explanation, found: list[tuple[Integers, Explanation]]
) -> Integers:
    """The states (T, 1 + m) of the outer latent and of those of ``model``, found in every state."""
    states = np.zeros((len(outer), 1 + len(model.domain_sizes)), dtype=np.int64)
    states[:, 0] = outer
    for inside, own in found:
        alike = _children_alike(model, own)
        for place, latent in zip(*linear_sum_assignment(alike, maximize=True), strict=True):
            if alike[place, latent] > 0:
                states[inside, 1 + place] = own.states[:, latent]
    return states


def _children_alike(first: Explanation, second: Explanation) -> Floats:
    """The share of the children of two latents that both have, for each two of them."""
    one, other = first.adjacency.astype(float), second.adjacency.astype(float)
    both = one.T @ other
    return np.asarray(both / (one.sum(axis=0)[:, None] + other.sum(axis=0) - both))
