"""Observations made ready for learning: units removed, order removed, families chosen.

Every variable is brought into coordinates without a unit (:mod:`~mixoracle.families.encoding`), so
that shifting or rescaling it changes nothing. Rows, columns and variables are put into an order
that depends on the data alone, so that the same seed gives the same answer for any order in which
they came. Cells may be missing; a column without any value is refused, and a row without any is
kept, because it says nothing either way.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed

from mixoracle._arrays import Bools, Floats, Integers, column_ranges
from mixoracle._checks import n_workers
from mixoracle._steps import Tell, counted, tell_nobody
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.families.choice import Families
from mixoracle.families.encoding import Encoder, fit_encoder
from mixoracle.families.registry import NUMBERS
from mixoracle.families.submixture import Subcomponents
from mixoracle.families.units import differ_by_rounding
from mixoracle.mixtures.atoms import by_chance, scattered, with_states
from mixoracle.mixtures.coded import CodedRows
from mixoracle.mixtures.columns import Column, read_columns, repeated_numbers, with_repeated
from mixoracle.mixtures.isolation import isolated
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.ties import rounding_steps, spread_by, ties_and_quantiles
from mixoracle.model.reading import without_repeated
from mixoracle.observations import Observations
from mixoracle.settings import Settings

# Variances square the data and densities divide by them; both must stay within double precision.
LARGEST = 1e100
# Columns are told apart by these quantiles of theirs, relative to their spread, to so many digits:
# fewer than rounding disturbs when a column is rescaled.
_KEY_QUANTILES = (0.03, 0.11, 0.24, 0.37, 0.5, 0.61, 0.74, 0.87, 0.97)
_KEY_DIGITS = 9


@dataclass(frozen=True)
class Prepared(CodedRows):
    """What the learning stages see of the observations.

    ``observations`` are those that were prepared, with their answers as levels, and ``columns``
    say what each column was taken for.
    ``variables`` and ``rows`` give the canonical order: entry p is the position, in the
    observations, of what stands at place p here. ``encoders`` and ``blocks`` are in that order.
    ``log_units`` added to a log-likelihood over the coordinates gives it in the original units.
    ``set_aside`` (N, n), in the order of the observations, marks values that stand alone and are
    treated as missing; ``rounding`` has, in the same order, the rounding step of each column of
    each variable, 0 for one that was not rounded. ``crowded`` has the variables of which more
    values stand alone than may be set aside, and the share of these.
    """

    observations: Observations
    columns: tuple[Column, ...]
    variables: Integers
    rows: Integers
    encoders: tuple[Encoder, ...]
    blocks: tuple[Floats, ...]
    log_units: float
    set_aside: Bools
    rounding: tuple[Floats, ...]
    crowded: tuple[tuple[str, float], ...] = ()

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return len(self.variables)

    @cached_property
    def measured(self) -> list[Floats]:
        """The block of each variable of the observations, without numbers that only repeat."""
        return _measured(self.observations, self.columns)

    @cached_property
    def spread(self) -> Bools:
        """Of which variables of the observations (n,) rounded or repeated numbers were spread."""
        is_spread = np.array([steps.any() for steps in self.rounding], dtype=bool)
        is_spread[[column.observed for column in self.columns if column.agreed]] = True
        return is_spread

    def unspread(self) -> Prepared:
        """The same with numbers that were spread as they were measured."""
        if not self.spread.any():
            return self
        blocks = list(self.blocks)
        for place in np.flatnonzero(self.spread[self.variables]).tolist():
            blocks[place] = self.encoders[place].encode(self.kept(place))
        return replace(self, blocks=tuple(blocks))

    def kept(self, place: int) -> Floats:
        """The rows of the variable at ``place`` as they were measured, but for what is set aside.

        They are in the order that rows have here, columns in that of the observations.
        """
        i = self.variables[place]
        return np.where(self.set_aside[:, [i]], np.nan, self.measured[i])[self.rows]

    def leaves_out(self, place: int) -> bool:
        """Whether coordinates of the variable at ``place`` are not all that was measured of it."""
        n_columns = self.measured[self.variables[place]].shape[1]
        return bool(self.blocks[place].shape[1] < n_columns)

    @cached_property
    def places(self) -> Integers:
        """Where each variable of the observations stands here."""
        return np.argsort(self.variables)

    def for_search(self) -> Prepared:
        """The same observations with families that structure can be searched with."""
        encoders = tuple(encoder.for_search() for encoder in self.encoders)
        changed = any(new is not old for new, old in zip(encoders, self.encoders, strict=True))
        return replace(self, encoders=encoders) if changed else self

    def with_subcomponents(self, held: Sequence[Subcomponents | None]) -> Prepared:
        """The same observations, components of numbers being mixtures of these sub-components."""
        encoders = (
            encoder.with_subcomponents(own)
            for encoder, own in zip(self.encoders, held, strict=True)
        )
        return replace(self, encoders=tuple(encoders))

    def take(self, places: Integers) -> Prepared:
        """Some of the rows, by their places here in ascending order; units stay as they are."""
        own = np.sort(self.rows[places])
        return replace(
            self,
            observations=self.observations.take(own),
            rows=np.searchsorted(own, self.rows[places]),
            blocks=tuple(block[places] for block in self.blocks),
            log_units=self.log_units * len(places) / self.n_samples,
            set_aside=self.set_aside[own],
        )

    def draw(self, at_most: int, rng: np.random.Generator) -> Integers | slice:
        """All rows, or ``at_most`` of them at random."""
        if self.n_samples <= at_most:
            return slice(None)
        return np.sort(rng.choice(self.n_samples, at_most, replace=False))

    def searched_rows(self, rows: Integers | slice) -> tuple[VariableRows, ...]:
        """Some rows of every variable, as the search for structure sees them."""
        return tuple(
            VariableRows(
                family=family,
                block=block[rows],
                features=self.features(place, rows),
                patterns=self.patterns(place, rows),
                shows_shape=encoder.is_shape_judged,
            )
            for place, (family, block, encoder) in enumerate(
                zip(self.families, self.blocks, self.encoders, strict=True)
            )
        )

    def in_own_order(self, of_rows: Integers) -> Integers:
        """One number for each row, from the canonical order to that of the observations."""
        own = np.empty_like(of_rows)
        own[self.rows] = of_rows
        return own


def prepare(
    observations: Observations,
    families: Families = None,
    settings: Settings = Settings(),
    *,
    set_aside: bool = True,
    exposed: Collection[str] = (),
    n_jobs: int = 1,
    tell: Tell = tell_nobody,
) -> Prepared:
    """Bring observations into canonical order and units; ``families`` are those declared.

    Rounded numbers are spread over their rounding step. With ``set_aside``, numbers that stand
    alone, or that repeat where others do not, become missing values. The last column of the
    variables ``exposed`` is the exposure that their counts are out of. ``n_jobs`` variables are
    looked at side by side, and ``tell`` hears of each that is done.
    """
    _refuse_too_few(observations)
    _refuse_unusable(observations)
    observations, columns = read_columns(observations, families, exposed)
    _warn_of_empty_rows(observations)
    _warn_of_rounding(observations, columns)
    tied, quantiles = ties_and_quantiles(observations.values, _KEY_QUANTILES)
    if set_aside:
        columns = with_states(with_repeated(columns, observations, tied), observations, settings)
    seen = _measured(observations, columns)
    scores = _row_scores(observations)
    if any(column.repeated for column in columns):
        quantiles = ties_and_quantiles(np.hstack(seen), _KEY_QUANTILES)[1]
    firsts = np.cumsum([0, *observations.widths[:-1]])
    keyed = [
        _order_columns(block, own, scores)
        for block, own in zip(seen, np.split(quantiles, firsts[1:]), strict=True)
    ]
    variables = np.array(sorted(range(len(keyed)), key=lambda i: keyed[i][1]), dtype=np.int64)
    rows = _order_rows(seen[i][:, keyed[i][0]] for i in variables)
    read_as = [_columns_of(columns, int(i), keyed[i][0]) for i in variables]
    values = [seen[i][:, keyed[i][0]][rows] for i in variables]
    states = [_at_states(own, read) for own, read in zip(values, read_as, strict=True)]
    fitted = [_encoder(own, read, settings) for own, read in zip(values, read_as, strict=True)]
    judged = [place for place, encoder in enumerate(fitted) if encoder.is_shape_judged]
    rounding = [np.zeros(block.shape[1]) for block in seen]
    repeats = np.logical_or.reduceat(tied, firsts)
    for place in (place for place in judged if repeats[variables[place]]):
        steps = rounding_steps(values[place])
        if steps.any():
            values[place] = spread_by(values[place], steps)
            fitted[place] = _encoder(values[place], read_as[place], settings)
            rounding[variables[place]][keyed[variables[place]][0]] = steps
        if states[place].any():
            values[place] = scattered(values[place], states[place])
            fitted[place] = _encoder(values[place], read_as[place], settings)
    asked = judged if set_aside else []
    alone, crowds = _standing_alone(values, states, fitted, asked, settings, n_jobs, tell)
    crowds = {int(variables[place]): crowd for place, crowd in crowds.items()}
    for i in by_chance(crowds, observations.values, rows, columns, settings):
        alone[:, np.flatnonzero(variables == i)[0]] = crowds[i]
    alone[:, judged] |= _are_mostly(alone[:, judged])[:, None]
    encoders, log_units = [], 0.0
    for place, own in enumerate(values):
        if alone[:, place].any():
            own[alone[:, place]] = np.nan
            fitted[place] = _encoder(own, read_as[place], settings)
        encoder = fitted[place]
        # Own units are not needed any more, and a table may be large.
        values[place] = encoder.encode(own)
        log_units += encoder.log_units(own, values[place])
        order = keyed[variables[place]][0]
        encoders.append(Encoder(tuple(part.moved(order) for part in encoder.parts)))
    aside = np.zeros_like(alone)
    aside[np.ix_(rows, variables)] = alone
    return Prepared(
        observations,
        columns,
        variables,
        rows,
        tuple(encoders),
        tuple(values),
        log_units,
        aside,
        tuple(rounding),
        tuple((observations.names[i], float(many.mean())) for i, many in sorted(crowds.items())),
    )


def _measured(observations: Observations, columns: Sequence[Column]) -> list[Floats]:
    blocks = (observations[i] for i in range(observations.n_observed))
    return without_repeated(blocks, repeated_numbers(columns))


def _columns_of(columns: Sequence[Column], observed: int, order: Integers) -> list[Column]:
    """The columns of one variable in a given order."""
    own = [column for column in columns if column.observed == observed]
    return [own[c] for c in order]


def _encoder(block: Floats, read_as: Sequence[Column], settings: Settings) -> Encoder:
    kinds = [column.family for column in read_as]
    sizes = [column.n_levels for column in read_as]
    return fit_encoder(block, kinds, sizes, settings.priors)


def _at_states(block: Floats, read_as: Sequence[Column]) -> Bools:
    """The rows (N,) with a repeated number that is a state: they do not stand alone."""
    marks = [np.isin(block[:, c], column.agreed) for c, column in enumerate(read_as)]
    return np.asarray(np.any(marks, axis=0))


def _standing_alone(
    values: Sequence[Floats],
    states: Sequence[Bools],
    fitted: Sequence[Encoder],
    places: Sequence[int],
    settings: Settings,
    n_jobs: int,
    tell: Tell,
) -> tuple[Bools, dict[int, Bools]]:
    """Which values (N, n) stand alone in variables at these places, and by place, any crowds."""
    alone = np.zeros((len(values[0]), len(values)), dtype=bool)
    crowds = {}
    looked_at = Parallel(n_jobs=n_workers(n_jobs, max(1, len(places))), return_as="generator")(
        delayed(_isolated)(values[place], states[place], fitted[place], settings)
        for place in places
    )
    for place, (own, crowd) in zip(places, counted(looked_at, len(places), tell), strict=True):
        alone[:, place] = own
        if crowd.any():
            crowds[place] = crowd
    return alone, crowds


def _isolated(
    block: Floats, states: Bools, encoder: Encoder, settings: Settings
) -> tuple[Bools, Bools]:
    coordinates = encoder.encode(block)
    if states.any():
        coordinates = np.where(states[:, None], np.nan, coordinates)
    return isolated(coordinates, encoder.for_search().family, settings)


def _are_mostly(alone: Bools) -> Bools:
    """The rows (N,) that are out of place as a whole: most of their values stand alone."""
    return np.asarray(alone.sum(axis=1) > alone.shape[1] / 2)


def _refuse_too_few(observations: Observations) -> None:
    if observations.n_samples < 2:
        raise InvalidInputError(
            f"learning needs at least 2 rows; got {observations.n_samples} sample: collect more "
            "cases"
        )


def _refuse_unusable(observations: Observations) -> None:
    low, high = column_ranges(observations.values)
    empty = np.flatnonzero(np.isnan(low))
    if len(empty):
        raise InvalidInputError(f"{observations.titles[empty[0]]} has no value in any row: drop it")
    is_number = np.array([held is None for block in observations.levels for held in block])
    sizes, spreads = np.maximum(np.abs(low), np.abs(high)), high - low
    outside = is_number & ((sizes > LARGEST) | ((spreads > 0) & (spreads < 1.0 / LARGEST)))
    if outside.any():
        worst = int(outside.argmax())
        name = np.repeat(observations.names, observations.widths)[worst]
        raise InvalidInputError(
            f"{name} has numbers of size {sizes[worst]:.3g} that differ by {spreads[worst]:.3g}; "
            f"squares of such numbers cannot be computed: rescale it to between {1 / LARGEST:.0e} "
            f"and {LARGEST:.0e}"
        )


def _warn_of_rounding(observations: Observations, columns: Sequence[Column]) -> None:
    """Say which numbers are so alike that a constant was left in them which should not be."""
    values = observations.values
    numbers = np.array([column.family == NUMBERS for column in columns])
    close = np.flatnonzero(numbers & differ_by_rounding(values))
    spreads = np.nanmax(values[:, close], axis=0) - np.nanmin(values[:, close], axis=0)
    lost = close[spreads > 0]
    if len(lost):
        worst, spread = int(lost[0]), float(spreads[spreads > 0][0])
        more = f" (and {len(lost) - 1} more columns)" if len(lost) > 1 else ""
        warnings.warn(
            f"{columns[worst].title}{more} has numbers of size {columns[worst].high} that differ "
            f"by {spread:.3g}, no more than rounding does, and counts as constant: "
            "subtract a constant before the data are saved",
            DataWarning,
            stacklevel=2,
        )


def _warn_of_empty_rows(observations: Observations) -> None:
    if not observations.has_missing:
        return
    n_empty = int(np.isnan(observations.values).all(axis=1).sum())
    if n_empty:
        warnings.warn(
            f"{n_empty} of {observations.n_samples} rows have no value at all; nothing is learned "
            "from them, and they get the most likely state",
            DataWarning,
            stacklevel=2,
        )


def _row_scores(observations: Observations) -> Floats | None:
    """A number for each row that no order, unit or shift changes, where columns may tie.

    Quantiles tell columns of numbers apart; columns of levels often share all of them.
    """
    if all(held is None for block in observations.levels for held in block):
        return None
    values = observations.values
    spread = np.nanstd(values, axis=0)
    standard = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.nan_to_num(standard).sum(axis=1))


def _order_columns(
    block: Floats, quantiles: Floats, scores: Floats | None
) -> tuple[Integers, tuple[tuple[float, ...], ...]]:
    """Columns in an order that their values alone decide, and the variable's own key.

    ``quantiles`` (d, q) are those of its columns.
    """
    spread = quantiles[:, [-1]] - quantiles[:, [0]]
    middle = quantiles[:, [quantiles.shape[1] // 2]]
    relative = (quantiles - middle) / np.where(spread > 0, spread, 1.0)
    keys = [tuple(own) for own in np.round(relative, _KEY_DIGITS).tolist()]
    if scores is not None:
        keys = [
            key + _moments_with(scores, column) for key, column in zip(keys, block.T, strict=True)
        ]
    order = np.array(sorted(range(len(keys)), key=lambda j: keys[j]), dtype=np.int64)
    return order, tuple(keys[j] for j in order)


def _moments_with(scores: Floats, column: Floats) -> tuple[float, ...]:
    """Moments of a column with the score of each row, where it has a value."""
    seen = ~np.isnan(column)
    values, own = column[seen], scores[seen]
    moments = [values.mean(), (values * own).mean(), (values * own**2).mean()]
    return tuple(np.round(moments, _KEY_DIGITS).tolist())


def _order_rows(blocks: Iterable[Floats]) -> Integers:
    """Rows by their first column, then by the next where they tie; missing values come last."""
    rest = iter(blocks)
    begin = next(rest)
    first = begin[:, 0]
    order = np.argsort(first, kind="stable")
    tied = np.diff(first[order]) == 0
    if tied.any() or np.isnan(first).any():
        order = np.lexsort(np.hstack([begin, *rest]).T[::-1])
    return order.astype(np.int64)
