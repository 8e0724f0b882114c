"""The labels of all variables and the components over X, each corrected by the other.

A component over X is a tuple of labels (:mod:`~mixoracle.labels.tuples`). Each variable is cut
along the components over X, and the pieces that are one distribution get one label: two
components that overlap in one variable are told apart by the others.

Assumes that most variables show most of their components on their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.labels.labelling import Labelling, Rows, completed, log_densities
from mixoracle.labels.tuples import JointComponents, find_joint_components
from mixoracle.mixtures.merging import KnownPieces, Merging, merge_pieces, pool
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Settings


def settle(rows: Rows, labelling: Labelling, max_components: int, settings: Settings) -> Labelling:
    """Let the components over X and the labels of each variable correct each other."""
    for first in (True, *[False] * (settings.budget.label_rounds - 1)):
        before = labelling.labels
        labelling, of_each = log_densities(rows, labelling)
        densities = list(of_each)
        most = settings.components_over_all(len(before))
        if first and _are_beyond_doubt(before, densities, settings):
            return labelling
        joint = find_joint_components(before, densities, most, settings, rows[0].weight)
        mergings = _merge_along(rows, labelling.features, joint, max_components)
        labelling = _taken_over(labelling, joint, mergings)
        if _have_settled(before, labelling.labels, settings.priors.stray_share):
            break
        if settings.clock.leaves_out("further rounds in which measurements correct each other"):
            break
    return labelling


def label_along(rows: Rows, responsibilities: Floats, max_components: int) -> Labelling:
    """Label each variable along components over X (N, K) that were found in another way."""
    apart = np.arange(responsibilities.shape[1])
    joint = JointComponents(np.repeat(apart[:, None], len(rows), axis=1), responsibilities)
    labels = np.repeat(responsibilities.argmax(axis=1)[:, None], len(rows), axis=1)
    features = completed(rows, labels)
    mergings = _merge_along(rows, features, joint, max_components)
    labelling = Labelling(labels, mergings, features, alone=np.zeros_like(labels))
    return _taken_over(labelling, joint, mergings)


def are_shattered(labels: Integers, settings: Settings, n_rows: int | None = None) -> bool:
    """Whether labels (N, n) make more components over X than can be compared.

    They may be those of some of ``n_rows`` rows.
    """
    _, _, counts = distinct_rows(labels)
    most = settings.components_over_all(len(labels) if n_rows is None else n_rows)
    covered = float(np.sort(counts)[::-1][:most].sum()) / len(labels)
    return covered < 1.0 - settings.priors.left_out_share


def share_moved(before: Integers, after: Integers) -> float:
    """The share of the rows whose label is not what most rows with the same one before have now."""
    n_before, n_after = int(before.max()) + 1, int(after.max()) + 1
    table = np.bincount(before * n_after + after, minlength=n_before * n_after)
    kept = table.reshape(n_before, n_after).max(axis=1).sum()
    return float(len(before) - kept) / len(before)


def _are_beyond_doubt(labels: Integers, densities: Sequence[Floats], settings: Settings) -> bool:
    """Whether labels are beyond doubt, but make more components over X than can be compared.

    With thousands of joint states each holds a few rows, and no mixture could tell them apart;
    but the labels of single variables do.
    """
    return are_shattered(labels, settings) and all(
        _is_beyond_doubt(density, column, 1.0 - settings.priors.stray_share)
        for density, column in zip(densities, labels.T, strict=True)
    )


def _is_beyond_doubt(log_density: Floats, labels: Integers, nearly: float) -> bool:
    """Whether nearly all rows of a variable have one label that is far likelier than the others."""
    log_weights = np.log(np.maximum(np.bincount(labels, minlength=log_density.shape[1]), 1.0))
    joint = log_density + log_weights
    share = np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1)
    return float(np.mean(share < 1.0 / nearly)) > nearly


def _merge_along(
    rows: Rows, features: Sequence[Floats], joint: JointComponents, max_components: int
) -> tuple[Merging, ...]:
    """For each variable which joint components are one component of it."""
    counted = rows[0].weight * len(features[0])
    known = KnownPieces(cost_per_component=0.5 * np.log(max(1.0, counted)))
    return tuple(
        merge_pieces(joint.responsibilities.T @ held, variable.family, known, max_components)
        for variable, held in zip(rows, features, strict=True)
    )


def _taken_over(
    labelling: Labelling, joint: JointComponents, mergings: tuple[Merging, ...]
) -> Labelling:
    """Give each row the labels of its component over X, by these mergings."""
    labels, member, _ = distinct_rows(np.stack([merging.groups for merging in mergings], axis=1))
    responsibilities = joint.responsibilities
    if len(labels) < len(member):
        responsibilities = pool(responsibilities.T, member, len(labels)).T
    else:
        responsibilities = responsibilities[:, np.argsort(member)]
    return replace(
        labelling,
        labels=labels[responsibilities.argmax(axis=1)],
        mergings=mergings,
        joint=JointComponents(labels, responsibilities),
    )


def _have_settled(before: Integers, after: Integers, share: float) -> bool:
    """Whether hardly a row changed its label, whatever the labels are called."""
    return all(
        old.max() == new.max() and share_moved(old, new) <= share
        for old, new in zip(before.T, after.T, strict=True)
    )
