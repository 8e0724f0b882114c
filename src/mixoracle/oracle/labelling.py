"""Labels for every row in every variable, and the components over X that they make.

Each variable is labelled on its own first. Then the components over all of X, which are tuples of
labels, and the labels correct each other: a variable is cut along the components over X, and the
pieces that are one distribution get one label. Rows of a component that the family does not fit
are kept together by :mod:`~mixoracle.oracle.shape`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mixoracle.oracle.decoding import RowTable
from mixoracle.oracle.families import Family
from mixoracle.oracle.families.base import Floats
from mixoracle.oracle.merging import KnownPieces, Merging, merge_pieces, pool
from mixoracle.oracle.preparation import Prepared
from mixoracle.oracle.segmentation import segment
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
# The shape of components shows in the largest of each variable, and in so many of their rows.
_COMPONENTS_JUDGED = 8
_ROWS_JUDGED = 1_000


class Labelling:
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
    def draw(cls, prepared: Prepared, rng: np.random.Generator) -> Labelling:
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
        ratios = []
        for column, block in zip(labels.T, self.blocks, strict=True):
            largest = np.argsort(-np.bincount(column), kind="stable")[:_COMPONENTS_JUDGED]
            found = (tail_ratio(_some_rows(block[column == label])) for label in largest)
            ratios += [ratio for ratio in found if ratio is not None]
        if ratios:
            self.tail_ratio = float(np.median(ratios))
            self.is_family_trusted = self.tail_ratio < HEAVY_TAILS

    def _log_densities(self) -> list[Floats]:
        """For each variable the log density of each row under each label, (N, k_i)."""
        densities = []
        for i, (family, features) in enumerate(zip(self.families, self.features, strict=True)):
            # A label that no row prefers any more is still a label of the joint components.
            n_labels = max(int(self.labels[:, i].max()) + 1, self.mergings[i].n_components)
            pooled = pool(features, self.labels[:, i], n_labels)
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
    block: Floats, features: Floats, family: Family, max_components: int, seed: int
) -> tuple[NDArray[np.int64], Merging]:
    with threadpool_limits(limits=1):
        return segment(block, features, family, max_components, seed)


def _some_rows(rows: Floats) -> Floats:
    """Rows evenly spaced; they are in the order of their values."""
    return rows[:: max(1, len(rows) // _ROWS_JUDGED)]


def _has_repeats(pieces: NDArray[np.int64]) -> bool:
    return int(pieces.max()) + 1 < len(pieces)


def _settled(before: NDArray[np.int64], after: NDArray[np.int64]) -> bool:
    same_counts = np.array_equal(before.max(axis=0), after.max(axis=0))
    return same_counts and float(np.mean(before != after)) < _LABELS_SETTLED
