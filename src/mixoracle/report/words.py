"""A result in plain words: for the terminal, for the head of a report, for a colleague.

Each assumption of the paper gets a meaning, a consequence and a remedy that need no knowledge of
the paper; each result gets a few sentences on what was found, and a few on what to trust. Nothing
is computed here that is not in the model or in the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixoracle.assumptions import Verdict
from mixoracle.families import registry
from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.columns import Column, of_the_table
from mixoracle.model import LatentModel
from mixoracle.report import claims
from mixoracle.report.charts import counted_states
from mixoracle.report.evidence import Alternative, Evidence
from mixoracle.report.gathering import rare_states
from mixoracle.report.lettering import shortened

# Below these a number is pointed out to the reader.
WEAK_CONFIDENCE = 0.9
WEAK_SEPARATION = 0.9
# A rule of thumb for BIC in nats: a difference below 5 is not strong evidence.
CLOSE_BIC = 5.0
# Exact counts leave a residual below this, by rounding alone.
NO_REMAINDER = 1e-8
BELIEVE = "Believe this answer: nothing that was checked speaks against it."
IN_PART = "Believe this answer in part."
DOUBT = "Do not believe this answer as it stands."
_LISTED = 6
# A joint state names every hidden cause.
_STATE_LETTERS = 120
_POSITIVE = "assump:strong:NZ"
_SINGLE = "The candidate with a single hidden cause"
_FACTORED = "The candidate with several hidden causes"


@dataclass(frozen=True)
class Meaning:
    """One assumption for a reader who has not seen the paper."""

    title: str
    meaning: str
    if_not: str
    # Whether the answer itself is in doubt where it fails, and not only how it was found.
    matters: bool = True


MEANINGS = {
    "assm:twins": Meaning(
        "Every hidden cause leaves its own trace",
        "No two hidden causes drive exactly the same measurements, and each drives at least one.",
        "Two such causes look like one with more states; add a measurement that only one of them "
        "drives.",
    ),
    "assm:minimal": Meaning(
        "No hidden cause is really two",
        "No cause could be split into two simpler ones that explain the data equally well.",
        "The cause that is named may be a combination of two simpler ones; the data cannot decide.",
    ),
    "assump:strong:NZ": Meaning(
        "Every combination of states occurs",
        "Each joint state of the hidden causes happens now and then, however rarely.",
        "Where a combination never occurs, another set of causes may explain the data as well; "
        "more cases, or cases chosen to include the rare combination, help.",
    ),
    "assump:strong:SDC": Meaning(
        "Every state shows in the measurements",
        "A measurement looks different in each state of the causes that drive it.",
        "A measurement that looks the same in two states hides the difference; its count of "
        "components is too small. A finer measurement, or leaving it out, helps.",
    ),
    "assum:ssc": Meaning(
        "Every hidden cause has something of its own",
        "Of any two causes, each drives something that the other does not.",
        "The measurements that each cause drives can still be right, but the probabilities of the "
        "states and the arrows among the hidden causes are not identifiable; add a measurement "
        "that one cause alone drives.",
    ),
    "thm:hidden-bipartite:eff": Meaning(
        "Small groups of measurements suffice",
        "Counts over few measurements at a time show which measurements each cause drives.",
        "The slower exact method was needed; the answer itself is not in doubt for this reason.",
        matters=False,
    ),
    "thm:recovery:eff": Meaning(
        "The quick method applies",
        "The sets of measurements that the causes drive are linearly independent.",
        "The slower exact method was needed; the answer itself is not in doubt for this reason.",
        matters=False,
    ),
    "obs:counting": Meaning(
        "The counts fit together",
        "The numbers of components seen in single measurements and in groups of them agree with "
        "one set of hidden causes.",
        "The data contradict the model somewhere: measurements may influence each other, or "
        "components overlap too much to be counted. More cases, or leaving out the measurement "
        "that is named, helps.",
    ),
    "sec:bg": Meaning(
        "The hidden causes explain every dependence",
        "Given the states of the hidden causes, the measurements are independent of each other.",
        "The measurements that are named influence each other, or share a cause that was not "
        "found. Put them together into one measurement, or leave one of them out.",
    ),
    "sec:exact": Meaning(
        "The components have the shape that was assumed",
        "Within one component, cases scatter as the assumed kind of distribution says.",
        "The probabilities of the states of single cases are approximate, because of the "
        "measurements that are named; a transformation, such as the logarithm, may help.",
    ),
    "continuous": Meaning(
        "The causes are discrete",
        "States explain more of what goes together than a cause that varies continuously would.",
        "Something that varies continuously (a size, a temperature, a drift) may be behind these "
        "data. States are then steps along it, and their number means little: a factor analysis "
        "may fit better.",
    ),
    "background": Meaning(
        "Background knowledge is honoured",
        "Each hidden cause that was described beforehand was found, with the number of states and "
        "the measurements that it was said to have.",
        "The data contradict a statement about the hidden causes that are named, or it fits "
        "several of them. Check it: their names, and the arrows between them, may be wrong.",
    ),
}
_UNKNOWN = "The paper explains this condition."


def meaning_of(verdict: Verdict) -> Meaning:
    """The plain words for an assumption, or its own name where there are none."""
    return MEANINGS.get(verdict.label, Meaning(sentence(verdict.name), _UNKNOWN, _UNKNOWN))


def headline(model: LatentModel, evidence: Evidence) -> str:
    """The result in one sentence."""
    behind = f"{evidence.n_samples:,} cases of {_n(model.n_observed, 'measurement')}"
    n_private = len(model.private_latents)
    n_causes = model.n_latent - n_private
    if n_causes == 0:
        return f"No hidden cause was found behind {behind}{_beside(n_private, 'only')}."
    return f"{_n(n_causes, 'hidden cause')} found behind {behind}{_beside(n_private, 'and')}."


def _beside(n_private: int, how: str) -> str:
    """What else was found that no cause is needed for."""
    if n_private == 0:
        return ""
    return f", {how} {_n(n_private, 'grouping')} that a single measurement shows"


def verdict_line(evidence: Evidence) -> str:
    """How far to believe the answer, in one sentence; empty for a model that was not learned."""
    lines = {"believe": BELIEVE, "part": IN_PART, "doubt": DOUBT}
    return "" if evidence.verdict is None else lines[evidence.verdict.level]


def findings(model: LatentModel, evidence: Evidence) -> list[str]:
    """Each hidden cause with its states and what it drives, a sentence each."""
    sentences = []
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        total = max(sum(evidence.state_sizes[j]), 1)
        named = [f"{state} " for state in model.state_names[j] or ("",) * size]
        shares = ", ".join(
            f"{state.lstrip()}{count / total:.0%}"
            for state, count in zip(named, evidence.state_sizes[j], strict=True)
        )
        driven = listed([model.observed_names[i] for i in model.children(j)])
        found = f"{shortened(name)} has {_n(size, 'state')} ({shares} of cases)"
        if j in model.private_latents:
            sentences.append(
                f"{found} and is the shape of {driven}: nothing else was seen to depend on it."
            )
        else:
            sentences.append(f"{found} and drives {driven or 'nothing'}.")
    if not model.n_latent:
        return []
    untouched = [name for i, name in enumerate(model.observed_names) if not model.parents(i)]
    if untouched:
        sentences.append(f"No hidden cause was found behind {listed(untouched)}.")
    return sentences


def relations(model: LatentModel, evidence: Evidence | None = None) -> list[str]:
    """The edges among the hidden causes, as far as they can be claimed."""
    return claims.relations(model, () if evidence is None else evidence.edges)


def doubts(model: LatentModel, evidence: Evidence) -> list[str]:
    """The reasons against the answer; empty where there are none."""
    names = model.observed_names
    empty = emptiness(model, evidence)
    sentences = [
        f"{meaning_of(verdict).title}: not so. {sentence(verdict.message)}"
        for verdict in evidence.failed
        # Which joint states never occur is said below, with those that hardly do.
        if meaning_of(verdict).matters and not (empty and verdict.label == _POSITIVE)
    ]
    sentences += empty
    weak = [
        names[count.members[0]]
        for count in evidence.singles
        if count.confidence is not None and count.confidence < WEAK_CONFIDENCE
    ]
    if weak:
        sentences.append(f"The number of components of {listed(weak)} is uncertain.")
    blurred = [
        names[i]
        for i, scatter in enumerate(evidence.scatters)
        if scatter.separation is not None and scatter.separation < WEAK_SEPARATION
    ]
    if blurred:
        sentences.append(
            f"The components of {listed(blurred)} overlap: "
            f"{'each' if len(blurred) > 1 else 'it'} alone misclassifies more than one case in ten."
        )
    if evidence.repairs:
        sentences.append(
            f"{_n(len(evidence.repairs), 'count')} had to be repaired to fit with the others."
        )
    better = [other for other in evidence.alternatives if other.bic_gap < 0]
    if better:
        sentences.append(
            f"{alternative_title(model, better[0])} {fits(better[0])}, but was passed over: it "
            "contradicts what is known, leaves joint states empty, or has states that only mend a "
            "shape."
        )
    close = [other for other in evidence.alternatives if 0 <= other.bic_gap < CLOSE_BIC]
    if len(close) == 1:
        title = alternative_title(model, close[0])
        sentences.append(f"{title} fits nearly as well; see the alternatives in the report.")
    elif close:
        sentences.append(
            f"{len(close)} other candidates fit nearly as well; see the alternatives in the report."
        )
    if not evidence.converged:
        sentences.append("The refinement stopped before it converged.")
    return sentences


def emptiness(model: LatentModel, evidence: Evidence) -> list[str]:
    """Which joint states are empty or nearly so, in a sentence; none where all occur."""
    rare = rare_states(model, evidence.n_samples)
    if not rare:
        return []
    shown = "; ".join(shortened(state, _STATE_LETTERS) for state in rare[:_LISTED])
    more = f"; and {len(rare) - _LISTED} more" if len(rare) > _LISTED else ""
    return [
        f"{len(rare)} of {counted_states(model)} {'is' if len(rare) == 1 else 'are'} "
        f"empty or nearly so: {shown}{more}. Where combinations do not occur, other causes may "
        "explain the data as well."
    ]


def alternative_title(model: LatentModel, other: Alternative) -> str:
    """The kind of another candidate: simpler, finer, or the same."""
    if not other.domain_sizes:
        return "No hidden cause at all"
    if len(other.domain_sizes) == 1 < model.n_latent:
        return _SINGLE
    if len(other.domain_sizes) > 1 == model.n_latent:
        return _FACTORED
    return "Another candidate"


def other_kind(model: LatentModel, evidence: Evidence) -> list[str]:
    """The best candidate with one cause beside one with several, or the other way round."""
    for other in evidence.alternatives:
        title = alternative_title(model, other)
        if title not in (_SINGLE, _FACTORED):
            continue
        sizes = " × ".join(str(size) for size in other.domain_sizes)
        line = f"{title}, {sizes} states, {fits(other)}."
        if other.rare:
            line += (
                f" Of its {other.n_joint} joint states {len(other.rare)} "
                f"{'is' if len(other.rare) == 1 else 'are'} empty or nearly so."
            )
        return [line]
    return []


def fits(other: Alternative) -> str:
    """How another candidate compares by BIC."""
    side = "worse" if other.bic_gap >= 0 else "better"
    return f"fits {side} by {abs(other.bic_gap):.4g} nats"


def trust(model: LatentModel, evidence: Evidence) -> list[str]:
    """The reasons for the answer."""
    sentences = []
    decided = [verdict for verdict in evidence.verdicts if verdict.holds is not None]
    if decided and not evidence.failed:
        sentences.append("Every assumption that could be checked on the answer holds.")
    separations = [
        scatter.separation
        for i, scatter in enumerate(evidence.scatters)
        if scatter.separation is not None and model.parents(i)
    ]
    if len(separations) > 1 and min(separations) >= WEAK_SEPARATION:
        share = min(separations)
        cases = "every case" if share == 1 else f"at least {min(share, 0.999):.1%} of the cases"
        sentences.append(
            f"The components are well separated: each measurement alone classifies {cases} as all "
            "measurements together do."
        )
    if evidence.residual < NO_REMAINDER and model.n_latent:
        sentences.append("The hidden causes explain the counts exactly.")
    return sentences


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in one line, the rest counted."""
    shown = ", ".join(shortened(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def sentence(text: str) -> str:
    """The text with its first letter large."""
    return f"{text[:1].upper()}{text[1:]}"


def _n(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True)
class KindOfColumns:
    """All columns that were read alike."""

    kind: str
    titles: tuple[str, ...]
    # The titles with the units of the numbers below them.
    headings: tuple[str, ...]
    # The smallest and the largest number of levels, where there are any.
    n_levels: tuple[int, int] | None
    missing: int
    cells: int

    @property
    def described(self) -> str:
        """The kind, with how many levels there are: ``levels (2 to 5)``."""
        sizes = " to ".join(str(size) for size in dict.fromkeys(self.n_levels or ()))
        return f"{self.kind} ({sizes})" if sizes else self.kind


def by_kind(columns: Sequence[Column], n_samples: int) -> tuple[KindOfColumns, ...]:
    """The columns taken together by how they were read; a short table for any number of them."""
    groups = []
    # The least general first: levels, counts, amounts, numbers.
    for family in (*reversed(registry.entries()), EXPOSURE):
        own = [column for column in of_the_table(columns) if column.family == family.name]
        if not own:
            continue
        sizes = [len(column.levels) for column in own if column.levels is not None]
        groups.append(
            KindOfColumns(
                kind=family.words,
                titles=tuple(column.title for column in own),
                headings=tuple(column.heading for column in own),
                n_levels=(min(sizes), max(sizes)) if sizes else None,
                missing=sum(column.missing for column in own),
                cells=n_samples * len(own),
            )
        )
    return tuple(groups)


def missing_note(columns: Sequence[Column], n_samples: int) -> str:
    """How many cells are missing; empty where none is."""
    held = of_the_table(columns)
    missing, cells = sum(column.missing for column in held), n_samples * len(held)
    if not missing:
        return ""
    share = missing / cells
    shown = "less than 0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
    return (
        f"{missing:,} of {cells:,} cells are missing ({shown}); what is there is used, and "
        "nothing is filled in"
    )
