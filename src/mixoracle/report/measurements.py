"""The numbers behind every picture of measurements: means by state, distributions, points.

Computed here and nowhere else, for the report and for matplotlib alike. Means and distributions go
over all cases in a state, by its most likely assignment; only points are a sample. Values may be
missing: sums and densities go over the values that are there.

Assumes observations with the columns that the learner read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from scipy.special import ndtri

from mixoracle._arrays import Bools, Floats, Integers, without_missing
from mixoracle.families.counts import COUNTS
from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.model.joint_states import flat
from mixoracle.model.reading import with_unit
from mixoracle.observations import Observations
from mixoracle.observations.answers import with_levels
from mixoracle.report.evidence import Effect, Scatter, Shape

# Columns and levels of one variable that are shown one by one.
MAX_EFFECT_COLUMNS = 24
MAX_LEVELS = 24
# More bars of counts than this are taken together.
_MAX_BARS = 30
# A curve of so many points looks smooth at the size of a tile.
_GRID, _FINE = 60, 512
# A density is drawn between these quantiles: single far values would leave no room for it.
_TAILS = (0.002, 0.998)
# The narrowest kernel, as a share of what is drawn; a finer one shows values, not a shape.
_NARROWEST = 1 / 60
_INTERVAL = float(ndtri(0.975))
# A case of which less than this share of the columns is known would be pictured by chance.
_ENOUGH_KNOWN = 0.5
_DIGITS = 4


Kind = Literal["density", "counts", "levels", "answers", "block"]


class Learned(Protocol):
    """What pictures of measurements need of a fitted learner."""

    model_: LatentModel
    states_: Integers
    columns_: tuple[Column, ...]
    set_aside_: Bools


@dataclass(frozen=True, eq=False)
class Numeric:
    """A variable as numbers, (N, columns), with the title of each column.

    ``kind`` says how its distribution is shown: that of one column, ``answers`` for several columns
    of levels, ``block`` for other ones.
    """

    titles: tuple[str, ...]
    is_share: tuple[bool, ...]
    block: Floats
    kind: Kind


def measured(fitted: Learned, learned: Observations) -> list[Numeric]:
    """Each observed variable as numbers, from what :func:`as_learned` returns."""
    reading = fitted.model_.reading
    exposed = () if reading is None else reading.exposed
    return [
        _numeric(learned, name, [c for c in fitted.columns_ if c.observed == i], exposed)
        for i, name in enumerate(fitted.model_.observed_names)
    ]


def as_learned(fitted: Learned, observations: Observations) -> Observations:
    """The observations with answers as levels, and without the values that were set aside."""
    had_levels = [held is not None for block in observations.levels for held in block]
    answers = [
        place
        for place, column in enumerate(fitted.columns_)
        if column.levels is not None and not had_levels[place]
    ]
    held = with_levels(observations, answers)
    if not fitted.set_aside_.any():
        return held
    aside = np.repeat(fitted.set_aside_, held.widths, axis=1)
    return replace(held, values=np.where(aside, np.nan, held.values))


def _numeric(
    observations: Observations, name: str, columns: Sequence[Column], exposed: Collection[str]
) -> Numeric:
    """The columns of a variable as numbers; each level of a categorical one as 0 or 1.

    An exposure, the last column, is not shown.
    """
    place = observations.index(name)
    start = sum(observations.widths[:place])
    parts: list[tuple[str, bool, Floats]] = []
    shown = observations.levels[place][: -1 if name in exposed else None]
    for at, levels in enumerate(shown, start):
        title = with_unit(observations.titles[at], observations.units[at])
        values = observations.values[:, at]
        if levels is None:
            parts.append((title, False, values))
        for code, level in enumerate(levels or ()):
            is_level = np.where(np.isnan(values), np.nan, values == code)
            parts.append((f"{title} = {level}", True, is_level))
    titles, is_share, block = zip(*parts, strict=True)
    return Numeric(titles, is_share, np.stack(block, axis=1), _kind(is_share, columns, len(shown)))


def _kind(is_share: Sequence[bool], columns: Sequence[Column], n_shown: int) -> Kind:
    if all(is_share):
        return "levels" if n_shown == 1 else "answers"
    if n_shown > 1:
        return "block"
    return "counts" if columns[0].family == COUNTS.name else "density"


def effects_of(
    model: LatentModel, numeric: Sequence[Numeric], states: Integers
) -> tuple[Effect, ...]:
    """The effect of each latent on each variable that it drives."""
    return tuple(
        _effect(numeric[i], states[:, j], model.domain_sizes[j], i, j)
        for j in range(model.n_latent)
        for i in model.children(j)
    )


def _effect(
    numeric: Numeric, states: Integers, n_states: int, observed: int, latent: int
) -> Effect:
    block, titles = numeric.block, numeric.titles[:MAX_EFFECT_COLUMNS]
    is_share = numeric.is_share[: len(titles)]
    scaled = standardised(block)
    seen, filled = ~np.isnan(scaled), np.nan_to_num(scaled)
    between, rows = 0.0, []
    for state in range(n_states):
        own = states == state
        sums, known = filled[own].sum(axis=0), seen[own].sum(axis=0)
        between += float((sums**2 / np.maximum(known, 1)).sum())
        parts = (block[own, c] for c in range(len(titles)))
        rows.append([_mean(values, share) for values, share in zip(parts, is_share, strict=True)])
    total = float((filled**2).sum())
    means, low, high = (tuple(tuple(one[k] for one in row) for row in rows) for k in range(3))
    centre, spread = _centre_and_spread(block[:, : len(titles)])
    return Effect(
        observed,
        latent,
        titles,
        is_share,
        means,
        low,
        high,
        tuple(map(rounded, centre.tolist())),
        tuple(map(rounded, spread.tolist())),
        round(between / total if total > 0 else 0.0, _DIGITS),
        len(numeric.titles) - len(titles),
    )


def _mean(column: Floats, is_share: bool) -> tuple[float | None, float | None, float | None]:
    """The mean with its interval; that of a share after Wilson, which stays between 0 and 1."""
    known = without_missing(column)
    n = len(known)
    if n == 0:
        return None, None, None
    mean = float(known.mean())
    if is_share:
        z2 = _INTERVAL**2
        middle = (mean + z2 / (2 * n)) / (1 + z2 / n)
        half = _INTERVAL * np.sqrt(mean * (1 - mean) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    elif n == 1:
        return rounded(mean), None, None
    else:
        middle, half = mean, _INTERVAL * float(known.std(ddof=1)) / np.sqrt(n)
    # By rounding alone, a share of 0 or 1 may lie outside of its interval.
    low, high = min(middle - half, mean), max(middle + half, mean)
    return rounded(mean), rounded(float(low)), rounded(float(high))


def shapes_of(
    model: LatentModel, numeric: Sequence[Numeric], states: Integers
) -> tuple[Shape, ...]:
    """The distribution of each variable of one column, by the states of each of its parents."""
    return tuple(
        shape for i in range(model.n_observed) for shape in _shapes(model, numeric[i], states, i)
    )


def _shapes(model: LatentModel, numeric: Numeric, states: Integers, i: int) -> Iterator[Shape]:
    kind = numeric.kind
    if kind == "answers" or kind == "block":  # noqa: PLR1714
        return
    at = _places(numeric)
    draw = {"levels": _shares, "counts": _bars, "density": _curve}[kind]
    for j in model.parents(i) or (None,):
        groups = [np.ones(len(states), dtype=bool)]
        if j is not None:
            groups = [states[:, j] == s for s in range(model.domain_sizes[j])]
        heights = tuple(
            tuple(float(f"{h:.3g}") for h in draw(numeric.block[own], at)) for own in groups
        )
        yield Shape(i, j, kind, tuple(map(rounded, at.tolist())), heights)


def _places(numeric: Numeric) -> Floats:
    """Where a distribution is shown: codes, ends of bars, or points of a curve."""
    if numeric.kind == "levels":
        return np.arange(min(len(numeric.titles), MAX_LEVELS), dtype=np.float64)
    return _steps(numeric.block) if numeric.kind == "counts" else _grid(numeric.block)


def _shares(block: Floats, at: Floats) -> Floats:
    known = block[~np.isnan(block[:, 0]), : len(at)]
    return known.mean(axis=0) if len(known) else np.zeros(len(at))


def _steps(block: Floats) -> Floats:
    """Where bars of counts begin, with the end of the last one."""
    known = without_missing(block)
    if not len(known):
        return np.array([0.0, 1.0])
    low, high = np.floor(known.min()), np.floor(known.max())
    step = -(-(high - low + 1) // _MAX_BARS)
    return np.arange(low, high + step + 1, step)


def _bars(block: Floats, at: Floats) -> Floats:
    known = without_missing(block)
    return np.histogram(known, at)[0] / max(len(known), 1)


def _grid(block: Floats) -> Floats:
    known = without_missing(block)
    if not len(known):
        return np.linspace(0.0, 1.0, _GRID)
    low, high = np.quantile(known, _TAILS)
    room = 0.08 * (high - low) or max(abs(low), 1.0) * 0.5
    return np.linspace(low - room, high + room, _GRID)


def _curve(block: Floats, at: Floats) -> Floats:
    """A kernel density; the kernel's width follows Silverman's rule of thumb."""
    known = without_missing(block)
    if not len(known):
        return np.zeros(len(at))
    quarter = np.subtract(*np.quantile(known, [0.75, 0.25])) / 1.34
    spread = min(filter(None, (float(known.std()), float(quarter))), default=0.0)
    width = max(0.9 * spread * len(known) ** -0.2, _NARROWEST * (at[-1] - at[0]))
    edges = np.linspace(at[0], at[-1], _FINE + 1)
    weights = np.histogram(known, edges)[0] / len(known)
    distance = (at[:, None] - (edges[1:] + edges[:-1]) / 2) / width
    heights = np.exp(-0.5 * distance**2) @ weights
    return np.asarray(heights / (width * np.sqrt(2 * np.pi)))


def standardised(block: Floats) -> Floats:
    """Each column centred and in units of its own spread; missing values stay."""
    centre, spread = _centre_and_spread(block)
    return np.asarray((block - centre) / np.where(spread > 0, spread, 1.0))


def _centre_and_spread(block: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each column over the values that are there."""
    seen = ~np.isnan(block)
    known = np.maximum(seen.sum(axis=0), 1)
    centre = np.where(seen, block, 0.0).sum(axis=0) / known
    return centre, np.sqrt((np.where(seen, block - centre, 0.0) ** 2).sum(axis=0) / known)


