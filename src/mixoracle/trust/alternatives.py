"""What else the data allow: other candidates, and answers that differ in one thing only.

A candidate of an oracle is a whole answer of its own. Where labels fit at once there is only one,
and all the same not everything about it need be certain. So whatever the evidence leaves open, with
all else as found, is another answer: an edge of Γ more or less, two states that may be one
(:mod:`~mixoracle.trust.drives`), another class of Λ. The first two are refined by EM as the answer
was, and compared with it by BIC. Classes of Λ share P(H), which has the same BIC under each of
them; they are compared by the evidence of their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log, prod

import numpy as np

from mixoracle._arrays import Bools, Integers
from mixoracle.decoding.explanation import Proposal
from mixoracle.decoding.parents import join_twins
from mixoracle.model import CPDAG, Bipartite, JointTable, LatentModel
from mixoracle.model.joint_states import numbered_columns
from mixoracle.solving import Alternative, Solution, Solver
from mixoracle.structure import can_average, close_classes
from mixoracle.trust.drives import Drives
from mixoracle.trust.edges import SURE
from mixoracle.trust.latent_search import LatentSearch

# Nats that two classes may be apart: the odds at which an edge is no longer open.
_WITHIN = log(SURE / (1.0 - SURE))
# Rows times observed variables times joint states of all that is refined: about a second.
_MOST_WORK = 20_000_000
# Searches whose answer is the best class by the evidence, with a charge for edges.
_BY_SCORE = ("auto", "exact")
# Why an answer that fits better by BIC was not taken, if the evidence is against it, and if not.
_LESS_EVIDENCE = "its components have less evidence"
_MORE_EVIDENCE = "the search did not lead to it"
_MORE_EDGES = "an edge more has to gain more than chance would"

Build = Callable[[Solution], tuple[LatentModel, Integers]]


def other_candidates(
    solutions: Sequence[Solution], models: Sequence[tuple[LatentModel, Integers]]
) -> tuple[Alternative, ...]:
    """All solutions but the first, with their models."""
    best = solutions[0]
    return tuple(
        _alternative(other, model, best)
        for other, (model, _) in zip(solutions[1:], models[1:], strict=True)
    )


def one_thing_else(
    solver: Solver,
    solutions: Sequence[Solution],
    drives: Drives,
    model: LatentModel,
    build: Build,
    search: LatentSearch,
) -> tuple[Alternative, ...]:
    """The answers that differ in one thing from the first solution, whose model is given.

    Best first, and without those that are among the solutions.
    """
    solution = solutions[0]
    held: list[Alternative] = []
    if solution.passes is None:  # else its BIC is that of rows that are not at hand
        iterations, budget = solver.max_iterations, solver.run.settings.budget
        if not isinstance(solution.refinement.joint, JointTable):
            # With so many joint states an iteration takes long, and one change needs but a few.
            iterations = min(iterations, budget.em_short)
        own = replace(solver, prepared=solution.prepared, max_iterations=iterations)
        held += _refined(own, solutions, drives, build)
    if search.step in _BY_SCORE:
        held += _classes(solution, model)
    return tuple(sorted(held, key=lambda other: other.bic_gap))


def _alternative(other: Solution, model: LatentModel, best: Solution) -> Alternative:
    bic = other.refinement.bic
    return Alternative(model, bic, best.refinement.bic - bic, other.why_not(best))


@dataclass(frozen=True, eq=False)
class _Change:
    """One thing else: what, how probable it is, Γ, and states (N, m) of the prepared rows."""

    words: str
    share: float
    adjacency: Bools
    states: Integers


def _is_open(share: float) -> bool:
    """Whether the evidence neither claims a change of this probability nor rules it out."""
    return 1.0 - SURE < share < SURE


def _refined(
    solver: Solver, solutions: Sequence[Solution], drives: Drives, build: Build
) -> Iterator[Alternative]:
    """What is open about Γ and the states, the most probable first, each refined."""
    solution = solutions[0]
    graph, states = solution.graph, solution.refinement.states
    changes = [*_edges(solution, drives), *_merged(solution, drives)]
    changes.sort(key=lambda change: -change.share)
    work = len(states) * len(graph.adjacency) * prod(graph.domain_sizes)
    seen = {held.structure for held in solutions}
    for change in changes[: max(1, _MOST_WORK // work)]:
        if solver.run.settings.clock.leaves_out("answers that differ in one thing"):
            return
        sizes = graph.domain_sizes
        if change.states is not states:
            sizes = Proposal.of_all(change.states).domain_sizes
        other = Bipartite(change.adjacency, sizes, 0.0, "changed")
        refined = solver.changed(solution, other, change.states)
        if refined.structure in seen:  # a candidate, or knowledge made it the same
            continue
        seen.add(refined.structure)
        found = _alternative(refined, build(refined)[0], solution)
        rejected = _MORE_EVIDENCE if change.share > 0.5 else _LESS_EVIDENCE
        words = _with_causes(change, graph.n_latent)
        yield replace(found, rejected=found.rejected and rejected, change=words)


def _edges(solution: Solution, drives: Drives) -> Iterator[_Change]:
    """Each edge of Γ that is open turned into none, or the other way round."""
    adjacency, states = solution.graph.adjacency, solution.refinement.states
    latents, observed = solution.known.latent_names, solution.prepared.observations.names
    shares = np.where(adjacency, 1.0 - drives.edges, drives.edges)
    for i, j in np.ndindex(adjacency.shape):
        share = float(shares[i, j])
        if not _is_open(share):
            continue
        changed = adjacency.copy()
        changed[i, j] = not changed[i, j]
        words = f"{latents[j]} {'also drives' if changed[i, j] else 'does not drive'} {observed[i]}"
        joined, own = join_twins(changed, states)
        own = states if joined.shape == changed.shape else numbered_columns(own)
        yield _Change(words, share, joined, own)


def _merged(solution: Solution, drives: Drives) -> Iterator[_Change]:
    """The two states of each latent that are most nearly one made one, where that is open."""
    graph, states = solution.graph, solution.refinement.states
    for j, (one, other) in enumerate(drives.nearest):
        share = float(1.0 - drives.states[j])
        if not _is_open(share):
            continue
        name, size = solution.known.latent_names[j], graph.domain_sizes[j]
        adjacency, own = graph.adjacency, states.copy()
        own[own[:, j] == other, j] = one
        words = f"{name} has {size - 1} states instead of {size}"
        if size == len((one, other)):
            adjacency, own = np.delete(adjacency, j, axis=1), np.delete(own, j, axis=1)
            words = f"{name} is no cause of its own"
        yield _Change(words, share, adjacency, numbered_columns(own))


def _with_causes(change: _Change, n_latent: int) -> str:
    """The change in words, with the number of causes where that changes, too."""
    left = change.adjacency.shape[1]
    if left == n_latent:
        return change.words
    return f"{change.words}, which leaves {left} hidden cause{'' if left == 1 else 's'}"


def _classes(solution: Solution, model: LatentModel) -> Iterator[Alternative]:
    """The other classes of Λ that score nearly as well."""
    joint, known, bic = model.joint, solution.known.edges, solution.refinement.bic
    if model.n_latent < 2 or not can_average(joint):
        return
    names, rows = model.latent_names, solution.n_rows
    for graph, gap in close_classes(joint, rows, known, names=names, within=_WITHIN):
        if graph != model.latent_graph:
            words = _other_edges(model.latent_graph, graph, names)
            other, rejected = replace(model, latent_graph=graph), _MORE_EDGES if gap < 0 else ""
            yield Alternative(other, bic - gap, gap, rejected, words)


def _other_edges(here: CPDAG, there: CPDAG, names: Sequence[str]) -> str:
    """In which edges two classes differ."""
    parts = []
    for pair in sorted(map(sorted, here.skeleton | there.skeleton)):
        edge, counter = (_edge(graph, pair[0], pair[1], names) for graph in (here, there))
        if edge != counter and edge and counter:
            parts.append(f"{counter} instead of {edge}")
        elif edge != counter:
            ends = f"{names[pair[0]]} and {names[pair[1]]}"
            parts.append(f"also {counter}" if counter else f"no edge between {ends}")
    return "; ".join(parts)


def _edge(graph: CPDAG, a: int, b: int, names: Sequence[str]) -> str:
    if (a, b) in graph.directed:
        return f"{names[a]} → {names[b]}"
    if (b, a) in graph.directed:
        return f"{names[b]} → {names[a]}"
    return f"{names[a]} — {names[b]}" if frozenset((a, b)) in graph.undirected else ""
