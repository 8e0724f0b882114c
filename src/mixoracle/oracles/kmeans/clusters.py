"""Over-segmenting with k-means, merging the centres, and judging every number of clusters.

k-means with more clusters than there are components gives each component at least one centre;
average linkage (the paper names none; this one looks at distances only, not at how many centres a
component got) then merges nearby centres, one dendrogram for every number t of clusters. The
silhouette of each t is measured on a fixed subsample, whose distances are computed once: merging
clusters only adds up their columns.

Assumes that components are further apart than they are wide, as k-means and silhouettes do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, pdist, squareform

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import ProjectionError
from mixoracle.model.joint_states import numbered
from mixoracle.oracles.kmeans.consensus import CountCandidate

# A silhouette needs all distances among its points. 2000 points give its mean to about 0.01,
# finer than the gaps between candidates, in 32 MB whatever N is.
SILHOUETTE_SAMPLES = 2000

# Fewer points than this to a centre, on average, and centres follow single points.
MIN_SAMPLES_PER_CENTRE = 4

# Numbers of clusters tried for the upper bound k_max, about a factor 1.4 apart. The paper's
# problems have at most 50 joint states; who expects more in one variable says so.
SCAN = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)

# k-means gets this many times the components expected, so that none of them goes without centre.
OVERSEGMENTATION = 2

# Starts of k-means where the number of clusters is given, besides the one from merged centres.
PLAIN_STARTS = 3

# One component against clusters: reference draws, the points in each, and what the data have to
# beat their silhouettes by. Four standard deviations, so that chance alone seldom does it, and
# 0.05, because clusters that raise a silhouette by less cannot be counted by silhouettes anyway.
# A factor 2 between the counts is enough here: nothing but the height of the best one matters.
REFERENCE_COUNTS = (2, 4, 8, 16, 32)
REFERENCE_DRAWS = 12
REFERENCE_SAMPLES = 500
REFERENCE_DEVIATIONS = 4.0
REFERENCE_MARGIN = 0.05


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A fine clustering and the order in which its centres merge."""

    labels: Integers  # (N,), the fine cluster of each row
    sums: Floats  # (K, width), of the rows in each fine cluster
    sizes: Integers  # (K,), how many rows each holds; at least 1
    tree: Floats  # (K-1, 4), the dendrogram of the centres, as scipy's ``linkage`` writes it

    @property
    def n_centres(self) -> int:
        """K, the number of fine clusters."""
        return len(self.sizes)

    def merges(self) -> Iterator[tuple[int, Integers, int, int | None]]:
        """Walk from K clusters down to one, merging two at each step.

        Yields the number of clusters, the cluster of each fine one, and which cluster took over
        which; at the start none did. The array of clusters is changed by the next step.
        """
        groups = np.arange(self.n_centres, dtype=np.int64)
        name_of = list(range(self.n_centres))
        yield self.n_centres, groups, 0, None
        for step, (left, right) in enumerate(self.tree[:, :2].astype(np.int64).tolist()):
            kept, gone = name_of[left], name_of[right]
            groups[groups == gone] = kept
            name_of.append(kept)
            yield self.n_centres - step - 1, groups, kept, gone

    def cut(self, n_clusters: int) -> Integers:
        """The merged cluster of each fine one, when ``n_clusters`` are left."""
        groups = next(held for count, held, _, _ in self.merges() if count == n_clusters)
        return numbered(groups)

    def means(self, groups: Integers) -> Floats:
        """The mean of all rows in each merged cluster."""
        return _sums_by(groups, self.sums) / np.bincount(groups, self.sizes)[:, None]


class SilhouetteJudge:
    """Silhouettes of many clusterings of the same (n, width) points; memory grows with n²."""

    def __init__(self, points: Floats) -> None:
        self._distances = squareform(pdist(points))

    def sums_to(self, labels: Integers, n_clusters: int) -> Floats:
        """The (n_clusters, n) sums of the distances from each cluster's points to each point."""
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        sums = np.zeros((n_clusters, len(labels)))
        sums[present] = np.add.reduceat(self._distances[order], starts, axis=0)
        return sums

    def score(self, labels: Integers, n_clusters: int) -> float:
        """The mean silhouette of one clustering."""
        return silhouette(self.sums_to(labels, n_clusters), labels)