def scatter_of(numeric: Numeric, chosen: Integers, separation: float | None) -> Scatter:
    """The cases of a sample in one variable."""
    block = numeric.block
    if numeric.kind in {"levels", "counts", "answers"}:
        return Scatter(numeric.titles[:1], (), (), 1.0, separation)
    known: Floats = (~np.isnan(block[chosen])).mean(axis=1)
    is_flat = block.shape[1] <= 2
    places = np.flatnonzero(known == 1.0 if is_flat else known >= _ENOUGH_KNOWN)
    rows = chosen[places]
    if is_flat:
        points = np.hstack([block[rows], np.zeros((len(rows), 2 - block.shape[1]))])
        axes, shown = numeric.titles, 1.0
    else:
        scaled = standardised(block)
        leading, shown = leading_directions(scaled)
        points = along(scaled[rows], leading)
        axes = tuple(_axis(numeric.titles, direction) for direction in leading)
    held = tuple((rounded(x), rounded(y)) for x, y in points)
    return Scatter(axes, held, tuple(places.tolist()), round(shown, _DIGITS), separation)


def _axis(titles: Sequence[str], direction: Floats) -> str:
    """A direction by the columns that weigh most in it, each in units of its own spread."""
    first, second = np.argsort(-np.abs(direction), kind="stable")[:2]
    signs = ["+" if direction[c] >= 0 else "−" for c in (first, second)]
    lead = "" if signs[0] == "+" else signs[0]
    return f"{lead}{titles[first]} {signs[1]} {titles[second]}{' …' if len(titles) > 2 else ''}"


