"""Do the components have the tails of their family? Asked of the largest ones, by quantiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle.labels.labelling import FamilyFit, Rows
from mixoracle.mixtures.shape import typical_tails
from mixoracle.settings import Budget, Priors


def judge_family(
    rows: Rows, labels: NDArray[np.int64], before: FamilyFit, budget: Budget, priors: Priors
) -> FamilyFit:
    """Whether most components have the tails that the family gives them.

    Where no component has rows enough to tell, the judgement ``before`` stands.
    """
    ratios = []
    for column, variable in zip(labels.T, rows, strict=True):
        if variable.whole is None:
            continue
        largest = np.argsort(-np.bincount(column), kind="stable")[: budget.components_judged]
        found = (
            typical_tails(variable.whole.where(column == label), budget, priors)
            for label in largest
        )
        ratios += [ratio for ratio in found if ratio is not None]
    if not ratios:
        return before
    typical = float(np.median(ratios))
    return FamilyFit(typical, typical < priors.heavy_tails)
