"""Small changes of an explanation, of three kinds.

States of a latent that are the same are merged; a latent is dropped, two are joined, or one is
taken apart into several; a state is split or a latent is added. Each change is the states of all
latents afterwards, for every component over X; whether it is any good is for the caller to say
(:mod:`~mixoracle.decoding.moves`). Changes come one at a time, so that a caller who has seen
enough need not wait for the others.

Assumes that the explanation to change is complete: every component over X has a joint state.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod

import numpy as np

from mixoracle._arrays import Integers
from mixoracle.decoding.common_parts import LabelPairs, find_latents
from mixoracle.decoding.explanation import Explanation, Proposal
from mixoracle.decoding.latent_states import Others, merge_states, same_for_child
from mixoracle.decoding.parents import choose_parents
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import distinct_rows, flat, numbered, numbered_columns
from mixoracle.settings import Settings

# The fewest states that are those of two latents.
_LEAST_PRODUCT = 2 * 2

Change = tuple[str, Integers]
"""What is done, and the states of the latents afterwards, (T, m)."""


def affordable(changes: Iterator[Change], most: int, settings: Settings) -> Iterator[Change]:
    """Changes while there is time to look for them, and so many at most."""
    for _ in range(most):
        if settings.clock.leaves_out("further changes of the causes"):
            return
        change = next(changes, None)
        if change is None:
            return
        yield change


def merge_equal_states(
    table: ComponentTable, explanation: Explanation, settings: Settings
) -> Iterator[Change]:
    """Merge the states of a latent that are the same for all its children together."""
    for latent, size in enumerate(explanation.domain_sizes):
        if size > settings.budget.compared:
            continue
        states, others, children = _around(explanation, latent)
        merged = merge_states(table, others, children, states)
        if merged.max() + 1 < size:
            yield "merged states", _replaced(explanation.states, latent, merged[:, None])


def change_latents(
    table: ComponentTable, explanation: Explanation, settings: Settings
) -> Iterator[Change]:
    """Drop a latent, join two of them, or take one apart."""
    latents = range(len(explanation.domain_sizes))
    for latent in latents:
        yield "dropped a latent", np.delete(explanation.states, latent, axis=1)
    for first, second in combinations(latents, 2):
        yield from joined(explanation, first, second, settings)
    for latent in latents:
        yield from _taken_apart(table, explanation, latent, settings)


def tell_more_apart(
    table: ComponentTable, explanation: Explanation, settings: Settings
) -> Iterator[Change]:
    """Split one state of a latent, or add a latent."""
    yield from _added(table, explanation, settings)
    for latent, size in enumerate(explanation.domain_sizes):
        for state in range(size):
            yield from _split(table, explanation, latent, state, settings)


def _split(
    table: ComponentTable, explanation: Explanation, latent: int, state: int, settings: Settings
) -> Iterator[Change]:
    """Cut one state into its components over X, and merge those that are not worth a state."""
    states, others, children = _around(explanation, latent)
    inside = np.flatnonzero(states == state)
    size = explanation.domain_sizes[latent]
    if not 1 < len(inside) <= settings.budget.compared:
        return
    finer = states.copy()
    finer[inside[1:]] = size + np.arange(len(inside) - 1)
    may_merge = np.arange(size + len(inside) - 1) >= size
    may_merge[state] = True
    merged = merge_states(table, others, children, finer, may_merge)
    if len(np.unique(merged[inside])) > 1:
        split = _replaced(explanation.states, latent, merged[:, None])
        yield from _if_affordable("split a state", split, settings)


def joined(
    explanation: Explanation, first: int, second: int, settings: Settings
) -> Iterator[Change]:
    """One latent for two, with the combinations of their states that were seen."""
    states, sizes = explanation.states, explanation.domain_sizes
    both = numbered(flat(states[:, [first, second]], [sizes[first], sizes[second]]))
    one = np.delete(_replaced(states, second, both[:, None]), first, axis=1)
    yield from _if_affordable("joined two latents", one, settings)


def _taken_apart(
    table: ComponentTable, explanation: Explanation, latent: int, settings: Settings
) -> Iterator[Change]:
    """Several latents for one: those that its children have in common.

    Each child tells which states are the same for it. If the latent is a product of several, these
    partitions are labels of its states, from which the common parts are found as from any labels.
    What they leave out, because the children that would tell were ignored, is one more latent.
    """
    if not _LEAST_PRODUCT <= explanation.domain_sizes[latent] <= settings.budget.compared:
        return
    states, others, children = _around(explanation, latent)
    labels = np.stack([same_for_child(table, others, i, states) for i in children], axis=1)
    speaking = [column for column in range(len(children)) if labels[:, column].max() > 0]
    seen: set[bytes] = set()
    heard = (LabelPairs(labels), LabelPairs(_only_balanced(labels)))
    for pairs, ignored in product(heard, _at_most_one_of(speaking)):
        found = find_latents(pairs, [column for column in speaking if column not in ignored])
        parts = np.stack([part.states(pairs.labels) for part in found], axis=1)
        if parts.tobytes() in seen or max(part.n_states for part in found) == len(labels):
            continue
        seen.add(parts.tobytes())
        apart = _replaced(explanation.states, latent, parts[states])
        # One more latent makes no fewer joint states, and it takes long to find among many.
        if not _is_affordable(apart, settings):
            continue
        if len(distinct_rows(parts)[0]) < len(labels):
            apart = _with_rest(table, apart, states, children, settings)
        yield from _if_affordable("took a latent apart", apart, settings)


def _at_most_one_of(speaking: list[int]) -> Iterator[tuple[int, ...]]:
    """None of the children, then each of them, but never all."""
    yield ()
    if len(speaking) > 1:
        yield from ((column,) for column in speaking)


def _only_balanced(labels: Integers) -> Integers:
    """Labels of which those that too many states share say nothing any more.

    All components of a variable are in equally many joint states (``obs:counting``). Two that
    overlap and were taken for one are in twice as many, and would glue latents together.
    """
    heard = labels.copy()
    for column in heard.T:
        n_states = np.bincount(column)
        crowded = np.flatnonzero((n_states > np.median(n_states))[column])
        column[crowded] = len(n_states) + np.arange(len(crowded))
    return numbered_columns(heard)


def _added(table: ComponentTable, explanation: Explanation, settings: Settings) -> Iterator[Change]:
    """One more latent, for what tells components over X in one joint state apart."""
    variables, each = list(range(table.n_observed)), np.arange(table.n_components)
    added = _with_rest(table, explanation.states, each, variables, settings)
    if added.shape[1] > len(explanation.domain_sizes):
        yield from _if_affordable("added a latent", added, settings)


def _with_rest(
    table: ComponentTable,
    states: Integers,
    finer: Integers,
    children: list[int],
    settings: Settings,
) -> Integers:
    """Add a latent for what tells ``finer`` states (T,) apart beyond the latents that are there."""
    if finer.max() >= settings.budget.few_components:
        return states
    proposal = Proposal.of_all(states)
    parents = choose_parents(table, proposal, settings)
    others = Others(states, proposal.domain_sizes, parents)
    rest = merge_states(table, others, children, finer)
    return states if rest.max() == 0 else np.column_stack([states, rest])


def _around(explanation: Explanation, latent: int) -> tuple[Integers, Others, list[int]]:
    """The states of one latent, everything else, and the variables that it drives."""
    states = explanation.states
    others = Others(
        np.delete(states, latent, axis=1),
        explanation.domain_sizes[:latent] + explanation.domain_sizes[latent + 1 :],
        np.delete(explanation.adjacency, latent, axis=1),
    )
    return states[:, latent], others, list(explanation.latents[latent][0])


def _replaced(states: Integers, latent: int, columns: Integers) -> Integers:
    """The states with other columns in the place of one latent's."""
    return np.hstack([states[:, :latent], columns, states[:, latent + 1 :]])


def _if_affordable(action: str, states: Integers, settings: Settings) -> Iterator[Change]:
    if _is_affordable(states, settings):
        yield action, states


def _is_affordable(states: Integers, settings: Settings) -> bool:
    """Whether latents with these states (T, m) have no more joint states than can be looked at."""
    return prod(Proposal.of_all(states).domain_sizes) <= settings.budget.joint_states
