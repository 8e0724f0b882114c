"""Labels for every row in every variable, and the components over X that they make.

Each variable is labelled on its own first. Then the components over all of X, which are tuples of
labels, and the labels correct each other: a variable is cut along the components over X, and the
pieces that are one distribution get one label. Rows of a component that the family does not fit
are kept together by :mod:`~mixoracle.mixtures.shape`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mixoracle.families import Family
from mixoracle.families.base import Floats, Patterns
from mixoracle.labels.tuples import (
    JointComponents,
    distinct_rows,
    find_joint_components,
    share_rows,
)
from mixoracle.mixtures.dependence import dependence, whitened
from mixoracle.mixtures.merging import KnownPieces, Merging, merge_pieces, pool
from mixoracle.mixtures.preparation import Prepared
from mixoracle.mixtures.segmentation import segment
from mixoracle.mixtures.shape import (
    HEAVY_TAILS,
    ROWS_OF_A_PEAK,
    join_alike_labels,
    join_uncut_pieces,
    typical_tails,
    whole_rows,
)
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import ComponentSet

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
# Where that many components over X cover less than this share of the rows, there are more of them.
_FEW_COVER = 0.9
# A label is beyond doubt with this probability, and labels are if that share of the rows has one.
_SURE = 0.95
_SURE_ROWS = 0.99
# The chance at which variables that have nothing to do with each other seem to go together.
_BY_CHANCE = 0.001
# The shape of components shows in the largest of each variable.
_COMPONENTS_JUDGED = 8


class Labelling:
    """The rows that structure is learned from, with their labels; grows step by step."""

    def __init__(self, prepared: Prepared, rows: NDArray[np.int64] | slice) -> None:
        places = range(len(prepared.blocks))
        self.blocks = [block[rows] for block in prepared.blocks]
        self.families = tuple(encoder.family for encoder in prepared.encoders)
        self.patterns = [prepared.patterns(i, rows) for i in places]
        self.cells = [f.features(b) for f, b in zip(self.families, self.blocks, strict=True)]
        # What may be added up: the same, but for rows with gaps between dependent columns.
        self.features = list(self.cells)
        self._shapes = [
            None if encoder.numbers is None else whole_rows(block)
            for encoder, block in zip(prepared.encoders, self.blocks, strict=True)
        ]
        self.labels = np.zeros((len(self.blocks[0]), len(self.blocks)), dtype=np.int64)
        self.mergings: list[Merging] = []
        self.joint: JointComponents | None = None
        self.is_family_trusted = True
        self.tail_ratio: float | None = None

    @classmethod
    def draw(
        cls, prepared: Prepared, rng: np.random.Generator, max_rows: int = MAX_ROWS
    ) -> Labelling:
        """Keep all rows, or ``max_rows`` of them at random."""
        if prepared.n_samples <= max_rows:
            return cls(prepared, slice(None))
        return cls(prepared, np.sort(rng.choice(prepared.n_samples, max_rows, replace=False)))

    def segment_all(self, max_components: int, n_jobs: int, rng: np.random.Generator) -> None:
        """Label each variable on its own."""
        seeds = rng.integers(np.iinfo(np.int32).max, size=len(self.blocks))
        work = segment if n_jobs == 1 else _segment_elsewhere
        found = Parallel(n_jobs=n_jobs)(
            delayed(work)(block, cells, patterns, family, max_components, int(seed))
            for block, cells, patterns, family, seed in zip(
                self.blocks, self.cells, self.patterns, self.families, seeds, strict=True
            )
        )
        self.labels = np.stack([labels for labels, _ in found], axis=1)
        self.mergings = [merging for _, merging in found]
        self._complete(None)
        self._heal_labels()
        self.n_alone = tuple(int(k) for k in self.labels.max(axis=0) + 1)

    def _complete(self, components: list[ComponentSet] | None) -> None:
        """Complete rows with gaps, each by the component that it is labelled with."""
        for i, (family, patterns) in enumerate(zip(self.families, self.patterns, strict=True)):
            if patterns is not None:
                known = None if components is None else components[i]
                column = self.labels[:, i]
                self.features[i] = family.completed(self.cells[i], column, known, patterns)

    def _heal_labels(self) -> None:
        """Undo cuts through components of another shape, if there are such components."""
        healed = np.stack(
            [join_alike_labels(self.labels, i, shape) for i, shape in enumerate(self._shapes)],
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
            if rounds == 1 and self._speak_for_themselves(densities, most):
                return
            joint = find_joint_components(before, densities, most)
            self._relabel(joint, max_components)
            if _settled(before, self.labels):
                break
        if not self.is_family_trusted:
            self._drop_strays()

    def _speak_for_themselves(self, densities: list[Floats], most: int) -> bool:
        """Whether labels are beyond doubt, but make more components over X than can be compared.

        With thousands of joint states each holds a few rows, and no mixture could tell them apart;
        but the labels of single variables do.
        """
        _, counts = distinct_rows(self.labels)
        covered = float(np.sort(counts)[::-1][:most].sum()) / len(self.labels)
        return covered < _FEW_COVER and all(
            _is_beyond_doubt(density, column)
            for density, column in zip(densities, self.labels.T, strict=True)
        )

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
        for column, shape in zip(labels.T, self._shapes, strict=True):
            if shape is None:
                continue
            largest = np.argsort(-np.bincount(column), kind="stable")[:_COMPONENTS_JUDGED]
            found = (typical_tails(shape.where(column == label)) for label in largest)
            ratios += [ratio for ratio in found if ratio is not None]
        if ratios:
            self.tail_ratio = float(np.median(ratios))
            self.is_family_trusted = self.tail_ratio < HEAVY_TAILS

    def _log_densities(self) -> list[Floats]:
        """For each variable the log density of each row under each label, (N, k_i)."""
        components = self._components()
        if any(patterns is not None for patterns in self.patterns):
            self._complete(components)
            components = self._components()
        return [
            family.log_density(cells, held, patterns)
            for family, cells, held, patterns in zip(
                self.families, self.cells, components, self.patterns, strict=True
            )
        ]

    def _components(self) -> list[ComponentSet]:
        """The component behind each label of each variable."""
        found = []
        for i, (family, features) in enumerate(zip(self.families, self.features, strict=True)):
            # A label that no row prefers any more is still a label of the joint components.
            n_labels = max(int(self.labels[:, i].max()) + 1, self.mergings[i].n_components)
            pooled = pool(features, self.labels[:, i], n_labels)
            found.append(family.components(pooled, self.mergings[i].prior))
        return found

    def _relabel(self, joint: JointComponents, max_components: int) -> None:
        """Cut each variable along the joint components and merge what is one component."""
        members = joint.responsibilities.argmax(axis=1)
        joined = [
            join_uncut_pieces(joint.labels, i, shape, members)
            for i, shape in enumerate(self._shapes)
        ]
        pieces = [np.arange(len(joint.labels))] * len(self.blocks)
        self.mergings = self._merge_along(joint, joined, max_components)
        was_joined = any(map(_has_repeats, joined))
        if was_joined or not self.is_family_trusted:
            groups = np.stack([merging.groups for merging in self.mergings], axis=1)
            self._judge_family(groups[members])
        if self.is_family_trusted and was_joined:
            self.mergings = self._merge_along(joint, pieces, max_components)
        self._take_over(joint)

    def adopt(self, responsibilities: Floats, max_components: int) -> None:
        """Take components over X (N, K) from elsewhere, and label each variable along them."""
        apart = np.arange(responsibilities.shape[1])
        self.labels = np.repeat(responsibilities.argmax(axis=1)[:, None], len(self.blocks), axis=1)
        joint = JointComponents(
            np.repeat(apart[:, None], len(self.blocks), axis=1), responsibilities
        )
        self._complete(None)
        self.mergings = self._merge_along(joint, [apart] * len(self.blocks), max_components)
        self._take_over(joint)

    def _take_over(self, joint: JointComponents) -> None:
        """Give each row the labels of its component over X, by the latest mergings."""
        labels = np.stack([merging.groups for merging in self.mergings], axis=1)
        rows, where = np.unique(labels, axis=0, return_inverse=True)
        responsibilities = joint.responsibilities
        if len(rows) < len(labels):
            responsibilities = pool(responsibilities.T, where.ravel(), len(rows)).T
        else:
            responsibilities = responsibilities[:, np.argsort(where.ravel())]
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

    def goes_with_another(self, variable: int) -> bool:
        """Whether a variable depends on any of the others."""
        own = self._whitened[variable]
        others = [block for i, block in enumerate(self._whitened) if i != variable]
        return any(dependence(own, other)[1] < _BY_CHANCE / len(others) for other in others)

    @cached_property
    def _whitened(self) -> list[Floats]:
        """Each variable as uncorrelated coordinates."""
        alone = np.zeros(len(self.labels), dtype=np.int64)
        return [
            whitened(family.embedding(block), alone, np.asarray(np.isnan(block).any(axis=1)))
            for family, block in zip(self.families, self.blocks, strict=True)
        ]

    def table(self) -> ComponentTable:
        """The joint components with the statistics of each variable in them."""
        priors = tuple(merging.prior for merging in self.mergings)
        if self.joint is None:
            rows, where = np.unique(self.labels, axis=0, return_inverse=True)
            sums = tuple(pool(held, where.ravel(), len(rows)) for held in self.features)
            held_rows = np.bincount(where.ravel()).astype(np.float64)
            return ComponentTable(rows, sums, self.families, priors, held_rows)
        statistics = tuple(self.joint.responsibilities.T @ features for features in self.features)
        counts = self.joint.responsibilities.sum(axis=0)
        return ComponentTable(
            self.joint.labels, statistics, self.families, priors, counts, self.is_family_trusted
        )


def _segment_elsewhere(
    block: Floats,
    cells: Floats,
    patterns: Patterns | None,
    family: Family,
    max_components: int,
    seed: int,
) -> tuple[NDArray[np.int64], Merging]:
    """Segment in a process of its own, where the caller's limit on threads does not reach."""
    with threadpool_limits(limits=1):
        return segment(block, cells, patterns, family, max_components, seed)


def _is_beyond_doubt(log_density: Floats, labels: NDArray[np.int64]) -> bool:
    """Whether nearly all rows of a variable have one label that is far likelier than the others."""
    log_weights = np.log(np.maximum(np.bincount(labels, minlength=log_density.shape[1]), 1.0))
    joint = log_density + log_weights
    share = np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1)
    return float(np.mean(share < 1.0 / _SURE)) > _SURE_ROWS


def _has_repeats(pieces: NDArray[np.int64]) -> bool:
    return int(pieces.max()) + 1 < len(pieces)


def _settled(before: NDArray[np.int64], after: NDArray[np.int64]) -> bool:
    """Whether hardly a row changed its label, whatever the labels are called."""
    for old, new in zip(before.T, after.T, strict=True):
        n_old, n_new = int(old.max()) + 1, int(new.max()) + 1
        table = np.bincount(old * n_new + new, minlength=n_old * n_new).reshape(n_old, n_new)
        moved = len(old) - table.max(axis=1).sum()
        if n_old != n_new or moved > _LABELS_SETTLED * len(old):
            return False
    return True
