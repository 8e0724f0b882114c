"""Our default oracle: every latent leaves its signature in the labels of single variables.

Under nondegeneracy the component of X_i *is* the configuration of pa(X_i), so one mixture for
each observed variable is enough: its labels, put together, are the map L. What one variable
alone cannot tell apart, the others can: the components over all of X are found first as label
tuples, each variable is then cut along them and its pieces are merged by evidence, and all labels
together are decoded to one consistent answer. What was repaired for that is reported.

Assumes that most variables show their components on their own. Where some do not, or less is seen
than was asked for, the candidates of :class:`~mixoracle.oracles.projection.ProjectionOracle` stand
beside its own. ``docs/method.md`` has the whole method.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mixoracle._threads import one_thread
from mixoracle.labels.association import Association
from mixoracle.labels.labelling import Labelling
from mixoracle.labels.together import share_moved
from mixoracle.mixtures.dependence import depend_on_others
from mixoracle.mixtures.preparation import Prepared
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.decoded import Decoded, DecodingOracle
from mixoracle.oracles.projection import ProjectionOracle
from mixoracle.oracles.resolution import Search, by_merit
from mixoracle.oracles.run import Run

logger = logging.getLogger(__name__)

_SOURCE = "signature"


class SignatureOracle(DecodingOracle):
    """Learns k(S) and L from one mixture for each observed variable.

    Parameters and attributes are those of :class:`~mixoracle.oracles.decoded.DecodingOracle`. Where
    variables are cut does not depend on the learner's seed, but on ``random_state`` alone if that
    is given.

    Examples
    --------
    >>> from mixoracle.datasets import paper_problem
    >>> problem = paper_problem(1, 3, 4, n_samples=500, random_state=1, covariance="code")
    >>> oracle = SignatureOracle(random_state=0).fit(problem.observations)
    >>> oracle.count([0, 1, 2]) == problem.model.domain_sizes[0]
    True
    """

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        rng = run.generator_of_start(self.random_state)
        run = run.with_own(self.max_components, self.n_jobs, rng)
        # Sums over threads depend on their number; one thread keeps every n_jobs at one answer.
        with one_thread():
            search = Search.of(prepared.for_search(), run)
            if run.resolution is not None and run.resolution != "auto":
                # Full evidence, as the BIC of the refined model, would choose the finest again.
                given = search.at(run.resolution).candidates(_SOURCE, run)
                return by_merit(replace(held, merit=held.log_evidence) for held in given)
            alone = search.alone()
            # First: of many variables some merge components, which looks like a wrong family.
            quick = search.local(alone)
            if quick is not None:
                return (quick.candidate(_SOURCE, run),)
            found = _from_labels(search, alone)
        is_enough = not found.unseen and _n_off(found.candidates[0], run) == 0
        if is_enough or run.settings.clock.leaves_out("one mixture over all measurements"):
            return found.candidates
        logger.info("on their own these show no components: %s", ", ".join(found.unseen) or "none")
        others = ProjectionOracle().candidates(prepared, run)
        if found.association is None:
            return (*found.candidates, *others)
        near = sorted(others, key=lambda other: _n_off(other, run))
        judged = (
            search.judged(other, found.association)
            for other in near[: run.settings.budget.candidates]
        )
        return search.of_any_shape([*found.candidates, *judged], found.association)


class _Found(NamedTuple):
    """Candidates, what they were judged by, and the variables that do not show their components."""

    candidates: tuple[Candidate, ...]
    association: Association | None = None
    unseen: tuple[str, ...] = ()


def _from_labels(search: Search, alone: Labelling) -> _Found:
    """What the labels of single variables show, at several resolutions where these are too fine."""
    run = search.run
    is_open = run.resolution == "auto" and search.prepared.n_observed > 1
    if is_open and search.has_shattered(alone):
        association = search.association(alone)
        return _Found(_judged(search, search.coarser(), association), association)
    finest, is_wrong = search.finest(alone)
    found = finest.candidates(_SOURCE, run)
    was_repaired = bool(found[0].repairs)
    unseen = not_identifiable(finest, was_repaired, is_wrong, run)
    # Labels that fit at once have one explanation, unless a simpler one fits nearly all.
    is_doubtful = was_repaired or (len(finest.explanations) > 1 and not run.wanted)
    if not is_open or not (is_wrong or (is_doubtful and _are_seen_alone(finest, run))):
        return _Found(found, None, unseen)
    association = search.association(alone, None if is_wrong else finest)
    levels = [finest, *(search.coarser() if is_wrong else ())]
    return _Found(_judged(search, levels, association), association, unseen)


def _n_off(candidate: Candidate, run: Run) -> int:
    """How many latents or states are not as asked for."""
    return 0 if candidate.graph is None else run.wanted.distance(candidate.graph.domain_sizes)


def _judged(
    search: Search, levels: Iterable[Decoded], association: Association
) -> tuple[Candidate, ...]:
    """The candidates of all resolutions, best first."""
    found = (
        candidate
        for level in levels
        for candidate in level.candidates(_SOURCE, search.run, association)
    )
    return search.of_any_shape(found, association)


def _are_seen_alone(finest: Decoded, run: Run) -> bool:
    """Whether nearly all rows of numbers have the label that their variable gives them on its own.

    If labels do not fit together all the same, it is not because components overlap: then rows
    are out of place.
    """
    labelling, most = finest.labelling, run.settings.priors.left_out_share
    for variable, before, after in zip(
        finest.rows, labelling.alone.T, labelling.labels.T, strict=True
    ):
        measured = ~np.isnan(variable.block).any(axis=1)
        if not variable.shows_shape or before.max() == 0 or not measured.any():
            return False
        if share_moved(before[measured], after[measured]) > most:
            return False
    return True


def not_identifiable(
    finest: Decoded, was_repaired: bool, is_wrong: bool, run: Run
) -> tuple[str, ...]:
    """The variables that do not show their components on their own, though they have some.

    A variable that depends on no other has no latent that any oracle could see, and one that was
    seen through others is fine if all labels fitted together.
    """
    labelling, prepared = finest.labelling, finest.prepared
    suspects = _without_components_alone(prepared, labelling, is_wrong)
    if not suspects:
        return ()
    # So that all of them together raise a false alarm no more often than one may.
    chance = run.settings.priors.false_alarm / len(suspects)
    dependent = depend_on_others([variable.whitened for variable in finest.rows], chance)
    return tuple(
        prepared.observations.names[prepared.variables[place]]
        for place in suspects
        if (was_repaired if labelling.labels[:, place].max() > 0 else dependent[place])
    )


def _without_components_alone(
    prepared: Prepared, labelling: Labelling, is_wrong: bool
) -> list[int]:
    """Places of variables with one component of their own, or whose kind cannot show any more.

    Numbers of a shape that the family does not fit would be cut up by any mixture, so they do
    not count.
    """
    return [
        place
        for place, (encoder, column) in enumerate(
            zip(prepared.encoders, labelling.alone.T, strict=True)
        )
        if (column.max() == 0 or not encoder.is_identifiable)
        and not (is_wrong and encoder.is_shape_judged)
    ]
