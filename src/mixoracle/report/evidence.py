"""What a report shows beside the model: counts, verdicts, state sizes, points to look at.

All of it is taken once, right after learning, into one frozen record of plain numbers and text,
so that a report can be made again later without the data. The record goes to ``evidence.json``
and comes back the same. Only a sample of points is kept for each variable; everything else is a
summary.

Assumes a fitted learner and the observations that it learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixoracle.assumptions import Verdict
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.observations import Observations

EVIDENCE_FORMAT = "mixoracle.Evidence"
EVIDENCE_VERSION = 1
# A scatter of more points is not easier to read, and sixty of them have to fit in one file.
MAX_POINTS = 300
# Pairs grow with the square of the variables; beyond this the least certain cannot be read anyway.
MAX_PAIRS = 2000
# Columns of one variable that are shown one by one.
MAX_EFFECT_COLUMNS = 6
_DIGITS = 4

Floats = NDArray[np.float64]


class Fitted(Protocol):
    """What is asked of a fitted learner."""

    model_: LatentModel
    counts_: Any
    bipartite_: Any
    assumptions_: tuple[Verdict, ...]
    states_: NDArray[np.int64]
    repairs_: tuple[str, ...]
    alternatives_: tuple[Any, ...]
    bic_: float
    log_likelihood_: float
    converged_: bool
    n_iter_: int


@dataclass(frozen=True)
class Count:
    """k(S): the answer, the count before any repair, and how sure it is."""

    members: tuple[int, ...]
    components: int
    seen: int | None
    confidence: float | None


@dataclass(frozen=True)
class Scatter:
    """Some cases of one observed variable, seen along its two leading directions.

    ``labels`` are component numbers, ``shown`` the share of the variance that the two directions
    hold, and ``separation`` the share of all cases whose component this variable alone gets right
    (right: as all variables together say); None where the model cannot tell.
    """

    axes: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    labels: tuple[int, ...]
    shown: float
    separation: float | None


@dataclass(frozen=True)
class Effect:
    """One latent's effect on one observed variable: the mean of each column in each state.

    ``share`` is the share of the variable's variance (columns in units of their own spread) that
    lies between the states.
    """

    observed: int
    latent: int
    columns: tuple[str, ...]
    means: tuple[tuple[float | None, ...], ...]
    share: float


@dataclass(frozen=True)
class Runner:
    """Another answer that the data allow, and how much worse it is in BIC."""

    bic_gap: float
    domain_sizes: tuple[int, ...]
    drives: tuple[tuple[int, ...], ...]
    edges: str


@dataclass(frozen=True)
class Evidence:
    """Everything beside the model; see the fields' own records."""

    n_samples: int
    observed_names: tuple[str, ...]
    state_sizes: tuple[tuple[int, ...], ...]
    singles: tuple[Count, ...]
    pairs: tuple[Count, ...]
    verdicts: tuple[Verdict, ...]
    repairs: tuple[str, ...]
    alternatives: tuple[Runner, ...]
    scatters: tuple[Scatter, ...]
    effects: tuple[Effect, ...]
    residual: float
    method: str
    bic: float
    log_likelihood: float
    converged: bool
    n_iter: int
    # Why the answer should not be trusted, as the learner put it; empty where it should.
    failure: str = ""

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
        held = {field.name: _tuples(document.get(field.name)) for field in fields(cls)}
        try:
            for name, record in _RECORDS.items():
                held[name] = tuple(
                    record(**{key: _tuples(value) for key, value in row.items()})
                    for row in document[name]
                )
            return cls(**held)
        except (KeyError, TypeError, AttributeError, InvalidInputError) as error:
            raise FileFormatError(
                f"the evidence of this result is not complete: {error}; learn again"
            ) from error


_RECORDS: dict[str, Any] = {
    "singles": Count,
    "pairs": Count,
    "verdicts": Verdict,
    "alternatives": Runner,
    "scatters": Scatter,
    "effects": Effect,
}


def gather(fitted: Fitted, observations: Observations, failure: str = "") -> Evidence:
    """Take from a fitted learner, and from the data it saw, all that a report needs."""
    model = fitted.model_
    n = model.n_observed
    columns = [_numeric_columns(observations, name) for name in model.observed_names]
    labels = model.component_of_states(fitted.states_)
    pairs = islice(combinations(range(n), 2), MAX_PAIRS)
    return Evidence(
        n_samples=observations.n_samples,
        observed_names=model.observed_names,
        state_sizes=tuple(
            tuple(np.bincount(fitted.states_[:, j], minlength=size).tolist())
            for j, size in enumerate(model.domain_sizes)
        ),
        singles=tuple(_count(fitted, (i,)) for i in range(n)),
        pairs=tuple(_count(fitted, pair) for pair in pairs),
        verdicts=fitted.assumptions_,
        repairs=tuple(fitted.repairs_),
        alternatives=tuple(_runner(alternative) for alternative in fitted.alternatives_),
        scatters=tuple(
            _scatter(columns[i], labels[:, i], _separation(model, observations, labels, i))
            for i in range(n)
        ),
        effects=tuple(
            _effect(columns[i], fitted.states_[:, j], model.domain_sizes[j], i, j)
            for j in range(model.n_latent)
            for i in model.children(j)
        ),
        residual=float(fitted.bipartite_.residual),
        method=str(fitted.bipartite_.method),
        bic=float(fitted.bic_),
        log_likelihood=float(fitted.log_likelihood_),
        converged=bool(fitted.converged_),
        n_iter=int(fitted.n_iter_),
        failure=failure,
    )


