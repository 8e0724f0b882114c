"""Steps (b) to (d) for one answer of an oracle, and the refinement of what comes of it.

An oracle's counts give Γ, its map L and Algorithm 1 give the joint state of each row, what is known
beforehand corrects Γ, and EM over the structured model polishes all of it. Answers that come from
elsewhere are refined in the same way: a Γ that is wholly known, and the single latent that stands
beside several ones where some of their joint states are empty.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle import latent
from mixoracle.assumptions import Verdict
from mixoracle.background import Application, Background, ResolvedBackground
from mixoracle.errors import InvalidInputError, ModelContradictionError
from mixoracle.inference.refine import Refinement, refine
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, ComponentSet, JointTable
from mixoracle.model.joint import MANY_EMPTY, emptiness
from mixoracle.model.posterior import states_of_cells
from mixoracle.observations import Observations
from mixoracle.oracles.given import starting_cells
from mixoracle.oracles.protocol import MixtureOracle
from mixoracle.oracles.readings import ConsistentReading

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]
# A single latent with more states than this says nothing that a user could read.
_MOST_SINGLE_STATES = 400


@dataclass(frozen=True)
class Solution:
    """One answer, refined: the ``reading`` of an oracle, and what became of it."""

    oracle: Any
    reading: Any
    known: Application
    refinement: Refinement
    repairs: tuple[str, ...]
    verdict: Verdict

    @property
    def graph(self) -> Bipartite:
        """Γ, corrected by what is known."""
        return self.known.graph

    @property
    def score(self) -> float:
        """BIC, less what joint states that stay empty say against the model."""
        rows = self.refinement.weights * len(self.refinement.cells)
        return self.refinement.bic - emptiness(rows.reshape(self.graph.domain_sizes))

    def numbered(self, prepared: Prepared) -> Numbered:
        """P(H), components and states with the states of each latent by how frequent they are."""
        graph, refined = self.graph, self.refinement
        table = refined.weights.reshape(graph.domain_sizes)
        orders = _frequent_first(table)
        components = tuple(
            prepared.encoders[place]
            .decode(refined.components[place])
            .take(_reordered_codes(graph, orders, i))
            for i, place in enumerate(np.argsort(prepared.variables))
        )
        cells = np.empty(len(prepared.rows), dtype=np.int64)
        cells[prepared.rows] = refined.cells
        states = states_of_cells(cells, graph.domain_sizes)
        for j, order in enumerate(orders):
            states[:, j] = np.argsort(order)[states[:, j]]
        joint = JointTable(table[np.ix_(*orders)] if orders else table)
        return Numbered(joint, components, states)


@dataclass(frozen=True)
class Numbered:
    """What a model is made of: P(H), the components of each X_i, and the states of the rows."""

    joint: JointTable
    components: tuple[ComponentSet, ...]
    states: NDArray[np.int64]


@dataclass(frozen=True)
class Solver:
    """All that is the same for every answer of an oracle.

    ``recover`` is step (b); with ``strict`` a contradiction is raised instead of repaired.
    """

    observations: Observations
    prepared: Prepared
    known: ResolvedBackground
    recover: Callable[[MixtureOracle], Bipartite]
    strict: bool
    max_iterations: int

    def solve(self, oracle: Any, reading: Any) -> Solution:
        """Steps (b) to (d) for one answer, what is known, then refinement."""
        asked = reading
        try:
            graph = self.recover(reading)
            if hasattr(reading, "informed_by"):
                reading = reading.informed_by(graph)
            cells = _cells_of_rows(reading, graph)
            trouble = ""
        except ModelContradictionError as error:
            if self.strict:
                raise
            trouble = str(error)
            graph, cells = _own_answer(reading, self.observations)
        repairs = tuple(getattr(reading, "repairs", ()))
        verdict = _consistency(reading, repairs, trouble)
        return self._refined(oracle, asked, graph, cells, repairs, verdict)

    def solve_known(self, oracle: Any) -> Solution | None:
        """The answer that is known beforehand, if the knowledge is complete."""
        graph = self.known.whole_graph()
        if graph is None:
            return None
        cells = np.empty(self.prepared.n_samples, dtype=np.int64)
        adjacency = graph.adjacency[self.prepared.variables]
        cells[self.prepared.rows] = starting_cells(self.prepared, adjacency, graph.domain_sizes)
        verdict = Verdict("consistent counts", "obs:counting", None, "Γ was known, not counted")
        return self._refined(oracle, _as_reading(graph, cells), graph, cells, (), verdict)

    def single_latent(self, solution: Solution) -> Solution | None:
        """One latent for all joint states that occur, where some of several latents' do not."""
        weights = solution.refinement.weights
        joint = JointTable(weights.reshape(solution.graph.domain_sizes))
        n_empty = len(joint.nearly_empty())
        if solution.graph.n_latent < 2 or n_empty < MANY_EMPTY * weights.size:
            return None
        prepared = self.prepared
        cells = np.empty(prepared.n_samples, dtype=np.int64)
        occupied, cells[prepared.rows] = np.unique(solution.refinement.cells, return_inverse=True)
        if not 2 <= len(occupied) <= _MOST_SINGLE_STATES:
            return None
        driven = np.asarray(solution.graph.adjacency.any(axis=1, keepdims=True))
        graph = Bipartite(driven, (len(occupied),), 0.0, "single latent")
        verdict = Verdict("consistent counts", "obs:counting", True, "a single latent always fits")
        reading = _as_reading(graph, cells)
        # What is known of several latents says nothing about the one that stands for all.
        alone = replace(self, known=Background().resolved(self.observations.names))
        return alone._refined(solution.oracle, reading, graph, cells, (), verdict)

    def _refined(
        self,
        oracle: Any,
        reading: Any,
        graph: Bipartite,
        cells: NDArray[np.int64],
        repairs: tuple[str, ...],
        verdict: Verdict,
    ) -> Solution:
        applied = apply_known(self.known, graph)
        refinement = refine(
            self.prepared,
            applied.graph.adjacency[self.prepared.variables],
            graph.domain_sizes,
            cells[self.prepared.rows],
            self.max_iterations,
        )
        return Solution(oracle, reading, applied, refinement, repairs, verdict)


