"""One E-step, one M-step: EM over the structured model, wherever the rows are.

The model is a mixture over the joint states of the latents in which each X_i has one component
for each configuration of its parents: P(X) = Σ_h P(h) ∏_i P(X_i | pa(X_i) = h). An E-step looks at
some rows and returns sums over them (:class:`Expected`); sums over different rows are added, and an
M-step reads everything off them. So it is the same whether all rows are in memory, come chunk by
chunk from files, or lie on other machines.

Each iteration raises the penalised log-likelihood, whose penalty keeps covariances away from
singular ones. Works on the joint states that the start gives weight to: a state without rows stays
without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family, Prior
from mixoracle.mixtures.coded import CodedRows
from mixoracle.mixtures.expectation import Shared, share_out_states
from mixoracle.model import ComponentSet
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Budget, Settings

# Penalised log-likelihood per row; ten thousand rows then agree to a tenth of a nat.
TOLERANCE = 1e-5
# Sums are the same if they differ by rounding only: by so many rows of one.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Expected:
    """What an E-step adds up over some rows.

    ``weights`` (A,) are the rows in each joint state, ``statistics[i]`` (k_i, f_i) the expected
    features of each component of X_i, summed over the rows. The log-likelihood is in coordinates.
    """

    n_rows: int
    log_likelihood: float
    weights: Floats
    statistics: tuple[Floats, ...]

    def __add__(self, other: Expected) -> Expected:
        """The same over the rows of both."""
        return Expected(
            self.n_rows + other.n_rows,
            self.log_likelihood + other.log_likelihood,
            self.weights + other.weights,
            tuple(a + b for a, b in zip(self.statistics, other.statistics, strict=True)),
        )

    def leads_where(self, other: Expected) -> bool:
        """Whether the same parameters follow from both, but for rounding."""
        pairs = zip(
            (self.weights, *self.statistics), (other.weights, *other.statistics), strict=True
        )
        allowed = _ROUNDING * self.n_rows
        return all(np.allclose(own, held, _ROUNDING, allowed) for own, held in pairs)


@dataclass(frozen=True, eq=False)
class StructuredMixture:
    """The parameters of the structured model over coordinates.

    ``active`` (A,) are the joint states that can occur, flat and in C order, ``codes`` (A, n) their
    configurations and ``weights`` (A,) their probabilities. ``components[i]`` has one component for
    each configuration of pa(X_i). The variables are in the order of the rows' blocks.
    """

    families: tuple[Family, ...]
    active: Integers
    codes: Integers
    weights: Floats
    components: tuple[ComponentSet, ...]
    priors: tuple[Prior, ...]
    budget: Budget

    @classmethod
    def of_table(
        cls,
        families: tuple[Family, ...],
        adjacency: Bools,
        domain_sizes: tuple[int, ...],
        table: Floats,
        components: tuple[ComponentSet, ...],
        priors: tuple[Prior, ...],
        budget: Budget,
    ) -> StructuredMixture:
        """The mixture whose joint states have the probabilities ``table`` (∏ domain_sizes,)."""
        active = np.flatnonzero(table > 0)
        codes = configurations(adjacency, domain_sizes)[active]
        return cls(families, active, codes, table[active], components, priors, budget)

    def expect(self, rows: CodedRows) -> tuple[Expected, Integers]:
        """The E-step over some rows, and the most likely active state (N,) of each."""
        # A state may lose all its weight to underflow; it then stays at the smallest number.
        log_weights = np.log(np.maximum(self.weights, np.finfo(float).tiny))

        def share_out(densities: list[Floats], _rows: slice) -> Shared:
            return share_out_states(self.codes, log_weights, densities)

        entries = self.budget.chunk_entries
        return expected(rows, self.components, share_out, len(self.active), entries)

    def maximised(self, sums: Expected) -> StructuredMixture:
        """The M-step: the parameters that fit these sums best."""
        return replace(
            self,
            weights=sums.weights / sums.n_rows,
            components=components_of(self.families, sums.statistics, self.priors),
        )

    @property
    def log_penalty(self) -> float:
        """What EM maximises besides the log-likelihood."""
        return log_penalty(self.families, self.components, self.priors)

    def table(self, n_states: int) -> Floats:
        """P(H) of all joint states, (n_states,), with 0 for those that cannot occur."""
        everywhere = np.zeros(n_states)
        everywhere[self.active] = self.weights / self.weights.sum()
        return everywhere


def expected(
    rows: CodedRows,
    components: tuple[ComponentSet, ...],
    share_out: Callable[[list[Floats], slice], Shared],
    n_numbers: int,
    entries: int,
) -> tuple[Expected, Integers]:
    """The sums of an E-step over all rows, and the best state of each.

    ``share_out`` shares some of them out; it takes ``n_numbers`` for each row, and may take
    ``entries`` at a time.
    """
    families = rows.families
    total: Expected | None = None
    best = []
    for some in rows.chunks(n_numbers, entries):
        features = [rows.features(i, some) for i in range(len(families))]
        patterns = [rows.patterns(i, some) for i in range(len(families))]
        densities = [
            family.log_density(features[i], components[i], patterns[i])
            for i, family in enumerate(families)
        ]
        shared = share_out(densities, some)
        best.append(shared.best)
        statistics = tuple(
            family.statistics(features[i], shared.by_code[i], components[i], patterns[i])
            for i, family in enumerate(families)
        )
        own = Expected(some.stop - some.start, shared.log_likelihood, shared.weights, statistics)
        total = own if total is None else total + own
    assert total is not None  # there is at least one row
    return total, np.concatenate(best)


def components_of(
    families: tuple[Family, ...], statistics: tuple[Floats, ...], priors: tuple[Prior, ...]
) -> tuple[ComponentSet, ...]:
    """The components of every variable that fit its sums best."""
    return tuple(
        family.components(own, prior)
        for family, own, prior in zip(families, statistics, priors, strict=True)
    )


def log_penalty(
    families: tuple[Family, ...],
    components: tuple[ComponentSet, ...],
    priors: tuple[Prior, ...],
) -> float:
    """What :func:`components_of` maximises besides the log-likelihood."""
    return sum(
        family.log_penalty(held, prior)
        for family, held, prior in zip(families, components, priors, strict=True)
    )


class Mixture(Protocol):
    """What EM climbs with."""

    @property
    def log_penalty(self) -> float:
        """What EM maximises besides the log-likelihood."""

    def maximised(self, sums: Expected, /) -> Self:
        """The M-step."""


M = TypeVar("M", bound=Mixture)


@dataclass(frozen=True, eq=False)
class Climbed(Generic[M]):
    """Where EM ended: the mixture, the sums of its E-step, and the way there.

    ``history`` is the penalised log-likelihood before each M-step, and at last.
    """

    mixture: M
    expected: Expected
    history: tuple[float, ...]
    converged: bool


def climb(
    mixture: M,
    expect: Callable[[M], Expected],
    max_iterations: int,
    settings: Settings,
    what: str = "further iterations of the refinement",
    before: Expected | None = None,
) -> Climbed[M]:
    """Run EM until a step gains next to nothing; ``expect`` is the E-step over all rows.

    ``what`` is left out when the time is up. ``before`` are the sums that the parameters to begin
    with are from, where there are such: an E-step that comes back to them is at its end.
    """
    history: list[float] = []
    while True:
        sums = expect(mixture)
        history.append(sums.log_likelihood + mixture.log_penalty)
        gained = history[-1] - history[-2] if len(history) > 1 else np.inf
        converged = bool(gained <= TOLERANCE * sums.n_rows)
        converged |= before is not None and sums.leads_where(before)
        if converged or len(history) > max_iterations or settings.clock.leaves_out(what):
            return Climbed(mixture, sums, tuple(history), converged)
        mixture, before = mixture.maximised(sums), sums
