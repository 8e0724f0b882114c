"""Candidates from labels: the route of decoding, and what the oracles that go it share.

Such an oracle labels the rows of each variable (:mod:`~mixoracle.labels`) and all labels together
are decoded (:mod:`~mixoracle.decoding`). Each explanation becomes a candidate in the order of the
observations. Its rows are assigned when somebody asks for them, because most candidates are
dropped before that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import Self

import numpy as np

from mixoracle._arrays import Floats
from mixoracle._checks import make_generator
from mixoracle.decoding import Explanation, decode
from mixoracle.decoding.decoding import improved
from mixoracle.decoding.evidence import score
from mixoracle.families.choice import Families
from mixoracle.labels.association import Association
from mixoracle.labels.labelling import Labelling, Rows, component_table, members
from mixoracle.mixtures.expectation import most_likely_states
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared, prepare
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import Bipartite, Projection
from mixoracle.model.joint_states import configurations
from mixoracle.observations import Observations
from mixoracle.oracles.candidate import Assignment, Candidate, DecodedCounts, Rivals
from mixoracle.oracles.counts import ComponentCount
from mixoracle.oracles.run import Report, Run, Stage, to_log
from mixoracle.settings import Settings


class DecodingOracle(ABC):
    """An oracle that decodes labels: what it answers when it is used without the learner.

    Parameters
    ----------
    max_components : int, optional
        The most components that one observed variable may have; the learner's limit, or 128 if
        the rows allow it.
    families : str or mapping from name to str, optional
        The family of the components, of all or of some variables, where the kind of a column
        does not tell it; used by ``fit``. In a learner it is the learner that is told.
    n_jobs : int, optional
        Variables that are worked on at the same time: the learner's number, or 1.
    random_state : int, numpy.random.Generator or None
        The learner's, unless it is given here.

    Attributes
    ----------
    candidates_ : tuple of Candidate
        Consistent answers, those with most evidence first.
    """

    def __init__(
        self,
        max_components: int | None = None,
        *,
        families: Families = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.max_components = max_components
        self.families = families
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        """Candidates for the answer, those with most evidence first."""

    def fit(self, observations: Observations, progress: Report | None = None) -> Self:
        """Learn from observations; ``progress`` is called with each stage."""
        run = Run(make_generator(self.random_state), report=progress or to_log)
        run.report(Stage.PREPARING)
        prepared = prepare(observations, self.families, run.settings)
        self.candidates_ = self.candidates(prepared, run)
        return self

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return self._best().n_observed

    def count(self, subset: Iterable[int], /) -> ComponentCount:
        """k(S) of the best candidate, with its confidence and the count before any repair."""
        return self._best().count(subset)

    def projection(self) -> Projection:
        """The map L of the best candidate."""
        return self._best().projection()

    def _best(self) -> DecodedCounts:
        if not hasattr(self, "candidates_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this oracle has not seen data; call fit first")
        counts = self.candidates_[0].counts
        assert isinstance(counts, DecodedCounts)  # decoded_candidates makes no others
        return counts

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_components={self.max_components})"


@dataclass(frozen=True)
class Decoded:
    """Labelled ``rows`` of the ``prepared`` observations with all explanations of their labels."""

    prepared: Prepared
    rows: Rows
    labelling: Labelling
    table: ComponentTable
    explanations: list[Explanation]
    resolution: float = inf

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        rows: Rows,
        labelling: Labelling,
        run: Run,
        resolution: float = inf,
        *,
        climbs: bool = True,
    ) -> Decoded:
        """Decode the labels."""
        run.report(Stage.DECODING)
        table = component_table(rows, labelling)
        explanations = decode(table, run.settings, climbs=climbs, wanted=run.wanted)
        return cls(prepared, rows, labelling, table, explanations, resolution)

    def candidates(
        self, source: str, run: Run, association: Association | None = None
    ) -> tuple[Candidate, ...]:
        """One candidate for each explanation, with its merit if it is judged by an association."""
        prepared, back = self.prepared, self.prepared.places
        names = [prepared.observations.names[i] for i in prepared.variables]
        explanations, merits = self._judged(association, run.settings)
        graphs = tuple(
            Bipartite(explanation.adjacency[back], explanation.domain_sizes, 0.0, "decoded")
            for explanation in explanations
        )
        # What is compared is what candidates are ranked by.
        evidence = tuple(
            explanation.log_evidence if merit is None else merit
            for explanation, merit in zip(explanations, merits, strict=True)
        )
        certainty = np.array([merging.confidence for merging in self.labelling.mergings])[back]
        found = []
        for graph, explanation, merit in zip(graphs, explanations, merits, strict=True):
            weights, seen = _weights(explanation, self.table), self.table.labels[:, back]
            counts = DecodedCounts(graph, weights, seen, certainty, Rivals(graphs, evidence))
            found.append(
                Candidate(
                    source=source,
                    counts=counts,
                    assign=_assigning(counts, weights, explanation, self.table, prepared, run),
                    graph=graph,
                    log_evidence=explanation.log_evidence,
                    repairs=_repairs(explanation, self.table, names),
                    n_agreed=explanation.n_agreed,
                    n_proposals=explanation.n_proposals,
                    resolution=self.resolution,
                    merit=merit,
                )
            )
        return tuple(found)

    def _judged(
        self, association: Association | None, settings: Settings
    ) -> tuple[list[Explanation], list[float | None]]:
        """The explanations, improved by an association if there is one, with their merits."""
        if association is None:
            return self.explanations, [None] * len(self.explanations)
        table = association.table(self.table.labels, members(self.labelling))
        judged = improved(table, self.explanations, settings)
        own = [
            replace(
                explanation,
                log_evidence=score(
                    self.table,
                    explanation.adjacency,
                    explanation.domain_sizes,
                    explanation.assignment,
                    settings,
                ).log_evidence,
            )
            for explanation in judged
        ]
        return own, [explanation.log_evidence for explanation in judged]


def _weights(explanation: Explanation, table: ComponentTable) -> Floats:
    """The share of the rows in each joint state, in C order."""
    n_states = int(np.prod(explanation.domain_sizes, dtype=np.int64))
    held = np.bincount(explanation.assignment, table.counts, n_states)
    return np.asarray(held / table.counts.sum())


def _assigning(
    counts: DecodedCounts,
    weights: Floats,
    explanation: Explanation,
    table: ComponentTable,
    prepared: Prepared,
    run: Run,
) -> Callable[[Bipartite], Assignment]:
    """A function that assigns every row to its most likely joint state, once."""

    @cache
    def answer() -> Assignment:
        codes = configurations(explanation.adjacency, explanation.domain_sizes)
        components = [
            family.components(
                pool(statistics, codes[explanation.assignment, i], int(codes[:, i].max()) + 1),
                prior,
            )
            for i, (statistics, family, prior) in enumerate(table.variables())
        ]
        states = most_likely_states(prepared, components, codes, weights, run.settings)
        return Assignment(counts, prepared.in_own_order(states))

    return lambda _graph: answer()


def _repairs(explanation: Explanation, table: ComponentTable, names: list[str]) -> tuple[str, ...]:
    """What an explanation changed of the labels, in words."""
    codes = configurations(explanation.adjacency, explanation.domain_sizes)
    repairs = []
    for i, name in enumerate(names):
        seen = len(np.unique(table.labels[:, i]))
        used = len(np.unique(codes[explanation.assignment, i]))
        if seen != used:
            repairs.append(f"{name}: {seen} components were seen, {used} fit with the others")
    n_states = len(np.unique(explanation.assignment))
    if n_states < len(explanation.assignment):
        repairs.append(
            f"{len(explanation.assignment)} components over all variables were seen, "
            f"{n_states} of them are distinct joint states"
        )
    return (*sorted(repairs), *(move.describe(names) for move in explanation.moves))
