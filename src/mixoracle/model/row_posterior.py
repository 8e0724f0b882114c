"""The states of rows where joint states are too many to list: exact on what each row leaves open.

P(h | x) ∝ P(h) ∏_i P(x_i | pa(X_i) = h) is a product of small tables: the densities of a row in
the components of each X_i, and the factors of P(H). Most latents of a row are beyond doubt given
its other latents. So each row is first brought to a joint state that no change of a single latent
improves [1]_; a latent is *open* in it if another of its states comes within reach, and all
combinations of the open latents are compared, with the others as they are.

Assumes that rows tell most of their latents. Where a row leaves so many open that their
combinations are too many, the least open ones are closed, and the row counts as approximate.

References
----------
.. [1] J. Besag, "On the statistical analysis of dirty pictures", Journal of the Royal Statistical
   Society B 48 (1986): iterated conditional modes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers, row_maxima, rows_of_each
from mixoracle.model.elimination import Factor
from mixoracle.model.joint_states import codes_of_parents, n_configurations, states_of_cells
from mixoracle.model.responsibilities import share_out

# A state less likely than the best by so many nats is not open: two billionths. Two latents that
# change together may come nearer than either alone.
_OPEN = 20.0
# An impossible component is so many nats away: further than any, and sums keep their digits.
_IMPOSSIBLE = 1e6
# Rounds of changes of single latents; nearly all rows rest after two.
_MOST_ROUNDS = 20
# Combinations of the open latents of a row that are compared at most.
_MOST_COMBINATIONS = 1024
# Numbers of one array that combinations are compared in: 32 MB.
_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class RowPosterior:
    """N rows, each in one joint state or shared out among several.

    ``best`` (N, m) is the most likely joint state of each row, ``log_likelihood`` (N,) its log
    density. Rows that leave something open stand in ``rows`` (R,), once for each joint state
    ``states`` (R, m) that they may be in, with its probability ``shares`` (R,); ``is_open`` (N,)
    marks them. ``n_approximate`` rows left more open than could be compared.
    """

    best: Integers
    log_likelihood: Floats
    is_open: Bools
    rows: Integers
    states: Integers
    shares: Floats
    n_approximate: int

    def shared_out(self) -> tuple[Integers, Integers, Floats]:
        """All rows with their joint states and probabilities, the certain ones first."""
        certain = np.flatnonzero(~self.is_open)
        return (
            np.concatenate([certain, self.rows]),
            np.concatenate([self.best[certain], self.states]),
            np.concatenate([np.ones(len(certain)), self.shares]),
        )

    def probabilities(self, domain_sizes: Sequence[int]) -> list[Floats]:
        """P(H_j = state | row) for each latent, an (N, dim_j) array each."""
        rows, states, shares = self.shared_out()
        return [
            _added_up(rows, states[:, j], shares, (len(self.best), size))
            for j, size in enumerate(domain_sizes)
        ]

    def by_code(self, adjacency: Bools, domain_sizes: Sequence[int]) -> list[Floats]:
        """P(configuration of pa(X_i) | row) for each observed variable, (N, k_i) each."""
        rows, states, shares = self.shared_out()
        codes = codes_of_parents(states, adjacency, domain_sizes)
        return [
            _added_up(rows, code, shares, (len(self.best), n_codes))
            for code, n_codes in zip(
                codes.T, n_configurations(adjacency, domain_sizes), strict=True
            )
        ]


class RowInference:
    """Shares rows out among joint states; made once for a model.

    ``adjacency`` (n, m) is Γ, and P(H) the product of the ``factors``.
    """

    def __init__(
        self, adjacency: Bools, domain_sizes: Sequence[int], factors: Sequence[Factor]
    ) -> None:
        self._adjacency = adjacency
        self._sizes = tuple(domain_sizes)
        self._factors = factors
        # P(H) enters as further variables do, with the same densities in every row.
        reach = np.zeros((len(factors), len(self._sizes)), dtype=bool)
        for place, factor in enumerate(factors):
            reach[place, list(factor.latents)] = True
        self._reach = np.vstack([adjacency, reach])
        self._strides = _strides(self._reach, self._sizes)

    @cached_property
    def _log_factors(self) -> list[Floats]:
        """Each factor as a table in ascending order of its latents, flat, in logarithms."""
        tiny = np.finfo(float).tiny
        flat = []
        for factor in self._factors:
            ascending = np.transpose(factor.values, np.argsort(factor.latents))
            flat.append(np.log(np.maximum(ascending, tiny)).ravel())
        return flat

    def posterior(self, densities: Sequence[Floats], start: Integers | None = None) -> RowPosterior:
        """Share rows out; ``densities[i]`` (N, k_i), ``start`` (N, m) a good joint state of each.

        A row that is impossible in every component of a variable is judged by the others.
        """
        n_rows = len(densities[0])
        finite = [_made_finite(held) for held in densities]
        tables: list[Floats] = [*finite, *self._log_factors]
        states = self._first_states(finite) if start is None else start.copy()
        every = np.arange(n_rows)
        gaps = self._settled(tables, states, every)
        codes = self._codes(states)
        total = np.zeros(n_rows)
        for place, table in enumerate(tables):
            total += _taken(table, every, codes[:, place])
        is_open = np.asarray((gaps < _OPEN).any(axis=1))
        rows, held, shares, approximate = [], [], [], 0
        for some, latents, was_cut in self._patterns(gaps, np.flatnonzero(is_open)):
            combinations, change = self._compared(tables, states, codes, some, latents)
            shared = share_out(change)
            total[some] += shared.log_likelihood
            responsibilities = shared.responsibilities
            rows.append(np.repeat(some, len(combinations)))
            own = np.repeat(states[some], len(combinations), axis=0)
            own[:, latents] = np.tile(combinations, (len(some), 1))
            held.append(own)
            shares.append(responsibilities.ravel())
            states[np.ix_(some, latents)] = combinations[responsibilities.argmax(axis=1)]
            approximate += len(some) if was_cut else 0
        m = len(self._sizes)
        return RowPosterior(
            best=states,
            log_likelihood=total,
            is_open=is_open,
            rows=np.concatenate([np.zeros(0, dtype=np.int64), *rows]),
            states=np.concatenate([np.zeros((0, m), dtype=np.int64), *held]),
            shares=np.concatenate([np.zeros(0), *shares]),
            n_approximate=approximate,
        )

    def _first_states(self, densities: Sequence[Floats]) -> Integers:
        """For each latent the state that its children, each at its best otherwise, make likely."""
        states = np.zeros((len(densities[0]), len(self._sizes)), dtype=np.int64)
        for j, size in enumerate(self._sizes):
            votes = np.zeros((len(states), size))
            for i in np.flatnonzero(self._adjacency[:, j]).tolist():
                density = densities[i]
                state = np.arange(density.shape[1]) // self._strides[i, j] % size
                best = np.stack([row_maxima(density[:, state == s]) for s in range(size)], axis=1)
                # Beyond reach is beyond reach: one variable out of place has one vote.
                votes += np.maximum(best - row_maxima(best)[:, None], -_OPEN)
            states[:, j] = votes.argmax(axis=1)
        return states

    def _codes(self, states: Integers) -> Integers:
        """The configuration of what each table is over, (N, n + factors)."""
        return codes_of_parents(states, self._reach, self._sizes)

    def _settled(self, tables: Sequence[Floats], states: Integers, rows: Integers) -> Floats:
        """Change single latents of ``states`` while that helps; how far the next state is, (N, m).

        Rows in which a round changed nothing rest, and only the others are looked at again.
        """
        gaps = np.empty(states.shape)
        for _ in range(_MOST_ROUNDS):
            codes = self._codes(states[rows])
            moved = np.zeros(len(rows), dtype=bool)
            for j, size in enumerate(self._sizes):
                around = np.flatnonzero(self._reach[:, j])
                before = states[rows, j]
                score = np.zeros((len(rows), size))
                for place in around.tolist():
                    stride = self._strides[place, j]
                    zero = codes[:, place] - before * stride
                    for state in range(size):
                        score[:, state] += _taken(tables[place], rows, zero + state * stride)
                after = score.argmax(axis=1)
                peak = score[np.arange(len(rows)), after]
                score[np.arange(len(rows)), after] = -np.inf
                gaps[rows, j] = peak - row_maxima(score)
                changed = after != before
                if changed.any():
                    moved |= changed
                    step = (after - before)[changed, None] * self._strides[around, j]
                    codes[np.ix_(changed, around)] += step
                    states[rows[changed], j] = after[changed]
            rows = rows[moved]
            if not len(rows):
                break
        return gaps

    def _patterns(self, gaps: Floats, rows: Integers) -> Iterator[tuple[Integers, Integers, bool]]:
        """Rows that leave the same latents open, these latents, and whether some were closed."""
        if not len(rows):
            return
        patterns, member = np.unique(gaps[rows] < _OPEN, axis=0, return_inverse=True)
        members = rows_of_each(member.ravel(), len(patterns))
        for pattern, own in zip(patterns, members, strict=True):
            some = rows[own]
            latents = np.flatnonzero(pattern)
            by_doubt = latents[np.argsort(gaps[np.ix_(some, latents)].mean(axis=0))]
            kept = len(by_doubt)
            while kept > 1 and prod(self._sizes[j] for j in by_doubt[:kept]) > _MOST_COMBINATIONS:
                kept -= 1
            chosen = np.sort(by_doubt[:kept])
            step = max(1, _ENTRIES // prod(self._sizes[j] for j in chosen))
            for begin in range(0, len(some), step):
                yield some[begin : begin + step], chosen, kept < len(by_doubt)

    def _compared(
        self,
        tables: Sequence[Floats],
        states: Integers,
        codes: Integers,
        rows: Integers,
        latents: Integers,
    ) -> tuple[Integers, Floats]:
        """All combinations (C, open) of some latents, and their log odds to the states, (r, C)."""
        sizes = tuple(self._sizes[j] for j in latents)
        combinations = states_of_cells(np.arange(prod(sizes)), sizes)
        step = combinations[None] - states[rows][:, latents][:, None]
        change = np.zeros((len(rows), len(combinations)))
        for place in np.flatnonzero(self._reach[:, latents].any(axis=1)).tolist():
            before = codes[rows, place]
            after = before[:, None] + step @ self._strides[place, latents]
            change += _taken(tables[place], rows[:, None], after)
            change -= _taken(tables[place], rows, before)[:, None]
        return combinations, change


def _strides(reach: Bools, sizes: Sequence[int]) -> Integers:
    """How much one state more of each latent adds to each code, (tables, m); 0 out of reach."""
    strides = np.zeros(reach.shape, dtype=np.int64)
    for place, row in enumerate(reach):
        step = 1
        for j in np.flatnonzero(row)[::-1]:
            strides[place, j] = step
            step *= sizes[j]
    return strides


def _made_finite(density: Floats) -> Floats:
    """Densities (N, k) in which nothing is impossible; a row that is so everywhere says nothing."""
    if density.size and density.max() - density.min() < _IMPOSSIBLE:
        return density
    peak = np.fmax.reduce(density, axis=1, keepdims=True)
    is_possible = np.isfinite(peak)
    low = np.where(is_possible, peak - _IMPOSSIBLE, 0.0)
    return np.where(is_possible, np.fmax(density, low), 0.0)


def _taken(table: Floats, rows: Integers, codes: Integers) -> Floats:
    """The entries of a table (N, k) in these rows, or of one that is the same for all, (k,)."""
    if table.ndim == 1:
        return np.asarray(table.take(codes))
    # Places in a flat array are found in half the time.
    return np.asarray(table.ravel().take(rows * table.shape[1] + codes))


def _added_up(rows: Integers, columns: Integers, shares: Floats, shape: tuple[int, int]) -> Floats:
    """Shares added up by row and column."""
    flat = np.bincount(rows * shape[1] + columns, shares, shape[0] * shape[1])
    return np.asarray(flat.reshape(shape))
