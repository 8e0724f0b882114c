"""How probable each edge of Γ is, and that the states of a latent differ, given the rest.

Given the states of the rows, a measurement that is driven by pa(X_i) has one component for each of
their configurations. With one latent more or less among the parents these components are split or
pooled, and the evidence of the two, a Bayes factor, is the probability of that one edge with all
others as they are. If two states of a latent were one, the components of all its children would be
pooled; the pair that is most nearly one decides.

Assumes the families of the components, and that rows are in the states they most likely are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from scipy.special import expit, gammaln

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.merging import log_merge_bonus, pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.model.joint_states import distinct_rows, flat

# Rows times edges that are looked at: some seconds. Of more, evenly spaced rows speak for all.
_MOST_WORK = 20_000_000
# Nats by which one component fits two configurations better than two do, beyond which they are
# alike: the odds are a hundred to one.
_SURELY_ALIKE = log(100.0)


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


def drive_posterior(prepared: Prepared, graph: Bipartite, refinement: Refinement) -> Drives:
    """The probabilities of the edges of Γ and of the states, in the order of the observations."""
    sizes = graph.domain_sizes
    edges = np.zeros(graph.adjacency.shape)
    if not graph.n_latent:
        nothing = np.zeros(len(edges), dtype=bool)
        return Drives(edges, np.zeros(0), np.zeros((0, 2), dtype=np.int64), nothing)
    step = 1 + prepared.n_samples * edges.size // _MOST_WORK
    states, cells, counts = distinct_rows(refinement.states[::step])
    rows = counts.astype(np.float64)
    apart = [_labels_apart(rows, states, sizes, j) for j in range(graph.n_latent)]
    alike, every = np.zeros(len(edges), dtype=bool), range(graph.n_latent)
    for i, place in enumerate(prepared.places):
        pieces = _Pieces.of(prepared, int(place), slice(None, None, step), cells, states, sizes)
        parents = {int(j) for j in np.flatnonzero(graph.adjacency[i])}
        whole, *others = pieces.log_evidence([parents, *(parents ^ {j} for j in every)])
        edges[i] = expit(np.where(graph.adjacency[i], 1.0, -1.0) * (whole - np.array(others)))
        for j in parents:
            gains = pieces.gains_apart(parents, j)
            apart[j] += gains.sum(axis=1)
            alike[i] |= bool((gains < -_SURELY_ALIKE).any())
    pairs = [np.triu_indices(size, 1) for size in sizes]
    nearest = [np.array(pair)[:, held.argmin()] for pair, held in zip(pairs, apart, strict=True)]
    return Drives(edges, np.array([expit(held.min()) for held in apart]), np.array(nearest), alike)


def _labels_apart(rows: Floats, states: Integers, sizes: tuple[int, ...], latent: int) -> Floats:
    """What two states instead of one say about the labels of the rows, for each pair of states.

    The Dirichlet–multinomial probability of the labels; joint states without rows only count.
    """
    size = sizes[latent]
    _, others, counts = distinct_rows(np.delete(states, latent, axis=1))
    held = np.zeros((len(counts), size))
    held[others, states[:, latent]] = rows
    first, second = np.triu_indices(size, 1)
    n_labels = float(prod(sizes))
    n_merged, total = n_labels * (size - 1) / size, float(rows.sum())
    constant = gammaln(n_labels) - gammaln(n_labels + total)
    constant -= gammaln(n_merged) - gammaln(n_merged + total)
    return np.asarray(constant - log_merge_bonus(held[:, first], held[:, second]).sum(axis=0))


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The statistics (cells, features) of one measurement in each joint state that occurs."""

    family: Family
    statistics: Floats
    states: Integers
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        place: int,
        rows: slice,
        cells: Integers,
        states: Integers,
        sizes: tuple[int, ...],
    ) -> _Pieces:
        family = prepared.families[place]
        features, patterns = prepared.features(place, rows), prepared.patterns(place, rows)
        if patterns is not None:
            features = family.completed(features, cells, None, patterns)
        return cls(family, pool(features, cells, len(states)), states, sizes)

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

    def gains_apart(self, parents: set[int], latent: int) -> Floats:
        """What components of their own for two states of a parent gain.

        For each pair of states and each configuration of the other parents; 0 without rows of both.
        """
        held = self.by_parents(parents)
        prior = self.family.prior(_occupied(held))
        place, size = sorted(parents).index(latent), self.sizes[latent]
        held = np.moveaxis(held, place, 0).reshape(size, -1, held.shape[-1])
        first, second = np.triu_indices(size, 1)
        one, other = held[first], held[second]
        both = one.any(axis=-1) & other.any(axis=-1)
        gains = np.zeros(both.shape)
        if both.any():
            evidence = [self.family.log_evidence(x[both], prior) for x in (one, other, one + other)]
            gains[both] = evidence[0] + evidence[1] - evidence[2]
        return gains


def _occupied(statistics: Floats) -> Floats:
    """The configurations that hold a row, (k, features)."""
    listed = statistics.reshape(-1, statistics.shape[-1])
    return np.asarray(listed[listed.any(axis=1)])
