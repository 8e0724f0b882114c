"""EM over the structured model: polishes components, weights and states, and gives a likelihood.

The model is a mixture over the joint states of the latents in which each X_i has one component
for each configuration of its parents: P(X) = Σ_h P(h) ∏_i P(X_i | pa(X_i) = h). Rows that
one variable alone leaves undecided are decided by all of them together. Each iteration raises
the penalised log-likelihood, whose penalty keeps covariances away from singular ones.

Works on the joint states that the start gives weight to: a state without rows stays without. Where
there are thousands of them, each row is compared with those that are plausible for it only. Memory
does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Prior
from mixoracle.mixtures.expectation import JointStates
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import ComponentSet
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Settings

# Penalised log-likelihood per row; ten thousand rows then agree to a tenth of a nat.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Refinement:
    """Where EM ended.

    ``weights`` (∏ domain_sizes,) are P(H) in C order, ``components`` are over the prepared
    coordinates, ``assignment`` (N,) is the most likely joint state of each prepared row,
    ``history`` the penalised log-likelihood before each iteration. ``log_likelihood`` and ``bic``
    are in the units of the observations, the history in those of the prepared coordinates.
    """

    weights: Floats
    components: tuple[ComponentSet, ...]
    assignment: Integers
    log_likelihood: float
    bic: float
    history: tuple[float, ...]
    converged: bool


def refine(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    start: Integers,
    max_iterations: int | None = None,
    settings: Settings = Settings(),
) -> Refinement:
    """Run EM from the joint state ``start`` (N,) of each prepared row.

    ``adjacency`` has the prepared order of the variables. With ``max_iterations=0`` the start
    itself is evaluated.
    """
    iterations = settings.budget.em if max_iterations is None else max_iterations
    with threadpool_limits(limits=1):
        return _StructuredEM(prepared, adjacency, domain_sizes, start, settings).run(iterations)


class _StructuredEM:
    def __init__(
        self,
        prepared: Prepared,
        adjacency: Bools,
        domain_sizes: tuple[int, ...],
        start: Integers,
        settings: Settings,
    ) -> None:
        self._prepared = prepared
        self._settings = settings
        self._families = prepared.families
        codes = configurations(adjacency, domain_sizes)
        self._n_states = len(codes)
        counts = np.bincount(start, minlength=len(codes)).astype(float)
        self._active = np.flatnonzero(counts > 0)
        self._codes = codes[self._active]
        self._n_codes = [int(column.max()) + 1 for column in codes.T]
        self._weights = counts[self._active] / len(start)
        # The most likely active state of each row, so far.
        self._best = np.searchsorted(self._active, start)
        self._statistics = self._hard_statistics(codes[start])
        self._priors: list[Prior] = [
            family.prior(statistics)
            for family, statistics in zip(self._families, self._statistics, strict=True)
        ]
        self._maximise()

    def run(self, max_iterations: int) -> Refinement:
        n_rows = self._prepared.n_samples
        history: list[float] = []
        converged = False
        while True:
            log_likelihood, statistics, weights, assignment = self._expect()
            history.append(log_likelihood + self._penalty())
            if len(history) > 1 and history[-1] - history[-2] <= TOLERANCE * n_rows:
                converged = True
            if converged or len(history) > max_iterations:
                break
            if self._settings.clock.leaves_out("further iterations of the refinement"):
                break
            self._statistics, self._weights = statistics, weights
            self._maximise()
        log_likelihood += self._prepared.log_units
        everywhere = np.zeros(self._n_states)
        everywhere[self._active] = self._weights / self._weights.sum()
        return Refinement(
            weights=everywhere,
            components=tuple(self._components),
            assignment=assignment,
            log_likelihood=log_likelihood,
            bic=log_likelihood - 0.5 * np.log(n_rows) * self._n_parameters(),
            history=tuple(history),
            converged=converged,
        )

    def _hard_statistics(self, codes: Integers) -> list[Floats]:
        """The statistics of each configuration, every row being in its own."""
        totals = []
        for i, (family, n_codes) in enumerate(zip(self._families, self._n_codes, strict=True)):
            total = np.zeros((n_codes, self._prepared.features(i, slice(0, 1)).shape[1]))
            for rows in self._chunks(n_codes):
                features = self._prepared.features(i, rows)
                patterns = self._prepared.patterns(i, rows)
                if patterns is not None:
                    features = family.completed(features, codes[rows, i], None, patterns)
                total += pool(features, codes[rows, i], n_codes)
            totals.append(total)
        return totals

    def _maximise(self) -> None:
        self._components = [
            family.components(statistics, prior)
            for family, statistics, prior in zip(
                self._families, self._statistics, self._priors, strict=True
            )
        ]

    def _expect(self) -> tuple[float, list[Floats], Floats, Integers]:
        """The log-likelihood, the statistics of each configuration, weights, best states."""
        n_rows = self._prepared.n_samples
        log_likelihood = 0.0
        statistics = [np.zeros_like(held) for held in self._statistics]
        weights = np.zeros(len(self._active))
        # A state may lose all its weight to underflow; it then stays at the smallest number.
        log_weights = np.log(np.maximum(self._weights, np.finfo(float).tiny))
        states = JointStates(self._codes, log_weights, self._settings.budget.compared)
        for rows in self._chunks(len(self._active)):
            features = [self._prepared.features(i, rows) for i in range(len(self._families))]
            patterns = [self._prepared.patterns(i, rows) for i in range(len(self._families))]
            densities = [
                family.log_density(features[i], self._components[i], patterns[i])
                for i, family in enumerate(self._families)
            ]
            shared = states.share_out(densities, self._best[rows])
            log_likelihood += shared.log_likelihood
            weights += shared.weights
            self._best[rows] = shared.best
            for i, family in enumerate(self._families):
                own, held = shared.by_code[i], self._components[i]
                statistics[i] += family.statistics(features[i], own, held, patterns[i])
        return log_likelihood, statistics, weights / n_rows, self._active[self._best]

    def _penalty(self) -> float:
        return sum(
            family.log_penalty(components, prior)
            for family, components, prior in zip(
                self._families, self._components, self._priors, strict=True
            )
        )

    def _n_parameters(self) -> int:
        """Weights of all joint states and parameters of the components in use.

        States without rows are charged for as well, or latents that only make room for noise
        would come almost free.
        """
        components = sum(
            family.n_parameters * len(np.unique(self._codes[:, i]))
            for i, family in enumerate(self._families)
        )
        return self._n_states - 1 + components

    def _chunks(self, n_columns: int) -> Iterator[slice]:
        return self._prepared.chunks(n_columns, self._settings.budget.chunk_entries)
