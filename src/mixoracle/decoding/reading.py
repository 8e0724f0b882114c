"""One consistent explanation of all labels, completed from a proposal and scored by evidence.

A proposal gives some latents a state in some of the components over X. It is completed: every
variable gets the parents that the evidence prefers, and every component the joint state in which
it is most likely. The score is the log evidence of the whole model, components and joint states,
so that readings with different latents can be compared.

Assumes that the components over X do not mix joint states: a reading puts each of them into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from mixoracle.families import Family, Prior
from mixoracle.families.base import Floats
from mixoracle.mixtures.merging import log_dirichlet_multinomial, pool
from mixoracle.model.joint import emptiness

Latent = tuple[tuple[int, ...], int]
"""The variables that a latent drives, ne(H), and how many states it has."""

# An answer is taken at once only if at least this share of its joint states was seen, or this
# many of them: so many labels do not fit together by chance.
_SEEN_SHARE = 0.5
_MANY_SEEN = 500
# Up to this many latents all parent sets are tried for each variable, beyond it one at a time.
_ALL_PARENT_SETS = 4
# Beyond this many latents it is not asked whether some of them are determined by the others.
_MOST_COMPARED = 10
# Share of the rows that may contradict what determines what.
_STRAY_SHARE = 0.01
# Placing settles in one or two rounds, or not at all.
_PLACING_ROUNDS = 3


@dataclass(frozen=True)
class RowTable:
    """The components over X as the decoder sees them.

    ``labels`` (T, n); ``statistics[i]`` (T, f_i) are the family statistics of X_i in each;
    ``counts`` (T,) how many rows each holds. Where the family is not trusted, more components
    always fit better, and the evidence must not ask for more than were seen.
    """

    labels: NDArray[np.int64]
    statistics: tuple[Floats, ...]
    families: tuple[Family, ...]
    priors: tuple[Prior, ...]
    counts: Floats
    is_family_trusted: bool = True


@dataclass(frozen=True)
class Move:
    """A change of a reading that raised its log evidence by ``gain`` nats.

    ``before`` are the latents that the change took away and ``after`` those that it put in their
    place; edges of Γ that changed with them show in the variables that they drive.
    """

    action: str
    before: tuple[Latent, ...]
    after: tuple[Latent, ...]
    gain: float

    def describe(self, names: Sequence[str]) -> str:
        """The move in words; ``names`` are those of the variables in the decoder's order.

        Examples
        --------
        >>> move = Move("merged states", (((0, 2), 4),), (((0, 2), 3),), 12.34)
        >>> move.describe(["X1", "X2", "X3"])
        'merged states: X1, X3 (4 states) became X1, X3 (3 states): +12.3'
        """
        before, after = (_in_words(latents, names) for latents in (self.before, self.after))
        return f"{self.action}: {before} became {after}: +{self.gain:.1f}"


@dataclass(frozen=True)
class Reading:
    """One consistent explanation of all labels.

    ``adjacency`` (n, m) and ``domain_sizes`` are Γ, ``cells`` (T,) the joint state (flat, C order)
    of each component over X; ``is_clean`` tells that nothing had to be repaired. ``moves`` led to
    it from a proposal, and ``n_agreed`` of ``n_proposals`` proposals had its structure at once.
    """

    adjacency: NDArray[np.bool_]
    domain_sizes: tuple[int, ...]
    cells: NDArray[np.int64]
    log_evidence: float
    is_clean: bool
    moves: tuple[Move, ...] = ()
    n_agreed: int = 1
    n_proposals: int = 1

    @property
    def structure(self) -> tuple[tuple[bytes, int], ...]:
        """What two readings share if they differ in the order of the latents only."""
        columns = zip(self.adjacency.T, self.domain_sizes, strict=True)
        return tuple(sorted((column.tobytes(), size) for column, size in columns))

    @property
    def latents(self) -> tuple[Latent, ...]:
        """ne(H_j) and dim(H_j) of each latent."""
        columns = zip(self.adjacency.T, self.domain_sizes, strict=True)
        return tuple((tuple(map(int, np.flatnonzero(column))), size) for column, size in columns)

    @property
    def states(self) -> NDArray[np.int64]:
        """The state of each latent in each component over X, (T, m)."""
        if not self.domain_sizes:
            return np.zeros((len(self.cells), 0), dtype=np.int64)
        return np.stack(np.unravel_index(self.cells, self.domain_sizes), axis=1).astype(np.int64)


@dataclass(frozen=True)
class Proposal:
    """States (kept rows, m) of some latents in the components that are kept."""

    kept: NDArray[np.bool_]
    states: NDArray[np.int64]

    @classmethod
    def of_all(cls, states: NDArray[np.int64]) -> Proposal:
        """A proposal that leaves nothing out."""
        return cls(np.ones(len(states), dtype=bool), states)

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """dim(H_j) of each latent."""
        return tuple(int(size) for size in self.states.max(axis=0, initial=-1) + 1)


def configurations(adjacency: NDArray[np.bool_], domain_sizes: Sequence[int]) -> NDArray[np.int64]:
    """The configuration of pa(X_i) in each joint state, (∏ domain_sizes, n), in C order."""
    n_states = prod(domain_sizes)
    cells = np.unravel_index(np.arange(n_states), tuple(domain_sizes)) if domain_sizes else ()
    codes = np.zeros((n_states, len(adjacency)), dtype=np.int64)
    for i, parents in enumerate(adjacency):
        for j in map(int, np.flatnonzero(parents)):
            codes[:, i] = codes[:, i] * domain_sizes[j] + cells[j]
    return codes


def flat(states: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Joint states as flat cells in C order."""
    code = np.zeros(len(states), dtype=np.int64)
    for column, size in zip(states.T, sizes, strict=True):
        code = code * size + column
    return code


