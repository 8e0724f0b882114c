"""From one candidate of an oracle to a refined solution: steps (b) to (d) of ``app:pipeline``.

There are two routes. Along *counts* (the paper's), Γ is recovered from the candidate's counts, and
the map L with Algorithm 1 gives the joint state of each row. Along *decoding* (ours), the
candidate brings Γ and the joint states, and step (b) is a check of all small counts in one batch.
On both, knowledge corrects Γ and EM over the structured model refines the rest. Solutions that no
oracle proposed are refined in the same way: a Γ that is wholly known, and the single latent that
stands beside several ones where some of their joint states are empty.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from mixoracle import bipartite, latent
from mixoracle._arrays import Integers
from mixoracle.assumptions import Verdict
from mixoracle.background import Application, Background, ResolvedBackground
from mixoracle.decoding.explanation import Structure, structure_of
from mixoracle.errors import ModelContradictionError
from mixoracle.inference.alignment import aligned, choice_of_names
from mixoracle.inference.consistency import consistency
from mixoracle.inference.passes import Passes
from mixoracle.inference.refine import FindArrows, Refinement, refine
from mixoracle.inference.start import starting_states
from mixoracle.inference.state_order import reordered_codes, state_orders
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, ComponentSet, Joint, JointTable, LatentModel
from mixoracle.model.emptiness import are_possible, emptiness
from mixoracle.model.graphs import Edge
from mixoracle.model.joint import MANY_EMPTY
from mixoracle.model.joint_states import distinct_rows, states_of_cells
from mixoracle.oracles.candidate import Candidate, DecodedCounts, GraphCounts, weights_of
from mixoracle.oracles.protocol import InformedOracle, MixtureOracle
from mixoracle.oracles.run import Run

logger = logging.getLogger(__name__)

# Nats of evidence within which another candidate may turn out to be the better one once both are
# refined; e^10 to one is beyond what evidence of labels is off by.
WITHIN_EVIDENCE = 10.0
# Why an answer that explains less of the dependence was not taken: its better fit is no evidence.
COMPENSATES = "it has states that only compensate for the shape of a distribution"


@dataclass(frozen=True, eq=False)
class Solution:
    """A candidate, refined: Γ as knowledge corrected it, and where EM ended."""

    source: str
    counts: MixtureOracle
    known: Application
    refinement: Refinement
    repairs: tuple[str, ...]
    verdict: Verdict
    prepared: Prepared
    merit: float | None = None
    resolution: float = inf
    n_off: int = 0
    # Set where P(H) and the components are from more rows than the prepared ones.
    passes: Passes | None = None

    @property
    def graph(self) -> Bipartite:
        """Γ, corrected by knowledge."""
        return self.known.graph

    @property
    def score(self) -> float:
        """BIC, less what joint states that stay empty say against the model, or the merit."""
        if self.merit is not None:
            return self.merit
        joint = self.refinement.joint
        if not isinstance(joint, JointTable):  # nearly all of so many joint states have no rows
            return self.refinement.bic
        return self.refinement.bic - emptiness(joint.table * len(self.refinement.states))

    @property
    def n_rows(self) -> int:
        """The rows that P(H) is from."""
        return len(self.refinement.states) if self.passes is None else self.passes.n_rows

    @property
    def rank(self) -> tuple[int, int, float]:
        """Those that are as asked for, and contradict least of what is known, come first."""
        return self.n_off, self.known.n_broken, -self.score

    def why_not(self, best: Solution) -> str:
        """Why this solution was not taken, although it fits better; empty where it does not."""
        if self.refinement.bic <= best.refinement.bic:
            return ""
        if self.n_off > best.n_off:
            return "it does not have the number of causes or states that was asked for"
        if self.known.n_broken > best.known.n_broken:
            return "it contradicts the background knowledge"
        if self.merit is not None:
            return COMPENSATES
        return "it leaves joint states empty that should occur"

    @property
    def structure(self) -> Structure:
        """What two solutions share if they differ in the order of the latents only."""
        return structure_of(self.graph.adjacency, self.graph.domain_sizes)

    def in_own_units(self) -> tuple[Joint, tuple[ComponentSet, ...], Integers]:
        """P(H), the components, and the states (N, m) of the rows, states in their order."""
        graph, refined, prepared = self.graph, self.refinement, self.prepared
        found = [
            prepared.encoders[place].decode(refined.components[place]) for place in prepared.places
        ]
        orders = state_orders(refined.joint, graph, found, prepared)
        components = tuple(
            held.take(reordered_codes(graph, orders, i)) for i, held in enumerate(found)
        )
        states = prepared.in_own_order(refined.states)
        for j, order in enumerate(orders):
            states[:, j] = np.argsort(order)[states[:, j]]
        return (
            refined.joint.relabelled(range(graph.n_latent), [order.tolist() for order in orders]),
            components,
            states,
        )


@dataclass(frozen=True)
class Alternative:
    """Another candidate that was refined: its model, and how many nats its BIC is worse.

    The difference is negative where it fits better; ``rejected`` then says why it was not taken.
    Of an alternative that differs from the answer in one thing only, ``change`` says in what.
    """

    model: LatentModel
    bic: float
    bic_gap: float
    rejected: str = ""
    change: str = ""


def nats(difference: float) -> str:
    """A difference in BIC, without digits that nobody reads: ``7.25 nats``, ``13,233 nats``."""
    size = abs(difference)
    return f"{size:,.0f} nats" if size >= 100 else f"{size:.3g} nats"


@dataclass(frozen=True, eq=False)
class _Step:
    """Where steps (b) to (d) led for one candidate: Γ, states (N, m) of the rows, k(S)."""

    graph: Bipartite
    states: Integers
    counts: MixtureOracle


@dataclass(frozen=True, eq=False)
class Solver:
    """All that is the same for every candidate.

    ``method`` of step (b) is one of :func:`mixoracle.bipartite.recover` by name, or a function.
    With ``strict`` a contradiction is raised instead of reported. ``arrows`` finds Λ from the
    states of rows, where P(H) is a network.
    """

    prepared: Prepared
    known: ResolvedBackground
    method: bipartite.Method | Callable[[MixtureOracle], Bipartite]
    strict: bool
    max_iterations: int
    run: Run
    arrows: Callable[[Integers, tuple[int, ...], Application], frozenset[Edge]] | None = None

    def solve_all(self, candidates: Sequence[Candidate]) -> list[Solution]:
        """The candidates worth it and what is known beforehand, refined, best first.

        Where the best one leaves joint states empty, a single latent is tried beside it. It may
        win on its score, but not against what is known of several latents.
        """
        solutions: list[Solution] = []
        for candidate in self._worth_refining(candidates):
            if solutions and self.run.settings.clock.leaves_out("refining other candidates"):
                break
            solutions.append(self.solve(candidate))
        given = self._wholly_known()
        solutions += [] if given is None else [given]
        solutions = one_of_each(sorted(solutions, key=lambda solution: solution.rank))
        alone = self._single_latent(solutions[0])
        if alone is None:
            return solutions
        kept = 1 if self.known.names else 0
        others = sorted([*solutions[kept:], alone], key=lambda solution: solution.rank)
        return one_of_each([*solutions[:kept], *others])

    def solve(self, candidate: Candidate) -> Solution:
        """Steps (b) to (d) for one candidate, knowledge, then refinement."""
        decoded = candidate.graph is not None and self.method == "auto"
        trouble, recovered = "", None
        try:
            if decoded:
                step = self._by_decoding(candidate)
            else:
                recovered = self._recovered(candidate)
                step = self._by_counts(candidate, recovered)
        except ModelContradictionError as error:
            if self.strict:
                raise
            trouble = str(error)
            step = self._fallback(candidate, recovered)
        verdict = consistency(candidate, trouble, step.graph.residual)
        own = self
        if candidate.subcomponents is not None:
            own = replace(self, prepared=self.prepared.with_subcomponents(candidate.subcomponents))
        solution = own._refined(candidate.source, step, candidate.repairs, verdict)
        return replace(solution, merit=candidate.merit, resolution=candidate.resolution)

    def _recovered(self, candidate: Candidate) -> Bipartite:
        """Γ from the counts of a candidate."""
        if callable(self.method):
            return self.method(candidate.counts)
        tolerance = max(bipartite.EXACT, candidate.count_tolerance)
        rng = self.run.rng
        return bipartite.recover(
            candidate.counts, self.method, tolerance=tolerance, random_state=rng
        )

    def _by_counts(self, candidate: Candidate, graph: Bipartite) -> _Step:
        """L and Algorithm 1 for the joint state of each row, with Γ from the counts."""
        assigned = candidate.assign(graph)
        projection = assigned.counts.projection()
        component_at = latent.layout(projection.labels, graph.adjacency, graph.domain_sizes)
        state_of = np.empty(projection.n_components, dtype=np.int64)
        state_of[component_at.ravel()] = np.arange(component_at.size)
        states = states_of_cells(state_of[assigned.rows], graph.domain_sizes)
        return _Step(graph, states, assigned.counts)

    def _by_decoding(self, candidate: Candidate) -> _Step:
        """Γ as it was decoded, held against the counts; latents in the order of their children."""
        checked = candidate.graph
        assert checked is not None  # solve() looked
        # Counts that were read off this Γ agree with it, however many they are.
        if not (isinstance(candidate.counts, GraphCounts) and candidate.counts.graph is checked):
            checked = bipartite.check(checked, candidate.counts)
        order = bipartite.canonical_order(checked.adjacency, checked.domain_sizes)
        sizes = tuple(checked.domain_sizes[j] for j in order)
        states = candidate.states(checked)[:, order]
        graph = replace(checked, adjacency=checked.adjacency[:, order], domain_sizes=sizes)
        return _Step(graph, states, candidate.counts)

    def _fallback(self, candidate: Candidate, recovered: Bipartite | None) -> _Step:
        """A contradiction: the candidate's own Γ if it has one, else no latent at all.

        Counts that an oracle takes from Γ are then those of the Γ that was ``recovered``.
        """
        if candidate.graph is not None:
            return _Step(candidate.graph, candidate.states(candidate.graph), candidate.counts)
        logger.info("the oracle's counts fit no graph; falling back to no latent structure")
        shape = (self.prepared.n_observed, 0)
        nothing = Bipartite(np.zeros(shape, dtype=bool), (), 0.0, "none")
        states = np.zeros((self.prepared.n_samples, 0), dtype=np.int64)
        counts = candidate.counts
        if isinstance(counts, InformedOracle):
            counts = counts.informed_by(nothing if recovered is None else recovered)
        return _Step(nothing, states, counts)

    def _worth_refining(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The best candidates of each source, those that honour more of what is known first.

        A few of them, and all that the evidence hardly tells from the best one.
        """
        chosen: list[Candidate] = []
        for source in dict.fromkeys(candidate.source for candidate in candidates):
            own = [candidate for candidate in candidates if candidate.source == source]
            own.sort(
                key=lambda candidate: (self._n_off(candidate.graph), self._n_broken(candidate))
            )
            few, best = self.run.settings.budget.candidates, own[0].strength
            tolerated = self.run.settings.priors.hopeless_candidate * self.prepared.n_samples
            chosen += [c for c in own[:few] if c.strength >= best - tolerated]
            chosen += [c for c in own[few:] if c.strength >= best - WITHIN_EVIDENCE]
        return chosen

    def _n_off(self, graph: Bipartite | None) -> int:
        """How many latents or states are not as asked for, as far as a candidate shows its Γ."""
        return 0 if graph is None else self.run.wanted.distance(graph.domain_sizes)

    def _n_broken(self, candidate: Candidate) -> int:
        """How much of what is known a candidate cannot honour, as far as it shows its Γ."""
        return 0 if candidate.graph is None else self._applied(candidate.graph).n_broken

    def _applied(self, graph: Bipartite) -> Application:
        """Γ corrected by what is known, its latents named."""
        taken = (*self.known.observed_names, *self.known.names)
        return self.known.applied_to(graph, _latent_names(graph.n_latent, taken))

    def _wholly_known(self) -> Solution | None:
        """The solution that is known beforehand, if the knowledge is complete."""
        graph = self.known.whole_graph()
        if graph is None:
            return None
        states = starting_states(
            self.prepared,
            graph.adjacency[self.prepared.variables],
            graph.domain_sizes,
            self.run.rng,
            self.run.settings,
        )
        verdict = Verdict("consistent counts", "obs:counting", None, "Γ was known, not counted")
        return self._refined("knowledge", self._given(graph, states), (), verdict)

    def _single_latent(self, solution: Solution) -> Solution | None:
        """One latent for all joint states that occur, where some of several latents' do not."""
        joint = solution.refinement.joint
        if solution.merit is not None or not isinstance(joint, JointTable):
            # A single latent was judged beside it, or would have a state for nearly every row.
            return None
        if solution.graph.n_latent < 2 or len(joint.nearly_empty()) < MANY_EMPTY * joint.n_joint:
            return None
        states, settings = solution.refinement.states, self.run.settings
        _, own, counts = distinct_rows(states)
        n_states = len(counts)
        if not 2 <= n_states <= settings.budget.compared:
            return None
        # Latents that depend on each other strongly leave many empty without being one.
        if are_possible(states, joint.domain_sizes, settings.priors):
            return None
        driven = np.asarray(solution.graph.adjacency.any(axis=1, keepdims=True))
        graph = Bipartite(driven, (n_states,), 0.0, "single latent")
        verdict = Verdict("consistent counts", "obs:counting", True, "a single latent always fits")
        # What is known of several latents says nothing about the one that stands for all.
        alone = replace(self, known=Background().resolved(self.known.observed_names))
        return alone._refined(solution.source, self._given(graph, own[:, None]), (), verdict)

    def changed(self, before: Solution, graph: Bipartite, states: Integers) -> Solution:
        """The solution that another Γ and other states (N, m) of the prepared rows lead to."""
        changes = "Γ and the states were changed after decoding, because others fit better"
        step = self._given(graph, states)
        if isinstance(before.counts, DecodedCounts):
            weights = weights_of(step.states, graph.domain_sizes)
            step = replace(step, counts=replace(before.counts, graph=graph, weights=weights))
        verdict = Verdict("consistent counts", "obs:counting", True, changes)
        return self._refined(before.source, step, (changes,), verdict)

    def _given(self, graph: Bipartite, states: Integers) -> _Step:
        """A Γ with states of prepared rows that no oracle gave, in the form in which they do."""
        own = self.prepared.in_own_order(states)
        return _Step(graph, own, GraphCounts(graph, weights_of(own, graph.domain_sizes)))

    def _refined(
        self, source: str, step: _Step, repairs: tuple[str, ...], verdict: Verdict
    ) -> Solution:
        applied = self._applied(step.graph)
        adjacency = applied.graph.adjacency[self.prepared.variables]
        refinement = refine(
            self.prepared,
            adjacency,
            step.graph.domain_sizes,
            step.states[self.prepared.rows],
            self.max_iterations,
            self.run.settings,
            self._arrows_of(applied),
        )
        sizes = " × ".join(map(str, step.graph.domain_sizes)) or "no latent"
        logger.info("candidate of %s: %s, BIC %.1f", source, sizes, refinement.bic)
        refinement, chosen = aligned(
            adjacency, step.graph.domain_sizes, refinement, self.prepared.blocks
        )
        names = applied.latent_names
        choices = (choice_of_names(names[j], [names[q] for q in over]) for j, over in chosen)
        return Solution(
            source,
            step.counts,
            applied,
            refinement,
            (*repairs, *choices),
            verdict,
            self.prepared,
            n_off=self._n_off(applied.graph),
        )

    def _arrows_of(self, applied: Application) -> FindArrows | None:
        """How Λ is found from the states of rows, given what is known of it."""
        if self.arrows is None:
            return None
        find = self.arrows
        return lambda states, sizes: find(states, sizes, applied)


def one_of_each(solutions: list[Solution]) -> list[Solution]:
    """The first solution of each Γ with its domain sizes: two oracles may come to the same."""
    kept: dict[object, Solution] = {}
    for solution in solutions:
        kept.setdefault(solution.structure, solution)
    return list(kept.values())


def _latent_names(n_latent: int, taken: Iterable[str]) -> tuple[str, ...]:
    """H1, H2, …; with a longer prefix if one of these names is taken."""
    prefix, used = "H", set(taken)
    while any(f"{prefix}{j + 1}" in used for j in range(n_latent)):
        prefix += "_"
    return tuple(f"{prefix}{j + 1}" for j in range(n_latent))
