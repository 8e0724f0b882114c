"""The paper's assumptions, each by name, each answered by a verdict that names the offenders.

Identifiability rests on a handful of conditions on Γ, on P(H) and on the components; where one
fails, another model explains the same data and no sample size helps. Each function here decides
one of them for a given model and says in words which latents, states or components break it.
Nothing is estimated: whether data support an assumption is another question.

An answer is exact or withheld. Spans of Γ's columns are computed in integers, a state is empty
when its probability is 0, two components are the same when their parameters are; where the model
does not hold what an assumption speaks of, the verdict is ``None`` and says what is missing.

The paper takes for granted that every latent has a child in Γ (the base case in the proof of
``thm:hidden-bipartite-app`` needs it). Here a childless latent counts against :func:`no_twins`.
"""

from __future__ import annotations

from mixoracle.assumptions.distribution import nondegeneracy_distinct, nondegeneracy_positive
from mixoracle.assumptions.graph import (
    column_independence,
    no_twins,
    span_condition,
    subset_condition,
)
from mixoracle.assumptions.splitting import maximality
from mixoracle.assumptions.verdict import Verdict
from mixoracle.model import LatentModel

__all__ = [
    "Verdict",
    "check",
    "column_independence",
    "maximality",
    "no_twins",
    "nondegeneracy_distinct",
    "nondegeneracy_positive",
    "span_condition",
    "subset_condition",
]


def check(model: LatentModel, order: int = 3) -> tuple[Verdict, ...]:
    """Run every check on one model, in the order in which the paper states them.

    ``order`` is the t of t-recovery for :func:`span_condition`.

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> sorted({str(verdict.holds) for verdict in check(independent_latents())})
    ['None', 'True']
    """
    return (
        no_twins(model),
        maximality(model),
        nondegeneracy_positive(model),
        nondegeneracy_distinct(model),
        subset_condition(model),
        span_condition(model, order),
        column_independence(model),
    )