def n_broken(known: ResolvedBackground, reading: Any) -> int:
    """How much of what is known an answer cannot honour, as far as it shows its Γ."""
    graph = getattr(reading, "bipartite", None)
    return apply_known(known, graph).n_broken if isinstance(graph, Bipartite) else 0


def apply_known(known: ResolvedBackground, graph: Bipartite) -> Application:
    """Γ corrected by what is known, its latents named."""
    taken = (*known.observed_names, *known.names)
    return known.applied_to(graph, _latent_names(graph.n_latent, taken))


def _as_reading(graph: Bipartite, cells: NDArray[np.int64]) -> ConsistentReading:
    """An answer that no oracle gave, in the form in which they do."""
    n_cells = int(np.prod(graph.domain_sizes, dtype=int))
    weights = np.bincount(cells, minlength=n_cells) / len(cells)
    return ConsistentReading(graph, weights, cells, -np.inf, ())


def _cells_of_rows(reading: Any, graph: Bipartite) -> NDArray[np.int64]:
    """Steps (c) and (d): the joint state of each row, through L and Algorithm 1."""
    if not hasattr(reading, "assignments"):
        raise InvalidInputError(
            f"{type(reading).__name__} should say which component over X each sample belongs to, "
            "in an attribute 'assignments' of N rows of its projection; it has none"
        )
    projection = reading.projection()
    component_at = latent.layout(projection.labels, graph.adjacency, graph.domain_sizes)
    cell_of = np.empty(projection.n_components, dtype=np.int64)
    cell_of[component_at.ravel()] = np.arange(component_at.size)
    return np.asarray(cell_of[reading.assignments])


def _own_answer(reading: Any, observations: Observations) -> tuple[Bipartite, NDArray[np.int64]]:
    """What to fall back on where the paper's steps find a contradiction.

    The oracle's own consistent reading if it has one, else no latent at all.
    """
    own = getattr(reading, "bipartite", None)
    if isinstance(own, Bipartite):
        return own, np.asarray(reading.assignments)
    logger.info("the oracle's counts fit no graph; falling back to no latent structure")
    nothing = Bipartite(np.zeros((observations.n_observed, 0), dtype=bool), (), 0.0, "none")
    return nothing, np.zeros(observations.n_samples, dtype=np.int64)


def _consistency(reading: Any, repairs: tuple[str, ...], trouble: str) -> Verdict:
    name, label = "consistent counts", "obs:counting"
    if trouble:
        return Verdict(name, label, False, trouble, ((trouble,),))
    if repairs:
        agreed = ""
        if isinstance(reading, ConsistentReading):
            agreed = f" ({reading.n_agreed} of {reading.n_proposals} proposals came to it at once)"
        return Verdict(name, label, True, f"consistent after repairs{agreed}: {'; '.join(repairs)}")
    return Verdict(name, label, True, "all counts are products of the domain sizes as they came")


def _frequent_first(table: Floats) -> list[NDArray[np.int64]]:
    """For each latent its states from the most to the least frequent."""
    orders = []
    for j in range(table.ndim):
        others = tuple(axis for axis in range(table.ndim) if axis != j)
        orders.append(np.argsort(-table.sum(axis=others), kind="stable").astype(np.int64))
    return orders


def _reordered_codes(
    graph: Bipartite, orders: list[NDArray[np.int64]], observed: int
) -> NDArray[np.int64]:
    """Which old configuration of pa(X_i) stands at each new one after states are reordered."""
    parents = [int(j) for j in np.flatnonzero(graph.adjacency[observed])]
    sizes = tuple(graph.domain_sizes[j] for j in parents)
    codes = np.arange(int(np.prod(sizes, dtype=int))).reshape(sizes)
    return np.asarray(codes[np.ix_(*(orders[j] for j in parents))] if parents else codes).ravel()


def _latent_names(n_latent: int, taken: Iterable[str]) -> tuple[str, ...]:
    """H1, H2, …; with a longer prefix if one of these names is taken."""
    prefix, used = "H", set(taken)
    while any(f"{prefix}{j + 1}" in used for j in range(n_latent)):
        prefix += "_"
    return tuple(f"{prefix}{j + 1}" for j in range(n_latent))
