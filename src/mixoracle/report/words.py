"""A result in plain words: for the terminal, for the head of a report, for a colleague.

Each assumption of the paper gets a meaning, a consequence and a remedy that need no knowledge of
the paper; each result gets a few sentences on what was found, and a few on what to trust. Nothing
is computed here that is not in the model or in the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mixoracle.families import registry
from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.columns import Column, of_the_table
from mixoracle.model import LatentModel
from mixoracle.report import claims
from mixoracle.report.charts import counted_states
from mixoracle.report.evidence import Alternative, Evidence
from mixoracle.report.gathering import rare_states
from mixoracle.report.lettering import full, shortened
from mixoracle.report.meanings import meaning_of
from mixoracle.report.sureness import Degree
from mixoracle.solving import nats

# Below these a number is pointed out to the reader.
WEAK_CONFIDENCE = 0.5
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
            sentences.append(
                f"{found} and {claims.driven(model, j, evidence.drive_support, listed)}."
            )
    if not model.n_latent:
        return []
    untouched = [name for i, name in enumerate(model.observed_names) if not model.parents(i)]
    if untouched:
        sentences.append(f"No hidden cause was found behind {listed(untouched)}.")
    return sentences


def parent_doubt(model: LatentModel, evidence: Evidence, i: int, j: int) -> str:
    """How doubtful it is that a cause drives a measurement, in brackets; empty where it is not."""
    support = evidence.drive_support[i][j] if evidence.drive_support else 1.0
    said = {Degree.PROBABLE: " (probably)", Degree.POSSIBLE: " (maybe)"}
    return said.get(claims.degree_of(support), "") if model.bipartite[i, j] else ""


def relations(model: LatentModel, evidence: Evidence | None = None) -> list[str]:
    """The edges among the hidden causes, as far as they can be claimed."""
    return claims.relations(model, () if evidence is None else evidence.edges)


def doubts(model: LatentModel, evidence: Evidence) -> list[str]:
    """The reasons against the answer; empty where there are none."""
    names = model.observed_names
    empty = emptiness(model, evidence)
    sentences = [
        f"{meaning_of(verdict).failed}. {full(verdict.message)}"
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
    corrected = corrected_counts(evidence)
    if corrected:
        sentences.append(
            f"{_n(len(corrected), 'component count')} had to be corrected to agree with the others."
        )
    # What differs in one thing has its own support; other candidates are about all of it.
    candidates = [other for other in evidence.alternatives if not other.change]
    better = [other for other in candidates if other.bic_gap < 0]
    if better:
        sentences.append(
            f"{alternative_title(model, better[0])} {fits(better[0])}, but {better[0].rejected}."
        )
    close = [other for other in candidates if 0 <= other.bic_gap < CLOSE_BIC]
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
    """The kind of another candidate: nearly this answer, simpler, finer, or as fine."""
    if other.change:
        return "Nearly the same"
    if not other.domain_sizes:
        return "No hidden cause at all"
    if len(other.domain_sizes) == 1 < model.n_latent:
        return _SINGLE
    if len(other.domain_sizes) > 1 == model.n_latent:
        return _FACTORED
    return "Another candidate"


def what_differs(model: LatentModel, other: Alternative) -> str:
    """In what another candidate differs from the answer, in a sentence."""
    if other.change:
        return f"What differs: {other.change}."
    here, there = (
        Counter(zip(drives, sizes, strict=True))
        for drives, sizes in (
            ([model.children(j) for j in range(model.n_latent)], model.domain_sizes),
            (other.drives, other.domain_sizes),
        )
    )
    shared, left = here & there, (here - there).total()
    if not shared:
        return "No hidden cause is the same."
    same = [
        name
        for j, name in enumerate(model.latent_names)
        if (model.children(j), model.domain_sizes[j]) in shared
    ]
    rest = f"; {_n((there - here).total(), 'other')} instead of {left}" if left else ""
    return f"The same: {listed(same)}{rest}."


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
    if round(other.bic_gap, 2) == 0:
        return "fits as well"
    side = "worse" if other.bic_gap >= 0 else "better"
    return f"fits {side} by {nats(other.bic_gap)}"


def trust(model: LatentModel, evidence: Evidence) -> list[str]:
    """The reasons for the answer."""
    sentences = []
    decided = [verdict for verdict in evidence.verdicts if verdict.holds is not None]
    if decided and not evidence.failed:
        sentences.append("Every assumption that could be checked holds.")
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
        corrected = len(corrected_counts(evidence))
        after = f", {corrected} of them after a correction" if corrected else ""
        sentences.append(f"The graph reproduces all component counts{after}.")
    return sentences


def corrected_counts(evidence: Evidence) -> list[str]:
    """The changes of component counts; other repairs are about states and names."""
    return [repair for repair in evidence.repairs if "components were seen" in repair]


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in one line, the rest counted."""
    shown = ", ".join(shortened(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


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
        f"{missing:,} of {cells:,} cells are missing ({shown}); the others are used, and nothing "
        "is imputed"
    )
