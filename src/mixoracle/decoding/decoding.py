"""All labels together to one consistent answer: latents, their states, Γ.

Components over X with their labels say which latents there are, if the labels are right. If they
are not, several proposals are made, each leaving some of them out, completed to a consistent
reading and scored by the evidence of the whole model (:mod:`~mixoracle.decoding.proposals`,
:mod:`~mixoracle.decoding.reading`). The best one is improved by moves
(:mod:`~mixoracle.decoding.moves`); what comes of it is the answer, the others are runners-up.

Assumes that most of the rows are in components that are labelled right in most variables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from math import prod

import numpy as np

from mixoracle.decoding.moves import LEAST_GAIN, affordable_evaluations, climb
from mixoracle.decoding.proposals import MAX_JOINT_STATES, MAX_LATENTS, last_resorts, proposals
from mixoracle.decoding.reading import Move, Reading, RowTable, configurations, read

__all__ = [
    "MAX_JOINT_STATES",
    "MAX_LATENTS",
    "Move",
    "Reading",
    "RowTable",
    "configurations",
    "decode",
]

# Proposals are made until so many in a row brought nothing better, and never more than this.
_PATIENCE = 24
_MAX_PROPOSALS = 120

_Structure = tuple[tuple[bytes, int], ...]


def decode(table: RowTable, max_evaluations: int | None = None) -> list[Reading]:
    """All readings found, best evidence first, one for each structure.

    One latent whose states are the components over X, and no latent at all, are always among
    them, unless all labels fit together at once. ``max_evaluations`` bounds the search for moves,
    so that it takes seconds at most if nothing is said.
    """
    proposed = _read_proposals(table)
    n_agreed = Counter(reading.structure for reading in proposed)
    found: dict[_Structure, Reading] = {}
    for reading in proposed:
        _keep_better(found, reading)
    if proposed and proposed[-1].is_clean:
        starts = [proposed[-1]] if _leaves_states_unseen(proposed[-1]) else []
    else:
        everything, nothing = (read(table, last) for last in last_resorts(len(table.labels)))
        for reading in (everything, nothing):
            _keep_better(found, reading)
        best = max(found.values(), key=lambda reading: reading.log_evidence)
        # One latent for everything takes no label for granted: where many are wrong it is the
        # better one to start from.
        starts = [best] if best is everything else [best, everything]
    budget = affordable_evaluations(table) if max_evaluations is None else max_evaluations
    _improve(table, found, starts, budget)
    readings = [
        replace(reading, n_agreed=n_agreed[structure], n_proposals=len(proposed))
        for structure, reading in found.items()
    ]
    return sorted(readings, key=lambda reading: -reading.log_evidence)


def _read_proposals(table: RowTable) -> list[Reading]:
    """Complete proposals while they get better; one that fits all labels is enough."""
    readings: list[Reading] = []
    best, waited = -np.inf, 0
    for proposal in islice(proposals(table), _MAX_PROPOSALS):
        waited += 1
        if proposal is not None:
            reading = read(table, proposal)
            if reading.is_clean:
                return [reading]
            readings.append(reading)
            if reading.log_evidence > best:
                best, waited = reading.log_evidence, 0
        if waited >= _PATIENCE:
            break
    return readings


def _leaves_states_unseen(reading: Reading) -> bool:
    """Whether a joint state has no rows, which the model forbids (``assump:strong``)."""
    return len(np.unique(reading.cells)) < prod(reading.domain_sizes)


def _improve(
    table: RowTable,
    found: dict[_Structure, Reading],
    starts: list[Reading],
    max_evaluations: int,
) -> None:
    """Climb from each start, each with an equal share of what the others left over."""
    for n_left, start in zip(range(len(starts), 0, -1), starts, strict=True):
        reached, evaluated = climb(table, start, max_evaluations // n_left)
        max_evaluations -= evaluated
        _keep_better(found, reached)


def _keep_better(found: dict[_Structure, Reading], reading: Reading) -> None:
    """One reading for each structure; the earlier one stays unless the later one is better."""
    held = found.get(reading.structure)
    if held is None or reading.log_evidence > held.log_evidence + LEAST_GAIN:
        found[reading.structure] = reading
