"""Numbers with heavy tails: Student components, with degrees of freedom that are given.

A Student row is a normal row whose covariance was stretched by a random factor, one for all its
columns; the fewer the degrees of freedom, the more rows lie far out. The values that were seen of
a row are Student again, with the same degrees of freedom.

Given the factor all is as for normal components with rows of unequal weight:
(ν + d) / (ν + squared distance), so that a row far out hardly counts. The features are those of a
normal row and, at the end, its weight, which is 1 until :meth:`StudentFamily.statistics` or
:meth:`StudentFamily.completed` knows a component to measure the distance from. The evidence is
that of normal components given these weights, but for a constant: it compares pieces, and is not
comparable with the evidence of other families. So the search for structure uses normal components,
and tells heavy tails by density valleys.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mixoracle._arrays import frozen_array
from mixoracle.errors import InvalidInputError
from mixoracle.families.averages import Averages
from mixoracle.families.base import ComponentSet, Floats, Patterns, Prior
from mixoracle.families.ellipsoids import (
    Ellipsoids,
    EllipticalPart,
    checked_ellipsoids,
    marginal,
    placed,
    squared_distances,
)
from mixoracle.families.elliptical import EllipticalFamily, Moments
from mixoracle.families.entry import FamilyEntry
from mixoracle.families.gaussian import GaussianPart
from mixoracle.families.missing import rows_by_pattern
from mixoracle.settings import Priors

# With so few degrees of freedom or fewer the tails are so heavy that the mean does not exist.
_DEGREES_WITHOUT_MEAN = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class StudentComponents(Ellipsoids):
    """Multivariate Student components that share their degrees of freedom.

    Parameters
    ----------
    means : (n_components, width) array
        The centres; they are means where ``degrees`` exceeds 1.
    scales : (n_components, width, width) array
        Symmetric and positive definite; the covariance is ``degrees / (degrees - 2)`` times it.
    degrees : number
        Degrees of freedom ν, above 0.
    """

    scales: Floats
    degrees: Floats

    family: ClassVar[str] = "student"
    shared: ClassVar[frozenset[str]] = frozenset({"degrees"})

    def __post_init__(self) -> None:
        means, scales, factors = checked_ellipsoids(self.means, self.scales, "Student", "scales")
        degrees = frozen_array(self.degrees, np.float64, "degrees of freedom")
        if degrees.shape != () or not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                "the degrees of freedom of Student components should be one number above 0, "
                f"shared by all; got {np.asarray(self.degrees)!r}"
            )
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "degrees", degrees)
        object.__setattr__(self, "_factors", factors)

    def log_density(self, block: Floats) -> Floats:
        self._check_block(block)
        degrees = float(self.degrees)
        result = np.zeros((len(block), self.n_components))
        for rows, columns in rows_by_pattern(block):
            means, factors = marginal(self.means, self.scales, columns)
            squared, volume = squared_distances(block[np.ix_(rows, columns)], means, factors)
            result[rows] = _log_student(squared, degrees, len(columns)) - volume
        return result

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        degrees = float(self.degrees)
        rows = rng.standard_normal((len(labels), self.width))
        rows *= np.sqrt(degrees / rng.chisquare(degrees, (len(labels), 1)))
        return placed(rows, labels, self.means, self._cholesky)

    def averages(self) -> Averages:
        if float(self.degrees) <= _DEGREES_WITHOUT_MEAN:
            return ComponentSet.averages(self)
        return super().averages()

    def __repr__(self) -> str:
        return (
            f"StudentComponents({self.n_components} components in R^{self.width}, "
            f"{float(self.degrees):g} degrees of freedom)"
        )


def _log_student(squared: Floats, degrees: float, width: int) -> Floats:
    """The log density at squared Mahalanobis distances, but for the volume of the scale."""
    constant = (
        gammaln(0.5 * (degrees + width))
        - gammaln(0.5 * degrees)
        - 0.5 * width * np.log(degrees * np.pi)
    )
    return np.asarray(constant - 0.5 * (degrees + width) * np.log1p(squared / degrees))


class StudentFamily(EllipticalFamily):
    """Multivariate Student components over ``width`` columns."""

    def __init__(self, width: int, *, priors: Priors = Priors()) -> None:
        degrees = priors.student_degrees
        if not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                f"the degrees of freedom should be a number above 0; got {degrees!r}"
            )
        super().__init__(width, priors=priors)
        self.degrees = float(degrees)

    @property
    def _n_features(self) -> int:
        return self._end_of_products + 1

    def features(self, block: Floats) -> Floats:
        features = super().features(block)
        return np.hstack([features, features[:, :1]])

    def components(self, statistics: Floats, prior: Prior) -> StudentComponents:
        means, scales = self._best(statistics, prior)
        return StudentComponents(means, scales, np.array(self.degrees))

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Patterns | None = None
    ) -> Floats:
        """The log density of what was seen of each row.

        Not linear in the features: for the sum over a piece it is a lower bound, that of as many
        rows at their mean squared distance.
        """
        if patterns is not None:
            return self._log_density_of_seen(features, components, patterns)
        distance, log_volume = self._squared_distance(*self._parameters(components))
        rows = features[:, :1]
        typical = features @ distance.T / np.where(rows > 0, rows, 1.0)
        return np.asarray(rows * (self._log_radial(typical, self.width) - 0.5 * log_volume))

    def statistics(
        self,
        features: Floats,
        share: Floats,
        components: ComponentSet,
        patterns: Patterns | None = None,
    ) -> Floats:
        known = patterns if patterns is not None else self._whole(len(features))
        return self._expected_statistics(features, share, components, known)

    def completed(
        self,
        features: Floats,
        labels: NDArray[np.int64],
        components: ComponentSet | None,
        patterns: Patterns | None = None,
    ) -> Floats:
        known = patterns if patterns is not None else self._whole(len(features))
        return self._completed_rows(features, labels, components, known)

    def _whole(self, n_rows: int) -> Patterns:
        """The patterns of a block without missing values."""
        return Patterns(np.ones((1, self.width), dtype=bool), np.zeros(n_rows, dtype=np.int64))

    def _parameters(self, components: ComponentSet) -> tuple[Floats, Floats]:
        known = cast(StudentComponents, components)
        return known.means, known.scales

    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        # Rounding may leave a row at its component's centre with a distance just below 0.
        return _log_student(np.maximum(squared, 0.0), self.degrees, n_seen)

    def _row_weights(
        self, features: Floats, means: Floats, matrices: Floats, seen: NDArray[np.bool_]
    ) -> Floats:
        distance, _ = self._squared_distance(means, matrices, seen)
        squared = np.maximum(features @ distance.T, 0.0)
        return np.asarray((self.degrees + seen.sum()) / (self.degrees + squared))

    def _split(self, statistics: Floats) -> Moments:
        sums = statistics[:, 1 : self.width + 1]
        return Moments(statistics[:, 0], statistics[:, -1], sums, self._products(statistics))

    def _joined(self, counts: Floats, weights: Floats, sums: Floats, products: Floats) -> Floats:
        return np.hstack([counts[:, None], sums, products, weights[:, None]])


@dataclass(frozen=True)
class StudentPart(EllipticalPart):
    """Numbers for Student components."""

    @cached_property
    def family(self) -> StudentFamily:
        return StudentFamily(self.n_coordinates, priors=self.priors)

    def decode(self, components: ComponentSet) -> StudentComponents:
        known = cast(StudentComponents, components)
        return StudentComponents(
            self.decoded_means(known.means), self.decoded_matrices(known.scales), known.degrees
        )

    def for_search(self) -> GaussianPart:
        return GaussianPart(**{field.name: getattr(self, field.name) for field in fields(self)})


STUDENT = FamilyEntry(
    name=StudentComponents.family,
    purpose="numbers with heavy tails",
    words="heavy-tailed numbers",
    part=StudentPart,
)
