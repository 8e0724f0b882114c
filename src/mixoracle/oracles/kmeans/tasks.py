"""The clusterings that KMeansOracle needs, shared out among processes.

A :class:`Workbench` holds the data and hands each subset of variables to a plain function of
arrays and one seed. Every function makes its own generator from that seed and runs on one thread,
because sums that are split over threads round differently: so no answer depends on the number of
processes or on the order of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle._checks import n_workers
from mixoracle.model import Projection
from mixoracle.observations import Observations
from mixoracle.oracles.kmeans.clusters import (
    MIN_SAMPLES_PER_CENTRE,
    SCAN,
    SILHOUETTE_SAMPLES,
    SilhouetteJudge,
    best_candidates,
    cluster_exactly,
    has_clusters,
    judge_counts,
    nearest,
    oversegment,
    sample_rows,
    scan_counts,
)
from mixoracle.oracles.kmeans.consensus import CountCandidate, Members, pair_counts
from mixoracle.oracles.kmeans.triples import occupied, triple_counts, triple_locations


@dataclass(frozen=True, eq=False)
class Workbench:
    """The data, and how to cluster any few variables of it."""

    blocks: tuple[Floats, ...]  # (N, width) for each observed variable
    rows: Integers  # (n,), the subsample on which silhouettes are measured for all subsets
    limit: int  # the largest number of clusters worth trying
    seed: int
    n_jobs: int

    @classmethod
    def prepare(cls, observations: Observations, limit: int, seed: int, n_jobs: int) -> Workbench:
        """Rescale the variables and draw the subsample.

        Each variable is centred and divided by one number, its root mean square. Over a pair,
        k-means adds up the distances in both variables; in different units it would see the
        larger only. Within a variable nothing but the unit changes.
        """
        blocks = []
        for i in range(observations.n_observed):
            block = observations[i] - observations[i].mean(axis=0)
            scale = float(np.sqrt(np.square(block).sum(axis=1).mean()))
            blocks.append(block / scale if scale > 0 else block)
        rng = np.random.default_rng(seed)
        rows = sample_rows(observations.n_samples, SILHOUETTE_SAMPLES, rng)
        return cls(tuple(blocks), rows, limit, seed, n_jobs)

    @property
    def widths(self) -> list[int]:
        """The number of coordinates of each variable."""
        return [block.shape[1] for block in self.blocks]

    def scan(self) -> list[int]:
        """About how many components each variable has; 1 if it does not fall into clusters."""
        tasks = [(block[self.rows], self.limit, self.seed) for block in self.blocks]
        return list(self._run(_scan, tasks))

    def singles(
        self, largest: Sequence[int], n_candidates: int
    ) -> tuple[tuple[CountCandidate, ...], ...]:
        """The best counts of each variable, out of all from 2 to ``largest[i]``, or 1."""
        tasks = [
            ([block], self.rows, tuple(range(2, most + 1)) or (1,), self.seed)
            for block, most in zip(self.blocks, largest, strict=True)
        ]
        return tuple(best_candidates(held, n_candidates) for held in self._run(_judge, tasks))

    def pairs(
        self, singles: Sequence[Sequence[CountCandidate]]
    ) -> dict[Members, tuple[CountCandidate, ...]]:
        """A candidate for each count of a pair that its variables' candidates allow."""
        pairs = list(combinations(range(len(self.blocks)), 2))
        tasks = []
        for i, j in pairs:
            first, second = ([held.n_components for held in singles[k]] for k in (i, j))
            # If too few samples leave no consistent count, the silhouettes decide among all.
            counts = pair_counts(first, second, self.limit) or tuple(range(1, self.limit + 1))
            tasks.append((self._blocks_of((i, j)), self.rows, counts, self.seed))
        return dict(zip(pairs, self._run(_judge, tasks), strict=True))

    def triples(
        self, elected: Mapping[Members, CountCandidate]
    ) -> dict[Members, tuple[CountCandidate, ...]]:
        """A candidate for each count of a triple that its elected subsets allow."""
        triples = list(combinations(range(len(self.blocks)), 3))
        tasks = []
        for triple in triples:
            singles = [elected[(member,)] for member in triple]
            pairs = [elected[pair] for pair in combinations(triple, 2)]
            counts = triple_counts(
                [held.n_components for held in singles],
                [held.n_components for held in pairs],
                self.limit,
            )
            starts = triple_locations(singles, pairs)
            tasks.append((self._blocks_of(triple), self.rows, counts, self.seed, starts))
        return dict(zip(triples, self._run(_judge, tasks), strict=True))

    def project(self, total: int, counts: Sequence[int]) -> tuple[Projection, Integers]:
        """The map L by k-means with k(X) = ``total`` and k(X_i) = ``counts[i]`` components.

        Comes with the component over X of each sample.
        """
        tasks = [([block], k, self.seed) for block, k in zip(self.blocks, counts, strict=True)]
        tasks.insert(0, (list(self.blocks), total, self.seed))
        (labels, means), *singles = self._run(_cluster, tasks)
        parts = np.split(means, np.cumsum(self.widths)[:-1], axis=1)
        projected = [
            nearest(part, single) for part, (_, single) in zip(parts, singles, strict=True)
        ]
        weights = np.bincount(labels) / len(labels)
        return Projection(np.stack(projected, axis=1), weights), labels

    def _blocks_of(self, members: Members) -> list[Floats]:
        """The blocks of some variables, not yet joined: that would hold every subset at once."""
        return [self.blocks[member] for member in members]

    def _run(self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run a task for each tuple of arguments; answers in the order of the tuples."""
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=n_workers(self.n_jobs))
        return list(parallel(delayed(_on_one_thread)(task, each) for each in arguments))


def _on_one_thread(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return task(*arguments)


def _scan(points: Floats, limit: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    if not has_clusters(points, rng):
        return 1
    return scan_counts(points, [count for count in SCAN if count <= limit], rng)[0]


def _judge(
    blocks: Sequence[Floats],
    rows: Integers,
    counts: tuple[int, ...],
    seed: int,
    starts: Floats | None = None,
) -> tuple[CountCandidate, ...]:
    """A candidate for each count, from as many centres as the largest, or from ``starts``.

    Pairs that contradict each other leave no place for a component of all three, and no start.
    """
    data = np.hstack(blocks)
    if counts == (1,):
        return (CountCandidate(data.mean(axis=0, keepdims=True), 0.0),)
    rng = np.random.default_rng(seed)
    if starts is None or not len(starts):
        segmentation = oversegment(data, counts[-1], rng)
    else:
        held = occupied(data, starts, len(data) // MIN_SAMPLES_PER_CENTRE)
        segmentation = oversegment(data, len(held), rng, held)
    judge = SilhouetteJudge(data[rows])
    # Fewer clusters than the smallest count can come back, as of rows that repeat each other or
    # of triples whose pairs were miscounted: then as many as there are is the answer.
    return judge_counts(segmentation, judge, rows, counts) or judge_counts(
        segmentation, judge, rows, [segmentation.n_centres]
    )


def _cluster(blocks: Sequence[Floats], n_clusters: int, seed: int) -> tuple[Integers, Floats]:
    return cluster_exactly(np.hstack(blocks), n_clusters, np.random.default_rng(seed))
