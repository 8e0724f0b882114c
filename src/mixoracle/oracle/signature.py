"""Our default oracle: every latent leaves its signature in the labels of single variables.

Under nondegeneracy the component of X_i *is* the configuration of pa(X_i), so one mixture for
each observed variable is enough: its labels, put together, are the map L. What one variable
alone cannot tell apart, the others can: the components over all of X are found first as label
tuples, each variable is then cut along them and its pieces are merged by evidence, and all labels
together are decoded to one consistent answer. What was repaired for that is reported.

Assumes components of a known family (Gaussian so far) and complete, numeric observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mixoracle._checks import check_whole, make_generator
from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite, Projection
from mixoracle.observations import Observations
from mixoracle.oracle.counts import ComponentCount
from mixoracle.oracle.decoding import Reading, RowTable, configurations, decode
from mixoracle.oracle.families.base import Floats
from mixoracle.oracle.merging import KnownPieces, Merging, merge_pieces, pool
from mixoracle.oracle.preparation import Prepared, prepare
from mixoracle.oracle.segmentation import ROWS_PER_PIECE, segment
from mixoracle.oracle.shape import (
    HEAVY_TAILS,
    ROWS_OF_A_PEAK,
    join_alike_labels,
    join_uncut_pieces,
    tail_ratio,
)
from mixoracle.oracle.tuples import JointComponents, find_joint_components, share_rows

# Structure shows in this many rows; more rows sharpen parameters, which is refinement's job.
MAX_ROWS = 40_000
DEFAULT_MAX_COMPONENTS = 128
# Labels and joint components inform each other; a third round changed nothing on any problem.
_ROUNDS = 2
# Without a family to rely on, cuts heal a few variables at a time.
_ROUNDS_WITHOUT_FAMILY = 5
# Rounds end early when fewer labels than this change.
_LABELS_SETTLED = 0.002
# Pairs of joint components that merging would compare grow with the square of their number, and
# with fewer rows than this to each, on average, they are mostly noise.
_MAX_PIECES = 400
_ROWS_PER_COMPONENT = 8
_CHUNK_ROWS = 20_000

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False, repr=False)
class SignatureReading:
    """One consistent answer; a :class:`~mixoracle.MixtureOracle` in its own right.

    Attributes
    ----------
    bipartite : Bipartite
        Γ and the domain sizes that explain the labels.
    weights : (∏ domain_sizes,) array
        The share of the rows in each joint state, in C order.
    assignments : (N,) int array
        The row of :meth:`projection` that each sample belongs to.
    log_evidence : float
        Of the whole model; comparable between readings of the same data.
    repairs : tuple of str
        What had to be changed to make the labels consistent, in words.
    """

    bipartite: Bipartite
    weights: Floats
    assignments: NDArray[np.int64]
    log_evidence: float
    repairs: tuple[str, ...]

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        return self.bipartite.n_observed

    def count(self, subset: Iterable[int]) -> int:
        """k(S) by ``obs:counting``."""
        members = checked_members(subset, self.n_observed)
        parents = np.flatnonzero(self.bipartite.adjacency[members].any(axis=0))
        return prod((self.bipartite.domain_sizes[j] for j in parents), start=1)

    def projection(self) -> Projection:
        """The map L: one row for each joint state, also for those never seen."""
        codes = configurations(self.bipartite.adjacency, self.bipartite.domain_sizes)
        return Projection(codes, self.weights)

    def __repr__(self) -> str:
        return (
            f"SignatureReading({self.bipartite!r}, log evidence {self.log_evidence:.1f}, "
            f"{len(self.repairs)} repairs)"
        )


class SignatureOracle:
    """Learns k(S) and L from one mixture for each observed variable.

    Parameters
    ----------
    max_components : int, optional
        The most components that one observed variable may have; 128 if the rows allow it.
    n_jobs : int
        Variables that are worked on at the same time. The answer does not depend on it.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    readings_ : tuple of SignatureReading
        Consistent answers, best first.
    components_seen_ : (T, n_observed) int array
        The label tuples that were found to be components over X, before any repair.
    confidence_ : (n_observed,) array
        How sure the number of components of each variable is.
    tail_ratio_ : float or None
        How heavy the tails of a typical component are, relative to the family's.
    is_family_trusted_ : bool
        False where tails were so heavy that components were told by gaps in density.
    """

    def __init__(
        self,
        max_components: int | None = None,
        *,
        n_jobs: int = 1,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.max_components = max_components
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, observations: Observations, progress: Progress | None = None) -> SignatureOracle:
        """Learn from observations; ``progress`` is told what is being done."""
        tell = progress or (lambda _stage: None)
        limit = checked_max_components(self.max_components, observations.n_samples)
        check_n_jobs(self.n_jobs)
        rng = make_generator(self.random_state)
        # Sums over threads depend on their number; one thread keeps every n_jobs at one answer.
        with threadpool_limits(limits=1):
            tell("putting the data in order")
            prepared = prepare(observations)
            seen = _Seen.draw(prepared, rng)
            tell("finding the components of each variable")
            seen.segment_all(limit, self.n_jobs, rng)
            tell("finding the components over all variables")
            seen.settle(limit)
            tell("decoding the latents")
            readings = decode(seen.table())
            self._keep(observations, prepared, seen, readings)
        self._prepared: Prepared | None = prepared
        return self

    def hand_over_prepared(self) -> Prepared | None:
        """The prepared observations of the last fit, once: they are as large as the data."""
        prepared, self._prepared = self._prepared, None
        return prepared

    def _keep(
        self, observations: Observations, prepared: Prepared, seen: _Seen, readings: list[Reading]
    ) -> None:
        back = np.argsort(prepared.variables)
        table = seen.table()
        self.n_observed_ = observations.n_observed
        self.components_seen_ = table.labels[:, back]
        self.confidence_ = np.array([merging.confidence for merging in seen.mergings])[back]
        self.tail_ratio_ = seen.tail_ratio
        self.is_family_trusted_ = seen.is_family_trusted
        self.readings_ = tuple(
            _public_reading(reading, prepared, table, observations.names) for reading in readings
        )

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        self._check_fitted()
        return self.n_observed_

    def count(self, subset: Iterable[int]) -> ComponentCount:
        """k(S) of the best reading, with its confidence and the count before any repair."""
        self._check_fitted()
        members = checked_members(subset, self.n_observed)
        answer = self.readings_[0].count(members)
        seen = len(np.unique(self.components_seen_[:, members], axis=0)) if members else 1
        return ComponentCount(answer, self._confidence(members, answer), seen)

    def projection(self) -> Projection:
        """The map L of the best reading."""
        self._check_fitted()
        return self.readings_[0].projection()

    def _confidence(self, members: list[int], answer: int) -> float:
        """Agreement of the readings, by their evidence, and of each variable's own merging."""
        evidence = np.array([reading.log_evidence for reading in self.readings_])
        agree = np.array([reading.count(members) == answer for reading in self.readings_])
        share = np.exp(evidence - evidence.max())
        return float(share[agree].sum() / share.sum() * self.confidence_[members].prod())

    def _check_fitted(self) -> None:
        if not hasattr(self, "readings_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this SignatureOracle has not seen data; call fit first")

    def __repr__(self) -> str:
        return f"SignatureOracle(max_components={self.max_components})"


