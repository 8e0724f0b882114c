"""Latents found locally: from pairs of variables, whatever the number of joint states.

With thirty latents nearly every row is in a joint state of its own, and there are no components
over X to compare. But a latent is what its children have in common, and two of them show it
(:mod:`~mixoracle.decoding.common_parts`): only labels beyond doubt are counted there. Each latent's
state in a row is then what most of its children say, and a variable's parents are the latents that
its labels came from, if these fit: one label for each configuration. Where they do not, because
components overlap, the evidence of the variable's own components chooses the parents. No step looks
at the product of all domains; the cost grows with the pairs of variables.

Assumes that most children of each latent show their components on their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.decoding.common_parts import CommonPart, LabelPairs, find_latents
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.latent_states import Others, merge_states
from mixoracle.decoding.parents import Groupings, best_parents, join_twins, rows_in_minority
from mixoracle.families import Family, Prior
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import distinct_rows, flat, numbered_columns
from mixoracle.settings import Settings

# Children of a latent that show it: what one variable alone shows may be a shape of its components.
FEWEST_CHILDREN = 2
# One latent is seen to follow from others by so many rows of each of their configurations.
_ROWS_TO_FOLLOW = 3
# A label that is open to doubt has a say where no other speaks.
_UNCERTAIN_VOTE = 0.01


@dataclass(frozen=True)
class LabelledRows:
    """Rows with a label in each variable.

    ``labels`` and ``certain`` (N, n): which of them are beyond doubt. ``features[i]`` (N, f_i) may
    be added up; ``families`` and ``priors`` are those of the variables.
    """

    labels: Integers
    certain: Bools
    features: tuple[Floats, ...]
    families: tuple[Family, ...]
    priors: tuple[Prior, ...]

    @property
    def n_rows(self) -> int:
        """N."""
        return len(self.labels)


@dataclass(frozen=True)
class LocalExplanation:
    """Γ (n, m), the domain sizes, and the state of each latent in each row (N, m).

    ``misfits`` are the variables whose labels are not one for each configuration of their parents,
    ``unexplained`` those of them whose labels are not merely coarser: components that overlap have
    one label on their own, and the states of the latents tell them apart.
    """

    adjacency: Bools
    domain_sizes: tuple[int, ...]
    states: Integers
    misfits: tuple[int, ...]
    unexplained: tuple[int, ...]

    def fitting(self) -> Bools:
        """Γ of the variables whose labels fit."""
        return np.delete(self.adjacency, self.misfits, axis=0)


def decode_locally(rows: LabelledRows, settings: Settings = Settings()) -> LocalExplanation:
    """The latents behind the labels, their states in all rows, and Γ."""
    pairs = LabelPairs(rows.labels, rows.certain)
    speaking = [i for i in range(rows.labels.shape[1]) if pairs.n_labels(i) > 1]
    # A variable with few labels has few parents, and less of it can be wrong.
    speaking.sort(key=pairs.n_labels)
    adjacency, states = _distinct_latents(rows, pairs, find_latents(pairs, speaking), settings)
    return explained_by(rows, adjacency, states, settings)


def explained_by(
    rows: LabelledRows, adjacency: Bools, states: Integers, settings: Settings = Settings()
) -> LocalExplanation:
    """What latents with these states (N, m) explain; each was seen where ``adjacency`` says."""
    adjacency = adjacency.copy()
    speaking = [i for i, column in enumerate(rows.labels.T) if column.any()]
    sizes = tuple(int(size) for size in states.max(axis=0, initial=0) + 1)
    misfits = []
    for i in speaking:
        if _fits(rows, i, adjacency[i], states, sizes, settings):
            continue
        adjacency[i] = _parents_by_evidence(rows, i, states, sizes, settings)
        misfits += [] if _fits(rows, i, adjacency[i], states, sizes, settings) else [i]
    # A variable may depend on latents although it shows no components on its own.
    for i in set(range(len(adjacency))).difference(speaking):
        adjacency[i] = _parents_by_evidence(rows, i, states, sizes, settings)
        misfits += [i] if adjacency[i].any() else []
    adjacency, states = join_twins(adjacency, states)
    sizes = tuple(int(size) for size in states.max(axis=0, initial=0) + 1)
    unexplained = [
        i for i in misfits if not _are_coarser(rows, i, adjacency[i], states, sizes, settings)
    ]
    return LocalExplanation(
        adjacency, sizes, states, tuple(sorted(misfits)), tuple(sorted(unexplained))
    )


def merged_states(
    rows: LabelledRows, known: LocalExplanation, children: Integers, begin: Integers
) -> Integers:
    """The states (N,) of one more latent, merged while the evidence of its children rises.

    ``begin`` (N,) are its states as they were seen; of the latents that are ``known`` only those
    matter that the children have as parents.
    """
    adjacency = known.adjacency[children]
    parents = np.flatnonzero(adjacency.any(axis=0))
    together = [rows.labels[:, children], known.states[:, parents], begin[:, None]]
    seen, member, counts = distinct_rows(np.hstack(together))
    labels, states = seen[:, : len(children)], seen[:, len(children) :]
    table = ComponentTable(
        labels,
        tuple(pool(rows.features[i], member, len(seen)) for i in children),
        tuple(rows.families[i] for i in children),
        tuple(rows.priors[i] for i in children),
        counts.astype(np.float64),
    )
    sizes = tuple(known.domain_sizes[j] for j in parents)
    others = Others(states[:, :-1], sizes, adjacency[:, parents])
    return merge_states(table, others, range(len(children)), states[:, -1])[member]


def left_open(rows: LabelledRows, found: LocalExplanation) -> Floats:
    """The share (n,) of the entropy of each variable's labels that its configuration leaves.

    Only labels beyond doubt count.
    """
    shares = np.zeros(len(found.adjacency))
    for i, parents in enumerate(found.adjacency):
        _, table = _labels_by_configuration(rows, i, parents, found.states, found.domain_sizes)
        total = _entropy(table.sum(axis=0))
        if total > 0:
            shares[i] = (_entropy(table) - _entropy(table.sum(axis=1))) / total
    return shares


def _entropy(counts: Integers) -> float:
    """The entropy of rows with these counts, in nats."""
    seen = counts[counts > 0] / max(1, counts.sum())
    return float(-(seen @ np.log(seen)))


def _distinct_latents(
    rows: LabelledRows, pairs: LabelPairs, parts: list[CommonPart], settings: Settings
) -> tuple[Bools, Integers]:
    """Γ as the parts suggest it, and states by the votes of their members; each latent once.

    A variable with a wrong label finds the latents of the others again, with fewer members, or
    seems to share nothing with anybody; it has no latent of its own if others determine its labels.
    """
    members: list[frozenset[int]] = []
    states: list[Integers] = []
    explained: set[int] = set()
    for part in sorted(parts, key=lambda held: -len(held.members)):
        if len(part.members) == 1:
            (only,) = part.members
            shared = [held for held, own in zip(states, members, strict=True) if len(own) > 1]
            if only in explained or _are_determined(rows, only, shared, settings):
                continue
        voted = _voted(rows, pairs, part)
        if _follows(voted, states, settings):
            continue
        explained |= part.members
        members.append(part.members)
        states.append(voted)
    adjacency = np.zeros((rows.labels.shape[1], len(members)), dtype=bool)
    for j, children in enumerate(members):
        adjacency[list(children), j] = True
    shape = (rows.n_rows, len(states))
    return adjacency, numbered_columns(np.stack(states, axis=1) if states else np.zeros(shape, int))


def _follows(voted: Integers, states: list[Integers], settings: Settings) -> bool:
    """Whether a latent follows from a few others, those that it depends on most.

    Variables with the same parents have all of these in common, as one part. One that is in the
    same state in all rows counts as following: it says nothing.
    """
    if np.all(voted == voted[0]):
        return True
    if not states:
        return False
    known = np.stack(states, axis=1)
    sizes = tuple(int(size) for size in known.max(axis=0) + 1)
    nearest = np.argsort(list(_dependence(voted, known, sizes)))[-settings.budget.all_parent_sets :]
    # In configurations of a row or two anything would follow.
    at_most = len(voted) // _ROWS_TO_FOLLOW
    while len(nearest) > 0 and prod(sizes[j] for j in nearest) > at_most:
        nearest = nearest[1:]
    together = flat(known[:, nearest], [sizes[j] for j in nearest])
    off = rows_in_minority(together, voted, np.ones(len(voted)))
    return bool(off <= settings.priors.stray_share * len(voted))


def _are_determined(
    rows: LabelledRows, variable: int, states: list[Integers], settings: Settings
) -> bool:
    """Whether the labels of a variable follow from the states (N,) of the latents that it needs."""
    if not states:
        return False
    known = numbered_columns(np.stack(states, axis=1))
    sizes = tuple(int(size) for size in known.max(axis=0) + 1)
    parents = _parents_by_evidence(rows, variable, known, sizes, settings)
    _, table = _labels_by_configuration(rows, variable, parents, known, sizes)
    return bool(table.sum() - table.max(axis=1).sum() <= settings.priors.stray_share * table.sum())


def _voted(rows: LabelledRows, pairs: LabelPairs, part: CommonPart) -> Integers:
    """The state of a latent in each row, (N,): what most of its children say."""
    votes = np.zeros((rows.n_rows, part.n_states))
    every = np.arange(rows.n_rows)
    for i in part.members:
        said = pairs.by_label(part, i)[rows.labels[:, i]]
        votes[every, said] += np.where(rows.certain[:, i], 1.0, _UNCERTAIN_VOTE)
    return np.asarray(votes.argmax(axis=1))


def _fits(
    rows: LabelledRows,
    variable: int,
    parents: Bools,
    states: Integers,
    sizes: tuple[int, ...],
    settings: Settings,
) -> bool:
    """Whether a variable has one label for each configuration of its parents."""
    n_labels = int(rows.labels[:, variable].max()) + 1
    if prod(sizes[j] for j in np.flatnonzero(parents)) != n_labels:
        return False
    _, table = _labels_by_configuration(rows, variable, parents, states, sizes)
    is_one_to_one = len(np.unique(table.argmax(axis=0))) == n_labels
    off = table.sum() - table.max(axis=0).sum()
    return bool(is_one_to_one and off <= settings.priors.stray_share * table.sum())


def _labels_by_configuration(
    rows: LabelledRows, variable: int, parents: Bools, states: Integers, sizes: tuple[int, ...]
) -> tuple[Integers, Integers]:
    """The configuration of each row, (N,), and the labels beyond doubt, (configurations, labels).

    The second counts the rows that have each label in each configuration.
    """
    own = [sizes[j] for j in np.flatnonzero(parents)]
    codes = flat(states[:, parents], own)
    labels, sure = rows.labels[:, variable], rows.certain[:, variable]
    n_labels = int(labels.max()) + 1
    counts = np.bincount(codes[sure] * n_labels + labels[sure], minlength=prod(own) * n_labels)
    return codes, counts.reshape(prod(own), n_labels)


def _are_coarser(
    rows: LabelledRows,
    variable: int,
    parents: Bools,
    states: Integers,
    sizes: tuple[int, ...],
    settings: Settings,
) -> bool:
    """Whether a label is several configurations, each of them a component by its own evidence."""
    codes, table = _labels_by_configuration(rows, variable, parents, states, sizes)
    off = table.sum() - table.max(axis=1).sum()
    pooled = pool(rows.features[variable], codes, len(table))
    if off > settings.priors.stray_share * table.sum() or not pooled[:, 0].all():
        return False
    label = table.argmax(axis=1)
    first, second = np.triu_indices(len(pooled), k=1)
    alike = label[first] == label[second]
    first, second = first[alike], second[alike]
    family, prior = rows.families[variable], rows.priors[variable]
    alone = family.log_evidence(pooled, prior)
    together = family.log_evidence(pooled[first] + pooled[second], prior)
    return bool(np.all(together < alone[first] + alone[second]))


def _parents_by_evidence(
    rows: LabelledRows,
    variable: int,
    states: Integers,
    sizes: tuple[int, ...],
    settings: Settings,
) -> Bools:
    """The latents that a variable needs; of many, among those that its labels depend on most."""
    likely = np.arange(len(sizes))
    if rows.labels[:, variable].max() > 0:
        strengths = list(_dependence(rows.labels[:, variable], states, sizes))
        likely = np.sort(np.argsort(strengths)[::-1][: 2 * settings.budget.all_parent_sets])
    cells, cell_of, _ = distinct_rows(states[:, likely])
    chosen = best_parents(
        pool(rows.features[variable], cell_of, len(cells)),
        rows.families[variable],
        rows.priors[variable],
        Groupings(Proposal.of_all(cells)),
        settings,
    )
    needed = np.zeros(len(sizes), dtype=bool)
    needed[likely[list(chosen)]] = True
    return needed


def _dependence(labels: Integers, states: Integers, sizes: tuple[int, ...]) -> Iterator[float]:
    """The mutual information of labels (N,) with each latent, in nats a row."""
    n_labels = int(labels.max()) + 1
    for column, size in zip(states.T, sizes, strict=True):
        table = np.bincount(labels * size + column, minlength=n_labels * size)
        joint = table.reshape(n_labels, size) / len(labels)
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        seen = joint > 0
        yield float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
