"""From a reading to a better one: a bounded hill climb over small changes of the latents.

Proposals come from labels alone, and where labels are wrong in too many variables none of them is
right. Then a reading is changed: states of a latent are merged or split, a latent is dropped, two
are joined, or one is taken apart into several. Every change is completed like a proposal, parents
in Γ included, and scored by the same evidence; the best one that raises it is made and recorded,
until none does.

Assumes nothing beyond the evidence; the same table always gives the same moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from mixoracle.decoding.common_parts import find_latents
from mixoracle.decoding.latent_states import Others, merge_states, same_for_child
from mixoracle.decoding.proposals import MAX_JOINT_STATES
from mixoracle.decoding.reading import (
    Latent,
    Move,
    Proposal,
    Reading,
    RowTable,
    choose_parents,
    read,
)

# Up to a hundred components over X a change takes about 10 ms, so that a search ends within 2 s.
# Finding the changes compares pairs of components: beyond, fewer are affordable.
_MAX_EVALUATIONS = 150
_COMPONENTS_WITHIN_REACH = 100
# Evidence is a sum of 1e5 nats and more: a smaller gain is rounding.
LEAST_GAIN = 1e-3
# Pairs of states grow with the square of their number; beyond this a merge takes seconds. To find
# the rest that other latents leave takes longer, and there is one for each way to take one apart.
_MAX_STATES_COMPARED = 300
_MAX_STATES_OF_REST = 100
# The fewest states that are two latents.
_LEAST_PRODUCT = 4
# How many of its children may be ignored when a latent is taken apart.
_MOST_IGNORED = 1

Integers = NDArray[np.int64]
Change = tuple[str, Integers]
"""What is done, and the states of the latents afterwards, (T, m)."""


def affordable_evaluations(table: RowTable) -> int:
    """How many changes may be evaluated so that the search for moves stays short."""
    share = min(1.0, (_COMPONENTS_WITHIN_REACH / len(table.labels)) ** 2)
    return int(_MAX_EVALUATIONS * share)


def climb(table: RowTable, start: Reading, max_evaluations: int) -> tuple[Reading, int]:
    """The best reading that small changes reach, and how many changes were evaluated."""
    current, evaluated = start, 0
    improved = True
    while improved:
        improved = False
        for changes in _KINDS_OF_CHANGE if table.is_family_trusted else _SIMPLER_ONLY:
            left = max_evaluations - evaluated
            tried = [
                (read(table, Proposal.of_all(states)), action)
                for action, states in islice(changes(table, current), left)
            ]
            evaluated += len(tried)
            best, action = max(tried, key=_evidence_of, default=(current, ""))
            if best.log_evidence > current.log_evidence + LEAST_GAIN:
                current = replace(best, moves=(*current.moves, _move(action, current, best)))
                improved = True
                break
    return current, evaluated


def _evidence_of(change: tuple[Reading, str]) -> float:
    return change[0].log_evidence


def _move(action: str, before: Reading, after: Reading) -> Move:
    had, has = Counter(before.latents), Counter(after.latents)
    gain = after.log_evidence - before.log_evidence
    return Move(action, _sorted(had - has), _sorted(has - had), gain)


def _sorted(latents: Counter[Latent]) -> tuple[Latent, ...]:
    return tuple(sorted(latents.elements()))


def _merge_states(table: RowTable, reading: Reading) -> Iterator[Change]:
    """Merge the states of a latent that are the same for all its children together."""
    for latent, size in enumerate(reading.domain_sizes):
        if size > _MAX_STATES_COMPARED:
            continue
        states, others, children = _around(reading, latent)
        merged = merge_states(table, others, children, states)
        if merged.max() + 1 < size:
            yield "merged states", _replaced(reading.states, latent, merged[:, None])


def _change_latents(table: RowTable, reading: Reading) -> Iterator[Change]:
    """Drop a latent, join two of them, or take one apart."""
    latents = range(len(reading.domain_sizes))
    for latent in latents:
        yield "dropped a latent", np.delete(reading.states, latent, axis=1)
    for first, second in combinations(latents, 2):
        yield from _joined(reading, first, second)
    for latent in latents:
        yield from _taken_apart(table, reading, latent)


def _tell_more_apart(table: RowTable, reading: Reading) -> Iterator[Change]:
    """Split one state of a latent, or add a latent."""
    yield from _added(table, reading)
    for latent, size in enumerate(reading.domain_sizes):
        for state in range(size):
            yield from _split(table, reading, latent, state)


def _split(table: RowTable, reading: Reading, latent: int, state: int) -> Iterator[Change]:
    """Cut one state into its components over X, and merge those that are not worth a state."""
    states, others, children = _around(reading, latent)
    inside = np.flatnonzero(states == state)
    size = reading.domain_sizes[latent]
    if not 1 < len(inside) <= _MAX_STATES_COMPARED:
        return
    finer = states.copy()
    finer[inside[1:]] = size + np.arange(len(inside) - 1)
    may_merge = np.arange(size + len(inside) - 1) >= size
    may_merge[state] = True
    merged = merge_states(table, others, children, finer, may_merge)
    if len(np.unique(merged[inside])) > 1:
        split = _replaced(reading.states, latent, merged[:, None])
        yield from _if_affordable("split a state", split)


def _joined(reading: Reading, first: int, second: int) -> Iterator[Change]:
    """One latent for two, with the combinations of their states that were seen."""
    states = reading.states
    pairs = states[:, first] * reading.domain_sizes[second] + states[:, second]
    both = np.unique(pairs, return_inverse=True)[1]
    joined = np.delete(_replaced(states, second, both[:, None]), first, axis=1)
    yield from _if_affordable("joined two latents", joined)


def _taken_apart(table: RowTable, reading: Reading, latent: int) -> Iterator[Change]:
    """Several latents for one: those that its children have in common.

    Each child tells which states are the same for it. If the latent is a product of several, these
    partitions are labels of its states, from which the common parts are read as from any labels.
    What they leave out, because the children that would tell were ignored, is one more latent.
    """
    if not _LEAST_PRODUCT <= reading.domain_sizes[latent] <= _MAX_STATES_COMPARED:
        return
    states, others, children = _around(reading, latent)
    labels = np.stack([same_for_child(table, others, i, states) for i in children], axis=1)
    speaking = [column for column in range(len(children)) if labels[:, column].max() > 0]
    seen: set[bytes] = set()
    for heard, ignored in product((labels, _only_balanced(labels)), _few_of(speaking)):
        found = find_latents(heard, [c for c in speaking if c not in ignored])
        parts = np.stack([part.states for part in found], axis=1)
        if parts.tobytes() in seen or max(part.n_states for part in found) == len(labels):
            continue
        seen.add(parts.tobytes())
        apart = _replaced(reading.states, latent, parts[states])
        if len(np.unique(parts, axis=0)) < len(labels):
            apart = _with_rest(table, apart, states, children)
        yield from _if_affordable("took a latent apart", apart)


def _few_of(speaking: list[int]) -> Iterator[tuple[int, ...]]:
    """None of the children, then each of them, but never all."""
    for n_ignored in range(min(_MOST_IGNORED, len(speaking) - 1) + 1):
        yield from combinations(speaking, n_ignored)


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
    return np.stack([np.unique(c, return_inverse=True)[1] for c in heard.T], axis=1)


def _added(table: RowTable, reading: Reading) -> Iterator[Change]:
    """One more latent, for what tells components over X in one joint state apart."""
    variables = list(range(len(table.statistics)))
    added = _with_rest(table, reading.states, np.arange(len(table.labels)), variables)
    if added.shape[1] > len(reading.domain_sizes):
        yield from _if_affordable("added a latent", added)


def _with_rest(table: RowTable, states: Integers, finer: Integers, children: list[int]) -> Integers:
    """Add a latent for what tells ``finer`` states (T,) apart beyond the latents that are there."""
    if finer.max() >= _MAX_STATES_OF_REST:
        return states
    proposal = Proposal.of_all(states)
    others = Others(states, proposal.domain_sizes, choose_parents(table, proposal))
    rest = merge_states(table, others, children, finer)
    return states if rest.max() == 0 else np.column_stack([states, rest])


def _around(reading: Reading, latent: int) -> tuple[Integers, Others, list[int]]:
    """The states of one latent, everything else, and the variables that it drives."""
    states = reading.states
    others = Others(
        np.delete(states, latent, axis=1),
        reading.domain_sizes[:latent] + reading.domain_sizes[latent + 1 :],
        np.delete(reading.adjacency, latent, axis=1),
    )
    return states[:, latent], others, list(reading.latents[latent][0])


def _replaced(states: Integers, latent: int, columns: Integers) -> Integers:
    """The states with other columns in the place of one latent's."""
    return np.hstack([states[:, :latent], columns, states[:, latent + 1 :]])


def _if_affordable(action: str, states: Integers) -> Iterator[Change]:
    if prod(Proposal.of_all(states).domain_sizes) <= MAX_JOINT_STATES:
        yield action, states


# States that are the same make all else look noisier, so they are merged first; more is told apart
# only when nothing simpler helps.
_KINDS_OF_CHANGE = (_merge_states, _change_latents, _tell_more_apart)
_SIMPLER_ONLY = _KINDS_OF_CHANGE[:-1]
