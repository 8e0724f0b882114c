"""Each variable labelled on its own, and cuts through components of another shape undone.

The number of components of a single variable is decided by
:func:`~mixoracle.mixtures.segmentation.segment`. Where most components have heavier tails than
the family, labels that all other variables see alike and that no density valley parts are one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from mixoracle._arrays import Integers
from mixoracle.labels.labelling import FamilyFit, Labelling, Rows, completed, judge_family
from mixoracle.mixtures.merging import Merging, pool
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import segment
from mixoracle.mixtures.shape import join_alike_labels
from mixoracle.settings import Settings


def label_each(
    rows: Rows, max_components: int, n_jobs: int, rng: np.random.Generator, settings: Settings
) -> Labelling:
    """Label each variable on its own."""
    seeds = rng.integers(np.iinfo(np.int32).max, size=len(rows))
    work = segment if n_jobs == 1 else _segment_elsewhere
    found = Parallel(n_jobs=min(n_jobs, len(rows)))(
        delayed(work)(variable, max_components, int(seed), settings)
        for variable, seed in zip(rows, seeds, strict=True)
    )
    labels = np.stack([labels for labels, _ in found], axis=1)
    mergings = tuple(merging for _, merging in found)
    labelling = Labelling(labels, mergings, completed(rows, labels), FamilyFit(), ())
    healed = _undo_cuts(rows, labelling, settings)
    return replace(healed, n_alone=tuple(int(k) for k in healed.labels.max(axis=0) + 1))


def _segment_elsewhere(
    variable: VariableRows, max_components: int, seed: int, settings: Settings
) -> tuple[Integers, Merging]:
    """Segment in a process of its own, where the caller's limit on threads does not reach."""
    with threadpool_limits(limits=1):
        return segment(variable, max_components, seed, settings)


def _undo_cuts(rows: Rows, labelling: Labelling, settings: Settings) -> Labelling:
    """Undo cuts through components of another shape, if there are such components."""
    healed = np.stack(
        [
            join_alike_labels(labelling.labels, i, variable.whole, settings)
            for i, variable in enumerate(rows)
        ],
        axis=1,
    )
    fit = judge_family(rows, healed, labelling.fit, settings)
    if fit.is_trusted:
        return replace(labelling, fit=fit)
    mergings = tuple(
        replace(merging, prior=variable.family.prior(pool(features, column, column.max() + 1)))
        for merging, variable, features, column in zip(
            labelling.mergings, rows, labelling.features, healed.T, strict=True
        )
    )
    return replace(labelling, labels=healed, mergings=mergings, fit=fit)
