"""The contents of a report beside the model: counts, verdicts, state sizes, points to look at.

One frozen record of plain numbers and text, so that a report can be made again later without the
data. The record goes to ``evidence.json`` and comes back the same. :mod:`.gathering` fills it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Any, Literal

from mixoracle._documents import record
from mixoracle.assumptions import Verdict
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.mixtures.columns import Column
from mixoracle.report.resampling import Resampled
from mixoracle.trust.edges import PairSupport
from mixoracle.trust.overall import Overall

EVIDENCE_FORMAT = "mixoracle.Evidence"
EVIDENCE_VERSION = 3


@dataclass(frozen=True)
class Count:
    """k(S): the answer, the count before any repair, and how sure it is."""

    members: tuple[int, ...]
    components: int
    seen: int | None
    confidence: float | None


@dataclass(frozen=True)
class Sample:
    """Some cases, evenly spaced over all of them, that pictures show one by one.

    ``rows`` are their places in the data, ``names`` their identifiers where they have any;
    ``states`` and ``probabilities`` have a row for each case and an entry for each latent.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...] | None
    states: tuple[tuple[int, ...], ...]
    probabilities: tuple[tuple[float, ...], ...] | None


@dataclass(frozen=True)
class Scatter:
    """The cases of the sample in one observed variable, seen along its two leading directions.

    ``points`` belong to the cases at ``places`` of the sample; a variable of levels or counts
    alone has none. A variable of one column lies on a line. ``shown`` is the share of the variance
    that the two directions hold, and ``separation`` the share of all cases that this variable
    alone classifies as all variables together do; None where the model has no components.
    """

    axes: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    places: tuple[int, ...]
    shown: float
    separation: float | None


@dataclass(frozen=True)
class Effect:
    """One latent's effect on one observed variable: the mean of each column in each state.

    Of a column of levels there is one for each level, the share of cases that have it, and
    ``is_share`` says so. ``low`` and ``high`` are the ends of 95 % intervals of the means;
    ``centre`` and ``spread`` are mean and standard deviation of each column over all cases.
    ``share`` is the share of the variable's variance (columns in units of their own spread) that
    lies between the states.
    """

    observed: int
    latent: int
    columns: tuple[str, ...]
    is_share: tuple[bool, ...]
    means: tuple[tuple[float | None, ...], ...]
    low: tuple[tuple[float | None, ...], ...]
    high: tuple[tuple[float | None, ...], ...]
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    share: float
    # Columns and levels beyond those that are held here.
    more: int = 0


@dataclass(frozen=True)
class Shape:
    """The distribution of a variable of one column in each state of a latent.

    Parameters
    ----------
    observed : int
    latent : int or None
        None for a variable without parents, which has one line of ``heights`` for all cases.
    kind : {"density", "counts", "levels"}
    at : tuple of float
        Where the density is evaluated, the codes of levels, or the ends of the bars of counts, one
        more than there are bars.
    heights : (states, points or bars)
        Densities, or shares of the cases in a state.
    """

    observed: int
    latent: int | None
    kind: Literal["density", "counts", "levels"]
    at: tuple[float, ...]
    heights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Unsure:
    """A case whose state is in doubt: its likeliest state, and the one that comes next."""

    row: int
    name: str | None
    state: int
    probability: float
    second: int
    second_probability: float


@dataclass(frozen=True)
class Certainty:
    """How sure the states of one latent are.

    ``counts`` has for each state a histogram of the probability of that state over the cases in
    it, in equal bins from 0 to 1. ``least`` are the least sure cases, the least sure first; cases
    that are all but certain are not among them.
    """

    counts: tuple[tuple[int, ...], ...]
    n_unsure: int
    least: tuple[Unsure, ...]


@dataclass(frozen=True)
class Strip:
    """States in the order of the rows.

    ``counts`` says for each latent, and for each run of ``step`` rows, how many of them are in each
    state, (m, runs, dim).
    """

    step: int
    counts: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class Step:
    """One answer along the path over resolutions.

    ``finest`` and ``coarsest`` are in rows up to which the data are believed, None for all.
    """

    finest: float | None
    coarsest: float | None
    domain_sizes: tuple[int, ...]
    drives: tuple[tuple[int, ...], ...]
    chosen: bool


