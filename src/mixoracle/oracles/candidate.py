"""One candidate for the answer: the only thing that an oracle hands to the learner.

Along the route of *counts* an oracle knows k(S) and no more; Γ is recovered from them and the rows
are assigned once it is known. Along the route of *decoding* the candidate brings Γ, which explains
all labels together, and the assignment of the rows; the counts are then read off Γ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, prod

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families.submixture import Subcomponents
from mixoracle.model import Bipartite, Projection
from mixoracle.model.joint_states import (
    configurations,
    distinct_rows,
    frequencies,
    states_of_cells,
)
from mixoracle.oracles.counts import ComponentCount
from mixoracle.oracles.protocol import (
    AssigningOracle,
    InformedOracle,
    MixtureOracle,
    TolerantOracle,
)
from mixoracle.oracles.subsets import checked_members, count_by_parents, log_counts_by_parents


@dataclass(frozen=True, eq=False)
class Assignment:
    """The map L, as ``counts.projection()``, and the ``rows`` (N,) of it that samples belong to."""

    counts: MixtureOracle
    rows: Integers


@dataclass(frozen=True, eq=False, repr=False)
class Candidate:
    """One candidate.

    Parameters
    ----------
    source : str
        The oracle that it comes from. Evidence is comparable within one source only.
    counts : MixtureOracle
        Answers k(S).
    assign : function from Γ to Assignment
        The map L and the rows; a candidate with a Γ of its own has them already.
    graph : Bipartite, optional
        Γ and the domain sizes, where the labels were decoded.
    log_evidence : float
        Of the whole model.
    repairs : tuple of str
        What had to be changed to make the labels consistent, in words.
    n_agreed, n_proposals : int
        How many of the proposals that were completed came to this Γ at once.
    resolution : float
        How many rows' worth of evidence was believed at most: infinite unless answers were made
        coarser.
    merit : float, optional
        By which candidates are ranked where the evidence cannot be relied on: how well they explain
        dependence (:mod:`mixoracle.labels.association`).
    own_states : function that returns an (N, m) array, optional
        The states of the latents of ``graph`` in each sample, where there are too many joint states
        to number them.
    subcomponents : tuple, optional
        For each prepared variable the normal components of which its components are mixtures, where
        these are not normal themselves.
    count_tolerance : float
        How far log k(S) and what Γ predicts for it may be apart; 0 is up to rounding.
    """

    source: str
    counts: MixtureOracle
    assign: Callable[[Bipartite], Assignment]
    graph: Bipartite | None = None
    log_evidence: float = -inf
    repairs: tuple[str, ...] = ()
    n_agreed: int = 1
    n_proposals: int = 1
    resolution: float = inf
    merit: float | None = None
    count_tolerance: float = 0.0
    own_states: Callable[[], Integers] | None = None
    subcomponents: tuple[Subcomponents | None, ...] | None = None

    def states(self, graph: Bipartite) -> Integers:
        """The joint state (N, m) of each sample, for a candidate with this Γ of its own."""
        if self.own_states is not None:
            return self.own_states()
        return states_of_cells(self.assign(graph).rows, graph.domain_sizes)

    @property
    def strength(self) -> float:
        """What candidates of one source are compared by: their merit, or else their evidence."""
        return self.log_evidence if self.merit is None else self.merit

    @classmethod
    def from_counts(cls, fitted: MixtureOracle, source: str) -> Candidate:
        """The candidate of a fitted oracle that counts."""
        tolerance = fitted.count_tolerance if isinstance(fitted, TolerantOracle) else 0.0

        def assign(graph: Bipartite) -> Assignment:
            informed = fitted.informed_by(graph) if isinstance(fitted, InformedOracle) else fitted
            if not isinstance(informed, AssigningOracle):
                raise InvalidInputError(
                    f"{type(informed).__name__} should say which component over X each sample "
                    "belongs to, in an attribute 'assignments' of N rows of its projection; it "
                    "has none"
                )
            return Assignment(informed, np.asarray(informed.assignments))

        return cls(source, fitted, assign, count_tolerance=float(tolerance))

    def __repr__(self) -> str:
        known = "counts only" if self.graph is None else repr(self.graph)
        return f"Candidate({self.source}, {known}, log evidence {self.log_evidence:.1f})"


@dataclass(frozen=True, eq=False, repr=False)
class Rivals:
    """The Γ of all candidates of one source, with their log evidence."""

    graphs: tuple[Bipartite, ...]
    log_evidence: tuple[float, ...]

    def agreement(self, members: list[int], count: int) -> float:
        """The share of the evidence that is for this k(S)."""
        agree = np.array([count_by_parents(graph, members) == count for graph in self.graphs])
        share = np.exp(np.array(self.log_evidence) - max(self.log_evidence))
        return float(share[agree].sum() / share.sum())


# A map L with more rows than this is nothing to look at, and fills the memory.
_MOST_WEIGHTS = 1_000_000


def weights_of(states: Integers, domain_sizes: tuple[int, ...]) -> Floats | None:
    """The share of the rows of states (N, m) in each joint state; None where there are too many."""
    return frequencies(states, domain_sizes) if prod(domain_sizes) <= _MOST_WEIGHTS else None


@dataclass(frozen=True, eq=False, repr=False)
class GraphCounts:
    """k(S) and L read off a Γ; a :class:`~mixoracle.MixtureOracle` that holds no data.

    Attributes
    ----------
    graph : Bipartite
    weights : (∏ domain_sizes,) array or None
        The share of the rows in each joint state, in C order; None where there are too many.
    """

    graph: Bipartite
    weights: Floats | None

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return self.graph.n_observed

    def count(self, subset: Iterable[int], /) -> ComponentCount:
        """k(S) by ``obs:counting``."""
        return ComponentCount(
            count_by_parents(self.graph, checked_members(subset, self.n_observed))
        )

    def log_counts(self, subsets: Integers, /) -> Floats:
        """Return log k(S) for each row of an (n_subsets, size) array."""
        return log_counts_by_parents(self.graph, subsets)

    def projection(self) -> Projection:
        """The map L: one row for each joint state, also for those never seen."""
        if self.weights is None:
            raise InvalidInputError(
                f"the map L would have {prod(self.graph.domain_sizes):,} rows, one for each joint "
                "state; look at Γ and at the states of the rows instead"
            )
        codes = configurations(self.graph.adjacency, self.graph.domain_sizes)
        return Projection(codes, self.weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.graph!r})"


@dataclass(frozen=True, eq=False, repr=False)
class DecodedCounts(GraphCounts):
    """Counts of a decoded Γ, with how far to trust them.

    Attributes
    ----------
    seen : (T, n_observed) int array
        The label tuples that were found to be components over X, before any repair.
    certainty : (n_observed,) array
        How sure the number of components of each variable is, by its own merging.
    rivals : Rivals
        All candidates of the same source, this one included.
    """

    seen: Integers
    certainty: Floats
    rivals: Rivals

    def count(self, subset: Iterable[int], /) -> ComponentCount:
        """k(S), with its confidence and the count before any repair."""
        members = checked_members(subset, self.n_observed)
        answer = count_by_parents(self.graph, members)
        seen = len(distinct_rows(self.seen[:, members])[0]) if members else 1
        confidence = self.rivals.agreement(members, answer) * self.certainty[members].prod()
        return ComponentCount(answer, float(confidence), seen)