def silhouette(sums: Floats, labels: Integers) -> float:
    """The mean silhouette, from each point's distance sums (n_clusters, n) to the clusters.

    A point alone in its cluster counts 0, as usual. A cluster that has no point in the subsample
    is no neighbour of any. If only one cluster has points there is nothing to compare: 0.
    """
    sizes = np.bincount(labels, minlength=len(sums))
    if np.count_nonzero(sizes) < 2:
        return 0.0
    points = np.arange(len(labels))
    own_size = sizes[labels]
    within = sums[labels, points] / np.maximum(own_size - 1, 1)
    averages = np.full(sums.shape, np.inf)
    np.divide(sums, sizes[:, None], out=averages, where=sizes[:, None] > 0)
    averages[labels, points] = np.inf
    between = averages.min(axis=0)
    scale = np.maximum(within, between)
    scores = np.divide(between - within, scale, out=np.zeros(len(points)), where=scale > 0)
    return float(np.where(own_size > 1, scores, 0.0).mean())


def oversegment(
    data: Floats, n_centres: int, rng: np.random.Generator, starts: Floats | None = None
) -> Segmentation:
    """Cluster finely and plan the merging; ``starts`` are initial centres, k-means++ otherwise.

    There are never more centres than distinct rows, and a centre that loses all its rows is gone.
    """
    labels = run_kmeans(data, n_centres, rng, starts)
    labels = numbered(labels)
    sizes = np.bincount(labels)
    sums = _sums_by(labels, data)
    centres = sums / sizes[:, None]
    tree = linkage(centres, method="average") if len(centres) > 1 else np.empty((0, 4))
    return Segmentation(labels, sums, sizes, tree)


def judge_counts(
    segmentation: Segmentation, judge: SilhouetteJudge, rows: Integers, counts: Iterable[int]
) -> tuple[CountCandidate, ...]:
    """One candidate for each count that the segmentation can be merged to.

    ``rows`` (n,) are the rows of the data that the judge holds.
    """
    fine = segmentation.labels[rows]
    wanted = {count for count in counts if 1 <= count <= segmentation.n_centres}
    # Row c holds the distance sums to cluster c; merging adds rows, so each cut costs little.
    sums = judge.sums_to(fine, segmentation.n_centres)
    found = []
    for n_clusters, groups, kept, gone in segmentation.merges():
        if gone is not None:
            sums[kept] += sums[gone]
        if n_clusters in wanted:
            places, compact = np.unique(groups, return_inverse=True)
            score = silhouette(sums[places], compact[fine])
            found.append(CountCandidate(segmentation.means(compact), score))
    return tuple(reversed(found))


def best_candidates(
    candidates: Iterable[CountCandidate], n_best: int
) -> tuple[CountCandidate, ...]:
    """The ``n_best`` with the highest silhouettes, best first; of equals, the smaller count."""
    ranked = sorted(candidates, key=lambda held: (-held.silhouette, held.n_components))
    return tuple(ranked[:n_best])


def has_clusters(data: Floats, rng: np.random.Generator) -> bool:
    """Whether the data fall into clusters more clearly than one Gaussian does.

    A silhouette exists from two clusters on, so it cannot say 'one', and the paper says nothing
    about a variable without parents. Our rule: draw reference samples from the Gaussian that has
    the mean and covariance of the data, cluster them in the same way, and call the data clustered
    if their best silhouette clearly beats those of the references. A long thin
    Gaussian, which any fixed floor for the silhouette would cut in two, is its own reference. A
    single component that is not Gaussian has the wrong reference: a uniform one counts as clusters.
    """
    points = data[sample_rows(len(data), REFERENCE_SAMPLES, rng)]
    most = len(points) // MIN_SAMPLES_PER_CENTRE
    counts = [count for count in REFERENCE_COUNTS if count <= most]
    if not counts or not np.ptp(points, axis=0).any():
        return False
    spread = np.atleast_2d(np.cov(points, rowvar=False))
    values, axes = np.linalg.eigh(spread)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    references = np.array(
        [
            scan_counts(rng.standard_normal(points.shape) @ root.T, counts, rng)[1]
            for _ in range(REFERENCE_DRAWS)
        ]
    )
    margin = max(REFERENCE_DEVIATIONS * references.std(ddof=1), REFERENCE_MARGIN)
    return bool(scan_counts(points, counts, rng)[1] > references.mean() + margin)