def sum_by(code: NDArray[np.int64], statistics: Floats) -> Floats:
    """Sums over the rows that share a code, in the order of the codes; quick for few rows."""
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.asarray(np.add.reduceat(statistics[order], starts, axis=0))


def read(table: RowTable, proposal: Proposal) -> Reading:
    """Complete a proposal: parents for each variable, a joint state for each component."""
    needed = _needed_latents(proposal, table.counts[proposal.kept])
    proposal = Proposal(proposal.kept, proposal.states[:, needed])
    adjacency, states = _join_twins(choose_parents(table, proposal), proposal.states)
    sizes = Proposal(proposal.kept, states).domain_sizes
    codes = configurations(adjacency, sizes)
    cells = _place_all(table, proposal.kept, flat(states, sizes), codes)
    return score(table, adjacency, sizes, cells)


def score(
    table: RowTable,
    adjacency: NDArray[np.bool_],
    domain_sizes: tuple[int, ...],
    cells: NDArray[np.int64],
) -> Reading:
    """The reading with this Γ and these joint states, with its evidence."""
    codes = configurations(adjacency, domain_sizes)
    evidence = _log_evidence(table, cells, codes, domain_sizes)
    is_clean = _explains_all(table.labels, cells, codes)
    return Reading(adjacency, domain_sizes, cells, evidence, is_clean)


def choose_parents(table: RowTable, proposal: Proposal) -> NDArray[np.bool_]:
    """Γ by the evidence of each variable's components, (n, m)."""
    adjacency = np.zeros((len(table.statistics), proposal.states.shape[1]), dtype=bool)
    for i, (statistics, family, prior) in enumerate(
        zip(table.statistics, table.families, table.priors, strict=True)
    ):
        chosen = _best_parents(statistics[proposal.kept], family, prior, proposal)
        adjacency[i, list(chosen)] = True
    return adjacency


def _needed_latents(proposal: Proposal, counts: Floats) -> list[int]:
    """The fewest joint states that tell apart what all latents together do.

    A latent that the others determine leaves joint states empty that the model does not allow
    (``assump:strong``): an item that needs two skills is no third skill. Rows that contradict this
    are few, where there are components over X that do not exist.
    """
    sizes = proposal.domain_sizes
    everything = list(range(len(sizes)))
    if len(everything) < 2 or len(everything) > _MOST_COMPARED:
        return everything
    together = flat(proposal.states, sizes)
    allowed = _STRAY_SHARE * float(counts.sum())

    def tell_apart(chosen: tuple[int, ...]) -> bool:
        code = flat(proposal.states[:, list(chosen)], [sizes[j] for j in chosen])
        return _rows_in_minority(code, together, counts) <= allowed

    choices = [c for size in range(1, len(sizes)) for c in combinations(everything, size)]
    choices.sort(key=lambda c: prod(sizes[j] for j in c))
    for chosen in choices:
        if prod(sizes[j] for j in chosen) >= len(np.unique(together)) and tell_apart(chosen):
            return list(chosen)
    return everything


