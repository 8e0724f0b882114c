"""Numbers of any shape: each component is a mixture of normal sub-components that all share.

A component that is skewed, has heavy tails or several modes is no normal one, but the normal
components that a variable shows on its own, several to one of the data's, fit it together. They are
kept as they are, and a component says how often each of them is in it [1]_. So the features of a
row are its shares in the sub-components, as if these were the levels of a column that is seen
indistinctly, and at the end its log density in all of them together.

References
----------
.. [1] J. P. Baudry, A. E. Raftery, G. Celeux, K. Lo, R. Gottardo. Combining mixture components for
   clustering. Journal of Computational and Graphical Statistics 19 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, cast

import numpy as np
from scipy.special import logsumexp

from mixoracle._arrays import Floats, Integers, frozen_array
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Averages, ComponentSet, Family, Missing, Patterns, Prior
from mixoracle.families.categorical import CategoricalComponents, CategoricalFamily
from mixoracle.families.gaussian import GaussianComponents, GaussianFamily, GaussianPart

# Of a row in a component, relative to that in all together: what is divided by less overflows.
_LEAST_DENSITY = 1e-200
_SUM_TOLERANCE = 1e-6


class Subcomponents(NamedTuple):
    """Normal components ``inner`` over coordinates, and how many rows are in each, (K,)."""

    inner: GaussianComponents
    weights: Floats


@dataclass(frozen=True, eq=False, repr=False)
class SubmixtureComponents(ComponentSet):
    """Components that are mixtures of the same normal ones.

    Parameters
    ----------
    shares : (n_components, K) array
        How often each sub-component is in each component; each row sums to 1.
    means, covariances : (K, width) and (K, width, width) arrays
        The sub-components.
    """

    shares: Floats
    means: Floats
    covariances: Floats

    family: ClassVar[str] = "submixture"
    shared: ClassVar[frozenset[str]] = frozenset({"means", "covariances"})

    def __post_init__(self) -> None:
        inner = GaussianComponents(self.means, self.covariances)
        shares = frozen_array(self.shares, np.float64, "shares of sub-components")
        if shares.ndim != 2 or not len(shares) or shares.shape[1] != inner.n_components:
            raise InvalidInputError(
                f"shares should have shape (k, {inner.n_components}), one for each sub-component; "
                f"got {shares.shape}"
            )
        # A NaN is neither: written so that it is refused too.
        fits = np.all(shares >= 0) and np.all(np.abs(shares.sum(axis=1) - 1.0) <= _SUM_TOLERANCE)
        if not fits:
            raise InvalidInputError(
                "the shares of the sub-components of each component should not be negative and "
                f"sum to 1; got sums from {shares.sum(axis=1).min():.9g} to "
                f"{shares.sum(axis=1).max():.9g}"
            )
        self._keep(shares=shares, means=inner.means, covariances=inner.covariances)

    @cached_property
    def inner(self) -> GaussianComponents:
        """The sub-components."""
        return GaussianComponents(self.means, self.covariances)

    @property
    def n_components(self) -> int:
        return len(self.shares)

    @property
    def width(self) -> int:
        return int(self.means.shape[1])

    def log_density(self, block: Floats) -> Floats:
        own = self.inner.log_density(block)
        peak = own.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):  # far from all that a component holds
            return np.asarray(np.log(np.exp(own - peak) @ self.shares.T) + peak)

    def sample(self, labels: Integers, rng: np.random.Generator) -> Floats:
        self._check_labels(labels)
        # The last bound is left out: rounding may put it below a drawn number.
        bounds = np.cumsum(self.shares, axis=1)[:, :-1]
        which = (rng.random((len(labels), 1)) >= bounds[labels]).sum(axis=1)
        return self.inner.sample(which, rng)

    def averages(self) -> Averages:
        return Averages.of_means(self.shares @ self.means)

    def __repr__(self) -> str:
        return (
            f"SubmixtureComponents({self.n_components} components of {len(self.means)} normal "
            f"ones in R^{self.width})"
        )


class SubmixtureFamily(Family):
    """Mixtures of normal sub-components over coordinates."""

    def __init__(self, base: GaussianFamily, held: Subcomponents) -> None:
        self.base, self.inner = base, held.inner
        self.weights = weights = held.weights / held.weights.sum()
        # Few of the sub-components are in one component: the prior is worth one row in all.
        rows = base.priors.rows_per_level / len(weights)
        priors = replace(base.priors, rows_per_level=rows)
        self._levels = CategoricalFamily([len(weights)], priors=priors)

    @property
    def n_parameters(self) -> int:
        """Those of the sub-components are the same in every answer, and not counted."""
        return self._levels.n_parameters

    def features(self, block: Floats) -> Floats:
        features, patterns = self.base.features(block), Patterns.of(block)
        density = self.base.log_density(features, self.inner, patterns) + np.log(self.weights)
        together = logsumexp(density, axis=1, keepdims=True)
        shares = np.exp(density - together)
        return np.hstack([features[:, :1], features[:, :1] * shares, together])

    def embedding(self, block: Floats) -> Floats:
        return self.base.embedding(block)

    def prior(self, statistics: Floats) -> Prior:
        return self._levels.prior(statistics[:, :-1])

    def log_evidence(self, statistics: Floats, prior: Prior) -> Floats:
        """As if each row were in sub-components by its shares, all else being the same."""
        return self._levels.log_evidence(statistics[:, :-1], prior)

    def components(self, statistics: Floats, prior: Prior) -> SubmixtureComponents:
        shares = self._levels.components(statistics[:, :-1], prior).probabilities
        return SubmixtureComponents(shares, self.inner.means, self.inner.covariances)

    def log_penalty(self, components: ComponentSet, prior: Prior) -> float:
        shares = cast(SubmixtureComponents, components).shares
        return self._levels.log_penalty(CategoricalComponents(shares, self._levels.n_levels), prior)

    def log_density(
        self, features: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        together = self._relative(features, components)
        # A row with nothing in it is as likely in every component.
        together[features[:, 0] == 0] = 1.0
        return np.asarray(np.log(together) + features[:, -1:])

    def statistics(
        self, features: Floats, share: Floats, components: ComponentSet, patterns: Missing = None
    ) -> Floats:
        """How often each sub-component is in each component, given the shares of the rows."""
        relative = self._relative(features, components)
        each = np.divide(share, relative, out=np.zeros_like(share), where=relative > _LEAST_DENSITY)
        counts = each.T @ (features[:, 1:-1] / self.weights)
        counts *= cast(SubmixtureComponents, components).shares
        return np.hstack([share.T @ features[:, :1], counts, share.T @ features[:, -1:]])

    def _relative(self, features: Floats, components: ComponentSet) -> Floats:
        """The density of each row in each component, relative to that in all together."""
        shares = cast(SubmixtureComponents, components).shares
        return np.asarray(features[:, 1:-1] @ (shares / self.weights).T)


@dataclass(frozen=True)
class SubmixturePart(GaussianPart):
    """Numbers whose components are mixtures of the ``held`` ones."""

    held: Subcomponents

    @cached_property
    def family(self) -> SubmixtureFamily:
        base = GaussianFamily(self.n_coordinates, priors=self.priors)
        return SubmixtureFamily(base, self.held)

    def decode(self, components: ComponentSet) -> SubmixtureComponents:  # type: ignore[override]
        inner = super().decode(self.held.inner)
        shares = cast(SubmixtureComponents, components).shares
        return SubmixtureComponents(shares, inner.means, inner.covariances)

    @classmethod
    def of(cls, part: GaussianPart, held: Subcomponents) -> SubmixturePart:
        """The same columns, with these sub-components."""
        return cls(**{field.name: getattr(part, field.name) for field in fields(part)}, held=held)

    def for_search(self) -> GaussianPart:
        return GaussianPart(
            **{field.name: getattr(self, field.name) for field in fields(GaussianPart)}
        )
