"""How probable each edge of Γ is, and that the states of a latent differ, given the rest.

Given the states of the rows, a measurement that is driven by pa(X_i) has one component for each of
their configurations. With one latent more or less among the parents these components are split or
pooled, and the evidence of the two, a Bayes factor, is the probability of that one edge with all
others as they are. If two states of a latent were one, the components of all its children would be
pooled; the pair that is most nearly one decides. A few values out of place stretch a component
until any split of it is a gain, so an edge that was not found has to be called for without them.

Assumes the families of the components, and that rows are in the states they most likely are in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from scipy.special import expit

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.merging import gain_of_fewer_labels, log_merge_bonus, pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, ComponentSet
from mixoracle.model.joint_states import codes_of_parents, distinct_rows, flat
from mixoracle.settings import Settings

# Rows times edges that are looked at: some seconds. Of more, evenly spaced rows speak for all.
_MOST_WORK = 20_000_000
# Nats by which one component fits two configurations better than two do, beyond which they are
# alike: the odds are a hundred to one.
_SURELY_ALIKE = log(100.0)
# An edge that was not found and is more probable than not contradicts the answer.
_CALLED_FOR = 0.5


@dataclass(frozen=True, eq=False)
class Drives:
    """Probabilities, each with all else as found.

    ``edges`` (n, m) that X_i is driven by H_j, ``states`` (m,) that no two states of H_j are one;
    ``nearest`` (m, 2) are the two that are most nearly one. ``alike`` (n,) says whether X_i looks
    the same in two states of a parent, in some configuration of the others, though it is driven by
    that parent in another one, or other variables tell these states apart.
    """

    edges: Floats
    states: Floats
    nearest: Integers
    alike: Bools


def drive_posterior(
    prepared: Prepared, graph: Bipartite, refinement: Refinement, settings: Settings = Settings()
) -> Drives:
    """The probabilities of the edges of Γ and of the states, in the order of the observations."""
    sizes = graph.domain_sizes
    edges = np.zeros(graph.adjacency.shape)
    if not graph.n_latent:
        nothing = np.zeros(len(edges), dtype=bool)
        return Drives(edges, np.zeros(0), np.zeros((0, 2), dtype=np.int64), nothing)
    held = _Assigned.of(prepared, refinement, sizes)
    apart = [held.labels_apart(j) for j in range(graph.n_latent)]
    alike = np.zeros(len(edges), dtype=bool)
    for i, place in enumerate(prepared.places.tolist()):
        found = graph.adjacency[i]
        pieces = held.pieces(place)
        edges[i] = pieces.edges(found)
        if edges[i][~found].max(initial=0.0) > _CALLED_FOR:
            in_place = held.in_place(place, found, refinement.components[place], settings)
            edges[i] = held.pieces(place, in_place).edges(found)
        parents = {int(j) for j in np.flatnonzero(found)}
        for j, gains in pieces.gains_apart(parents):
            apart[j] += gains.sum(axis=1)
            alike[i] |= bool((gains < -_SURELY_ALIKE).any())
    pairs = [np.triu_indices(size, 1) for size in sizes]
    nearest = [np.array(pair)[:, gain.argmin()] for pair, gain in zip(pairs, apart, strict=True)]
    return Drives(edges, np.array([expit(gain.min()) for gain in apart]), np.array(nearest), alike)


@dataclass(frozen=True, eq=False)
class _Assigned:
    """Evenly spaced ``rows`` of prepared data and the joint state of each, ``states[cells]``."""

    prepared: Prepared
    rows: slice
    states: Integers
    cells: Integers
    counts: Floats
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, prepared: Prepared, refinement: Refinement, sizes: tuple[int, ...]) -> _Assigned:
        step = 1 + prepared.n_samples * prepared.n_observed * len(sizes) // _MOST_WORK
        rows = slice(None, None, step)
        states, cells, counts = distinct_rows(refinement.states[rows])
        return cls(prepared, rows, states, cells, counts.astype(np.float64), sizes)

    def pieces(self, place: int, some: Integers | slice = slice(None)) -> _Pieces:
        """What one measurement is in each joint state, in some of the rows."""
        family, cells = self.prepared.families[place], self.cells[some]
        features = self.prepared.features(place, self.rows)[some]
        patterns = self.prepared.patterns(place, self.rows)
        if patterns is not None:
            features = family.completed(features, cells, None, patterns.take(some))
        return _Pieces(family, pool(features, cells, len(self.states)), self.states, self.sizes)

    def in_place(
        self, place: int, parents: Bools, components: ComponentSet, settings: Settings
    ) -> Integers:
        """The rows but for a few: those that fit their component of one measurement least."""
        prepared, rows = self.prepared, self.rows
        densities = prepared.families[place].log_density(
            prepared.features(place, rows), components, prepared.patterns(place, rows)
        )
        codes = codes_of_parents(self.states, parents[None], self.sizes)[self.cells]
        own = np.take_along_axis(densities, codes, axis=1)[:, 0]
        n_strays = int(np.ceil(settings.priors.stray_share * len(own)))
        return np.sort(np.argsort(own, kind="stable")[n_strays:])

    def labels_apart(self, latent: int) -> Floats:
        """What two states instead of one say about the labels of the rows, for each pair of states.

        The Dirichlet–multinomial probability of the labels; joint states without rows only count.
        """
        size = self.sizes[latent]
        _, others, counts = distinct_rows(np.delete(self.states, latent, axis=1))
        held = np.zeros((len(counts), size))
        held[others, self.states[:, latent]] = self.counts
        first, second = np.triu_indices(size, 1)
        n_labels = float(prod(self.sizes))
        n_merged, total = n_labels * (size - 1) / size, float(self.counts.sum())
        constant = gain_of_fewer_labels(n_labels, n_merged, total)
        return np.asarray(-constant - log_merge_bonus(held[:, first], held[:, second]).sum(axis=0))


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The statistics (cells, features) of one measurement in each joint state that occurs."""

    family: Family
    statistics: Floats
    states: Integers
    sizes: tuple[int, ...]

    def edges(self, found: Bools) -> Floats:
        """How probable each edge (m,) is with all others as ``found``."""
        parents = {int(j) for j in np.flatnonzero(found)}
        whole, *others = self.log_evidence([parents, *(parents ^ {j} for j in range(len(found)))])
        return np.asarray(expit(np.where(found, 1.0, -1.0) * (whole - np.array(others))))

    def by_parents(self, parents: set[int]) -> Floats:
        """The statistics of each configuration of these parents, (*sizes, features)."""
        chosen = sorted(parents)
        sizes = [self.sizes[j] for j in chosen]
        pooled = pool(self.statistics, flat(self.states[:, chosen], sizes), prod(sizes))
        return pooled.reshape(*sizes, -1)

    def log_evidence(self, sets: Sequence[set[int]]) -> list[float]:
        """The evidence of the components that each of these sets of parents makes."""
        levels = [_occupied(self.by_parents(parents)) for parents in sets]
        return [evidence for _, evidence in self.family.own_evidence(levels)]

    def gains_apart(self, parents: set[int]) -> Iterator[tuple[int, Floats]]:
        """For each parent what components of their own for two of its states gain.

        For each pair of states and each configuration of the other parents; 0 without rows of both.
        """
        held = self.by_parents(parents)
        occupied = held.any(axis=-1)
        prior = self.family.prior(held[occupied])
        evidence = np.zeros(occupied.shape)
        evidence[occupied] = self.family.log_evidence(held[occupied], prior)
        for axis, j in enumerate(sorted(parents)):
            first, second = np.triu_indices(self.sizes[j], 1)
            both = occupied.take(first, axis) & occupied.take(second, axis)
            gains = np.zeros(both.shape)
            if both.any():
                together = (held.take(first, axis) + held.take(second, axis))[both]
                apart = evidence.take(first, axis) + evidence.take(second, axis)
                gains[both] = apart[both] - self.family.log_evidence(together, prior)
            yield j, np.moveaxis(gains, axis, 0).reshape(len(first), -1)


def _occupied(statistics: Floats) -> Floats:
    """The configurations that hold a row, (k, features)."""
    listed = statistics.reshape(-1, statistics.shape[-1])
    return np.asarray(listed[listed.any(axis=1)])