def _rows_in_minority(code: NDArray[np.int64], finer: NDArray[np.int64], counts: Floats) -> float:
    """Rows that are not in the commonest finer state of their code."""
    _, place = np.unique(np.stack([code, finer]), axis=1, return_inverse=True)
    held = np.bincount(place.ravel(), counts)
    _, first = np.unique(place.ravel(), return_index=True)
    largest = np.zeros(int(code.max()) + 1)
    np.maximum.at(largest, code[first], held)
    return float(counts.sum() - largest.sum())


def _join_twins(
    adjacency: NDArray[np.bool_], states: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """One latent for all that drive the same variables (``assm:twins``), none where that is none.

    Twins have the evidence of one latent whose states are the pairs of theirs, and no data tell
    the two apart.
    """
    groups: dict[bytes, list[int]] = {}
    for j, column in enumerate(adjacency.T):
        if column.any():
            groups.setdefault(column.tobytes(), []).append(j)
    joined = np.empty((len(states), len(groups)), dtype=np.int64)
    for place, twins in enumerate(groups.values()):
        sizes = [int(size) for size in states[:, twins].max(axis=0) + 1]
        code = flat(states[:, twins], sizes)
        joined[:, place] = np.unique(code, return_inverse=True)[1] if len(twins) > 1 else code
    return adjacency[:, [twins[0] for twins in groups.values()]], joined


def _best_parents(
    statistics: Floats, family: Family, prior: Prior, proposal: Proposal
) -> tuple[int, ...]:
    """The latents that this variable depends on, by the evidence of its components."""
    sizes = proposal.domain_sizes

    def evidence(choices: list[tuple[int, ...]]) -> Floats:
        codes = [flat(proposal.states[:, list(c)], [sizes[j] for j in c]) for c in choices]
        pooled = [sum_by(code, statistics) for code in codes]
        starts = np.cumsum([0, *(len(held) for held in pooled[:-1])])
        return np.add.reduceat(family.log_evidence(np.vstack(pooled), prior), starts)

    latents = range(len(sizes))
    if len(sizes) <= _ALL_PARENT_SETS:
        choices = [c for size in range(len(sizes) + 1) for c in combinations(latents, size)]
        return choices[int(np.argmax(evidence(choices)))]
    chosen: tuple[int, ...] = ()
    best = float(evidence([chosen])[0])
    while True:
        neighbours = [tuple(sorted(set(chosen) ^ {j})) for j in latents]
        scores = evidence(neighbours)
        if scores.max() <= best:
            return chosen
        best, chosen = float(scores.max()), neighbours[int(np.argmax(scores))]


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


def _log_evidence(
    table: RowTable,
    cells: NDArray[np.int64],
    codes: NDArray[np.int64],
    domain_sizes: tuple[int, ...],
) -> float:
    """The evidence of all components and of the joint states of all rows.

    Joint states that stay empty count against a reading: the model says that all can occur, and
    holes in P(H) would otherwise be a cheap way to explain anything by more latents.
    """
    rows = np.bincount(cells, table.counts, len(codes)).astype(np.float64)
    total = log_dirichlet_multinomial(rows, 1.0) - emptiness(rows.reshape(domain_sizes))
    for i, (statistics, family, prior) in enumerate(
        zip(table.statistics, table.families, table.priors, strict=True)
    ):
        total += float(family.log_evidence(sum_by(codes[cells, i], statistics), prior).sum())
    return total


def _explains_all(
    labels: NDArray[np.int64], cells: NDArray[np.int64], codes: NDArray[np.int64]
) -> bool:
    """Whether the labels are exactly the configurations, up to their names.

    Where most joint states were never seen, too much is explained by too little.
    """
    if len(np.unique(cells)) < len(cells) or len(cells) < min(_SEEN_SHARE * len(codes), _MANY_SEEN):
        return False
    for i, column in enumerate(labels.T):
        pairs = np.unique(np.stack([column, codes[cells, i]]), axis=1)
        if not len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]:
            return False
    return True


def _in_words(latents: tuple[Latent, ...], names: Sequence[str]) -> str:
    told = [f"{', '.join(names[i] for i in driven)} ({size} states)" for driven, size in latents]
    return " and ".join(told) or "none"
