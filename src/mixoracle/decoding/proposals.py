"""Proposals: the latents that the labels suggest, with more and more of the labels left out.

Labels that are all right name the latents at once (:mod:`~mixoracle.decoding.common_parts`). Some
are not: components that overlap are merged or split in one variable, and mislabelled rows make
components over X that do not exist. So proposals are made from all of them first, then without
the rarest components, then without a variable or two.

Assumes that most of the rows are in components that are labelled right in most variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.decoding.common_parts import LabelPairs, find_latents
from mixoracle.decoding.explanation import Proposal
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import numbered_columns
from mixoracle.settings import Settings

# Components over X with at most this many rows are left out of a proposal, one bound at a time:
# single mislabelled rows, pairs of them, then about half as many again. Not a power of 1.5: that
# changed the best answer of one of 54 spoilt tables, and no data say which ladder is right.
_ROW_BOUNDS = (0.0, 1.5, 2.5, 4.0, 6.0, 9.0, 14.0, 20.0, 30.0, 45.0)


def proposals(table: ComponentTable, settings: Settings = Settings()) -> Iterator[Proposal | None]:
    """Proposals from all components and variables first, then with more and more left out.

    None stands for an attempt that came to nothing, so that the caller can count it.
    """
    n_components = [len(np.unique(column)) for column in table.labels.T]
    speaking = [i for i, k in enumerate(n_components) if k > 1]
    if not speaking:
        return
    seen: set[tuple[bytes, bytes]] = set()
    rows = [
        (kept, LabelPairs(numbered_columns(table.labels[kept])))
        for kept in row_choices(table.counts, settings)
    ]
    for columns in column_choices(speaking, n_components):
        for kept, pairs in rows:
            states = _common_states(pairs, columns, settings)
            if states is None or (key := (kept.tobytes(), states.tobytes())) in seen:
                yield None
                continue
            seen.add(key)
            yield Proposal(kept, states)


def without_rarest(table: ComponentTable, settings: Settings = Settings()) -> Iterator[Proposal]:
    """Proposals from all variables with more and more of the rarest components left out."""
    for kept in row_choices(table.counts, settings):
        labels = table.labels[kept]
        speaking = [i for i, column in enumerate(labels.T) if column.min() < column.max()]
        if kept.all() or not speaking:
            continue
        states = _common_states(LabelPairs(numbered_columns(labels)), speaking, settings)
        if states is not None:
            yield Proposal(kept, states)


def last_resorts(n_components: int) -> Iterator[Proposal]:
    """One latent whose states are the components over X, and no latent at all."""
    yield Proposal.of_all(np.arange(n_components)[:, None])
    yield Proposal.of_all(np.zeros((n_components, 0), dtype=np.int64))


def row_choices(counts: Floats, settings: Settings) -> Iterator[Bools]:
    """All components, then without those of at most 1, 2, 4… rows; each choice once."""
    before = -1
    for bound in _ROW_BOUNDS:
        kept = counts > bound
        if counts[kept].sum() < (1.0 - settings.priors.left_out_share) * counts.sum():
            return
        if kept.sum() != before:
            before = kept.sum()
            yield kept


def column_choices(speaking: list[int], n_components: list[int]) -> Iterator[list[int]]:
    """All variables, then all but one, then without the several that have most components."""
    yield speaking
    fullest = sorted(speaking, key=lambda i: -n_components[i])
    for left_out in fullest:
        if len(speaking) > 1:
            yield [i for i in speaking if i != left_out]
    for n_left_out in range(2, len(speaking) - 1):
        yield sorted(fullest[n_left_out:])


def _common_states(pairs: LabelPairs, columns: list[int], settings: Settings) -> Integers | None:
    """The states of the latents that the labels suggest, (rows, m), if they are few enough."""
    latents = find_latents(pairs, columns)
    if not latents or prod(part.n_states for part in latents) > settings.budget.joint_states:
        return None
    ordered = sorted(latents, key=lambda part: sorted(part.members))
    return np.stack([part.states(pairs.labels) for part in ordered], axis=1)