def leading_directions(scaled: Floats) -> tuple[Floats, float]:
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


def along(rows: Floats, directions: Floats) -> Floats:
    """Each row's place along the directions, by least squares over the values that are there."""
    seen = (~np.isnan(rows)).astype(np.float64)
    products = np.einsum("rc,ac,bc->rab", seen, directions, directions)
    onto = np.nan_to_num(rows) @ directions.T
    return np.asarray(np.einsum("rab,rb->ra", np.linalg.pinv(products, hermitian=True), onto))


def separation_of(
    model: LatentModel, observations: Observations, states: Integers, i: int
) -> float | None:
    """The share of cases that this variable alone classifies as all variables together do."""
    if model.components is None:
        return None
    block = observations[model.observed_names[i]]
    recorded = ~np.isnan(block).all(axis=1)
    if not recorded.any():
        return None
    parents = list(model.parents(i))
    weights = model.joint.marginal(parents).table.ravel()
    labels = flat(states[recorded][:, parents], [model.domain_sizes[j] for j in parents])
    with np.errstate(divide="ignore"):
        score = model.components[i].log_density(block[recorded]) + np.log(weights)
    return round(float(np.mean(score.argmax(axis=1) == labels)), _DIGITS)


def rounded(value: float) -> float:
    """Six significant digits: more than a picture or a table shows."""
    return float(f"{value:.6g}")