def checked_max_components(max_components: int | None, n_samples: int) -> int:
    """The limit to use, or why the one asked for cannot be had."""
    affordable = max(1, n_samples // (2 * ROWS_PER_PIECE))
    if max_components is None:
        return min(DEFAULT_MAX_COMPONENTS, affordable)
    check_whole("max_components", max_components, at_least=1)
    if max_components > affordable:
        raise InvalidInputError(
            f"max_components = {max_components} needs at least "
            f"{2 * ROWS_PER_PIECE * max_components} rows to be told apart; got {n_samples}: "
            f"use at most {affordable}, or more rows"
        )
    return max_components


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what joblib would refuse later."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidInputError(
            f"n_jobs should be a number of jobs, or -1 for all cores; got {n_jobs!r}"
        )


def checked_members(subset: Iterable[int], n_observed: int) -> list[int]:
    """The members of a set of observed variables in ascending order."""
    members = sorted({int(member) for member in subset})
    if members and not 0 <= members[0] <= members[-1] < n_observed:
        raise InvalidInputError(
            f"observed variables are numbered 0 to {n_observed - 1}; got {members}"
        )
    return members


class _Seen:
    """The rows that structure is learned from, with their labels; grows step by step."""

    def __init__(self, blocks: list[Floats], prepared: Prepared) -> None:
        self.blocks = blocks
        self.families = tuple(encoder.family for encoder in prepared.encoders)
        self.features = [f.features(b) for f, b in zip(self.families, blocks, strict=True)]
        self.labels = np.zeros((len(blocks[0]), len(blocks)), dtype=np.int64)
        self.mergings: list[Merging] = []
        self.joint: JointComponents | None = None
        self.is_family_trusted = True
        self.tail_ratio: float | None = None

    @classmethod
    def draw(cls, prepared: Prepared, rng: np.random.Generator) -> _Seen:
        """Keep all rows, or :data:`MAX_ROWS` of them at random."""
        if prepared.n_samples <= MAX_ROWS:
            return cls(list(prepared.blocks), prepared)
        rows = np.sort(rng.choice(prepared.n_samples, MAX_ROWS, replace=False))
        return cls([block[rows] for block in prepared.blocks], prepared)

    def segment_all(self, max_components: int, n_jobs: int, rng: np.random.Generator) -> None:
        """Label each variable on its own."""
        seeds = rng.integers(np.iinfo(np.int32).max, size=len(self.blocks))
        found = Parallel(n_jobs=n_jobs)(
            delayed(_segment_alone)(block, features, family, max_components, int(seed))
            for block, features, family, seed in zip(
                self.blocks, self.features, self.families, seeds, strict=True
            )
        )
        self.labels = np.stack([labels for labels, _ in found], axis=1)
        self.mergings = [merging for _, merging in found]
        self._heal_labels()

    def _heal_labels(self) -> None:
        """Undo cuts through components of another shape, if there are such components."""
        healed = np.stack(
            [join_alike_labels(self.labels, i, block) for i, block in enumerate(self.blocks)],
            axis=1,
        )
        self._judge_family(healed)
        if self.is_family_trusted:
            return
        self.labels = healed
        for i, (family, features) in enumerate(zip(self.families, self.features, strict=True)):
            pooled = pool(features, healed[:, i], int(healed[:, i].max()) + 1)
            self.mergings[i] = replace(self.mergings[i], prior=family.prior(pooled))

    def settle(self, max_components: int) -> None:
        """Let the components over X and the labels of each variable correct each other."""
        rounds = 0
        while rounds < (_ROUNDS if self.is_family_trusted else _ROUNDS_WITHOUT_FAMILY):
            rounds += 1
            before = self.labels
            densities = self._log_densities()
            most = max(1, min(_MAX_PIECES, len(before) // _ROWS_PER_COMPONENT))
            joint = find_joint_components(before, densities, most)
            self._relabel(joint, max_components)
            if _settled(before, self.labels):
                break
        if not self.is_family_trusted:
            self._drop_strays()

    def _drop_strays(self) -> None:
        """Without a family, rows far from all others are no component of their own."""
        assert self.joint is not None  # settle() made it
        rows = self.joint.responsibilities.sum(axis=0)
        kept = rows >= min(ROWS_OF_A_PEAK, rows.max())
        if kept.all():
            return
        labels = self.joint.labels[kept]
        weights = rows[kept] / rows[kept].sum()
        self.joint = share_rows(labels, weights, self._log_densities())

    def _judge_family(self, labels: NDArray[np.int64]) -> None:
        """Whether most components have the tails that the family gives them."""
        ratios = [
            ratio
            for i, block in enumerate(self.blocks)
            for j in range(int(labels[:, i].max()) + 1)
            if (ratio := tail_ratio(block[labels[:, i] == j])) is not None
        ]
        if ratios:
            self.tail_ratio = float(np.median(ratios))
            self.is_family_trusted = self.tail_ratio < HEAVY_TAILS

    def _log_densities(self) -> list[Floats]:
        densities = []
        for i, (family, features) in enumerate(zip(self.families, self.features, strict=True)):
            labels = self.labels[:, i]
            pooled = pool(features, labels, int(labels.max()) + 1)
            components = family.components(pooled, self.mergings[i].prior)
            densities.append(family.log_density(features, components))
        return densities

    def _relabel(self, joint: JointComponents, max_components: int) -> None:
        """Cut each variable along the joint components and merge what is one component."""
        members = joint.responsibilities.argmax(axis=1)
        joined = [
            join_uncut_pieces(joint.labels, i, block, members)
            for i, block in enumerate(self.blocks)
        ]
        pieces = [np.arange(len(joint.labels))] * len(self.blocks)
        self.mergings = self._merge_along(joint, joined, max_components)
        groups = np.stack([merging.groups for merging in self.mergings], axis=1)
        self._judge_family(groups[members])
        if self.is_family_trusted and any(map(_has_repeats, joined)):
            self.mergings = self._merge_along(joint, pieces, max_components)
        labels = np.stack([merging.groups for merging in self.mergings], axis=1)
        rows, where = np.unique(labels, axis=0, return_inverse=True)
        where = where.ravel()
        responsibilities = np.zeros((len(self.labels), len(rows)))
        np.add.at(responsibilities.T, where, joint.responsibilities.T)
        self.joint = JointComponents(rows, responsibilities)
        self.labels = rows[responsibilities.argmax(axis=1)]

    def _merge_along(
        self, joint: JointComponents, pieces: list[NDArray[np.int64]], max_components: int
    ) -> list[Merging]:
        """For each variable which joint components are one component of it."""
        cost = 0.5 * np.log(len(self.labels))
        mergings = []
        for family, features, piece in zip(self.families, self.features, pieces, strict=True):
            statistics = pool(joint.responsibilities.T @ features, piece, int(piece.max()) + 1)
            merging = merge_pieces(statistics, family, KnownPieces(cost), max_components)
            mergings.append(replace(merging, groups=merging.groups[piece]))
        return mergings

    def table(self) -> RowTable:
        """The joint components with the statistics of each variable in them."""
        assert self.joint is not None  # settle() came first
        statistics = tuple(self.joint.responsibilities.T @ features for features in self.features)
        priors = tuple(merging.prior for merging in self.mergings)
        return RowTable(self.joint.labels, statistics, self.families, priors)


def _segment_alone(
    block: Floats, features: Floats, family: object, max_components: int, seed: int
) -> tuple[NDArray[np.int64], Merging]:
    with threadpool_limits(limits=1):
        return segment(block, features, family, max_components, seed)  # type: ignore[arg-type]


def _has_repeats(pieces: NDArray[np.int64]) -> bool:
    return int(pieces.max()) + 1 < len(pieces)


def _settled(before: NDArray[np.int64], after: NDArray[np.int64]) -> bool:
    same_counts = np.array_equal(before.max(axis=0), after.max(axis=0))
    return same_counts and float(np.mean(before != after)) < _LABELS_SETTLED


def _public_reading(
    reading: Reading, prepared: Prepared, table: RowTable, names: tuple[str, ...]
) -> SignatureReading:
    """A reading in the order of the observations, with every row assigned."""
    back = np.argsort(prepared.variables)
    codes = configurations(reading.adjacency, reading.domain_sizes)
    weights = np.bincount(reading.cells, table.counts, len(codes)) / table.counts.sum()
    cells = _assign(reading, prepared, table, codes, weights)
    assignments = np.empty(prepared.n_samples, dtype=np.int64)
    assignments[prepared.rows] = cells
    return SignatureReading(
        bipartite=Bipartite(reading.adjacency[back], reading.domain_sizes, 0.0, "signature"),
        weights=weights,
        assignments=assignments,
        log_evidence=reading.log_evidence,
        repairs=_describe_repairs(reading, table, codes, [names[i] for i in prepared.variables]),
    )


def _assign(
    reading: Reading,
    prepared: Prepared,
    table: RowTable,
    codes: NDArray[np.int64],
    weights: Floats,
) -> NDArray[np.int64]:
    """The most likely joint state of every row, in canonical order."""
    occupied = np.flatnonzero(weights > 0)
    components = [
        family.components(
            pool(statistics, codes[reading.cells, i], int(codes[:, i].max()) + 1), prior
        )
        for i, (statistics, family, prior) in enumerate(
            zip(table.statistics, table.families, table.priors, strict=True)
        )
    ]
    cells = np.empty(prepared.n_samples, dtype=np.int64)
    for start in range(0, prepared.n_samples, _CHUNK_ROWS):
        rows = slice(start, min(start + _CHUNK_ROWS, prepared.n_samples))
        score = np.tile(np.log(weights[occupied]), (rows.stop - rows.start, 1))
        for i, held in enumerate(components):
            density = table.families[i].log_density(prepared.features(i, rows), held)
            score += density[:, codes[occupied, i]]
        cells[rows] = occupied[score.argmax(axis=1)]
    return cells


def _describe_repairs(
    reading: Reading, table: RowTable, codes: NDArray[np.int64], names: list[str]
) -> tuple[str, ...]:
    repairs = []
    for i, name in enumerate(names):
        seen = len(np.unique(table.labels[:, i]))
        used = len(np.unique(codes[reading.cells, i]))
        if seen != used:
            repairs.append(f"{name}: {seen} components were seen, {used} fit with the others")
    n_cells = len(np.unique(reading.cells))
    if n_cells < len(reading.cells):
        repairs.append(
            f"{len(reading.cells)} components over all variables were seen, "
            f"{n_cells} of them are distinct joint states"
        )
    return tuple(sorted(repairs))