def _count(fitted: Fitted, members: tuple[int, ...]) -> Count:
    answer = fitted.counts_[frozenset(members)]
    return Count(members, int(answer), answer.seen, answer.confidence)


def _runner(alternative: Any) -> Runner:
    model: LatentModel = alternative.model
    names = model.latent_names
    arrows = [f"{names[i]} → {names[j]}" for i, j in sorted(model.latent_graph.directed)]
    loose = sorted(tuple(sorted(pair)) for pair in model.latent_graph.undirected)
    return Runner(
        bic_gap=float(alternative.bic_gap),
        domain_sizes=model.domain_sizes,
        drives=tuple(model.children(j) for j in range(model.n_latent)),
        edges=", ".join(arrows + [f"{names[i]} — {names[j]}" for i, j in loose]) or "no edges",
    )


def _numeric_columns(observations: Observations, name: str) -> tuple[tuple[str, ...], Floats]:
    """The columns of a variable as numbers; each level of a categorical one as 0 or 1."""
    place = observations.index(name)
    width = observations.widths[place]
    start = sum(observations.widths[:place])
    titles: list[str] = []
    columns: list[Floats] = []
    for offset in range(width):
        values = observations.values[:, start + offset]
        title = observations.column_names[start + offset]
        levels = observations.levels[place][offset]
        if levels is None:
            titles.append(title)
            columns.append(values)
            continue
        for code, level in enumerate(levels):
            titles.append(f"{title} = {level}")
            columns.append(np.where(np.isnan(values), np.nan, values == code))
    return tuple(titles), np.stack(columns, axis=1)


def _standardised(block: Floats) -> Floats:
    """Complete rows, each column centred and in units of its own spread."""
    complete = block[~np.isnan(block).any(axis=1)]
    if not len(complete):
        return complete
    spread = complete.std(axis=0)
    return np.asarray((complete - complete.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _scatter(
    columns: tuple[tuple[str, ...], Floats], labels: NDArray[np.int64], separation: float | None
) -> Scatter:
    titles, block = columns
    complete = np.flatnonzero(~np.isnan(block).any(axis=1))
    # Evenly spaced rows: the same ones for every variable and every run.
    step = max(1, -(-len(complete) // MAX_POINTS))
    chosen = complete[::step]
    scaled = _standardised(block)
    if block.shape[1] <= 2:
        points = np.hstack([block[chosen], np.zeros((len(chosen), 2 - block.shape[1]))])
        return _made_scatter(titles, points, labels[chosen], 1.0, separation)
    _, lengths, directions = np.linalg.svd(scaled, full_matrices=False)
    # The sign of a direction is arbitrary; its largest entry is made positive.
    leading = directions[:2] * np.sign(
        directions[np.arange(2), np.abs(directions[:2]).argmax(axis=1)]
    ).reshape(2, 1)
    total = float((lengths**2).sum())
    shown = float((lengths[:2] ** 2).sum()) / total if total > 0 else 1.0
    axes = ("first direction", "second direction")
    return _made_scatter(axes, scaled[::step] @ leading.T, labels[chosen], shown, separation)


def _made_scatter(
    axes: Sequence[str],
    points: Floats,
    labels: NDArray[np.int64],
    shown: float,
    separation: float | None,
) -> Scatter:
    rounded = tuple((_rounded(x), _rounded(y)) for x, y in points)
    return Scatter(
        tuple(axes), rounded, tuple(int(k) for k in labels), round(shown, _DIGITS), separation
    )


def _separation(
    model: LatentModel, observations: Observations, labels: NDArray[np.int64], i: int
) -> float | None:
    """The share of cases whose component this variable alone gets right."""
    if model.components is None:
        return None
    block = observations[model.observed_names[i]]
    complete = ~np.isnan(block).any(axis=1)
    if not complete.any():
        return None
    weights = model.joint.marginal(model.parents(i)).table.ravel()
    with np.errstate(divide="ignore"):
        score = model.components[i].log_density(block[complete]) + np.log(weights)
    return round(float(np.mean(score.argmax(axis=1) == labels[complete, i])), _DIGITS)


def _effect(
    columns: tuple[tuple[str, ...], Floats],
    states: NDArray[np.int64],
    n_states: int,
    observed: int,
    latent: int,
) -> Effect:
    titles, block = columns
    complete = ~np.isnan(block).any(axis=1)
    means = tuple(
        tuple(_mean(block[states == state, c]) for c in range(min(len(titles), MAX_EFFECT_COLUMNS)))
        for state in range(n_states)
    )
    scaled = _standardised(block)
    between = sum(
        float(np.sum(rows.mean(axis=0) ** 2)) * len(rows)
        for state in range(n_states)
        if len(rows := scaled[states[complete] == state])
    )
    total = float(np.sum(scaled**2))
    share = between / total if total > 0 else 0.0
    return Effect(observed, latent, titles[:MAX_EFFECT_COLUMNS], means, round(share, _DIGITS))


def _mean(column: Floats) -> float | None:
    known = column[~np.isnan(column)]
    return _rounded(float(known.mean())) if len(known) else None


def _rounded(value: float) -> float:
    """Six significant digits: more than a picture or a table shows."""
    return float(f"{value:.6g}")


def _tuples(value: Any) -> Any:
    """Lists as JSON gives them back to tuples, as the records hold them."""
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value
