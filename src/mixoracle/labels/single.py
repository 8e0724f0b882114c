"""Each variable labelled on its own.

The number of components of a single variable is decided by
:func:`~mixoracle.mixtures.segmentation.segment`.
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from mixoracle._arrays import Integers
from mixoracle._checks import n_workers
from mixoracle._steps import Tell, counted, tell_nobody
from mixoracle._threads import one_thread
from mixoracle.labels.labelling import Labelling, Rows, completed
from mixoracle.mixtures.merging import Merging
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import segment
from mixoracle.settings import Settings


def label_each(
    rows: Rows,
    max_components: int,
    n_jobs: int,
    seeds: Integers,
    settings: Settings,
    tell: Tell = tell_nobody,
) -> Labelling:
    """Label each variable on its own; ``tell`` hears of each that is done."""
    work = segment if n_jobs == 1 else _segment_elsewhere
    finished = Parallel(n_jobs=n_workers(n_jobs, len(rows)), return_as="generator")(
        delayed(work)(variable, max_components, int(seed), settings)
        for variable, seed in zip(rows, seeds, strict=True)
    )
    found = list(counted(finished, len(rows), tell))
    labels = np.stack([labels for labels, _ in found], axis=1)
    mergings = tuple(merging for _, merging in found)
    return Labelling(labels, mergings, completed(rows, labels), alone=labels)


def _segment_elsewhere(
    variable: VariableRows, max_components: int, seed: int, settings: Settings
) -> tuple[Integers, Merging]:
    """Segment in a process of its own, where the caller's limit on threads does not reach."""
    with one_thread():
        return segment(variable, max_components, seed, settings)
