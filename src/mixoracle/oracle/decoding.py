"""All labels together to one consistent answer: latents, their states, Γ.

Components over X with their labels say which latents there are, if the labels are right
(:mod:`~mixoracle.oracle.common_parts`). Some are not: components that overlap are merged or split
in one variable, and mislabelled rows make components that do not exist. So several proposals are
made, each leaving out the rarest components or a variable or two. Each is completed to a
consistent reading (every component gets a joint state, every variable its best parents) and
scored by the evidence of the whole model; the best one is the answer, the others are runners-up.

Assumes that most of the rows are in components that are labelled right in most variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from mixoracle.oracle.common_parts import find_latents
from mixoracle.oracle.families import Family, Prior
from mixoracle.oracle.families.base import Floats
from mixoracle.oracle.merging import log_dirichlet_multinomial, pool

# Components over X with at most this many rows are left out of a proposal, one bound at a time.
_ROW_BOUNDS = (0.0, 1.5, 2.5, 4.0, 6.0, 9.0, 14.0, 20.0, 30.0, 45.0)
# A proposal that leaves out more of the rows than this explains something else.
_MOST_LEFT_OUT = 0.1
MAX_LATENTS = 16
MAX_JOINT_STATES = 10_000
# A reading that leaves most joint states without any component has mistaken noise for latents.
_STATES_PER_COMPONENT = 16
# An answer is taken at once only if at least this share of its joint states was seen.
_SEEN_SHARE = 0.5
# Up to this many latents all parent sets are tried for each variable, beyond it one at a time.
_ALL_PARENT_SETS = 4
# Placing settles in one or two rounds, or not at all.
_PLACING_ROUNDS = 3
# Proposals are made until so many in a row brought nothing better, and never more than this.
_PATIENCE = 24
_MAX_PROPOSALS = 120


@dataclass(frozen=True)
class RowTable:
    """The components over X as the decoder sees them.

    ``labels`` (T, n); ``statistics[i]`` (T, f_i) are the family statistics of X_i in each.
    """

    labels: NDArray[np.int64]
    statistics: tuple[Floats, ...]
    families: tuple[Family, ...]
    priors: tuple[Prior, ...]

    @property
    def counts(self) -> Floats:
        """How many rows each component holds."""
        return np.asarray(self.statistics[0][:, 0])


@dataclass(frozen=True)
class Reading:
    """One consistent explanation of all labels.

    ``adjacency`` (n, m) and ``domain_sizes`` are Γ, ``cells`` (T,) the joint state (flat, C order)
    of each component over X; ``is_clean`` tells that nothing had to be repaired.
    """

    adjacency: NDArray[np.bool_]
    domain_sizes: tuple[int, ...]
    cells: NDArray[np.int64]
    log_evidence: float
    is_clean: bool

    @property
    def structure(self) -> tuple[tuple[bytes, int], ...]:
        """What two readings share if they differ in the order of the latents only."""
        columns = zip(self.adjacency.T, self.domain_sizes, strict=True)
        return tuple(sorted((column.tobytes(), size) for column, size in columns))


@dataclass(frozen=True)
class _Proposal:
    """States (kept rows, m) of some latents in the components that are kept."""

    kept: NDArray[np.bool_]
    states: NDArray[np.int64]

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.states.max(axis=0, initial=-1) + 1)


def decode(table: RowTable) -> list[Reading]:
    """All readings found, best evidence first, one for each structure.

    One latent whose states are the components over X, and no latent at all, are always among
    them, unless all labels fit together at once.
    """
    readings: dict[tuple[tuple[bytes, int], ...], Reading] = {}
    best, waited = -np.inf, 0
    for proposal in islice(_proposals(table), _MAX_PROPOSALS):
        waited += 1
        if proposal is not None:
            reading = _read(table, proposal)
            if reading.is_clean:
                return [reading]
            held = readings.get(reading.structure)
            if held is None or reading.log_evidence > held.log_evidence:
                readings[reading.structure] = reading
            if reading.log_evidence > best:
                best, waited = reading.log_evidence, 0
        if waited >= _PATIENCE:
            break
    for last_resort in _last_resorts(len(table.labels)):
        reading = _read(table, last_resort)
        readings.setdefault(reading.structure, reading)
    return sorted(readings.values(), key=lambda reading: -reading.log_evidence)


def configurations(adjacency: NDArray[np.bool_], domain_sizes: Sequence[int]) -> NDArray[np.int64]:
    """The configuration of pa(X_i) in each joint state, (∏ domain_sizes, n), in C order."""
    n_states = prod(domain_sizes)
    cells = np.unravel_index(np.arange(n_states), tuple(domain_sizes)) if domain_sizes else ()
    codes = np.zeros((n_states, len(adjacency)), dtype=np.int64)
    for i, parents in enumerate(adjacency):
        for j in map(int, np.flatnonzero(parents)):
            codes[:, i] = codes[:, i] * domain_sizes[j] + cells[j]
    return codes


def _proposals(table: RowTable) -> Iterator[_Proposal | None]:
    """Proposals from all components and variables first, then with more and more left out.

    None stands for an attempt that came to nothing, so that the caller can count it.
    """
    n_components = [len(np.unique(column)) for column in table.labels.T]
    speaking = [i for i, k in enumerate(n_components) if k > 1]
    if not speaking:
        return
    seen: set[tuple[bytes, bytes]] = set()
    for columns in _column_choices(speaking, n_components):
        for kept in _row_choices(table.counts):
            states = _common_states(_renumbered(table.labels[kept]), columns)
            if states is None or (key := (kept.tobytes(), states.tobytes())) in seen:
                yield None
                continue
            seen.add(key)
            yield _Proposal(kept, states)


def _last_resorts(n_components: int) -> Iterator[_Proposal]:
    everything = np.ones(n_components, dtype=bool)
    yield _Proposal(everything, np.arange(n_components)[:, None])
    yield _Proposal(everything, np.zeros((n_components, 0), dtype=np.int64))


def _row_choices(counts: Floats) -> Iterator[NDArray[np.bool_]]:
    """All components, then without those of at most 1, 2, 4… rows; each choice once."""
    before = -1
    for bound in _ROW_BOUNDS:
        kept = counts > bound
        if counts[kept].sum() < (1.0 - _MOST_LEFT_OUT) * counts.sum():
            return
        if kept.sum() != before:
            before = kept.sum()
            yield kept


def _column_choices(speaking: list[int], n_components: list[int]) -> Iterator[list[int]]:
    """All variables, then all but one, then without the several that have most components."""
    yield speaking
    fullest = sorted(speaking, key=lambda i: -n_components[i])
    for left_out in fullest:
        if len(speaking) > 1:
            yield [i for i in speaking if i != left_out]
    for n_left_out in range(2, len(speaking) - 1):
        yield sorted(fullest[n_left_out:])


def _common_states(labels: NDArray[np.int64], columns: list[int]) -> NDArray[np.int64] | None:
    """The states of the latents that the labels suggest, (rows, m), if they are few enough."""
    latents = find_latents(labels, columns)
    limit = min(MAX_JOINT_STATES, _STATES_PER_COMPONENT * len(labels))
    if not latents or len(latents) > MAX_LATENTS:
        return None
    if prod(part.n_states for part in latents) > limit:
        return None
    ordered = sorted(latents, key=lambda part: sorted(part.members))
    return np.stack([part.states for part in ordered], axis=1)


def _read(table: RowTable, proposal: _Proposal) -> Reading:
    """Complete a proposal: parents for each variable, a joint state for each component."""
    parents = [
        _best_parents(statistics[proposal.kept], family, prior, proposal)
        for statistics, family, prior in zip(
            table.statistics, table.families, table.priors, strict=True
        )
    ]
    n_latent = proposal.states.shape[1]
    adjacency = np.zeros((len(parents), n_latent), dtype=bool)
    for i, chosen in enumerate(parents):
        adjacency[i, list(chosen)] = True
    used = np.asarray(adjacency.any(axis=0))
    adjacency = adjacency[:, used]
    states = proposal.states[:, used]
    sizes = tuple(size for size, keep in zip(proposal.domain_sizes, used, strict=True) if keep)
    codes = configurations(adjacency, sizes)
    cells = _place_all(table, proposal.kept, _flat(states, sizes), codes)
    evidence = _log_evidence(table, cells, codes)
    return Reading(adjacency, sizes, cells, evidence, _explains_all(table.labels, cells, codes))


def _best_parents(
    statistics: Floats, family: Family, prior: Prior, proposal: _Proposal
) -> tuple[int, ...]:
    """The latents that this variable depends on, by the evidence of its components."""
    sizes = proposal.domain_sizes

    def evidence(parents: tuple[int, ...]) -> float:
        code = _flat(proposal.states[:, list(parents)], [sizes[j] for j in parents])
        present, code = np.unique(code, return_inverse=True)
        return float(family.log_evidence(pool(statistics, code, len(present)), prior).sum())

    latents = range(len(sizes))
    if len(sizes) <= _ALL_PARENT_SETS:
        choices = [c for size in range(len(sizes) + 1) for c in combinations(latents, size)]
        return max(choices, key=evidence)
    chosen: tuple[int, ...] = ()
    best = evidence(chosen)
    while True:
        neighbours = [tuple(sorted(set(chosen) ^ {j})) for j in latents]
        scores = [evidence(neighbour) for neighbour in neighbours]
        if max(scores) <= best:
            return chosen
        best = max(scores)
        chosen = neighbours[scores.index(best)]


def _place_all(
    table: RowTable,
    kept: NDArray[np.bool_],
    cells_of_kept: NDArray[np.int64],
    codes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The joint state of every component: where it is most likely, given the others.

    The components that were left out are placed first. Then all are placed anew, because a
    proposal from labels that are partly wrong puts some of them into the wrong state.
    """
    cells = np.empty(len(kept), dtype=np.int64)
    cells[kept] = cells_of_kept
    if not kept.all():
        cells[~kept] = _most_likely_cells(table, np.flatnonzero(kept), cells_of_kept, codes)[~kept]
    if _explains_all(table.labels, cells, codes):
        return cells
    everything = np.arange(len(kept))
    for _ in range(_PLACING_ROUNDS):
        placed = _most_likely_cells(table, everything, cells, codes)
        if np.array_equal(placed, cells):
            break
        cells = placed
    return cells


