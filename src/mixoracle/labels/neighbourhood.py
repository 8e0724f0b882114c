"""The labels of a variable corrected by its neighbours: the few others that tell most about it.

Where components overlap, the labels that a variable has on its own are wrong in many rows. All
variables together would correct them (:mod:`~mixoracle.labels.together`), but of dozens of them
hardly two rows have the same labels, and components over all of X cannot be looked for. A few are
enough, because what tells the components of a variable apart are its parents. So a neighbour is
worth what its labels say about those of the variable, times the share of what they say that is
about it: one with many parents of its own would bring their states in. The components over a
variable and its neighbours give it a label in each row.

Assumes that labels are wrong independently of each other, given the components.

References
----------
.. [1] G. A. Miller. Note on the bias of information estimates. In: Information theory in psychology
   (1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle._steps import Tell, counted, tell_nobody
from mixoracle.labels.labelling import BEYOND_DOUBT, Labelling, Rows, completed, components_of
from mixoracle.labels.together import settle
from mixoracle.labels.tuples import share_rows
from mixoracle.mixtures.coded import chunks
from mixoracle.mixtures.merging import Merging
from mixoracle.model.joint_states import numbered
from mixoracle.settings import Settings

# What is left out where time is up.
CORRECTION = "labels that neighbours correct"
# Of those that say most on their own, so many are looked at beside the ones chosen already.
_CANDIDATES = 16
# Nats a row that a further neighbour has to say about a variable: one row in a hundred with a wrong
# label brings as much.
_LITTLE = 0.02


def corrected(
    rows: Rows,
    labelling: Labelling,
    which: Sequence[int],
    max_components: int,
    settings: Settings,
    tell: Tell = tell_nobody,
) -> Labelling:
    """The labelling with the labels of these variables as their neighbours correct them.

    ``labelling`` says which labels are beyond doubt, and so does what comes back.
    """
    assert labelling.certain is not None
    labels, certain = labelling.labels.copy(), labelling.certain.copy()
    mergings = list(labelling.mergings)
    step = max(1, len(labels) // settings.budget.mixture_rows)
    some = np.arange(0, len(labels), step)
    information = _Information(labelling.labels[some])
    for variable in counted(which, len(which), tell):
        if settings.clock.leaves_out(CORRECTION):
            break
        near = [variable, *information.neighbours(variable, settings.budget.neighbours)]
        found = _among(rows, labelling, near, some, max_components, settings)
        if found is not None:
            shares, mergings[variable] = found
            labels[:, variable] = numbered(shares.argmax(axis=1))
            certain[:, variable] = shares.max(axis=1) >= BEYOND_DOUBT
    features = completed(rows, labels)
    return replace(
        labelling, labels=labels, mergings=tuple(mergings), features=features, certain=certain
    )


def _among(
    rows: Rows,
    labelling: Labelling,
    near: Sequence[int],
    some: Integers,
    max_components: int,
    settings: Settings,
) -> tuple[Floats, Merging] | None:
    """The share (N, k) of each row in each label of the first of these variables, by all of them.

    Their components are learned from ``some`` of the rows. None where labels make more components
    over the variables than can be compared.
    """
    few = tuple(rows[i].take(some) for i in near)
    labels = labelling.labels[some][:, near]
    mergings = tuple(labelling.mergings[i] for i in near)
    start = Labelling(labels, mergings, completed(few, labels), alone=labels)
    settled = settle(few, start, max_components, settings)
    if settled.joint is None:
        return None
    tuples, weights = settled.joint.labels, settled.joint.responsibilities.mean(axis=0)
    densities = [
        rows[i].log_density(held) for i, held in zip(near, components_of(few, settled), strict=True)
    ]
    in_each = np.eye(int(tuples[:, 0].max()) + 1)[tuples[:, 0]]
    shares = np.empty((len(labelling.labels), in_each.shape[1]))
    for part in chunks(len(shares), len(tuples), settings.budget.chunk_entries):
        own = [density[part] for density in densities]
        shares[part] = share_rows(tuples, weights, own).responsibilities @ in_each
    return shares, settled.mergings[0]


class _Information:
    """What the labels (N, n) of variables say about each other."""

    def __init__(self, labels: Integers) -> None:
        self._labels = [numbered(column) for column in labels.T]

    def neighbours(self, variable: int, at_most: int) -> list[int]:
        """The others that say most about a variable and least besides, one after another."""
        chosen: list[int] = []
        known = np.zeros(len(self._labels[variable]), dtype=np.int64)
        left = [j for j, held in enumerate(self._labels) if j != variable and held.any()]
        while left and len(chosen) < at_most:
            said = np.array([self._said(variable, j, known) for j in left])
            worth = np.where(said[:, 0] >= _LITTLE, said[:, 0] ** 2 / said[:, 1], 0.0)
            best = int(worth.argmax())
            if worth[best] == 0.0:
                break
            chosen.append(left[best])
            known = self._with(known, left[best])
            order = np.argsort(-worth, kind="stable")[: _CANDIDATES + 1]
            left = [left[place] for place in order.tolist() if place != best]
        return chosen

    def _said(self, variable: int, other: int, known: Integers) -> tuple[float, float]:
        """What another's labels say about a variable, and what they say at all, beyond the known.

        In nats a row; what they say at all is never quite nothing.
        """
        own, n_own = self._labels[variable], self._n_labels(variable)
        with_other = self._with(known, other)
        before, after = _entropy(known), _entropy(with_other)
        about = _entropy(known * n_own + own) - before - _entropy(with_other * n_own + own) + after
        return max(about, 0.0), max(after - before, _LITTLE)

    def _with(self, known: Integers, other: int) -> Integers:
        """What is known (N,) and another's labels, as one number for each row."""
        return numbered(known * self._n_labels(other) + self._labels[other])

    def _n_labels(self, variable: int) -> int:
        return int(self._labels[variable].max()) + 1


def _entropy(codes: Integers) -> float:
    """The entropy of codes (N,) in nats, its bias taken off [1]_."""
    counts = np.bincount(codes)
    shares = counts[counts > 0] / len(codes)
    return float(-(shares @ np.log(shares)) + (len(shares) - 1) / (2.0 * len(codes)))
