"""All labels together to one consistent explanation: latents, their states, Γ.

Components over X with their labels say which latents there are, if the labels are right. If they
are not, several proposals are made, each leaving some of them out, completed to a consistent
explanation and scored by the evidence of the whole model (:mod:`~mixoracle.decoding.proposals`,
:mod:`~mixoracle.decoding.completion`, :mod:`~mixoracle.decoding.evidence`). The best one is
improved by moves (:mod:`~mixoracle.decoding.moves`); all that were found are candidates.

Assumes that most of the rows are in components that are labelled right in most variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from math import prod

import numpy as np

from mixoracle.decoding.completion import complete
from mixoracle.decoding.evidence import explains_labels, score
from mixoracle.decoding.explanation import Explanation, Structure
from mixoracle.decoding.impossible import without_impossible
from mixoracle.decoding.moves import LEAST_GAIN, affordable_evaluations, climb
from mixoracle.decoding.proposals import last_resorts, proposals, without_rarest
from mixoracle.decoding.wanted import Wanted, nearest_wanted
from mixoracle.decoding.within import within_states
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Settings


def decode(
    table: ComponentTable,
    settings: Settings = Settings(),
    *,
    climbs: bool = True,
    wanted: Wanted = Wanted(),
) -> list[Explanation]:
    """All explanations found, best evidence first, one for each structure.

    Without ``climbs`` they are left as proposed: where the evidence is not to be relied on,
    raising it further is no use. What is ``wanted`` is among them if it can be reached from the
    best ones.

    One latent whose states are the components over X, and no latent at all, are always among
    them, unless all labels fit together at once. Then simpler ones are, if there are some that fit
    all labels but those of rare components.
    """
    proposed = _complete_proposals(table, settings)
    found: dict[Structure, Explanation] = {}
    for explanation in proposed:
        _keep_better(found, explanation)
    starts = _starts(table, proposed, found, settings)
    if climbs:
        _improve(table, found, starts, settings)
    if wanted:
        _add_wanted(table, found, wanted, settings)
    n_agreed = Counter(explanation.structure for explanation in proposed)
    explanations = [
        replace(explanation, n_agreed=n_agreed[structure], n_proposals=len(proposed))
        for structure, explanation in found.items()
    ]
    return sorted(explanations, key=lambda explanation: -explanation.log_evidence)


def improved(
    table: ComponentTable, explanations: list[Explanation], settings: Settings = Settings()
) -> list[Explanation]:
    """Explanations by their evidence in another table of the same components, and a better one.

    The best of them is where the search for a better one starts. If it ends at one that needs more
    components of a variable than the table allows, it goes on from there to one that does not,
    unless rows out of place could not be worth that much: then components of several configurations
    are alike, as where one cause is a function of others.
    """
    free = replace(table, most=None)
    found = _improved_from_best(free, explanations, settings)
    if table.most is None:
        return _of_any_shape(table, found, settings)
    best = _best_of(found)
    if _rescored(table, best, settings).log_evidence > -np.inf:
        return found
    allowed = _improved_from_best(table, [best], settings) + [
        _rescored(table, held, settings) for held in found
    ]
    hopeless = settings.priors.hopeless_candidate * float(table.counts.sum())
    return [
        held
        for held in allowed
        if held.log_evidence > -np.inf
        and _rescored(free, held, settings).log_evidence >= best.log_evidence - hopeless
    ] or found


def _of_any_shape(
    table: ComponentTable, found: list[Explanation], settings: Settings
) -> list[Explanation]:
    """What evidence that ignores shapes leaves to find, and what it cannot decide.

    If the best explanation has a latent which drives everything, others are sought within its
    states. Of latents that exclude each other one is made, unless the evidence speaks against it.
    """
    if _best_of(found).adjacency.all(axis=0).any():
        inside = within_states(table, found, _decoded, settings)
        best = _best_of([*found, *inside])
        if any(held is best for held in inside):
            found = _improved_from_best(table, [*found, *inside], settings)
    best = _best_of(found)
    return [
        without_impossible(table, best, settings),
        *(held for held in found if held is not best),
    ]


def _improved_from_best(
    table: ComponentTable, explanations: list[Explanation], settings: Settings
) -> list[Explanation]:
    found: dict[Structure, Explanation] = {}
    for held in explanations:
        _keep_better(found, _rescored(table, held, settings))
    _improve(table, found, [_best_of(found.values())], settings)
    return list(found.values())


def _best_of(explanations: Iterable[Explanation]) -> Explanation:
    return max(explanations, key=lambda explanation: explanation.log_evidence)


def _decoded(table: ComponentTable, settings: Settings) -> Explanation:
    return decode(table, settings)[0]


def _rescored(table: ComponentTable, held: Explanation, settings: Settings) -> Explanation:
    judged = score(table, held.adjacency, held.domain_sizes, held.assignment, settings)
    return replace(held, log_evidence=judged.log_evidence)


def _complete_proposals(table: ComponentTable, settings: Settings) -> list[Explanation]:
    """Complete proposals while they get better; one that fits all labels is enough."""
    explanations: list[Explanation] = []
    best, waited = -np.inf, 0
    for proposal in proposals(table, settings):
        waited += 1
        if proposal is not None:
            explanation = complete(table, proposal, settings)
            if explanation.is_consistent:
                return [*_simpler(table, explanation, settings), explanation]
            explanations.append(explanation)
            if explanation.log_evidence > best:
                best, waited = explanation.log_evidence, 0
        if waited >= settings.budget.patience:
            break
        if explanations and settings.clock.leaves_out("further proposals for the causes"):
            break
    return explanations


def _simpler(table: ComponentTable, fitting: Explanation, settings: Settings) -> list[Explanation]:
    """Explanations by fewer joint states that fit all labels but those of rare components.

    Rows out of place may occur in every way there is. Their labels then fit together too, by a
    latent for each of the variables that they are out of place in.
    """
    found = []
    for proposal in without_rarest(table, settings):
        if prod(proposal.domain_sizes) >= prod(fitting.domain_sizes):
            continue
        simpler = complete(table, proposal, settings)
        codes = configurations(simpler.adjacency, simpler.domain_sizes)
        kept = proposal.kept
        if explains_labels(table.labels[kept], simpler.assignment[kept], codes, settings):
            found.append(simpler)
    return found


def _starts(
    table: ComponentTable,
    proposed: list[Explanation],
    found: dict[Structure, Explanation],
    settings: Settings,
) -> list[Explanation]:
    """Where to climb from; puts the last resorts among those found unless all labels fit."""
    if proposed and proposed[-1].is_consistent:
        return [proposed[-1]] if _leaves_states_unseen(proposed[-1]) else []
    everything, nothing = (
        complete(table, last, settings) for last in last_resorts(table.n_components)
    )
    for explanation in (everything, nothing):
        _keep_better(found, explanation)
    best = max(found.values(), key=lambda explanation: explanation.log_evidence)
    # One latent for everything takes no label for granted: where many are wrong it is the better
    # one to start from.
    return [best] if best is everything else [best, everything]


def _leaves_states_unseen(explanation: Explanation) -> bool:
    """Whether a joint state has no rows, which the model forbids (``assump:strong``)."""
    return len(np.unique(explanation.assignment)) < prod(explanation.domain_sizes)


def _improve(
    table: ComponentTable,
    found: dict[Structure, Explanation],
    starts: list[Explanation],
    settings: Settings,
) -> None:
    """Climb from each start, each with an equal share of what the others left over."""
    left = affordable_evaluations(table, settings)
    for n_starts, start in zip(range(len(starts), 0, -1), starts, strict=True):
        reached, evaluated = climb(table, start, left // n_starts, settings)
        left -= evaluated
        _keep_better(found, reached)


def _add_wanted(
    table: ComponentTable,
    found: dict[Structure, Explanation],
    wanted: Wanted,
    settings: Settings,
) -> None:
    """From the best explanation and from the nearest one to the best that is as asked for."""
    best = max(found.values(), key=lambda explanation: explanation.log_evidence)
    nearest = min(found.values(), key=lambda held: wanted.distance(held.domain_sizes))
    share = affordable_evaluations(table, settings) // 2
    for start in {id(held): held for held in (best, nearest)}.values():
        _keep_better(found, nearest_wanted(table, start, wanted, share, settings))


def _keep_better(found: dict[Structure, Explanation], explanation: Explanation) -> None:
    """One explanation for each structure; the earlier one stays unless the later is better."""
    held = found.get(explanation.structure)
    if held is None or explanation.log_evidence > held.log_evidence + LEAST_GAIN:
        found[explanation.structure] = explanation