def _most_likely_cells(
    table: RowTable,
    rows: NDArray[np.int64],
    cells: NDArray[np.int64],
    codes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The best cell of every component, the densities being those of ``rows`` in ``cells``."""
    log_density = np.zeros((len(table.labels), len(codes)))
    for i, (statistics, family, prior) in enumerate(
        zip(table.statistics, table.families, table.priors, strict=True)
    ):
        n_codes = int(codes[:, i].max()) + 1
        pooled = pool(statistics[rows], codes[cells, i], n_codes)
        density = family.log_density(statistics, family.components(pooled, prior))
        # A configuration that no component has is unknown, and nothing may be put there.
        density[:, pooled[:, 0] <= 0] = -np.inf
        log_density += density[:, codes[:, i]]
    return np.asarray(log_density.argmax(axis=1))


def _log_evidence(table: RowTable, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> float:
    """The evidence of all components and of the joint states of all rows."""
    total = log_dirichlet_multinomial(_rows_in(cells, table, len(codes)), 1.0)
    for i, (statistics, family, prior) in enumerate(
        zip(table.statistics, table.families, table.priors, strict=True)
    ):
        present, code = np.unique(codes[cells, i], return_inverse=True)
        total += float(family.log_evidence(pool(statistics, code, len(present)), prior).sum())
    return total


def _explains_all(
    labels: NDArray[np.int64], cells: NDArray[np.int64], codes: NDArray[np.int64]
) -> bool:
    """Whether the labels are exactly the configurations, up to their names.

    Where most joint states were never seen, too much is explained by too little.
    """
    if len(np.unique(cells)) < len(cells) or len(cells) < _SEEN_SHARE * len(codes):
        return False
    for i, column in enumerate(labels.T):
        pairs = np.unique(np.stack([column, codes[cells, i]]), axis=1)
        if not len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]:
            return False
    return True


def _rows_in(cells: NDArray[np.int64], table: RowTable, n_cells: int) -> Floats:
    """How many rows each joint state holds."""
    return np.asarray(np.bincount(cells, table.counts, n_cells), dtype=np.float64)


def _flat(states: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Joint states as flat cells in C order."""
    code = np.zeros(len(states), dtype=np.int64)
    for column, size in zip(states.T, sizes, strict=True):
        code = code * size + column
    return code


def _renumbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    columns = [np.unique(column, return_inverse=True)[1] for column in labels.T]
    return np.stack(columns, axis=1).astype(np.int64)
