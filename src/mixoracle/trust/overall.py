"""One verdict on a whole answer: believe it, believe it in part, or do not believe it.

Every reason says what is in doubt, why, and what to do about it. Reasons come from the verdicts on
the assumptions and from what else was seen on the way: other candidates that fit about as well,
counts that are not sure, limits that were reached. Arrows among latents do not count here: each
claim about them carries its own support.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import Literal, Protocol

from mixoracle._arrays import Integers
from mixoracle._clock import NO_LIMIT, Clock
from mixoracle.assumptions import Verdict
from mixoracle.assumptions.verdict import few
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.background.agreement import AGREEMENT_LABEL
from mixoracle.inference import rival
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.oracles.counts import ComponentCounts
from mixoracle.solving import COMPENSATES, Alternative, nats
from mixoracle.trust.asked import ASKED_LABEL
from mixoracle.trust.bootstrap import PARTS, Resampler
from mixoracle.trust.essential import is_essential
from mixoracle.trust.held_out import HeldOut

Level = Literal["believe", "part", "doubt"]
# Nats of BIC below which another candidate is about as good: not strong evidence.
CLOSE = 5.0
# Nobody reads more states of one cause; a continuous cause, or several merged ones, look like that.
MANY_STATES = 16
# How far the share of n cases of which each is one or the other is below a half in one of twenty
# samples, times √n.
_BY_CHANCE = 1.645 * 0.5
# With fewer cases to each joint state on average, their probabilities are hardly known.
CASES_PER_STATE = 3

# For a failed verdict: whether nothing of the answer holds without it, what is in doubt, and what
# to do about it.
_CONSEQUENCES: dict[str, tuple[bool, str, str]] = {
    rival.LABEL: (
        True,
        "the states",
        "try a factor analysis, or a coarser resolution",
    ),
    "obs:counting": (
        True,
        "the whole answer",
        "add cases, leave out the measurement that is named, or declare a family",
    ),
    "sec:bg": (
        False,
        "that nothing else is behind the measurements",
        "group measurements that belong together, or leave one of them out",
    ),
    "assm:twins": (
        False,
        "which causes there are",
        "add a measurement that only one of them drives",
    ),
    "assump:strong:NZ": (
        False,
        "how many causes there are",
        "add cases of the missing combination, or declare what you know about the causes",
    ),
    "assump:strong:SDC": (False, "the states", "measure more finely, or leave the measurement out"),
    "assum:ssc": (
        False,
        "how likely joint states are, and the arrows",
        "add a measurement that one cause alone drives",
    ),
    "assm:minimal": (False, "how many causes there are", "declare what you know about the causes"),
    "sec:exact": (
        False,
        "the probabilities of single cases",
        "declare another family, or transform the measurement",
    ),
    BACKGROUND_LABEL: (False, "the names of the causes", "check the background knowledge"),
    AGREEMENT_LABEL: (
        False,
        "that the measurements show the causes that you declared",
        "learn without the declared graph, and compare",
    ),
    ASKED_LABEL: (
        False,
        "which causes there are",
        "ask for another number of causes or states, or leave it to the data",
    ),
}
# What fails beside the causes: they stand, but not all that is said with them.
_BESIDE = ("sec:bg", "sec:exact", "assum:ssc", BACKGROUND_LABEL, AGREEMENT_LABEL)


@dataclass(frozen=True)
class Overall:
    """How far to believe an answer.

    Parameters
    ----------
    level : {"believe", "part", "doubt"}
    reasons : tuple of str
        What is in doubt, why, and what to do, a sentence or two each, worst first.
    looks_continuous : bool
        Whether a continuous cause would explain the data better.
    causes_in_doubt : bool
        Whether a reason puts the causes in doubt, their states or what they drive, and not only
        probabilities, or whether there is something else besides.
    """

    level: Level
    reasons: tuple[str, ...] = ()
    looks_continuous: bool = False
    causes_in_doubt: bool = False

    @property
    def grade(self) -> str:
        """The level, or "beside" where an answer is believed in part and its causes wholly."""
        return "beside" if self.level == "part" and not self.causes_in_doubt else self.level


def overall(
    model: LatentModel,
    verdicts: Sequence[Verdict],
    *,
    n_samples: int,
    alternatives: Iterable[Alternative] = (),
    uncertain: Sequence[str] = (),
    at_limit: Sequence[str] = (),
    limit: int | None = None,
    converged: bool = True,
    held_out: HeldOut | None = None,
    comes_back: bool = True,
    starts: tuple[int, int] = (1, 1),
    clock: Clock = NO_LIMIT,
    crowded: Sequence[tuple[str, float]] = (),
    uneven: Sequence[str] = (),
) -> Overall:
    """Weigh everything that speaks against an answer.

    ``uncertain`` are observed variables whose number of components is not sure, ``at_limit`` those
    that have the most components that were allowed: ``limit``, or as many as the rows can tell
    apart where it is None. ``comes_back`` says whether parts of few rows lead to the answer again.
    ``starts`` are how many starts reached the answer, and of how many; the ``clock`` knows what was
    left out for lack of time. ``crowded`` are the variables of which more values stand alone than
    may be set aside, with their share; ``uneven`` those with repeated numbers that count as missing
    although something unexplained depends on them.
    """
    # Without a latent, nothing is said that shapes and single counts could put in doubt; and if no
    # two measurements are dependent, no other candidate has anything to explain.
    if model.n_latent == 0:
        verdicts, uncertain = [v for v in verdicts if v.label != "sec:exact"], ()
        if any(v.label == "sec:bg" and v.holds for v in verdicts):
            alternatives = ()
    worst = [*_fatal(verdicts), *_beyond_bounds(model, at_limit, limit), *_unseen(held_out)]
    causes = [
        *_partial(v for v in verdicts if v.label not in _BESIDE),
        *_rivals(alternatives),
        *_uncertain(uncertain),
        *_crowded(at_limit, limit),
        *_restless(*starts),
        *_not_reproduced(comes_back=comes_back),
        *_cut_short(clock),
        *_crowds(crowded),
        *_uneven(uneven),
    ]
    beside = [
        *_partial(v for v in verdicts if v.label in _BESIDE),
        *_thin(model, n_samples, converged),
    ]
    level: Level = "doubt" if worst else "part" if causes or beside else "believe"
    continuous = any(v.label == rival.LABEL and v.holds is False for v in verdicts)
    return Overall(level, (*worst, *causes, *beside), continuous, bool(worst or causes))


class Fitted(Protocol):
    """What is weighed of a learner."""

    model_: LatentModel
    counts_: ComponentCounts
    alternatives_: tuple[Alternative, ...]
    states_: Integers
    converged_: bool
    n_starts_: int
    n_starts_agreed_: int


def judged(
    fitted: Fitted, verdicts: Sequence[Verdict], resampler: Resampler, unsure: Iterable[int] = ()
) -> Overall:
    """The verdict on what a learner found; of few rows, also on rows that were not seen.

    ``unsure`` are the variables whose number of components is in doubt. A variable of several
    parents that has as many components as the rows can tell apart is no reason to think of more:
    the others show its parents one by one.
    """
    run = resampler.solver.run
    limit = run.max_components
    most = max(2, limit or run.settings.components_of_one(resampler.prepared.n_samples))
    model = fitted.model_
    counts = [fitted.counts_[frozenset({i})] for i in range(model.n_observed)]
    named = list(zip(model.observed_names, counts, strict=True))
    weighed = partial(
        overall,
        model,
        verdicts,
        n_samples=len(fitted.states_),
        alternatives=fitted.alternatives_,
        uncertain=[model.observed_names[i] for i in unsure],
        at_limit=[
            name
            for i, (name, count) in enumerate(named)
            if int(count) >= most and (limit or len(model.parents(i)) < 2)
        ],
        limit=limit,
        converged=fitted.converged_,
        held_out=resampler.small_sample_check(),
        starts=(fitted.n_starts_agreed_, fitted.n_starts_),
        clock=run.settings.clock,
        crowded=resampler.prepared.crowded,
        uneven=list(_unexplained(model, resampler.prepared.columns)),
    )
    first = weighed()
    # It takes a few fits, and is asked only where nothing else speaks against the causes.
    return first if first.causes_in_doubt else weighed(comes_back=resampler.comes_back())


def _unexplained(model: LatentModel, columns: Iterable[Column]) -> Iterator[str]:
    """Variables that share no latent with any that depends on their repeated numbers."""
    for column in columns:
        others = {j for i in column.shown_by for j in model.parents(i)}
        if column.shown_by and others.isdisjoint(model.parents(column.observed)):
            yield column.title


def _is_fatal(verdict: Verdict) -> bool:
    if verdict.label == "sec:bg":
        return is_essential(verdict)
    return _CONSEQUENCES[verdict.label][0]


def _fatal(verdicts: Iterable[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.holds is False and verdict.label in _CONSEQUENCES and _is_fatal(verdict):
            yield _reason(verdict)


def _partial(verdicts: Iterable[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.holds is False and verdict.label in _CONSEQUENCES and not _is_fatal(verdict):
            yield _reason(verdict)


def _reason(verdict: Verdict) -> str:
    _, what, advice = _CONSEQUENCES[verdict.label]
    return f"In doubt: {what}. {_sentence(verdict.message)} What to do: {advice}."


def _beyond_bounds(model: LatentModel, at_limit: Sequence[str], limit: int | None) -> Iterator[str]:
    if at_limit and limit is not None:
        yield (
            f"In doubt: the number of states. {few(at_limit)} reached the most components that "
            f"are allowed ({limit}); there may be more. What to do: raise max_components, or ask "
            "for a coarser resolution."
        )
    for name, size in zip(model.latent_names, model.domain_sizes, strict=True):
        if size > MANY_STATES:
            yield (
                f"In doubt: {name}. It has {size} states, which is what a mixture makes of a "
                "continuous cause, of several causes at once, or of a shape that it does not know. "
                "What to do: ask for a coarser resolution, or group the columns otherwise."
            )


def _rivals(alternatives: Iterable[Alternative]) -> Iterator[str]:
    held = sorted(alternatives, key=lambda other: other.bic_gap)
    better = [other for other in held if other.bic_gap < 0 and other.rejected != COMPENSATES]
    close = [other.bic_gap for other in held if 0 <= other.bic_gap < CLOSE]
    if better:
        yield (
            "In doubt: which causes there are. Another candidate fits better, by "
            f"{nats(better[0].bic_gap)}, but {better[0].rejected}. What to do: look at the "
            "alternatives."
        )
    if close:
        number = "Another candidate fits" if len(close) == 1 else f"{len(close)} candidates fit"
        yield (
            f"In doubt: which causes there are. {number} nearly as well, worse by "
            f"{nats(min(close))}. What to do: look at the alternatives, or add cases."
        )


def _uncertain(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield (
            f"In doubt: the number of components of {few(names)}, because the evidence for it "
            "is weak. What to do: add cases."
        )


def _thin(model: LatentModel, n_samples: int, converged: bool) -> Iterator[str]:
    families = [prod(model.domain_sizes[j] for j in held) for held in model.joint.families()]
    if model.n_latent and n_samples < CASES_PER_STATE * max(families):
        which = "of them" if len(families) == 1 else "states of a cause and its parents"
        yield (
            f"In doubt: how likely joint states are, because {n_samples:,} cases are few for "
            f"{max(families):,} {which}. What to do: add cases."
        )
    if not converged:
        yield "In doubt: the probabilities, because the refinement stopped before it converged."


def _unseen(held_out: HeldOut | None) -> Iterator[str]:
    if held_out is not None and held_out.better < 0.5 - _BY_CHANCE / sqrt(held_out.n_rows):
        yield (
            "In doubt: that there is any cause. Most cases that were not learned from "
            f"({1.0 - held_out.better:.0%}) fit no worse without any hidden cause. What to do: add "
            "cases."
        )


def _restless(n_agreed: int, n_starts: int) -> Iterator[str]:
    if n_starts > 1 and n_agreed == 1:
        yield (
            f"In doubt: which causes there are. Only one of {n_starts} starts of the search led to "
            "this answer, and further ones may find a better one. What to do: raise n_init."
        )


def _not_reproduced(*, comes_back: bool) -> Iterator[str]:
    if not comes_back:
        yield (
            f"In doubt: which causes there are. Learned again without a part of the cases, {PARTS} "
            "times, the answer was never the same. What to do: add cases."
        )


def _cut_short(clock: Clock) -> Iterator[str]:
    if clock.left_out:
        yield (
            f"In doubt: that no better answer exists. The time limit of {clock.limit:g} s was "
            f"reached, and left out were {', '.join(clock.left_out)}. What to do: raise the limit."
        )


def _crowded(at_limit: Sequence[str], limit: int | None) -> Iterator[str]:
    if at_limit and limit is None:
        yield (
            f"In doubt: the number of states. {few(at_limit)} reached the most components that so "
            "few cases can tell apart. What to do: add cases."
        )


def _crowds(crowded: Sequence[tuple[str, float]]) -> Iterator[str]:
    if crowded:
        most = max(share for _, share in crowded)
        yield (
            f"In doubt: what {few([name for name, _ in crowded])} measures. Up to {most:.0%} of "
            "the values stand far from all others, more than are set aside without a question. "
            "What to do: look at these values, and make wrong ones missing."
        )


def _uneven(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield (
            f"In doubt: that nothing else is behind {few(names)}. A number that repeats exactly "
            "was treated as missing, but other measurements depend on which cases have it. What "
            "to do: add a column that says whether a case has it."
        )


def _sentence(text: str) -> str:
    first = text[:1].upper() if text[1:2].isalpha() or text[1:2] == " " else text[:1]
    return f"{first}{text[1:]}{'' if text.endswith('.') else '.'}"
