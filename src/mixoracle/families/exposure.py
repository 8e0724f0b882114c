"""Counts out of different exposures: depths, times, areas, totals.

A row that was looked at twice as long counts twice as many events, whatever its state. So the
last column of a block is the exposure e, which is conditioned on and not explained. Events come
along it as a Poisson process with rate μ, or, where they scatter more, as a negative binomial
process: the count of a row has mean μe and size re, so that two halves of a row add up to the whole
row. With the size fixed per row instead, statistics would not be additive; where exposures differ
by some ten per cent, the two hardly differ.

Assumes exposures above 0; a row with a missing exposure counts as not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Floats, Integers, frozen_array
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import (
    Averages,
    ComponentSet,
    Prior,
    WithMeans,
    parameters,
    positive_parameters,
)
from mixoracle.families.counts import ANSCOMBE, SIZES, CountComponents, CountFamily
from mixoracle.families.missing import standardised
from mixoracle.families.units import Columns, FamilyEntry, Part
from mixoracle.settings import Priors


@dataclass(frozen=True, eq=False, repr=False)
class ExposedCountComponents(WithMeans):
    """Negative binomial or Poisson components for each unit of exposure.

    ``means`` and ``sizes`` are (n_components, width - 1) and above 0; an infinite size is Poisson.
    ``exposure`` is the one that averages are shown for and rows are drawn with. The last column of
    a block holds the exposure of each row.
    """

    sizes: Floats
    exposure: Floats

    family: ClassVar[str] = "exposed counts"
    shared: ClassVar[frozenset[str]] = frozenset({"exposure"})

    def __post_init__(self) -> None:
        means = parameters(self.means, "component means")
        means = positive_parameters(means, means.shape, "component means")
        sizes = positive_parameters(self.sizes, means.shape, "component sizes")
        exposure = frozen_array(self.exposure, np.float64, "a typical exposure")
        if exposure.shape != () or not exposure > 0:
            raise InvalidInputError(f"a typical exposure should be above 0; got {self.exposure!r}")
        self._keep(means=means, sizes=sizes, exposure=exposure)

    @property
    def width(self) -> int:
        return int(self.means.shape[1]) + 1

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        exposure = np.asarray(block, dtype=np.float64)[:, -1]
        usable = np.isfinite(exposure) & (exposure > 0)
        result = np.zeros((len(block), self.n_components))
        for c in range(self.width - 1):
            counts = block[:, c]
            seen = np.flatnonzero(usable & ~np.isnan(counts))
            if len(seen):
                result[seen] += self._of_column(c, counts[seen], exposure[seen])
        return result

    def _of_column(self, column: int, counts: Floats, exposure: Floats) -> Floats:
        """The log density of n counts, (n, n_components)."""
        possible = (counts >= 0) & (counts == np.floor(counts)) & np.isfinite(counts)
        x, e = np.where(possible, counts, 0.0)[:, None], exposure[:, None]
        means, sizes = self.means[:, column], self.sizes[:, column]
        finite = np.isfinite(sizes)
        r = np.where(finite, sizes, 1.0)
        poisson = x * np.log(means * e) - means * e
        binomial = (
            gammaln(x + r * e)
            - gammaln(r * e)
            - r * e * np.log1p(means / r)
            + x * (np.log(means) - np.log(means + r))
        )
        density = np.where(finite, binomial, poisson) - gammaln(x + 1.0)
        return np.where(possible[:, None], density, -np.inf)

    def averages(self) -> Averages:
        """Means at the typical exposure."""
        return Averages.of_means(self.means * self.exposure)

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        exposure = float(self.exposure)
        rates, sizes = self.means[labels] * exposure, self.sizes[labels] * exposure
        mixed = np.isfinite(sizes)
        rates[mixed] *= rng.standard_gamma(sizes[mixed]) / sizes[mixed]
        counts = rng.poisson(rates).astype(np.float64)
        return np.hstack([counts, np.full((len(labels), 1), exposure)])

    def __repr__(self) -> str:
        return (
            f"ExposedCountComponents({self.n_components} components over {self.width - 1} counts)"
        )


class ExposedCountFamily(CountFamily):
    """Counts in all coordinates but the last, which is the exposure in units of its mean.

    The features are those of counts, with two differences: the exposure stands where 'seen' does,
    and what it adds to the density of Poisson counts, x log e, stands with log x!.
    """

    @staticmethod
    def made(means: Floats, sizes: Floats) -> ExposedCountComponents:  # type: ignore[override]
        """Components for one unit of exposure."""
        return ExposedCountComponents(means, sizes, np.array(1.0))

    def features(self, block: Floats) -> Floats:
        exposure = np.broadcast_to(block[:, -1:], (len(block), self.width))
        seen = ~np.isnan(block[:, :-1]) & ~np.isnan(exposure)
        values = np.where(seen, block[:, :-1], 0.0)
        e = np.where(seen, exposure, 1.0)
        scaled = values * np.log(e)
        rising = [gammaln(values + r * e) - gammaln(r * e) - scaled for r in SIZES[1:]]
        factorial = gammaln(values + 1.0) - scaled
        some = seen.any(axis=1, keepdims=True)
        return np.hstack([some, np.where(seen, e, 0.0), values, factorial, *rising])

    def embedding(self, block: Floats) -> Floats:
        return standardised(np.sqrt((block[:, :-1] + ANSCOMBE) / block[:, -1:]))

    def natural(self, components: ComponentSet) -> Floats:
        return super().natural(_plain(components))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        return super().log_penalty(_plain(components), prior)


def _plain(components: ComponentSet) -> CountComponents:
    known = cast(ExposedCountComponents, components)
    return CountComponents(known.means, known.sizes)


@dataclass(frozen=True)
class ExposedCountPart(Part):
    """Counts as they are, and their exposure, the last of ``columns``, divided by its mean."""

    scale: float = 1.0

    @classmethod
    def fit(
        cls, block: Floats, columns: Columns, n_levels: Sequence[int], priors: Priors
    ) -> ExposedCountPart:
        return cls(columns, scale=float(np.nanmean(block[:, -1])), priors=priors)

    @cached_property
    def family(self) -> ExposedCountFamily:
        return ExposedCountFamily(self.n_coordinates - 1, priors=self.priors)

    def encode(self, block: Floats) -> Floats:
        return np.hstack([block[:, :-1], block[:, -1:] / self.scale])

    def decode(self, components: ComponentSet) -> ExposedCountComponents:
        known = cast(ExposedCountComponents, components)
        order = np.argsort(self.columns[:-1])
        return ExposedCountComponents(
            known.means[:, order] / self.scale,
            known.sizes[:, order] / self.scale,
            np.array(self.scale),
        )


# No column is taken for an exposure by its values, and none is declared as a family.
EXPOSURE = FamilyEntry(
    name="exposure",
    purpose="the time, depth or total that counts are out of",
    words="exposure",
    part=ExposedCountPart,
)
