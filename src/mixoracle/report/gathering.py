"""The evidence of a fitted learner, taken once, right after learning.

Only a sample of points is kept for each variable; everything else is a summary. Values may be
missing: sums and densities go over the values that are there, and a case is pictured where enough
of it is known.

Assumes a fitted learner and the observations that it learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.model.joint import independent
from mixoracle.model.reading import with_unit
from mixoracle.model.state_names import joint_state_names
from mixoracle.observations import Observations
from mixoracle.observations.answers import with_levels
from mixoracle.report.evidence import Alternative, Count, Effect, Evidence, Scatter
from mixoracle.trust.checks import FALSE_ALARM
from mixoracle.trust.edges import pair_supports

if TYPE_CHECKING:
    from mixoracle import solving
    from mixoracle.learner import LatentGraphLearner

# A scatter of more points is not easier to read, and sixty of them have to fit in one file.
MAX_POINTS = 300
# Pairs grow with the square of the variables; beyond this the least certain cannot be read anyway.
MAX_PAIRS = 2000
# Rows that a note names one by one.
MAX_ROWS_NAMED = 10
# Columns and levels of one variable that are shown one by one.
MAX_EFFECT_COLUMNS = 8
# A case of which less than this share of the columns is known would be pictured by chance.
_ENOUGH_KNOWN = 0.5
# A joint state that expects less than one case cannot be distinguished from an empty one.
_FEWEST_CASES = 1.0
_DIGITS = 4

Floats = NDArray[np.float64]


def gather(
    fitted: LatentGraphLearner,
    observations: Observations,
    failure: str = "",
    notes: Sequence[str] = (),
) -> Evidence:
    """Take from a fitted learner, and from the data it saw, all that a report needs."""
    model = fitted.model_
    n = model.n_observed
    had_levels = [held is not None for block in observations.levels for held in block]
    answers = [
        place
        for place, column in enumerate(fitted.columns_)
        if column.levels is not None and not had_levels[place]
    ]
    observations = _without_set_aside(with_levels(observations, answers), fitted.set_aside_)
    exposed = () if model.reading is None else model.reading.exposed
    columns = [
        _numeric_columns(observations, name, name in exposed) for name in model.observed_names
    ]
    labels = model.component_of_states(fitted.states_)
    pairs = islice(combinations(range(n), 2), MAX_PAIRS)
    return Evidence(
        n_samples=observations.n_samples,
        observed_names=model.observed_names,
        columns=fitted.columns_,
        state_sizes=tuple(
            tuple(np.bincount(fitted.states_[:, j], minlength=size).tolist())
            for j, size in enumerate(model.domain_sizes)
        ),
        singles=tuple(_count(fitted, (i,)) for i in range(n)),
        pairs=tuple(_count(fitted, pair) for pair in pairs),
        verdicts=fitted.assumptions_,
        repairs=tuple(fitted.repairs_),
        alternatives=tuple(
            _alternative(other, observations.n_samples) for other in fitted.alternatives_
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
        verdict=fitted.verdict_,
        n_starts=fitted.n_starts_,
        n_starts_agreed=fitted.n_starts_agreed_,
        edges=pair_supports(model, observations.n_samples, fitted.edge_posterior_),
        notes=(
            *notes,
            *_repeated_notes(fitted.columns_),
            *_set_aside_notes(model.observed_names, fitted.set_aside_),
            *_resolution_notes(fitted),
        ),
    )


def _without_set_aside(observations: Observations, set_aside: NDArray[np.bool_]) -> Observations:
    """The observations as they were learned from: values that were set aside are missing."""
    if not set_aside.any():
        return observations
    aside = np.repeat(set_aside, observations.widths, axis=1)
    values = np.where(aside, np.nan, observations.values)
    return replace(observations, values=values)


def _set_aside_notes(names: Sequence[str], set_aside: NDArray[np.bool_]) -> Iterator[str]:
    """Which values were treated as missing because they stand alone, a sentence a variable."""
    for name, column in zip(names, set_aside.T, strict=True):
        rows = np.flatnonzero(column)
        if len(rows):
            named = ", ".join(str(row + 1) for row in rows[:MAX_ROWS_NAMED])
            more = ", …" if len(rows) > MAX_ROWS_NAMED else ""
            was, case = ("was", "case") if len(rows) == 1 else ("were", "cases")
            yield (
                f"{name}: {len(rows):,} of {len(column):,} values {was} treated as missing, "
                f"because no other value is near ({case} {named}{more})"
            )


def _repeated_notes(columns: Sequence[Column]) -> Iterator[str]:
    """Which numbers were treated as missing because they repeat where others do not."""
    for column in columns:
        if column.repeated:
            values = ", ".join(f"{value:.6g}" for value in column.repeated[:MAX_ROWS_NAMED])
            yield (
                f"{column.title}: exactly {values} occurs far more often than the numbers next to "
                "it, and was treated as missing"
            )


def _resolution_notes(fitted: LatentGraphLearner) -> Iterator[str]:
    """That a coarser answer was taken, why, and what the answers along the path are."""
    if isfinite(fitted.resolution_):
        yield (
            "the components have another shape than was assumed, so states are told apart only "
            "where several measurements show them (as if the data were believed up to "
            f"{fitted.resolution_:,.0f} rows)"
        )
    if len(fitted.resolutions_) > 1:
        answers = "; ".join(
            f"{_believed(answer.finest, answer.coarsest)}: {_states(answer.domain_sizes)}"
            for answer in fitted.resolutions_
        )
        yield f"answers from fine to coarse, by how many rows the data are believed: {answers}"


def _believed(finest: float, coarsest: float) -> str:
    names = [f"{rows:,.0f}" if isfinite(rows) else "all" for rows in (finest, coarsest)]
    return names[0] if names[0] == names[1] else f"{names[0]} to {names[1]}"


def _states(domain_sizes: tuple[int, ...]) -> str:
    if not domain_sizes:
        return "no hidden cause"
    return f"{' × '.join(map(str, domain_sizes))} states"


def _count(fitted: LatentGraphLearner, members: tuple[int, ...]) -> Count:
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
    # Where few cases were to be expected anyway, that there are none says nothing.
    is_rare &= n_samples * independent(table) > np.log(table.size / FALSE_ALARM)
    rare = np.argwhere(is_rare)
    order = np.argsort(table[tuple(rare.T)], kind="stable")
    return tuple(
        ", ".join(
            f"{name}={s}"
            for name, s in zip(model.latent_names, joint_state_names(model, state), strict=True)
        )
        + f" ({cases[tuple(state)]:.1f} cases)"
        for state in rare[order]
    )


def _alternative(other: solving.Alternative, n_samples: int) -> Alternative:
    model = other.model
    return Alternative(
        bic_gap=float(other.bic_gap),
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


def _numeric_columns(observations: Observations, name: str, exposed: bool) -> _Numeric:
    """The columns of a variable as numbers; each level of a categorical one as 0 or 1.

    An exposure, the last column, is not shown.
    """
    place = observations.index(name)
    start = sum(observations.widths[:place])
    columns: list[tuple[str, bool, Floats]] = []
    shown = observations.levels[place][: -1 if exposed else None]
    for at, levels in enumerate(shown, start):
        title = with_unit(observations.titles[at], observations.units[at])
        values = observations.values[:, at]
        if levels is None:
            columns.append((title, False, values))
        for code, level in enumerate(levels or ()):
            is_level = np.where(np.isnan(values), np.nan, values == code)
            columns.append((f"{title} = {level}", True, is_level))
    titles, is_share, block = zip(*columns, strict=True)
    return _Numeric(titles, is_share, np.stack(block, axis=1))


def _standardised(block: Floats) -> Floats:
    """Each column centred and in units of its own spread; missing values stay."""
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
        axes, shown = columns.titles, 1.0
    else:
        scaled = _standardised(block)
        leading, shown = _leading_directions(scaled)
        axes, points = ("first direction", "second direction"), _along(scaled[chosen], leading)
    rounded = tuple((_rounded(x), _rounded(y)) for x, y in points)
    members = tuple(labels[chosen].tolist())
    return Scatter(axes, rounded, members, round(shown, _DIGITS), separation)


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
    """Each row's place along the directions, by least squares over the values that are there."""
    seen = (~np.isnan(rows)).astype(np.float64)
    products = np.einsum("rc,ac,bc->rab", seen, directions, directions)
    onto = np.nan_to_num(rows) @ directions.T
    return np.asarray(np.einsum("rab,rb->ra", np.linalg.pinv(products, hermitian=True), onto))


def _separation(
    model: LatentModel, observations: Observations, labels: NDArray[np.int64], i: int
) -> float | None:
    """The share of cases that this variable alone classifies as all variables together do."""
    if model.components is None:
        return None
    block = observations[model.observed_names[i]]
    recorded = ~np.isnan(block).all(axis=1)
    if not recorded.any():
        return None
    weights = model.joint.marginal(model.parents(i)).table.ravel()
    with np.errstate(divide="ignore"):
        score = model.components[i].log_density(block[recorded]) + np.log(weights)
    return round(float(np.mean(score.argmax(axis=1) == labels[recorded, i])), _DIGITS)


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
