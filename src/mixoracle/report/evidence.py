"""What a report shows beside the model: counts, verdicts, state sizes, points to look at.

All of it is taken once, right after learning, into one frozen record of plain numbers and text,
so that a report can be made again later without the data. The record goes to ``evidence.json``
and comes back the same. Only a sample of points is kept for each variable; everything else is a
summary. Cells may be missing: sums and densities go over the cells that are there, and a case is
pictured where enough of it is known.

Assumes a fitted learner and the observations that it learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, islice
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixoracle.assumptions import Verdict
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.families.choice import Families, checked_families
from mixoracle.model import LatentModel
from mixoracle.observations import Observations
from mixoracle.observations.answers import recognise_answers
from mixoracle.report.columns import Column, read_columns

EVIDENCE_FORMAT = "mixoracle.Evidence"
EVIDENCE_VERSION = 2
# A scatter of more points is not easier to read, and sixty of them have to fit in one file.
MAX_POINTS = 300
# Pairs grow with the square of the variables; beyond this the least certain cannot be read anyway.
MAX_PAIRS = 2000
# Columns and levels of one variable that are shown one by one.
MAX_EFFECT_COLUMNS = 8
# A case of which less than this share of the columns is known would be pictured by chance.
_ENOUGH_KNOWN = 0.5
# A joint state with fewer cases than one is empty as far as anybody can tell.
_FEWEST_CASES = 1.0
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
    families: Families


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

    Of a column of levels there is one for each level, the share of cases that have it, and
    ``is_share`` says so. ``share`` is the share of the variable's variance (columns in units of
    their own spread) that lies between the states.
    """

    observed: int
    latent: int
    columns: tuple[str, ...]
    is_share: tuple[bool, ...]
    means: tuple[tuple[float | None, ...], ...]
    share: float
    # Columns and levels beyond those that are held here.
    more: int = 0


@dataclass(frozen=True)
class Runner:
    """Another answer that the data allow, and how much worse it is in BIC.

    ``rare`` are those of its ``n_joint`` joint states that are empty or nearly so.
    """

    bic_gap: float
    domain_sizes: tuple[int, ...]
    drives: tuple[tuple[int, ...], ...]
    edges: str
    rare: tuple[str, ...] = ()

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
    # What was passed over in the data, a sentence each.
    notes: tuple[str, ...] = ()

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
    "columns": Column,
    "singles": Count,
    "pairs": Count,
    "verdicts": Verdict,
    "alternatives": Runner,
    "scatters": Scatter,
    "effects": Effect,
}


def gather(
    fitted: Fitted,
    observations: Observations,
    failure: str = "",
    notes: Sequence[str] = (),
) -> Evidence:
    """Take from a fitted learner, and from the data it saw, all that a report needs."""
    model = fitted.model_
    n = model.n_observed
    read = read_columns(observations, fitted.families)
    declared = checked_families(fitted.families, observations.names)
    observations = recognise_answers(observations, keep=declared)
    columns = [_numeric_columns(observations, name) for name in model.observed_names]
    labels = model.component_of_states(fitted.states_)
    pairs = islice(combinations(range(n), 2), MAX_PAIRS)
    return Evidence(
        n_samples=observations.n_samples,
        observed_names=model.observed_names,
        columns=read,
        state_sizes=tuple(
            tuple(np.bincount(fitted.states_[:, j], minlength=size).tolist())
            for j, size in enumerate(model.domain_sizes)
        ),
        singles=tuple(_count(fitted, (i,)) for i in range(n)),
        pairs=tuple(_count(fitted, pair) for pair in pairs),
        verdicts=fitted.assumptions_,
        repairs=tuple(fitted.repairs_),
        alternatives=tuple(
            _runner(other, observations.n_samples) for other in fitted.alternatives_
        ),
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
        notes=tuple(notes),
    )


def _count(fitted: Fitted, members: tuple[int, ...]) -> Count:
    answer = fitted.counts_[frozenset(members)]
    return Count(members, int(answer), answer.seen, answer.confidence)


def rare_states(model: LatentModel, n_samples: int) -> tuple[str, ...]:
    """The joint states that are empty or nearly so, rarest first; a single latent has none.

    Each with the number of cases that P(H) expects in it.
    """
    table = model.joint.table
    if model.n_latent < 2:
        return ()
    cases = n_samples * table
    is_rare = cases < _FEWEST_CASES
    is_rare[tuple(model.joint.nearly_empty().T)] = True
    rare = np.argwhere(is_rare)
    order = np.argsort(table[tuple(rare.T)], kind="stable")
    return tuple(
        ", ".join(f"{name}={s}" for name, s in zip(model.latent_names, cell, strict=True))
        + f" ({cases[tuple(cell)]:.1f} cases)"
        for cell in rare[order]
    )


def _runner(alternative: Any, n_samples: int) -> Runner:
    model: LatentModel = alternative.model
    return Runner(
        bic_gap=float(alternative.bic_gap),
        domain_sizes=model.domain_sizes,
        drives=tuple(model.children(j) for j in range(model.n_latent)),
        edges=model.latent_graph.described(model.latent_names),
        rare=rare_states(model, n_samples),
    )


@dataclass(frozen=True, eq=False)
class _Numeric:
    """A variable as numbers, (N, columns), with the title of each column."""

    titles: tuple[str, ...]
    is_share: tuple[bool, ...]
    block: Floats


