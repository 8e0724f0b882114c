"""Do the components have the tails of their family? Asked of all that are large enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle.labels.labelling import FamilyFit, Rows
from mixoracle.mixtures.shape import typical_tails
from mixoracle.settings import Settings


def judge_family(
    rows: Rows, labels: NDArray[np.int64], before: FamilyFit, settings: Settings
) -> FamilyFit:
    """Whether most components have the tails that the family gives them.

    Where no component has rows enough to tell, the judgement ``before`` stands.
    """
    ratios = []
    for column, variable in zip(labels.T, rows, strict=True):
        if variable.whole is None:
            continue
        inside = (variable.whole.where(column == label) for label in np.unique(column))
        found = (typical_tails(rows_of_one, settings) for rows_of_one in inside)
        ratios += [ratio for ratio in found if ratio is not None]
    if not ratios:
        return before
    typical = float(np.median(ratios))
    return FamilyFit(typical, typical < settings.priors.heavy_tails)