def scan_counts(
    points: Floats, counts: Sequence[int], rng: np.random.Generator
) -> tuple[int, float]:
    """The number of clusters, out of ``counts``, with the best silhouette; and that silhouette.

    Plain k-means, no merging: merged centres would now and then leave one outlier by itself, with
    a silhouette that says nothing about the rest.
    """
    judge = SilhouetteJudge(points)
    scores = [judge.score(run_kmeans(points, count, rng), count) for count in counts]
    best = int(np.argmax(scores))
    return counts[best], scores[best]


def cluster_exactly(
    data: Floats, n_clusters: int, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """k-means with a known number of clusters: the label of each row, and the means.

    k-means with tens of clusters rarely finds them all from one random start. One start is made
    of merged centres, as when counting; of all starts the best silhouette is kept, because the
    least sum of squares prefers cutting a large component in two to finding a small one.
    """
    if n_clusters == 1:
        return np.zeros(len(data), dtype=np.int64), data.mean(axis=0, keepdims=True)
    rows = sample_rows(len(data), SILHOUETTE_SAMPLES, rng)
    judge = SilhouetteJudge(data[rows])
    finely = min(OVERSEGMENTATION * n_clusters, max(n_clusters, len(data) // 2))
    segmentation = oversegment(data, finely, rng)
    starts: list[Floats | None] = [None] * PLAIN_STARTS
    if segmentation.n_centres >= n_clusters:
        starts.insert(0, segmentation.means(segmentation.cut(n_clusters)))
    runs = [run_kmeans(data, n_clusters, rng, start) for start in starts]
    full = [run for run in runs if len(np.unique(run)) == n_clusters]
    if not full:
        raise ProjectionError(
            f"k-means should find {n_clusters} components, but the {len(data)} samples fall into "
            f"{max(len(np.unique(run)) for run in runs)} at most; more samples, or a graph with "
            "fewer or smaller latents, may help"
        )
    labels = max(full, key=lambda run: judge.score(run[rows], n_clusters))
    return labels, _sums_by(labels, data) / np.bincount(labels)[:, None]


def run_kmeans(
    data: Floats, n_clusters: int, rng: np.random.Generator, starts: Floats | None = None
) -> Integers:
    """The cluster of each row after one run of k-means; never more clusters than distinct rows."""
    from sklearn import config_context
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    possible = count_distinct_rows(data, n_clusters)
    if possible < n_clusters:
        n_clusters, starts = possible, None
    model = KMeans(
        n_clusters=n_clusters,
        init="k-means++" if starts is None else starts,
        n_init=1,
        random_state=seed,
    )
    # Thousands of short runs: looking at the same parameters and numbers again takes longer.
    with (
        warnings.catch_warnings(),
        config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        # Repeated rows can leave a cluster empty; callers count the clusters that came back.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(data).labels_, dtype=np.int64)


def nearest(points: Floats, means: Floats) -> Integers:
    """The position of the mean nearest to each point, in L2."""
    return np.asarray(cdist(points, means).argmin(axis=1), dtype=np.int64)


def count_distinct_rows(data: Floats, enough: int) -> int:
    """How many rows are distinct; from ``enough`` on, at least that many."""
    seen = len(np.unique(data[: 2 * enough], axis=0))
    return seen if seen >= enough else len(np.unique(data, axis=0))


def sample_rows(n_rows: int, at_most: int, rng: np.random.Generator) -> Integers:
    """All row numbers, or ``at_most`` of them drawn without replacement; ascending."""
    if n_rows <= at_most:
        return np.arange(n_rows, dtype=np.int64)
    return np.sort(rng.choice(n_rows, at_most, replace=False)).astype(np.int64)


def _sums_by(labels: Integers, rows: Floats) -> Floats:
    """The sum of the rows with each label, from 0 to the largest."""
    sums = np.zeros((int(labels.max()) + 1, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return sums
