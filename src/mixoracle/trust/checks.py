"""What data can show of the assumptions: they hold, they fail, or they cannot be seen.

:mod:`mixoracle.assumptions` decides about a model that is given. Of a learned one less is known: a
joint state without a case may be rare or impossible, two causes that drive the same measurements
look like one with more states, and a single measurement shows nothing about dependence. Such
verdicts are corrected here, before anybody relies on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import comb, gammaln

from mixoracle import assumptions
from mixoracle._arrays import Bools, Floats
from mixoracle.assumptions import Verdict
from mixoracle.assumptions.verdict import few, listed, sentences_of, state_names
from mixoracle.background.agreement import agreement
from mixoracle.errors import NotExtendableError
from mixoracle.inference import residuals, rival
from mixoracle.model import Bipartite, LatentModel
from mixoracle.model.elimination import eliminate
from mixoracle.model.factorisation import Truncation
from mixoracle.model.network import parents_of
from mixoracle.oracles.candidate import Candidate
from mixoracle.solving import Solution, Solver
from mixoracle.trust.asked import as_asked

# The chance at which some joint state is called impossible that is only rare.
FALSE_ALARM = 0.01
# The share of a case that EM may leave to a joint state that has none.
_NO_CASE = 1e-3


def of_answer(
    model: LatentModel,
    solutions: Sequence[Solution],
    solver: Solver,
    candidates: Sequence[Candidate],
    alike: Bools,
) -> tuple[Verdict, ...]:
    """All verdicts on the best of these solutions, whose model is given.

    ``candidates`` are what the data alone show, ``alike`` (n,) the variables that look the same in
    some states of their parents.
    """
    best, settings = solutions[0], solver.run.settings
    prepared = best.prepared
    verdicts = (
        *(functions(model, verdict, alike) for verdict in check(model, prepared.n_samples)),
        best.verdict,
        *residuals.check(prepared, best.graph, best.refinement, settings),
        rival.check(prepared, best.graph, best.refinement, settings),
        *([best.known.verdict] if solver.known.names else []),
        *agreement(solver.known, _shown_by_data(candidates, [s.source for s in solutions])),
        *([as_asked(solutions, solver.run.wanted)] if solver.run.wanted else []),
    )
    return as_far_as_seen(verdicts, model)


def _shown_by_data(candidates: Sequence[Candidate], sources: Sequence[str]) -> Bipartite | None:
    """Γ of the best candidate with latents, from the source of the best solutions if it has one."""
    graphs = [(own.source, own.graph) for own in candidates if own.graph is not None]
    order = [*sources, *(source for source, _ in graphs)]
    graphs.sort(key=lambda held: (held[1].n_latent == 0, order.index(held[0])))
    return graphs[0][1] if graphs else None


def check(model: LatentModel, n_samples: int) -> tuple[Verdict, ...]:
    """Every assumption about a learned model, as far as ``n_samples`` cases show it."""

    def corrected(verdict: Verdict) -> Verdict:
        if model.n_latent == 0:
            return replace(verdict, holds=None, message="There is no hidden cause to look at.")
        if verdict.label == "assump:strong:NZ":
            return occurrence(model, n_samples, verdict)
        return hidden_twins(model, verdict) if verdict.label == "assm:twins" else verdict

    return tuple(map(corrected, assumptions.check(model)))


def as_far_as_seen(verdicts: Sequence[Verdict], model: LatentModel) -> tuple[Verdict, ...]:
    """The same verdicts, but what has nothing to compare with is not confirmed.

    That is a single measurement; and without latents, components of measurements of which no two
    are dependent are no counts that should fit together.
    """
    alone = "A single measurement cannot show it: there is no other to compare with."
    apart = (
        "Measurements have several components each, but no two are dependent: shapes, or causes "
        "that show in one measurement alone."
    )
    if model.n_observed == 1:
        return tuple(
            replace(verdict, holds=None, message=alone) if verdict.holds else verdict
            for verdict in verdicts
        )
    independent = any(verdict.label == "sec:bg" and verdict.holds for verdict in verdicts)
    if model.n_latent or not independent:
        return tuple(verdicts)
    return tuple(
        replace(verdict, holds=None, message=apart, offenders=())
        if verdict.label == "obs:counting" and verdict.holds is False
        else verdict
        for verdict in verdicts
    )


def hidden_twins(model: LatentModel, verdict: Verdict) -> Verdict:
    """Twins that were merged: a latent whose number of states is no prime could be two."""
    if verdict.holds is not True:
        return verdict
    clauses = []
    for name, size in zip(model.latent_names, model.domain_sizes, strict=True):
        divisor = next((d for d in range(2, int(size**0.5) + 1) if size % d == 0), None)
        if divisor is not None:
            clauses.append(
                f"the cause {name} may be one with {size} states, or two with {divisor} and "
                f"{size // divisor} that drive the same measurements: these data cannot tell"
            )
    return replace(verdict, holds=None, message=sentences_of(clauses)) if clauses else verdict


def functions(model: LatentModel, verdict: Verdict, alike: Bools) -> Verdict:
    """Nondegeneracy (b): variables that do not tell all states of their parents apart.

    The parents may act together, as where it takes both; or a further latent drives them that
    follows from the parents, and has no joint states of its own.
    """
    if verdict.label != "assump:strong:SDC" or verdict.holds is not True or not alike.any():
        return verdict
    names = [name for name, is_alike in zip(model.observed_names, alike, strict=True) if is_alike]
    message = (
        f"Some states of the causes look the same in {few(names)}. These causes may act together, "
        "or a further one that follows from them may be what is seen there: these data cannot tell."
    )
    return replace(verdict, holds=None, message=message)


def occurrence(model: LatentModel, n_samples: int, verdict: Verdict) -> Verdict:
    """Nondegeneracy (a): joint states that cannot occur, not those that did not occur yet.

    A joint state without a case is called impossible if so many cases were to be expected that none
    is next to impossible: by Λ, and for a latent with its parents if they were independent. They
    are not, so the evidence must besides be for parents that rule states out. A network says no
    more than its families do, so they are looked at alone; its counts are smoothed, and no case is
    less than one.
    """
    families = [model.joint.marginal(latents).table for latents in model.joint.families()]
    whole = len(families) == 1
    most = (_NO_CASE if whole else 1.0) / n_samples
    n_empty = sum(int(np.sum(table <= most)) for table in families)
    if n_empty == 0:
        return verdict
    n_states = sum(table.size for table in families)
    which = "joint states" if whole else "states of a cause and its parents"
    found: dict[tuple[str, ...], float] = {}
    limit = float(np.log(n_states / FALSE_ALARM))
    for latents, expected in _expectations(model, n_samples, most, whole=whole):
        seen = model.joint.marginal(latents).table
        for state in np.argwhere((seen <= most) & (n_samples * expected > limit)):
            named = state_names(model, latents, state)
            found[named] = n_samples * float(expected[tuple(state)])
    if not found:
        message = (
            f"{n_empty:,} of {n_states:,} {which} have no case, but so few were to be "
            "expected in each that none of them can be called impossible."
        )
        return replace(verdict, holds=None, message=message, offenders=())
    clauses = [
        f"the joint state {listed(state)} never occurs, though {cases:.0f} cases were expected"
        for state, cases in sorted(found.items(), key=lambda item: -item[1])
    ]
    together = f"several may be one with {n_states - n_empty} states" if whole else "a part of one"
    message = (
        f"{sentences_of(clauses)} A cause may be a function of others, or {together}: these data "
        "cannot tell."
    )
    return replace(verdict, holds=False, message=message, offenders=tuple(found))


def _rules_out(table: Floats, n_samples: int, most: float) -> bool:
    """Whether the parents rule out some states of a latent, (states, *parents), rather than none.

    The evidence of a latent that has some of its states in each configuration, any number being as
    likely, against one that has all of them; their probabilities are uniform in either case.
    """
    n_states = len(table)
    held = table.reshape(n_states, -1)
    held = held[:, (held > most).any(axis=0)]
    rows, n_seen = n_samples * held.sum(axis=0), (held > most).sum(axis=0)
    gain = gammaln(n_seen) - gammaln(rows + n_seen) - gammaln(n_states) + gammaln(rows + n_states)
    gain -= np.log(n_states * comb(n_states, n_seen))
    return bool(gain.sum() > 0)


def _expectations(
    model: LatentModel, n_samples: int, most: float, *, whole: bool
) -> list[tuple[tuple[int, ...], Floats]]:
    """Sets of latents with the probability that each of their joint states should have.

    A latent that seems to have states ruled out, with its parents, as if they were independent;
    with ``whole``, also all of them together, as Λ has it.
    """
    try:
        edges = model.latent_graph.extension()
    except NotExtendableError:
        edges = frozenset()
    tables = []
    for j, above in enumerate(parents_of(edges, model.n_latent)):
        if above and _rules_out(model.joint.marginal((j, *above)).table, n_samples, most):
            own, given = (model.joint.marginal(held).table for held in ([j], above))
            tables.append(((j, *above), np.multiply.outer(own, given)))
    if whole and model.n_latent:
        everyone = tuple(range(model.n_latent))
        factors = Truncation(model.joint).factors(edges)
        tables.append((everyone, eliminate(factors, everyone, model.domain_sizes)))
    return tables
