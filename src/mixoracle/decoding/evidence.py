"""How good an explanation is: the evidence of the whole model, and whether the labels fit it.

The evidence of Γ with a joint state for every component over X is a product: the marginal
likelihood of each component of each variable, the probability of the joint states of all rows
(Dirichlet–multinomial), and a factor against joint states that stay empty. Its logarithm is the
one score by which all explanations of a table are compared [1]_.

Assumes that the components over X do not mix joint states: each of them is in one.

References
----------
.. [1] R. E. Kass and A. E. Raftery, "Bayes factors", Journal of the American Statistical
   Association 90 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.decoding.explanation import Explanation
from mixoracle.mixtures.merging import log_dirichlet_multinomial
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.emptiness import emptiness
from mixoracle.model.joint_states import configurations, distinct_rows
from mixoracle.settings import Settings


def score(
    table: ComponentTable,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    assignment: Integers,
    settings: Settings = Settings(),
) -> Explanation:
    """The explanation with this Γ and these joint states, with its evidence."""
    codes = configurations(adjacency, domain_sizes)
    evidence = _log_evidence(table, assignment, codes, domain_sizes, settings)
    is_consistent = explains_labels(table.labels, assignment, codes, settings)
    return Explanation(adjacency, domain_sizes, assignment, evidence, is_consistent)


def explains_labels(
    labels: Integers, assignment: Integers, codes: Integers, settings: Settings
) -> bool:
    """Whether the labels (T, n) are exactly the configurations, up to their names.

    ``codes`` (joint states, n) are the configurations. Where most joint states were never seen,
    too much is explained by too little.
    """
    enough = min(len(codes) / 2, settings.priors.many_seen)
    if len(np.unique(assignment)) < len(assignment) or len(assignment) < enough:
        return False
    return all(
        _is_same_partition(column, codes[assignment, i]) for i, column in enumerate(labels.T)
    )


@dataclass(frozen=True, eq=False)
class Grouping:
    """Components that share a code: ``order`` puts them side by side, groups begin at ``starts``.

    Examples
    --------
    >>> Grouping.by(np.array([5, 2, 5])).sums(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[2.0], [5.0]]
    """

    order: Integers
    starts: Integers

    @classmethod
    def by(cls, code: Integers) -> Grouping:
        """The groups in the order of their codes (T,)."""
        order = np.argsort(code, kind="stable")
        ordered = code[order]
        return cls(order, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])))

    def sums(self, statistics: Floats) -> Floats:
        """The statistics (T, f) added up in each group; quick for few."""
        return np.asarray(np.add.reduceat(statistics[self.order], self.starts, axis=0))


def _log_evidence(
    table: ComponentTable,
    assignment: Integers,
    codes: Integers,
    domain_sizes: tuple[int, ...],
    settings: Settings,
) -> float:
    """The evidence of all components and of the joint states of all rows.

    Joint states that stay empty count against an explanation: the model says that all can occur,
    and zeros in P(H) would otherwise be a cheap way to explain anything by more latents.
    """
    if table.most is not None and _has_too_many(table, table.most, codes[assignment], settings):
        return -np.inf
    rows = np.bincount(assignment, table.counts, len(codes)).astype(np.float64)
    total = log_dirichlet_multinomial(rows)
    total -= emptiness(rows.reshape(domain_sizes))
    for i, (statistics, family, prior) in enumerate(table.variables()):
        of_components = Grouping.by(codes[assignment, i]).sums(statistics)
        total += float(family.log_evidence(of_components, prior).sum())
    return total


def _has_too_many(
    table: ComponentTable, most: tuple[int, ...], codes: Integers, settings: Settings
) -> bool:
    """Whether some variable has more components (T, n) than it may, those of few rows apart.

    A configuration of a few rows is no component that anybody could have seen.
    """
    fewest = settings.priors.rows_per_component
    return any(
        int((np.bincount(column, table.counts) >= fewest).sum()) > at_most
        for column, at_most in zip(codes.T, most, strict=True)
    )


def _is_same_partition(first: Integers, second: Integers) -> bool:
    """Whether two labellings say the same, up to the names of their labels."""
    pairs, _, _ = distinct_rows(np.stack([first, second], axis=1))
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))
