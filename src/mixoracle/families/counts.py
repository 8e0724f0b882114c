"""Counts: Poisson components, or negative binomial where they scatter more than that.

A column counts events whose rate is the same for all rows of a component (Poisson) or differs
from row to row by a Gamma factor of mean 1 (negative binomial). The variance is
mean + mean² / size; an infinite size is Poisson. With the size r fixed, the success probability
has a conjugate Beta prior (for Poisson, the rate a Gamma prior). The sizes are kept to a grid, so
that log Γ(x + r) of each is a feature, and counts of any scatter have additive statistics.

Assumes whole numbers of at least 0, and columns that are independent within a component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from scipy.special import betaln, gammaln

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import (
    ComponentSet,
    IndependentColumns,
    WithMeans,
    parameters,
    positive_parameters,
)
from mixoracle.families.grid import GridFamily
from mixoracle.families.missing import standardised
from mixoracle.families.units import FamilyEntry, Part

# Poisson first: where nothing tells sizes apart the first is taken, and it is the simplest. A step
# of 2 misjudges the scatter by at most a factor sqrt(2), 0.03 nats a row.
SIZES = np.array([np.inf, *(0.25 * 2.0 ** np.arange(12))])
# The prior of a component's mean has the shape of an exponential distribution.
_PRIOR_EVENTS = 1.0
# Events that the penalty of a mean is worth. Its purpose is to keep means above 0.
_PENALTY_EVENTS = 0.5
# A column without any event is given this many over all its rows.
_FEWEST_EVENTS = 0.5
# Square roots of Poisson counts have nearly constant variance, most nearly with this added.
ANSCOMBE = 0.375
# Counts of events usually include a case with none or one; sizes and readings hardly do.
_SMALLEST_COUNT = 1
# Rows that are looked at first: most numbers are not whole, and that shows at once.
_FEW_ROWS = 100
# A Poisson count as large as this is normal, and floats hold every whole number up to it only.
_LARGEST_RATE = 2.0**53


@dataclass(frozen=True, eq=False, repr=False)
class CountComponents(WithMeans, IndependentColumns):
    """Negative binomial or Poisson components.

    ``means`` and ``sizes`` are (n_components, width) and above 0; an infinite size is Poisson.

    Examples
    --------
    >>> few, many = CountComponents(np.array([[2.0], [9.0]]), np.full((2, 1), np.inf)).means[:, 0]
    >>> float(few), float(many)
    (2.0, 9.0)
    """

    sizes: Floats

    family: ClassVar[str] = "counts"

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        means = positive_parameters(means, means.shape, "component means")
        sizes = positive_parameters(self.sizes, means.shape, "component sizes")
        self._keep(means=means, sizes=sizes)

    def _log_density_of_column(self, column: int, values: Floats) -> Floats:
        possible = (values >= 0) & (values == np.floor(values)) & np.isfinite(values)
        counts = np.where(possible, values, 0.0)[:, None]
        means, sizes = self.means[:, column], self.sizes[:, column]
        result = np.empty((len(values), self.n_components))
        poisson = np.isinf(sizes)
        rate, size = means[~poisson], sizes[~poisson]
        result[:, poisson] = counts * np.log(means[poisson]) - means[poisson]
        result[:, ~poisson] = (
            gammaln(counts + size)
            - gammaln(size)
            - size * np.log1p(rate / size)
            + counts * (np.log(rate) - np.log(rate + size))
        )
        return np.where(possible[:, None], result - gammaln(counts + 1.0), -np.inf)

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        rates, sizes = self.means[labels], self.sizes[labels]
        mixed = np.isfinite(sizes)
        rates[mixed] *= rng.standard_gamma(sizes[mixed]) / sizes[mixed]
        large = rates > _LARGEST_RATE
        drawn = rng.poisson(np.where(large, 0.0, rates)).astype(np.float64)
        if large.any():
            drawn[large] = np.rint(rng.normal(rates[large], np.sqrt(rates[large])))
        return drawn

    def __repr__(self) -> str:
        return f"CountComponents({self.n_components} components over {self.width} counts)"


class CountFamily(GridFamily):
    """Negative binomial components over ``width`` independent columns.

    The features are 1, then for all columns whether the value was seen, x, log x!, and for each
    finite size r log Γ(x + r) - log Γ(r).
    """

    grid = SIZES
    made = CountComponents

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        values = np.where(seen, block, 0.0)
        wrong = values[(values < 0) | (values != np.floor(values)) | np.isinf(values)]
        if len(wrong):
            raise InvalidInputError(
                f"counts should be whole numbers of at least 0; got {float(wrong[0]):g}: declare "
                "the column as continuous if it holds no counts"
            )
        # Counts repeat: what is slow is done once for each that occurs.
        distinct, place = np.unique(values, return_inverse=True)
        place = place.reshape(values.shape)
        rising = [(gammaln(distinct + r) - gammaln(r))[place] for r in SIZES[1:]]
        factorial = gammaln(distinct + 1.0)[place]
        return np.hstack([seen.any(axis=1, keepdims=True), seen, values, factorial, *rising])

    def embedding(self, block: Floats) -> Floats:
        return standardised(np.sqrt(block + ANSCOMBE))

    def natural(self, components: ComponentSet) -> Floats:
        known = cast(CountComponents, components)
        constant, linear = _coefficients(known.means, known.sizes)
        rising = self._places(known.sizes)[:, None, :] == np.arange(1, len(SIZES))[:, None]
        nothing = np.zeros((known.n_components, 1))
        return np.hstack(
            [nothing, constant, linear, -np.ones_like(linear), rising.reshape(len(nothing), -1)]
        )

    def _constant_part(self, statistics: Floats) -> Floats:
        """What the mean does not enter, Σ log Γ(x + r) - log Γ(r) - log x!, (k, width, G)."""
        parts = statistics[:, 2 * self.width + 1 :].reshape(-1, len(SIZES), self.width)
        result = np.repeat(-parts[:, :1], len(SIZES), axis=1)
        result[:, 1:] += parts[:, 1:]
        return np.swapaxes(result, 1, 2)

    def _log_evidence_on_grid(self, statistics: Floats, mean: Floats) -> Floats:
        seen, sums = (part[:, :, None] for part in self._seen_and_sums(statistics))
        result = self._constant_part(statistics)
        events, rows = _PRIOR_EVENTS, (_PRIOR_EVENTS / mean)[:, None]
        result[:, :, :1] += (
            events * np.log(rows)
            - gammaln(events)
            + gammaln(events + sums)
            - (events + sums) * np.log(rows + seen)
        )
        # A Beta prior with 1 more success has the same mean for every size, and the Gamma prior
        # of Poisson as its limit.
        sizes = SIZES[1:]
        successes = 1.0 + sizes * rows
        result[:, :, 1:] += betaln(successes + sizes * seen, events + sums)
        result[:, :, 1:] -= betaln(successes, events)
        return result

    def _fit_on_grid(self, statistics: Floats, mean: Floats) -> tuple[Floats, Floats]:
        seen, sums = self._seen_and_sums(statistics)
        best = (sums + _PENALTY_EVENTS) / (seen + _PENALTY_EVENTS / mean)
        means = np.repeat(best[:, :, None], len(SIZES), axis=2)
        constant, linear = _coefficients(means, SIZES)
        fit = seen[:, :, None] * constant + sums[:, :, None] * linear
        reached = self._constant_part(statistics) + fit
        return means, reached + self._mean_penalty(means, SIZES, mean[:, None])

    def _mean_penalty(self, means: Floats, values: Floats, mean: Floats) -> Floats:
        """The likelihood of :data:`_PENALTY_EVENTS` events in rows of the prior's mean."""
        constant, linear = _coefficients(means, values)
        highest_constant, highest_linear = _coefficients(np.broadcast_to(mean, means.shape), values)
        rows = _PENALTY_EVENTS / mean
        return np.asarray(
            rows * (constant - highest_constant) + _PENALTY_EVENTS * (linear - highest_linear)
        )

    def _typical_mean(self, sums: Floats, n_rows: Floats) -> Floats:
        return np.maximum(sums, _FEWEST_EVENTS) / n_rows


