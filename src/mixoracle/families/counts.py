"""Counts: negative binomial components, with Poisson as the limit.

With the size r of the negative binomial fixed, the success probability has a conjugate Beta prior
(for Poisson, the rate a Gamma prior). The sizes are kept to a grid, so that log Γ(x + r) of each
is a feature, and counts of any scatter have additive statistics.

Assumes whole numbers of at least 0, and columns that are independent within a component.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.special import betaln, gammaln

from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Floats, Prior
from mixoracle.families.gaps import standardised
from mixoracle.families.grid import GridFamily
from mixoracle.model import ComponentSet, CountComponents

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
_ANSCOMBE = 0.375


class CountFamily(GridFamily):
    """Negative binomial components over ``width`` independent columns.

    The features are 1, then for all columns whether the cell was seen, x, log x!, and for each
    finite size r log Γ(x + r) - log Γ(r).
    """

    def __init__(self, width: int) -> None:
        super().__init__(width, SIZES)

    def features(self, block: Floats) -> Floats:
        seen = ~np.isnan(block)
        values = np.where(seen, block, 0.0)
        if np.any((values < 0) | (values != np.floor(values)) | np.isinf(values)):
            wrong = values[(values < 0) | (values != np.floor(values)) | np.isinf(values)]
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
        return standardised(np.sqrt(block + _ANSCOMBE))

    def components(self, statistics: Floats, prior: Prior) -> CountComponents:
        return CountComponents(*self._best(statistics, prior))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        held = cast(CountComponents, components)
        return self._penalty(held.means, held.sizes, prior)

    def natural(self, components: ComponentSet) -> Floats:
        held = cast(CountComponents, components)
        constant, linear = _coefficients(held.means, held.sizes)
        rising = self._places(held.sizes)[:, None, :] == np.arange(1, len(SIZES))[:, None]
        nothing = np.zeros((held.n_components, 1))
        return np.hstack(
            [nothing, constant, linear, -np.ones_like(linear), rising.reshape(len(nothing), -1)]
        )

    def _seen_and_sums(self, statistics: Floats) -> tuple[Floats, Floats]:
        return statistics[:, 1 : self.width + 1], statistics[:, self.width + 1 : 2 * self.width + 1]

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