def _numeric_columns(observations: Observations, name: str) -> _Numeric:
    """The columns of a variable as numbers; each level of a categorical one as 0 or 1."""
    place = observations.index(name)
    width = observations.widths[place]
    start = sum(observations.widths[:place])
    titles: list[str] = []
    is_share: list[bool] = []
    columns: list[Floats] = []
    for offset in range(width):
        values = observations.values[:, start + offset]
        title = observations.column_names[start + offset]
        levels = observations.levels[place][offset]
        is_share += [levels is not None] * (1 if levels is None else len(levels))
        if levels is None:
            titles.append(title)
            columns.append(values)
            continue
        for code, level in enumerate(levels):
            titles.append(f"{title} = {level}")
            columns.append(np.where(np.isnan(values), np.nan, values == code))
    return _Numeric(tuple(titles), tuple(is_share), np.stack(columns, axis=1))


def _standardised(block: Floats) -> Floats:
    """Each column centred and in units of its own spread; gaps stay."""
    seen = ~np.isnan(block)
    known = np.maximum(seen.sum(axis=0), 1)
    centred = block - np.where(seen, block, 0.0).sum(axis=0) / known
    spread = np.sqrt((np.where(seen, centred, 0.0) ** 2).sum(axis=0) / known)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _scatter(columns: _Numeric, labels: NDArray[np.int64], separation: float | None) -> Scatter:
    block = columns.block
    known = (~np.isnan(block)).mean(axis=1)
    is_flat = block.shape[1] <= 2
    shown_rows = np.flatnonzero(known == 1.0 if is_flat else known >= _ENOUGH_KNOWN)
    # Evenly spaced rows: the same ones for every variable and every run.
    chosen = shown_rows[:: max(1, -(-len(shown_rows) // MAX_POINTS))]
    if is_flat:
        points = np.hstack([block[chosen], np.zeros((len(chosen), 2 - block.shape[1]))])
        return _made_scatter(columns.titles, points, labels[chosen], 1.0, separation)
    scaled = _standardised(block)
    leading, shown = _leading_directions(scaled)
    axes = ("first direction", "second direction")
    points = _along(scaled[chosen], leading)
    return _made_scatter(axes, points, labels[chosen], shown, separation)


def _leading_directions(scaled: Floats) -> tuple[Floats, float]:
    """The two leading principal directions, (2, columns), and their share of the variance.

    Each covariance is taken over the rows where both of its columns are there.
    """
    seen = (~np.isnan(scaled)).astype(np.float64)
    filled = np.nan_to_num(scaled)
    lengths, directions = np.linalg.eigh(filled.T @ filled / np.maximum(seen.T @ seen, 1.0))
    # Covariances over different rows may leave a length slightly below 0.
    lengths = np.maximum(lengths[::-1], 0.0)
    leading = directions.T[::-1][:2]
    # The sign of a direction is arbitrary; its largest entry is made positive.
    leading = leading * np.sign(leading[np.arange(2), np.abs(leading).argmax(axis=1)])[:, None]
    total = float(lengths.sum())
    return leading, float(lengths[:2].sum()) / total if total > 0 else 1.0


def _along(rows: Floats, directions: Floats) -> Floats:
    """Each row's place along the directions, by least squares over the cells that are there."""
    seen = (~np.isnan(rows)).astype(np.float64)
    products = np.einsum("rc,ac,bc->rab", seen, directions, directions)
    onto = np.nan_to_num(rows) @ directions.T
    return np.asarray(np.einsum("rab,rb->ra", np.linalg.pinv(products, hermitian=True), onto))


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
    told = ~np.isnan(block).all(axis=1)
    if not told.any():
        return None
    weights = model.joint.marginal(model.parents(i)).table.ravel()
    with np.errstate(divide="ignore"):
        score = model.components[i].log_density(block[told]) + np.log(weights)
    return round(float(np.mean(score.argmax(axis=1) == labels[told, i])), _DIGITS)


def _effect(
    columns: _Numeric,
    states: NDArray[np.int64],
    n_states: int,
    observed: int,
    latent: int,
) -> Effect:
    block, titles = columns.block, columns.titles[:MAX_EFFECT_COLUMNS]
    means = tuple(
        tuple(_mean(block[states == state, c]) for c in range(len(titles)))
        for state in range(n_states)
    )
    scaled = _standardised(block)
    seen, filled = ~np.isnan(scaled), np.nan_to_num(scaled)
    between = 0.0
    for state in range(n_states):
        rows = states == state
        sums, known = filled[rows].sum(axis=0), seen[rows].sum(axis=0)
        between += float((sums**2 / np.maximum(known, 1)).sum())
    total = float((filled**2).sum())
    share = between / total if total > 0 else 0.0
    is_share = columns.is_share[: len(titles)]
    more = len(columns.titles) - len(titles)
    return Effect(observed, latent, titles, is_share, means, round(share, _DIGITS), more)


def _mean(column: Floats) -> float | None:
    known = column[~np.isnan(column)]
    return _rounded(float(known.mean())) if len(known) else None


def _rounded(value: float) -> float:
    """Six significant digits: more than a picture or a table shows."""
    return float(f"{value:.6g}")


def _tuples(value: Any) -> Any:
    """Lists as JSON gives them back to tuples, as the records hold them."""
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value
