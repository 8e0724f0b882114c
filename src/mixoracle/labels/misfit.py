"""Signs that labels are finer than the states behind them, so that evidence is not to be relied on.

Evidence that grows with the number of rows turns every misfit into further components. There are
three signs of it. The components of a variable have another shape than their family. Rows whose
labels are all beyond doubt make more label tuples than there can be joint states: each component
is several lumps. Or variables are dependent within components over X, and some of these are better
joined if all coordinates may be jointly normal: they are pieces along something continuous that
the variables share.

Assumes nothing of the labels; components that merely overlap show none of the signs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers, rows_of_each, rows_with_missing
from mixoracle.families.gaussian import GaussianFamily
from mixoracle.labels.labelling import Labelling, Rows, log_densities, members
from mixoracle.labels.together import are_shattered
from mixoracle.mixtures.dependence import dependent_pairs, excess_of_centring, whitened
from mixoracle.mixtures.merging import CutPieces, merge_pieces
from mixoracle.mixtures.moments import nats_against_normal
from mixoracle.model.joint_states import numbered
from mixoracle.model.responsibilities import log_joint, share_out
from mixoracle.settings import Settings

# Of comparing all pieces in all coordinates: about a second.
_MOST_WORK = 3e8


def is_family_wrong(rows: Rows, labelling: Labelling, settings: Settings) -> bool:
    """Whether the components of some variable of numbers have another shape than their family."""
    return any(
        _has_other_shape(rows, labelling, i, settings)
        for i, variable in enumerate(rows)
        if variable.shows_shape
    )


def is_family_mostly_wrong(rows: Rows, labelling: Labelling, settings: Settings) -> bool:
    """The same of most variables of numbers: some of many may lack a parent."""
    judged = [i for i, variable in enumerate(rows) if variable.shows_shape]
    n_wrong = sum(_has_other_shape(rows, labelling, i, settings) for i in judged)
    return 2 * n_wrong > len(judged)


def _has_other_shape(rows: Rows, labelling: Labelling, place: int, settings: Settings) -> bool:
    """Whether the components of one variable do not look normal."""
    block = rows[place].block
    whole = np.flatnonzero(~rows_with_missing(block))
    nats = (
        nats_against_normal(block.take(inside, axis=0), weight, settings.priors.rows_to_judge)
        for inside, weight in _shares(labelling, place, whole)
    )
    return sum(nats) > 0


def are_lumps(rows: Rows, alone: Labelling, settings: Settings) -> bool:
    """Whether rows whose labels are beyond doubt are shattered all the same."""
    if not are_shattered(alone.labels, settings):
        return False
    sure = alone.labels[_beyond_doubt(rows, alone, settings)]
    # As many joint states as all rows together may show, however few of them are beyond doubt.
    return len(sure) > 0 and are_shattered(sure, settings, len(alone.labels))


def are_cut_through(rows: Rows, labelling: Labelling, settings: Settings) -> bool:
    """Whether components over X are pieces of ones within which variables are dependent."""
    if not all(variable.shows_shape for variable in rows):
        return False
    has_missing = np.stack([rows_with_missing(variable.block) for variable in rows], axis=1)
    left = [
        whitened(variable.embedding, labelling.labels[:, i], has_missing[:, i])
        for i, variable in enumerate(rows)
    ]
    excess = excess_of_centring(labelling.labels)
    if not dependent_pairs(left, settings.priors, excess)[0].any():
        return False
    whole = np.flatnonzero(~has_missing.any(axis=1))
    width, budget = sum(variable.block.shape[1] for variable in rows), settings.budget
    at_most = min(len(whole), budget.piece_entries // (width * (width + 3)))
    if at_most < settings.priors.rows_per_component * width:
        return False
    some = whole[np.linspace(0, len(whole) - 1, at_most).astype(np.int64)]
    pieces = numbered(members(labelling)[some])
    n_pieces = int(pieces.max()) + 1
    if n_pieces**2 * width**3 > _MOST_WORK:
        return False
    family = GaussianFamily(width, priors=settings.priors)
    together = np.hstack([variable.block[some] for variable in rows])
    joined = merge_pieces(family.pooled(together, pieces, n_pieces), family, CutPieces())
    return joined.n_components < n_pieces


def _beyond_doubt(rows: Rows, alone: Labelling, settings: Settings) -> Bools:
    """Which rows (N,) have labels that are far likelier than any others, in all variables."""
    labelling, densities = log_densities(rows, alone)
    sure = np.ones(len(labelling.labels), dtype=bool)
    for density, column in zip(densities, labelling.labels.T, strict=True):
        weights = np.maximum(np.bincount(column, minlength=density.shape[1]), 0.5)
        shares = share_out(log_joint(np.log(weights / weights.sum()), [density])).responsibilities
        sure &= shares.max(axis=1) >= 1.0 - settings.priors.stray_share
    return sure


def _shares(
    labelling: Labelling, variable: int, rows: Integers
) -> Iterator[tuple[Integers, Floats]]:
    """Those of these rows that are in each component of one variable, with their share in it."""
    if labelling.joint is None:
        for own in rows_of_each(labelling.labels[rows, variable]):
            yield rows[own], np.ones(len(own))
    else:
        labels = labelling.joint.labels[:, variable]
        in_each = np.eye(int(labels.max()) + 1)[labels]
        for share in (labelling.joint.responsibilities[rows] @ in_each).T:
            inside = share > 0
            yield rows[inside], share[inside]
