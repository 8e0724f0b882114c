"""Labels of every row in every variable: what the label stages hand to each other.

A :class:`Labelling` is never changed. Each stage takes one and returns the next: each variable on
its own (:mod:`~mixoracle.labels.single`), then all of them together
(:mod:`~mixoracle.labels.together`). What the decoder sees of it in the end is one table
(:func:`component_table`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers, exp_in_place, row_sums
from mixoracle.labels.tuples import JointComponents
from mixoracle.mixtures.merging import Merging, pool
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import ComponentSet
from mixoracle.model.joint_states import distinct_rows

Rows = Sequence[VariableRows]
"""The rows that structure is learned from, variable by variable."""

# A label is beyond doubt if it is that of 999 in 1 000 such rows.
BEYOND_DOUBT = 0.999


@dataclass(frozen=True)
class Labelling:
    """The labels of all rows in all variables, and what they rest on.

    ``labels`` (N, n) are numbered from 0 for each variable; ``mergings`` tell how its pieces were
    merged to components. ``features[i]`` (N, f_i) may be added up: rows with missing values are
    completed by the component that they are labelled with. ``joint`` are the components over X
    that the labels make, None until they were looked for or where there are too many to compare.
    ``alone`` (N, n) are the labels that each variable gave on its own. ``certain`` (N, n) are the
    labels that are beyond doubt, None until that was asked.
    """

    labels: Integers
    mergings: tuple[Merging, ...]
    features: tuple[Floats, ...]
    alone: Integers
    joint: JointComponents | None = None
    certain: Bools | None = None


def n_labels(labelling: Labelling, variable: int) -> int:
    """The labels of a variable, those that no row prefers any more included."""
    used = int(labelling.labels[:, variable].max()) + 1
    return max(used, labelling.mergings[variable].n_components)


def components_of(rows: Rows, labelling: Labelling) -> list[ComponentSet]:
    """The component behind each label of each variable."""
    return [
        variable.family.components(
            pool(features, labelling.labels[:, i], n_labels(labelling, i)),
            labelling.mergings[i].prior,
        )
        for i, (variable, features) in enumerate(zip(rows, labelling.features, strict=True))
    ]


def completed(rows: Rows, labels: Integers) -> tuple[Floats, ...]:
    """Features that may be added up, rows completed by what rows with the same label show."""
    return tuple(variable.completed(labels[:, i]) for i, variable in enumerate(rows))


def log_densities(rows: Rows, labelling: Labelling) -> tuple[Labelling, Iterator[Floats]]:
    """The log density of each row under each label, (N, k_i), of one variable after the other.

    Rows with missing values are completed anew on the way, so the labelling comes back as well.
    """
    components = components_of(rows, labelling)
    if any(variable.patterns is not None for variable in rows):
        features = tuple(
            variable.completed(labelling.labels[:, i], held)
            for i, (variable, held) in enumerate(zip(rows, components, strict=True))
        )
        labelling = replace(labelling, features=features)
        components = components_of(rows, labelling)
    pairs = zip(rows, components, strict=True)
    return labelling, (variable.log_density(held) for variable, held in pairs)


def most_likely(rows: Rows, labelling: Labelling) -> Labelling:
    """The labels that are likeliest by each variable alone, and which of them are beyond doubt."""
    labelling, densities = log_densities(rows, labelling)
    labels = np.empty_like(labelling.labels)
    certain = np.empty(labels.shape, dtype=bool)
    for i, density in enumerate(densities):
        sizes = np.bincount(labelling.labels[:, i], minlength=density.shape[1])
        labels[:, i], certain[:, i] = _likeliest(density, np.log(np.maximum(sizes, 0.5)))
    return replace(labelling, labels=labels, certain=certain)


def _likeliest(joint: Floats, log_weights: Floats) -> tuple[Integers, Bools]:
    """The likeliest label of each row, and whether it is beyond doubt.

    ``joint`` (N, k) are log densities, which are overwritten.
    """
    joint += log_weights
    best = joint.argmax(axis=1)
    joint -= joint[np.arange(len(best)), best][:, None]
    return best, np.asarray(1.0 / row_sums(exp_in_place(joint)) >= BEYOND_DOUBT)


def members(labelling: Labelling) -> Integers:
    """The component over X of each row, by its place in :func:`component_table`."""
    if labelling.joint is None:
        return distinct_rows(labelling.labels)[1]
    return np.asarray(labelling.joint.responsibilities.argmax(axis=1))


def component_table(rows: Rows, labelling: Labelling) -> ComponentTable:
    """The components over X with the statistics of each variable in them."""
    if labelling.joint is None:
        labels, member, occurrences = distinct_rows(labelling.labels)
        statistics = tuple(pool(held, member, len(labels)) for held in labelling.features)
        counts = np.asarray(rows[0].weight * occurrences.astype(np.float64))
    else:
        labels, share = labelling.joint.labels, labelling.joint.responsibilities
        statistics = tuple(share.T @ held for held in labelling.features)
        counts = rows[0].weight * share.sum(axis=0)
    return ComponentTable(
        labels=labels,
        statistics=statistics,
        families=tuple(variable.family for variable in rows),
        priors=tuple(merging.prior for merging in labelling.mergings),
        counts=counts,
    )
