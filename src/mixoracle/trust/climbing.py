"""From a refined answer to a better one: small changes of the latents, each refined again.

Where single measurements show nothing, the labels that decoding starts from are wrong in many rows,
and where it ends depends on them. Here no label is needed. Parents in Γ are chosen by the evidence
of the statistics that each joint state is expected to have, which is the structural EM of Friedman
[1]_; and a latent is dropped, added or taken apart, two are joined, two states are merged, or one
is split along the direction in which its rows differ most. The score of the refined model decides.

Assumes that joint states are few enough to be listed. Ends where no change helps, which need not be
the best answer there is.

References
----------
.. [1] Friedman, N. (1998). The Bayesian structural EM algorithm. Proceedings of the 14th Conference
   on Uncertainty in Artificial Intelligence, 129-138.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.bipartite import canonical_order
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.parents import choose_parents, join_twins
from mixoracle.inference.refine import mixture_of
from mixoracle.inference.structured import StructuredMixture
from mixoracle.mixtures.dependence import whitened
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import (
    codes_of_parents,
    distinct_rows,
    numbered_columns,
    states_of_cells,
)
from mixoracle.solving import Solution, Solver

# A smaller gain is rounding.
_LEAST_GAIN = 1e-3
# Rows times observed variables times joint states that may be gone through for all changes: they
# take as long as a few starts do.
_MOST_WORK = 60_000_000
# Directions along which a new latent is looked for.
_DIRECTIONS = 3
# A latent has at least so many states, and two of them so many together.
_LEAST_STATES = 2
_LEAST_PRODUCT = _LEAST_STATES**2
# Changes that are refined to the end; the others were tried out only.
_PROMISING = 3

Change = tuple[Bools, Integers]
"""Γ in the prepared order of the variables, and the states (N, m) of the prepared rows."""


def climbed(solver: Solver, start: Solution) -> Solution:
    """The best solution that changes lead to; ``start`` itself where there is none better."""
    return _Climb(replace(solver, prepared=start.prepared), start).run()


@dataclass(frozen=True, eq=False)
class _Climb:
    """The way up from one solution."""

    solver: Solver
    start: Solution

    def run(self) -> Solution:
        prepared, settings = self.solver.prepared, self.solver.run.settings
        n_joint = prod(self.start.graph.domain_sizes)
        if self.start.merit is not None or not 1 < n_joint <= settings.budget.listed:
            return self.start
        work = prepared.n_samples * prepared.n_observed * n_joint
        left = min(settings.budget.moves, _MOST_WORK // work)
        best = self._with_best_parents(self.start) if left else self.start
        while left > 0:
            tried = []
            for change in self._changes(best):
                if left == 0 or settings.clock.leaves_out("further changes of the causes"):
                    left = 0
                    break
                left -= 1
                tried.append(self._tried_out(change))
            tried.sort(key=lambda trial: trial[0].rank)
            ends = [self._with_best_parents(self._ended(*own)) for own in tried[:_PROMISING]]
            better = min([best, *ends], key=lambda solution: solution.rank)
            if not _is_better(better, best):
                break
            best = better
        return best

    def _with_best_parents(self, solution: Solution) -> Solution:
        """The solution that parents chosen anew lead to, as long as that helps.

        All of them at once, or else those of one variable.
        """
        best = solution
        while True:
            for change in _parents_chosen(self.solver, best):
                tried = self._refined(change)
                if _is_better(tried, best):
                    best = tried
                    break
            else:
                return best

    def _tried_out(self, states: Integers) -> tuple[Solution, Change]:
        """Changed states after a few iterations, with the parents that they call for."""
        short = replace(self.solver, max_iterations=self.solver.run.settings.budget.em_short)
        change = _first_parents(short, states)
        tried = self._refined(change, short)
        chosen = next(_parents_chosen(short, tried), None)
        return (tried, change) if chosen is None else (self._refined(chosen, short), chosen)

    def _ended(self, tried: Solution, change: Change) -> Solution:
        """What was tried out, refined to the end."""
        return tried if tried.refinement.converged else self._refined(change)

    def _refined(self, change: Change, solver: Solver | None = None) -> Solution:
        solver = self.solver if solver is None else solver
        adjacency, states = change
        adjacency, sizes = adjacency[solver.prepared.places], Proposal.of_all(states).domain_sizes
        order = canonical_order(adjacency, sizes)
        sizes = tuple(sizes[j] for j in order)
        graph = Bipartite(adjacency[:, order], sizes, 0.0, "changed")
        return solver.changed(self.start, graph, states[:, order])

    def _changes(self, solution: Solution) -> Iterator[Integers]:
        """The states of the prepared rows after every small change of the latents."""
        states, sizes = solution.refinement.states, solution.graph.domain_sizes
        latents = range(len(sizes))
        for j in latents if len(sizes) > 1 else ():
            yield np.delete(states, j, axis=1)
        for first, second in combinations(latents, 2):
            _, both, _ = distinct_rows(states[:, [first, second]])
            yield np.column_stack([np.delete(states, [first, second], axis=1), both])
        for j in latents:
            for one, other in combinations(range(sizes[j]), 2) if sizes[j] > _LEAST_STATES else ():
                yield _replaced(states, j, states[:, j] == other, one)
        for j in latents:
            yield from _taken_apart(states, j) if sizes[j] == _LEAST_PRODUCT else ()
        residual = _residual(self.solver, solution)
        for side in _sides(residual, _DIRECTIONS):
            yield np.column_stack([states, side])
        for j in latents:
            for state in range(sizes[j]):
                inside = np.flatnonzero(states[:, j] == state)
                for side in _sides(residual[inside], 1):
                    yield _replaced(states, j, inside[side == 1], sizes[j])


def _is_better(one: Solution, other: Solution) -> bool:
    """Whether a solution ranks higher, by more than rounding."""
    *asked, score = one.rank
    *other_asked, other_score = other.rank
    return (asked, score) < (other_asked, other_score - _LEAST_GAIN)


def _parents_chosen(solver: Solver, solution: Solution) -> Iterator[Change]:
    """Γ with the most evidence, given what each joint state is expected to hold.

    Then the same for one variable only, all others as they were; nothing where Γ is the best.
    """
    prepared, refined = solver.prepared, solution.refinement
    adjacency = solution.graph.adjacency[prepared.variables]
    sizes = solution.graph.domain_sizes
    if not sizes or prod(sizes) > solver.run.settings.budget.listed:
        return
    mixture = mixture_of(prepared.families, adjacency, refined, solver.run.settings)
    assert isinstance(mixture, StructuredMixture)  # joint states are listed
    states = states_of_cells(mixture.active, sizes)
    table = _expected_table(solver, mixture)
    chosen = choose_parents(table, Proposal.of_all(states), solver.run.settings)
    others = np.flatnonzero((chosen != adjacency).any(axis=1))
    for rows in (others, *(others[:, None] if len(others) > 1 else ())):
        changed = adjacency.copy()
        changed[rows] = chosen[rows]
        if len(rows) and changed.any():
            yield _without_twins(changed, refined.states)


def _without_twins(adjacency: Bools, states: Integers) -> Change:
    """Latents that drive the same are joined, and one that drives nothing is dropped.

    So is one that is in the same state in every row, which a short refinement may leave.
    """
    joined, own = join_twins(adjacency, states)
    differs = own.min(axis=0) < own.max(axis=0)
    return joined[:, differs], numbered_columns(own[:, differs])


def _first_parents(solver: Solver, states: Integers) -> Change:
    """Γ with the most evidence if every row is in this state."""
    prepared, states = solver.prepared, numbered_columns(states)
    held, cells, counts = distinct_rows(states)
    statistics = []
    for i, family in enumerate(prepared.families):
        features, patterns = prepared.features(i, slice(None)), prepared.patterns(i, slice(None))
        if patterns is not None:
            features = family.completed(features, cells, None, patterns)
        statistics.append(pool(features, cells, len(held)))
    families = prepared.families
    priors = tuple(family.prior(own) for family, own in zip(families, statistics, strict=True))
    labels = np.repeat(np.arange(len(held))[:, None], len(families), axis=1)
    table = ComponentTable(labels, tuple(statistics), families, priors, counts.astype(float))
    return _without_twins(choose_parents(table, Proposal.of_all(held), solver.run.settings), states)


def _expected_table(solver: Solver, mixture: StructuredMixture) -> ComponentTable:
    """The expected statistics of every variable in each joint state that can occur."""
    n_states = len(mixture.active)
    each = tuple(
        held.take(codes) for held, codes in zip(mixture.components, mixture.codes.T, strict=True)
    )
    own = np.repeat(np.arange(n_states)[:, None], len(each), axis=1)
    sums, _ = replace(mixture, components=each, codes=own).expect(solver.prepared)
    rest = mixture.families, mixture.priors, sums.weights
    return ComponentTable(mixture.codes, sums.statistics, *rest)


def _residual(solver: Solver, solution: Solution) -> Floats:
    """What is left of each prepared row when its joint state is known, all variables together."""
    prepared = solver.prepared
    adjacency = solution.graph.adjacency[prepared.variables]
    codes = codes_of_parents(solution.refinement.states, adjacency, solution.graph.domain_sizes)
    return np.hstack(
        [
            whitened(encoder.family.embedding(block), own, np.any(np.isnan(block), axis=1))
            for encoder, block, own in zip(prepared.encoders, prepared.blocks, codes.T, strict=True)
        ]
    )


def _sides(residual: Floats, n_directions: int) -> Iterator[Integers]:
    """On which side of the mean each row is, 0 or 1, along the directions of most variance."""
    if len(residual) < 2 or not residual.any():
        return
    along = np.linalg.svd(residual, full_matrices=False)[0][:, :n_directions]
    for direction in along.T:
        side = (direction > 0).astype(np.int64)
        if 0 < side.sum() < len(side):
            yield side


def _taken_apart(states: Integers, latent: int) -> Iterator[Integers]:
    """Two latents with two states each for one with four; one state is opposite to the first."""
    rest = np.delete(states, latent, axis=1)
    for opposite in range(1, _LEAST_PRODUCT):
        one, other = (state for state in range(1, _LEAST_PRODUCT) if state != opposite)
        parts = [np.isin(states[:, latent], (state, opposite)) for state in (one, other)]
        yield np.column_stack([rest, *parts]).astype(np.int64)


def _replaced(states: Integers, latent: int, rows: Bools | Integers, state: int) -> Integers:
    """The states with some rows in another state of one latent."""
    changed = states.copy()
    changed[rows, latent] = state
    return changed