@dataclass(frozen=True)
class Alternative:
    """Another candidate that the data allow, and by how many nats it fits worse in BIC.

    ``directed`` and ``undirected`` are the edges among its latents. ``rare`` are those of its
    ``n_joint`` joint states that are empty or nearly so.
    """

    bic_gap: float
    domain_sizes: tuple[int, ...]
    drives: tuple[tuple[int, ...], ...]
    latent_names: tuple[str, ...]
    directed: tuple[tuple[int, int], ...] = ()
    undirected: tuple[tuple[int, int], ...] = ()
    rare: tuple[str, ...] = ()
    # Why it was not taken, where it fits better.
    rejected: str = ""
    # In what it differs from the answer, if in one thing only.
    change: str = ""

    @property
    def n_joint(self) -> int:
        """How many joint states it has."""
        return prod(self.domain_sizes)


@dataclass(frozen=True)
class Evidence:
    """Everything beside the model; see the fields' own records."""

    n_samples: int
    observed_names: tuple[str, ...]
    columns: tuple[Column, ...]
    state_sizes: tuple[tuple[int, ...], ...]
    singles: tuple[Count, ...]
    pairs: tuple[Count, ...]
    verdicts: tuple[Verdict, ...]
    repairs: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    scatters: tuple[Scatter, ...]
    effects: tuple[Effect, ...]
    shapes: tuple[Shape, ...]
    sample: Sample
    strip: Strip
    residual: float
    method: str
    bic: float
    log_likelihood: float
    converged: bool
    n_iter: int
    # Why the answer should not be trusted, as the learner put it; empty where it should.
    failure: str = ""
    # Notes on the data, such as columns that were left out, a sentence each.
    notes: tuple[str, ...] = ()
    # What can be claimed of each pair of latents; empty for a model that was not learned.
    edges: tuple[PairSupport, ...] = ()
    # How probable it is that each variable is driven by each latent, (n, m); empty likewise.
    drives: tuple[tuple[float, ...], ...] = ()
    # How far to believe the whole answer; None for a model that was not learned.
    verdict: Overall | None = None
    # Starts of the search, and how many of them reached this answer.
    n_starts: int = 1
    n_starts_agreed: int = 1
    # How often each part of the answer is found again; None where nobody asked for it.
    support: Resampled | None = None
    # How sure the states of each latent are; empty where no probabilities were given.
    certainty: tuple[Certainty, ...] = ()
    # The answers along the path over resolutions, finest first.
    path: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.observed_names)
        if len(self.singles) != n or len(self.scatters) != n:
            raise InvalidInputError(
                f"the evidence should hold a count and a scatter for each of the {n} observed "
                f"variables; got {len(self.singles)} and {len(self.scatters)}"
            )

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The assumptions that do not hold."""
        return tuple(verdict for verdict in self.verdicts if verdict.holds is False)

    @property
    def is_refused(self) -> bool:
        """Whether an assumption that matters failed, or the answer is not to be believed."""
        return bool(self.failure) or (self.verdict is not None and self.verdict.level == "doubt")

    @property
    def drive_support(self) -> tuple[tuple[float, ...], ...]:
        """The support of each edge of Γ, (n, m): its probability, or less in resamples."""
        if self.support is None:
            return self.drives
        return tuple(
            tuple(map(min, own, found))
            for own, found in zip(self.drives, self.support.bipartite, strict=False)
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON document that :meth:`from_json` reads back."""
        return {"format": EVIDENCE_FORMAT, "version": EVIDENCE_VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, document: Any) -> Evidence:
        """Read what :meth:`to_json` wrote, refusing what is not complete."""
        if not isinstance(document, Mapping) or document.get("format") != EVIDENCE_FORMAT:
            raise FileFormatError("this is JSON, but not the evidence of a mixoracle result")
        if document.get("version") != EVIDENCE_VERSION:
            raise FileFormatError(
                f"the evidence has format version {document.get('version')!r}; this mixoracle "
                f"reads version {EVIDENCE_VERSION}: learn again"
            )
        held = {key: document[key] for key in document if key not in ("format", "version")}
        try:
            return record(cls, held, "evidence")
        except InvalidInputError as error:
            raise FileFormatError(
                f"the evidence of this result is not complete: {error}; learn again"
            ) from error