def _coefficients(means: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """The coefficients of 1 and x in the log density, besides log x! and log Γ(x + r)."""
    means, sizes = np.broadcast_arrays(means, sizes)
    finite = np.isfinite(sizes)
    r = np.where(finite, sizes, 1.0)
    constant = np.where(finite, -r * np.log1p(means / r), -means)
    linear = np.log(means) - np.where(finite, np.log(means + r), 0.0)
    return constant, linear


@dataclass(frozen=True)
class CountPart(Part):
    """Counts as they are."""

    made = CountFamily

    def decode(self, components: ComponentSet) -> CountComponents:
        known = cast(CountComponents, components)
        return CountComponents(known.means[:, self._ascending], known.sizes[:, self._ascending])


def _recognises(seen: Floats) -> bool:
    few = seen[:_FEW_ROWS]
    if not np.array_equal(few, np.floor(few)):
        return False
    smallest = seen.min()
    return bool(
        0 <= smallest <= _SMALLEST_COUNT
        and seen.max() > smallest
        and np.array_equal(seen, np.floor(seen))
    )


def _check(seen: Floats, variable: str) -> None:
    wrong = seen[(seen < 0) | (seen != np.floor(seen))]
    if len(wrong):
        raise InvalidInputError(
            f"counts should be whole numbers from 0 on; {variable} is declared so and holds "
            f"{wrong[0]:g}"
        )


COUNTS = FamilyEntry(
    name=CountComponents.family,
    purpose="whole numbers from 0 on",
    words="counts",
    part=CountPart,
    check=_check,
    recognises=_recognises,
)
