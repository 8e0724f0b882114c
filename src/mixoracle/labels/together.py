"""The labels of all variables and the components over X, each corrected by the other.

A component over X is a tuple of labels (:mod:`~mixoracle.labels.tuples`). Each variable is cut
along the components over X, and the pieces that are one distribution get one label: two
components that overlap in one variable are told apart by the others. Rows of a component that the
family does not fit are kept together by :mod:`~mixoracle.mixtures.shape`.

Assumes that most variables show most of their components on their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.labels.labelling import (
    FamilyFit,
    Labelling,
    Rows,
    completed,
    judge_family,
    log_densities,
)
from mixoracle.labels.tuples import JointComponents, find_joint_components, share_rows
from mixoracle.mixtures.merging import KnownPieces, Merging, merge_pieces, pool
from mixoracle.mixtures.shape import join_uncut_pieces, rows_of_a_peak
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Settings


def settle(rows: Rows, labelling: Labelling, max_components: int, settings: Settings) -> Labelling:
    """Let the components over X and the labels of each variable correct each other."""
    rounds = 0
    while rounds < _rounds(labelling, settings):
        rounds += 1
        before = labelling.labels
        labelling, densities = log_densities(rows, labelling)
        most = settings.components_over_all(len(before))
        if rounds == 1 and _are_beyond_doubt(before, densities, most, settings):
            return labelling
        joint = find_joint_components(before, densities, most, settings)
        labelling = _relabelled(rows, labelling, joint, max_components, settings)
        if _have_settled(before, labelling.labels, settings.priors.stray_share):
            break
    return labelling if labelling.fit.is_trusted else _without_strays(rows, labelling, settings)


def label_along(rows: Rows, responsibilities: Floats, max_components: int) -> Labelling:
    """Label each variable along components over X (N, K) that were found in another way."""
    apart = np.arange(responsibilities.shape[1])
    joint = JointComponents(np.repeat(apart[:, None], len(rows), axis=1), responsibilities)
    labels = np.repeat(responsibilities.argmax(axis=1)[:, None], len(rows), axis=1)
    features = completed(rows, labels)
    mergings = _merge_along(rows, features, joint, [apart] * len(rows), max_components)
    labelling = Labelling(labels, mergings, features, FamilyFit(), ())
    return _taken_over(labelling, joint, mergings)


def _rounds(labelling: Labelling, settings: Settings) -> int:
    """Without a family to rely on, cuts are undone a few variables at a time."""
    if labelling.fit.is_trusted:
        return settings.budget.label_rounds
    return settings.budget.rounds


def _are_beyond_doubt(
    labels: Integers, densities: Sequence[Floats], most: int, settings: Settings
) -> bool:
    """Whether labels are beyond doubt, but make more components over X than can be compared.

    With thousands of joint states each holds a few rows, and no mixture could tell them apart;
    but the labels of single variables do.
    """
    _, _, counts = distinct_rows(labels)
    covered = float(np.sort(counts)[::-1][:most].sum()) / len(labels)
    return covered < 1.0 - settings.priors.left_out_share and all(
        _is_beyond_doubt(density, column, 1.0 - settings.priors.stray_share)
        for density, column in zip(densities, labels.T, strict=True)
    )


def _is_beyond_doubt(log_density: Floats, labels: Integers, nearly: float) -> bool:
    """Whether nearly all rows of a variable have one label that is far likelier than the others."""
    log_weights = np.log(np.maximum(np.bincount(labels, minlength=log_density.shape[1]), 1.0))
    joint = log_density + log_weights
    share = np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1)
    return float(np.mean(share < 1.0 / nearly)) > nearly


def _relabelled(
    rows: Rows,
    labelling: Labelling,
    joint: JointComponents,
    max_components: int,
    settings: Settings,
) -> Labelling:
    """Cut each variable along the joint components and merge what is one component."""
    members = joint.responsibilities.argmax(axis=1)
    joined = [
        join_uncut_pieces(joint.labels, i, variable.whole, members, settings)
        for i, variable in enumerate(rows)
    ]
    features, fit = labelling.features, labelling.fit
    mergings = _merge_along(rows, features, joint, joined, max_components)
    was_joined = any(int(pieces.max()) + 1 < len(pieces) for pieces in joined)
    if was_joined or not fit.is_trusted:
        groups = np.stack([merging.groups for merging in mergings], axis=1)
        fit = judge_family(rows, groups[members], fit, settings)
    if fit.is_trusted and was_joined:
        apart = [np.arange(len(joint.labels))] * len(rows)
        mergings = _merge_along(rows, features, joint, apart, max_components)
    return _taken_over(replace(labelling, fit=fit), joint, mergings)


def _merge_along(
    rows: Rows,
    features: Sequence[Floats],
    joint: JointComponents,
    pieces: Sequence[Integers],
    max_components: int,
) -> tuple[Merging, ...]:
    """For each variable which joint components are one component of it."""
    known = KnownPieces(cost_per_component=0.5 * np.log(len(features[0])))
    mergings = []
    for variable, held, piece in zip(rows, features, pieces, strict=True):
        statistics = pool(joint.responsibilities.T @ held, piece, int(piece.max()) + 1)
        merging = merge_pieces(statistics, variable.family, known, max_components)
        mergings.append(replace(merging, groups=merging.groups[piece]))
    return tuple(mergings)


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


def _without_strays(rows: Rows, labelling: Labelling, settings: Settings) -> Labelling:
    """Without a family, rows far from all others are no component of their own."""
    joint = labelling.joint
    assert joint is not None  # settle() made it
    held = joint.responsibilities.sum(axis=0)
    kept = held >= min(rows_of_a_peak(settings), held.max())
    if kept.all():
        return labelling
    weights = held[kept] / held[kept].sum()
    labelling, densities = log_densities(rows, labelling)
    return replace(labelling, joint=share_rows(joint.labels[kept], weights, densities))


def _have_settled(before: Integers, after: Integers, share: float) -> bool:
    """Whether hardly a row changed its label, whatever the labels are called."""
    for old, new in zip(before.T, after.T, strict=True):
        n_old, n_new = int(old.max()) + 1, int(new.max()) + 1
        table = np.bincount(old * n_new + new, minlength=n_old * n_new).reshape(n_old, n_new)
        moved = len(old) - table.max(axis=1).sum()
        if n_old != n_new or moved > share * len(old):
            return False
    return True
