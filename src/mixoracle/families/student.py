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
and heavy tails are then judged by their moments.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, cast

import numpy as np
from scipy.special import gammaln

from mixoracle._arrays import Bools, Floats, Integers, frozen_array
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Averages, ComponentSet, Prior
from mixoracle.families.ellipsoids import Ellipsoids, EllipticalPart
from mixoracle.families.elliptical import EllipticalFamily
from mixoracle.families.gaussian import GaussianPart
from mixoracle.families.units import FamilyEntry
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

    Examples
    --------
    >>> held = StudentComponents(np.zeros((2, 1)), np.ones((2, 1, 1)), 3.0)
    >>> held.n_components, held.width
    (2, 1)
    """

    scales: Floats
    degrees: Floats

    family: ClassVar[str] = "student"
    shared: ClassVar[frozenset[str]] = frozenset({"degrees"})

    def __post_init__(self) -> None:
        self._keep_checked("Student", "scales")
        degrees = frozen_array(self.degrees, np.float64, "degrees of freedom")
        if degrees.shape != () or not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                "the degrees of freedom of Student components should be one number above 0, "
                f"shared by all; got {np.asarray(self.degrees)!r}"
            )
        self._keep(degrees=degrees)

    @property
    def matrices(self) -> Floats:
        return self.scales

    def _log_density_at(self, squared: Floats, half_log_volume: Floats, width: int) -> Floats:
        return _log_student(squared, float(self.degrees), width) - half_log_volume

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        degrees = float(self.degrees)
        rows = rng.standard_normal((len(labels), self.width))
        rows *= np.sqrt(degrees / rng.chisquare(degrees, (len(labels), 1)))
        return self._placed(rows, labels)

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

    weighs_rows = True

    def __init__(self, width: int, *, priors: Priors = Priors()) -> None:
        degrees = priors.student_degrees
        if not (degrees > 0 and np.isfinite(degrees)):
            raise InvalidInputError(
                f"the degrees of freedom should be a number above 0; got {degrees!r}"
            )
        super().__init__(width, priors=priors)
        self.degrees = float(degrees)

    def features(self, block: Floats) -> Floats:
        features = super().features(block)
        return np.hstack([features, features[:, :1]])

    def components(self, statistics: Floats, prior: Prior) -> StudentComponents:
        means, scales = self._best(statistics, prior)
        return StudentComponents(means, scales, np.array(self.degrees))

    def _log_density_of_whole(self, features: Floats, components: ComponentSet) -> Floats:
        """Not linear in the features: for the sum over a piece it is a lower bound.

        It is then that of as many rows at their mean squared distance.
        """
        distance, log_volume = self._squared_distance(*self._parameters(components))
        rows = features[:, :1]
        typical = features @ distance.T / np.where(rows > 0, rows, 1.0)
        return np.asarray(rows * (self._log_radial(typical, self.width) - 0.5 * log_volume))

    def _log_radial(self, squared: Floats, n_seen: int) -> Floats:
        # Rounding may leave a row at its component's centre with a distance just below 0.
        return _log_student(np.maximum(squared, 0.0), self.degrees, n_seen)

    def _row_weights(
        self, features: Floats, means: Floats, matrices: Floats, seen: Bools
    ) -> Floats:
        distance, _ = self._squared_distance(means, matrices, seen)
        squared = np.maximum(features @ distance.T, 0.0)
        return np.asarray((self.degrees + seen.sum()) / (self.degrees + squared))


@dataclass(frozen=True)
class StudentPart(EllipticalPart):
    """Numbers for Student components."""

    made = StudentFamily

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
