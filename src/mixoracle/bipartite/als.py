"""Recovery by alternating least squares, for dependent columns and for noisy counts.

M_t = Σ w a⊗…⊗a is compressed to the range of M_2, whose dimension is at most the number of
columns, and a decomposition of the small core is fitted by alternating least squares from many
random starts; the columns that :mod:`mixoracle.bipartite.jennrich` finds are tried before them.
Each factor is rounded to the binary vector nearest in angle, and the graph is then polished on
the counts themselves. The number of latents is not given: where the range is plain to see, its
dimension and the ranks above it are tried until the counts are reproduced; where noise fills all
dimensions, ranks are tried from one upwards, and the shortest description of graph and errors
together wins.

Assumes the span condition of ``thm:hidden-bipartite`` (b). As printed, dim span(S) ≥ (2/t)|S| + 1,
it fails for t = 3 and two independent columns, so it cannot follow from independence as the paper
remarks; what ``thm:lovitzpetrov`` gives is t (dim span(S) − 1) + 1 ≥ 2|S|, that is
dim span(S) ≥ (2|S| − 1)/t + 1, and this is what :func:`~mixoracle.bipartite.recover` checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import inf, log

import numpy as np

from mixoracle._arrays import Bools, Floats
from mixoracle.bipartite.fitting import CountEquations, Fit
from mixoracle.bipartite.jennrich import diagonalise, numerical_rank

# All starts run at once as one stack of small matrices. With dependent columns few of them reach
# the decomposition: of 71 such graphs 12 starts missed five, 40 starts none.
_STARTS = 40
# Rounds of updates of every factor, after each of which the factors are rounded and tried. Exact
# counts mostly end it after the first, dependent columns after a few; with noise the polishing
# does the rest, and more rounds changed nothing.
_ROUNDS = 12
_ROUNDS_IN_SCAN = 2
_UPDATES_PER_ROUND = 30
# The starts that fit the core best are polished; polishing costs more than a start.
_POLISHED_PER_ROUND = 8
# Keeps the normal equations solvable while two factors pass through each other.
_RIDGE = 1e-9
# A squared error of the log counts this small is rounding: the graph reproduces every count.
_EXACT_SQUARED_ERROR = 1e-12
# Ranks beyond the dimension of the range that are tried. The span condition allows at most
# (t(n − 1) + 1)/2 columns in all; for large n and t that is more than is worth the time.
_RANKS_BEYOND_RANGE = 6
# A graph that lacks a latent or an edge misses a good part of all sets; where one misses fewer
# than one in twenty, it is these counts that are wrong, and no more latents are sought for them.
_MOSTLY = 0.95
# A core that is not compressed grows with n^t, and with it the time of every start; graphs with at
# least as many latents as variables are left to the blocks beyond this.
_WIDEST_FULL_CORE = 12
# Description lengths fall to the true rank and rise after it; a local rise may mislead once.
_PATIENCE = 2


class _Candidates:
    """The best graph so far, by description length; polishes each proposal once."""

    def __init__(self, equations: CountEquations) -> None:
        self._equations = equations
        self._lengths: dict[bytes, float] = {}
        self.best = equations.fit(np.zeros((equations.n_observed, 0), dtype=np.bool_))

    @property
    def is_exact(self) -> bool:
        """Whether every count is reproduced."""
        return self.best.squared_error < _EXACT_SQUARED_ERROR

    def offer(self, columns: Bools) -> float:
        """Polish the graph with these columns, keep it if it is the best; its length."""
        columns = columns[:, np.lexsort(columns)]
        key = columns.tobytes()
        if key not in self._lengths:
            fit = self._equations.polish(columns)
            self._lengths[key] = self.length(fit)
            if self._lengths[key] < self.length(self.best):
                self.best = fit
        return self._lengths[key]

    def length(self, fit: Fit) -> float:
        """Nats to write down the errors and, for each latent, its children and domain size.

        The graph has no continuous parameter: a latent is n bits and a small whole number, for
        which one bit more is charged.
        """
        n = len(self._equations.log_counts)
        mean_error = max(fit.squared_error, _EXACT_SQUARED_ERROR) / n
        bits = fit.n_latent * (self._equations.n_observed + 1)
        return 0.5 * n * log(mean_error) + bits * log(2)


def decompose(tensor: Floats, equations: CountEquations, rng: np.random.Generator) -> Fit:
    """The graph of smallest rank that reproduces the counts, or the best compromise.

    M_t has t ≥ 3 axes of length n and was made from the counts of ``equations``; ``rng`` draws
    the starts.
    """
    values, vectors = np.linalg.eigh(_second_moment(tensor))
    # M_2 of exact counts has no negative eigenvalue; noise shows in their size, either way.
    order = np.argsort(-np.abs(values), kind="stable")
    basis = vectors[:, order]
    dimension = numerical_rank(np.abs(values[order]), float(np.abs(tensor).max(initial=0.0)))
    candidates = _Candidates(equations)
    # Where columns are independent this is the answer, and random starts get lost among many.
    candidates.offer(diagonalise(tensor, rng))
    if candidates.is_exact:
        return candidates.best
    if dimension == equations.n_observed:
        # Either noise, or a graph as rich as X.
        _scan(tensor, basis, candidates, rng)
        noisy = equations.share_explained(candidates.best) >= _MOSTLY or not equations.are_whole
        if noisy or dimension > _WIDEST_FULL_CORE:
            return candidates.best
    most = min((tensor.ndim * (len(basis) - 1) + 1) // 2, dimension + _RANKS_BEYOND_RANGE)
    for rank in range(dimension, max(dimension, most) + 1):
        _try_rank(tensor, basis[:, :dimension], rank, candidates, rng, rounds=_ROUNDS)
        if candidates.is_exact:
            break
    return candidates.best


def _scan(tensor: Floats, basis: Floats, candidates: _Candidates, rng: np.random.Generator) -> None:
    """Try ranks from one upwards, each in as many dimensions, until the length has risen."""
    shortest, rises = inf, 0
    for rank in range(1, len(basis) + 1):
        length = _try_rank(tensor, basis[:, :rank], rank, candidates, rng, rounds=_ROUNDS_IN_SCAN)
        rises = 0 if length < shortest else rises + 1
        shortest = min(shortest, length)
        if candidates.is_exact or rises == _PATIENCE:
            break


def _try_rank(
    tensor: Floats,
    basis: Floats,
    rank: int,
    candidates: _Candidates,
    rng: np.random.Generator,
    *,
    rounds: int,
) -> float:
    """Offer what decompositions of the core into ``rank`` terms propose; the shortest length."""
    core = tensor
    for _ in range(tensor.ndim):
        core = np.tensordot(core, basis, axes=(0, 0))
    shortest = inf
    for factors in islice(_alternate(core, rank, rng), rounds):
        for factor in factors[:_POLISHED_PER_ROUND]:
            shortest = min(shortest, candidates.offer(_nearest_binary(basis @ factor)))
            if candidates.is_exact:
                return shortest
    return shortest


def _second_moment(tensor: Floats) -> Floats:
    """M_2, which M_t holds where all indices but the first agree."""
    matrix = tensor
    while matrix.ndim > 2:
        matrix = np.einsum("...ii->...i", matrix)
    return np.asarray((matrix + matrix.T) / 2)


def _alternate(core: Floats, rank: int, rng: np.random.Generator) -> Iterator[Floats]:
    """After each round one factor of every start, the best fit first: (starts, dimension, rank)."""
    order, dimension = core.ndim, core.shape[0]
    unfolded = core.reshape(dimension, -1)
    factors = [rng.standard_normal((_STARTS, dimension, rank)) for _ in range(order)]
    while True:
        for step in range(_UPDATES_PER_ROUND):
            mode = step % order
            others = [factors[(mode + shift) % order] for shift in range(1, order)]
            product, gram = _khatri_rao(others)
            # Contradictory counts can make a factor vanish; the smallest number keeps it at zero.
            ridge = _RIDGE * np.trace(gram, axis1=1, axis2=2) / rank + np.finfo(float).tiny
            gram = gram + ridge[:, None, None] * np.eye(rank)
            solved = np.swapaxes(np.linalg.solve(gram, np.swapaxes(unfolded @ product, 1, 2)), 1, 2)
            norms = np.linalg.norm(solved, axis=1, keepdims=True)
            factors[mode] = solved / np.where(norms > 0, norms, 1.0)
        rebuilt = solved @ np.swapaxes(product, 1, 2)
        errors = np.linalg.norm(rebuilt - unfolded, axis=(1, 2))
        yield factors[0][np.argsort(errors, kind="stable")]


def _khatri_rao(factors: list[Floats]) -> tuple[Floats, Floats]:
    """The column-wise Kronecker product of stacked factors, and its Gram matrix."""
    product = factors[0]
    gram = np.swapaxes(product, 1, 2) @ product
    for factor in factors[1:]:
        stacked = product[:, :, None, :] * factor[:, None, :, :]
        product = stacked.reshape(len(factor), -1, factor.shape[2])
        gram = gram * (np.swapaxes(factor, 1, 2) @ factor)
    return product, gram


def _nearest_binary(columns: Floats) -> Bools:
    """For each column the binary vector at the smallest angle, whatever its scale and sign.

    Among binary vectors with c ones the best has them at the c largest entries, so n vectors
    are compared for each sign.
    """
    n, n_columns = columns.shape
    counts = np.sqrt(np.arange(1, n + 1))[:, None]
    result = np.zeros((n, n_columns), dtype=np.bool_)
    best = np.full(n_columns, -np.inf)
    for signed in (columns, -columns):
        order = np.argsort(-signed, axis=0, kind="stable")
        cosines = np.cumsum(np.take_along_axis(signed, order, axis=0), axis=0) / counts
        for j in np.flatnonzero(cosines.max(axis=0) > best):
            best[j] = cosines[:, j].max()
            result[:, j] = False
            result[order[: cosines[:, j].argmax() + 1, j], j] = True
    return result
