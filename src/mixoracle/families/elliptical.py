"""How normal and Student components are learned, also from rows with missing values.

The statistics of a piece are its size, its sum and its raw second moment, and its evidence is
Normal–inverse-Wishart. The prior is centred on the data: its mean has the spread of the
components' means and its scale is the pooled scatter within the pieces, so that no unit of
measurement enters. For a row with missing values, the squared distance of what was seen is still
linear in its features, and what was not seen has, within each component, an expectation that is
linear in what was; both maps depend on its pattern only.

It expects columns with mean 0 and unit variance (see ``preparation``), and values missing at
random.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import ComponentSet, Family, Missing, Patterns, Prior
from mixoracle.families.ellipsoids import Ellipsoids
from mixoracle.families.missing import filled_with_means
from mixoracle.families.products import squared_distance, with_products
from mixoracle.settings import Priors

# So many numbers of matrices are worked on at a time, which stay in the cache: 512 kB.
_ENTRIES_AT_ONCE = 65_536


@dataclass(frozen=True)
class NormalInverseWishart:
    """The prior of one component: mean ~ N(0, covariance / mean_rows), covariance ~ IW."""

    mean_rows: float  # κ_0
    degrees: float  # ν_0
    scale: Floats  # Ψ_0, (width, width)

    @cached_property
    def log_normaliser(self) -> float:
        """The part of the evidence that no data enter; thousands of pieces share it."""
        return float(self.log_normalisers(self.scale[None])[0])

    def log_normalisers(self, scales: Floats) -> Floats:
        """The same for priors that differ in their scale only, (k, width, width) to (k,)."""
        width = scales.shape[-1]
        log_volume = np.linalg.slogdet(scales)[1]
        log_gamma = gammaln(0.5 * (self.degrees - np.arange(width))).sum()
        return np.asarray(
            0.5 * (self.degrees * log_volume + width * np.log(self.mean_rows)) - log_gamma
        )


@dataclass(frozen=True)
class Moments:
    """The statistics of k pieces: rows (k,), their weights (k,), sums and second moments.

    ``sums`` (k, width) and ``products`` (k, width, width) are weighted. All weights are 1 but for
    families that trust some rows less.
    """

    counts: Floats
    weights: Floats
    sums: Floats
    products: Floats


class EllipticalFamily(Family):
    """Components over ``width`` columns that have a mean and a symmetric positive matrix."""

    # Whether some rows count less than others, which only a component can tell. The weight of a
    # row is then its last feature.
    weighs_rows: ClassVar[bool]

    def __init__(self, width: int, *, priors: Priors = Priors()) -> None:
        self.width = width
        self.priors = priors
        self._rows, self._columns = np.triu_indices(width)
        self._end_of_products = 1 + width + len(self._rows)
        # Where each entry of the symmetric matrix of products stands among the features.
        self._square = np.empty((width, width), dtype=np.int64)
        packed = np.arange(1 + width, self._end_of_products)
        self._square[self._rows, self._columns] = self._square[self._columns, self._rows] = packed
        self._n_features = self._end_of_products + int(self.weighs_rows)

    @abstractmethod
    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        """The log density at squared distances in ``n_seen`` columns, but for the volume."""

    @abstractmethod
    def _log_density_of_whole(self, features: Floats, components: ComponentSet) -> Floats:
        """The log density of rows without missing values, (N, k)."""

    def _row_weights(
        self, features: Floats, means: Floats, matrices: Floats, seen: Bools
    ) -> Floats:
        """How much rows of one pattern count for each mean and matrix, (N, k)."""
        return np.ones((len(features), len(means)))

    def _split(self, statistics: Floats) -> Moments:
        """The statistics by their meaning."""
        counts, sums = statistics[:, 0], statistics[:, 1 : self.width + 1]
        weights = statistics[:, -1] if self.weighs_rows else counts
        return Moments(counts, weights, sums, self._products(statistics))

    def _joined(self, counts: Floats, weights: Floats, sums: Floats, products: Floats) -> Floats:
        """What :meth:`_split` took apart, the products as in :meth:`features`."""
        last = [weights[:, None]] if self.weighs_rows else []
        return np.hstack([counts[:, None], sums, products, *last])

    def _parameters(self, components: ComponentSet) -> tuple[Floats, Floats]:
        """The means (k, width) and the matrices (k, width, width)."""
        known = cast(Ellipsoids, components)
        return known.means, known.matrices

    @property
    def n_parameters(self) -> int:
        return self.width + len(self._rows)

    def features(self, block: Floats) -> Floats:
        missing = np.isnan(block)
        if not missing.any():
            return with_products(block)
        features = with_products(np.where(missing, 0.0, block))
        features[missing.all(axis=1), 0] = 0.0
        return features

    def embedding(self, block: Floats) -> Floats:
        return filled_with_means(block)

    def prior(self, statistics: Floats) -> NormalInverseWishart:
        return self._prior_with(self._scales(self._split(statistics), np.array([0]))[0])

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        known = cast(NormalInverseWishart, prior)
        with_data = np.empty(len(statistics))
        for some in self._some_matrices(len(statistics)):
            moments = self._split(statistics[some])
            with_data[some] = self._log_evidence_of_data(moments, known, known.scale)
        return known.log_normaliser + with_data

    def own_evidence(self, levels: Sequence[Floats]) -> list[tuple[Prior, float]]:
        """All levels at once: there are dozens, of a few pieces each."""
        sizes = np.array([len(level) for level in levels])
        starts = np.cumsum(sizes) - sizes
        statistics = np.concatenate(levels)
        scales = self._scales(self._split(statistics), starts)
        priors = [self._prior_with(scale) for scale in scales]
        level_of = np.repeat(np.arange(len(sizes)), sizes)
        with_data = np.empty(len(statistics))
        for some in self._some_matrices(len(statistics)):
            moments = self._split(statistics[some])
            with_data[some] = self._log_evidence_of_data(moments, priors[0], scales[level_of[some]])
        evidence = np.add.reduceat(with_data, starts) + sizes * priors[0].log_normalisers(scales)
        return list(zip(priors, evidence.tolist(), strict=True))

    def _prior_with(self, scale: Floats) -> NormalInverseWishart:
        degrees = self.width + 1.0 + self.priors.extra_rows
        return NormalInverseWishart(self.priors.mean_rows, degrees, scale)

    def _scales(self, moments: Moments, starts: Integers) -> Floats:
        """Ψ_0 by the scatter within pieces, one for each level that starts at these pieces."""
        weights = np.where(moments.counts > 0, moments.weights, 1.0)[:, None, None]
        scatter = moments.products - moments.sums[:, :, None] * moments.sums[:, None, :] / weights
        free = np.add.reduceat(moments.counts - (moments.counts > 0), starts)
        within = np.add.reduceat(scatter, starts) / np.maximum(free, 1.0)[:, None, None]
        within[:, np.arange(self.width), np.arange(self.width)] += self.priors.variance_floor
        return np.asarray(self.priors.extra_rows * within)

    def _some_matrices(self, n: int) -> Iterator[slice]:
        """A few of n pieces at a time."""
        at_once = max(1, _ENTRIES_AT_ONCE // self.width**2)
        return (slice(begin, begin + at_once) for begin in range(0, n, at_once))

    def _log_evidence_of_data(
        self, moments: Moments, prior: NormalInverseWishart, scales: Floats
    ) -> Floats:
        """The evidence without its normaliser; pieces may differ in Ψ_0, and in nothing else."""
        mean_rows = prior.mean_rows + moments.weights
        degrees = prior.degrees + moments.counts
        posterior = scales + moments.products
        shift = moments.sums[:, :, None] * moments.sums[:, None, :]
        shift /= mean_rows[:, None, None]
        posterior -= shift
        log_volume = np.linalg.slogdet(posterior)[1]
        log_gamma = gammaln(0.5 * (degrees[:, None] - np.arange(self.width))).sum(axis=1)
        return np.asarray(
            log_gamma
            - 0.5 * degrees * log_volume
            - 0.5 * self.width * (np.log(mean_rows) + moments.counts * np.log(np.pi))
        )

    def _best(self, statistics: Floats, prior: Prior) -> tuple[Floats, Floats]:
        """The means and matrices that maximise likelihood and penalty together."""
        prior = cast(NormalInverseWishart, prior)
        moments = self._split(statistics)
        # The maximum-likelihood mean, not the shrunken one: shrinking by ``mean_rows`` rows is
        # invisible for all but single rows, and a component without rows sits at the origin.
        means = moments.sums / np.maximum(moments.weights, np.finfo(float).tiny)[:, None]
        scatter = moments.products - moments.sums[:, :, None] * means[:, None, :]
        rows = moments.counts + prior.degrees - self.width - 1.0
        matrices = (scatter + prior.scale) / rows[:, None, None]
        return means, 0.5 * (matrices + np.swapaxes(matrices, 1, 2))

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        prior = cast(NormalInverseWishart, prior)
        matrices = self._parameters(components)[1]
        log_volume = np.linalg.slogdet(matrices)[1]
        spread = np.einsum("kab,ab->k", np.linalg.inv(matrices), prior.scale)
        return float(-0.5 * ((prior.degrees - self.width - 1.0) * log_volume + spread).sum())

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        """The density of the seen values alone; 0 where there are none."""
        if patterns is None or patterns.is_all_or_nothing:
            return self._log_density_of_whole(features, components)
        means, matrices = self._parameters(components)
        result = np.zeros((len(features), len(means)))
        for seen, rows in patterns.with_rows():
            distance, log_volume = self._squared_distance(means, matrices, seen)
            squared = features[rows] @ distance.T
            result[rows] = self._log_radial(squared, int(seen.sum())) - 0.5 * log_volume
        return result

    def _squared_distance(
        self, means: Floats, matrices: Floats, seen: Bools | None = None
    ) -> tuple[Floats, Floats]:
        """Coefficients of the features in the squared distance, (k, n_features), and log volumes.

        Missing values have features 0, so the coefficients of the seen ones are put where they
        stand in a whole row and the others do not matter.
        """
        if seen is None or seen.all():
            precisions = np.asarray(np.linalg.inv(matrices), dtype=np.float64)
            log_volume = np.linalg.slogdet(matrices)[1]
        else:
            columns = np.flatnonzero(seen)
            inside = np.ix_(np.arange(len(means)), columns, columns)
            precisions = np.zeros_like(matrices)
            precisions[inside] = np.linalg.inv(matrices[inside])
            log_volume = np.linalg.slogdet(matrices[inside])[1]
        nothing = np.zeros((len(means), self._n_features - self._end_of_products))
        return np.hstack([squared_distance(means, precisions), nothing]), log_volume

    def _completion(
        self, means: Floats, matrices: Floats, seen: Bools
    ) -> tuple[Floats, Floats] | None:
        """What the seen values of a pattern say, in each component, of the row that they belong to.

        The first array, (k, width + 1, width + 1), turns (1, row with 0 for missing values) into
        (1, expected row), by the regression of the missing values on the seen ones; the second,
        (k, width, width), is the covariance of the missing values given the others. None if
        nothing is missing.
        """
        if seen.all():
            return None
        there, gone = np.flatnonzero(seen), np.flatnonzero(~seen)
        every = np.arange(len(means))
        within = matrices[np.ix_(every, there, there)]
        across = matrices[np.ix_(every, there, gone)]
        slopes = np.swapaxes(np.linalg.solve(within, across), 1, 2)  # (k, gone, there)
        maps = np.zeros((len(means), self.width + 1, self.width + 1))
        maps[:, 0, 0] = 1.0
        maps[:, 1 + there, 1 + there] = 1.0
        maps[np.ix_(every, 1 + gone, 1 + there)] = slopes
        maps[:, 1 + gone, 0] = means[:, gone] - np.einsum("kab,kb->ka", slopes, means[:, there])
        leftover = np.zeros_like(matrices)
        leftover[np.ix_(every, gone, gone)] = matrices[np.ix_(every, gone, gone)] - slopes @ across
        return maps, leftover

    def statistics(
        self, features: Floats, share: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        """The E-step: what the whole rows would add up to, expected given their seen values."""
        if (patterns is None or patterns.is_all_or_nothing) and not self.weighs_rows:
            return super().statistics(features, share, components)
        patterns = patterns or self._whole(len(features))
        means, matrices = self._parameters(components)
        total = np.zeros((len(means), self._n_features))
        for seen, rows in patterns.with_rows():
            part, own = features[rows], share[rows]
            weighted = own * self._row_weights(part, means, matrices, seen)
            sums = self._moment_matrix(weighted.T @ part)
            counts = own.sum(axis=0)
            completion = self._completion(means, matrices, seen)
            if completion is not None:
                maps, leftover = completion
                sums = maps @ sums @ np.swapaxes(maps, 1, 2)
                sums[:, 1:, 1:] += counts[:, None, None] * leftover
            products = sums[:, 1 + self._rows, 1 + self._columns]
            total += self._joined(counts, sums[:, 0, 0], sums[:, 0, 1:], products)
        return total

    def completed(
        self,
        features: Floats,
        labels: Integers,
        components: ComponentSet | None,
        patterns: Missing = None,
    ) -> Floats:
        """The expected features of each row in its component, as far as they were seen.

        A row is worth the share of its values that were seen. Counted as a whole row it would be
        evidence for the component that it was completed from, in values that nobody saw.
        """
        if (patterns is None or patterns.is_all_or_nothing) and not self.weighs_rows:
            return features
        patterns = patterns or self._whole(len(features))
        if components is None:
            means, matrices = self._seen_moments(features, labels, patterns)
        else:
            means, matrices = self._parameters(components)
        result = np.zeros_like(features)
        for seen, rows in patterns.with_rows():
            completion = self._completion(means, matrices, seen)
            every_weight = self._row_weights(features[rows], means, matrices, seen)
            for label in np.unique(labels[rows]):
                own = labels[rows] == label
                inside, weights = rows[own], every_weight[own, label]
                part = features[inside, : self.width + 1]
                leftover: Floats | float = 0.0
                if completion is not None:
                    part = part @ completion[0][label].T
                    leftover = completion[1][label, self._rows, self._columns]
                sums = weights[:, None] * part[:, 1:]
                products = sums[:, self._rows] * part[:, 1 + self._columns] + leftover
                result[inside] = seen.mean() * self._joined(part[:, 0], weights, sums, products)
        return result

    def _whole(self, n_rows: int) -> Patterns:
        """The patterns of a block without missing values."""
        return Patterns(np.ones((1, self.width), dtype=bool), np.zeros(n_rows, dtype=np.int64))

    def _moment_matrix(self, statistics: Floats) -> Floats:
        """Weight, sums and second moments as one matrix, (k, width + 1, width + 1).

        ``statistics`` are weighted sums of features, whose column 0 is then the weight.
        """
        matrix = np.empty((len(statistics), self.width + 1, self.width + 1))
        matrix[:, 0, : self.width + 1] = statistics[:, : self.width + 1]
        matrix[:, 1:, 0] = statistics[:, 1 : self.width + 1]
        matrix[:, 1:, 1:] = self._products(statistics)
        return matrix

    def _products(self, statistics: Floats) -> Floats:
        return statistics.take(self._square, axis=1)

    def _seen_moments(
        self, features: Floats, labels: Integers, patterns: Patterns
    ) -> tuple[Floats, Floats]:
        """Means of the seen values of each label, and one diagonal matrix: a start for EM."""
        n_labels = int(labels.max()) + 1
        there = patterns.seen[patterns.which].astype(np.float64)
        values = features[:, 1 : self.width + 1]
        counts, sums = np.zeros((2, n_labels, self.width))
        np.add.at(counts, labels, there)
        np.add.at(sums, labels, values)
        means = sums / np.maximum(counts, 1.0)
        residual = np.where(there > 0, values - means[labels], 0.0)
        variances = (residual**2).sum(axis=0) / np.maximum(there.sum(axis=0), 1.0)
        matrix = np.diag(np.maximum(variances, self.priors.variance_floor))
        return means, np.repeat(matrix[None], n_labels, axis=0)
