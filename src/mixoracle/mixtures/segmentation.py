"""One observed variable on its own: how many components, and which row is in which.

k-means cuts the block into more pieces than it can have components, and the evidence merges them
again. Where the answer comes near the number of pieces, there were too few, and it is asked again
with twice as many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle.families import Family
from mixoracle.families.base import Floats, Patterns
from mixoracle.mixtures.merging import CutPieces, Merging, merge_pieces, pool

FIRST_PIECES = 32
# With fewer rows a piece says nothing about its scatter.
ROWS_PER_PIECE = 3
# An answer above this share of the pieces may have been held down by their number.
_FULL_SHARE = 0.5
# Pieces need not be the best ones, only pure; later iterations hardly move their borders.
_KMEANS_ITERATIONS = 10
# Where pieces start shows in this many rows, and in so many for each of them.
_ROWS_TO_START = 1_500
_ROWS_PER_START = 50
# With so many rows without a gap the others can wait until the components are known.
_ENOUGH_WHOLE_ROWS = 500
_GAP_ROUNDS = 5
# Of so many rows that might be the next start the one is taken that leaves the least distance.
_START_TRIALS = 4


def segment(
    block: Floats,
    cells: Floats,
    patterns: Patterns | None,
    family: Family,
    max_components: int,
    seed: int,
) -> tuple[NDArray[np.int64], Merging]:
    """The component of each row, and how the pieces were merged to it.

    ``cells`` are the family's features of the block.
    """
    if patterns is None:
        return _segment_whole(family.embedding(block), cells, family, max_components, seed)
    whole = np.asarray(patterns.seen.all(axis=1))[patterns.which]
    if whole.sum() >= _ENOUGH_WHOLE_ROWS:
        features = cells[whole]
        embedding = family.embedding(block[whole])
        labels, merging = _segment_whole(embedding, features, family, max_components, seed)
    else:
        labels, features = _cut_with_gaps(block, cells, patterns, family, seed)
        pieces = pool(features, labels, int(labels.max()) + 1)
        merging = merge_pieces(pieces, family, CutPieces(), max_components)
        labels = merging.groups[labels]
    sizes = np.bincount(labels, minlength=merging.n_components)
    components = family.components(pool(features, labels, len(sizes)), merging.prior)
    density = family.log_density(cells, components, patterns)
    return np.asarray((density + np.log(sizes / sizes.sum())).argmax(axis=1)), merging


def _cut_with_gaps(
    block: Floats, cells: Floats, patterns: Patterns, family: Family, seed: int
) -> tuple[NDArray[np.int64], Floats]:
    """Pieces of all rows, and their features, where hardly any row is whole.

    Filling gaps by the means of the columns puts rows between the pieces; a few rounds in which
    each row moves to the piece that fits what was seen of it put that right.
    """
    embedding = family.embedding(block)
    n_pieces = min(FIRST_PIECES, max(1, len(block) // _ROWS_PER_START))
    labels = cut(embedding, _at_most_distinct(n_pieces, embedding), seed)
    features = family.completed(cells, labels, None, patterns)
    for _ in range(_GAP_ROUNDS):
        pooled = pool(features, labels, int(labels.max()) + 1)
        components = family.components(pooled, family.prior(pooled))
        density = family.log_density(cells, components, patterns)
        labels = np.unique(density.argmax(axis=1), return_inverse=True)[1].astype(np.int64)
        features = family.completed(cells, labels, None, patterns)
    return labels, features


def _segment_whole(
    embedding: Floats, features: Floats, family: Family, max_components: int, seed: int
) -> tuple[NDArray[np.int64], Merging]:
    """Segment rows whose coordinates are all there."""
    limit = max(1, min(2 * max_components, len(embedding) // ROWS_PER_PIECE))
    limit = _at_most_distinct(limit, embedding)
    n_pieces = min(FIRST_PIECES, limit)
    while True:
        labels = cut(embedding, n_pieces, seed)
        n_found = int(labels.max()) + 1
        pieces = pool(features, labels, n_found)
        merging = merge_pieces(pieces, family, CutPieces(), max_components)
        if merging.n_components <= _FULL_SHARE * n_found or n_pieces >= limit:
            return merging.groups[labels], merging
        n_pieces = min(2 * n_pieces, limit)


def _at_most_distinct(n_pieces: int, embedding: Floats) -> int:
    """No more pieces than there are different rows."""
    if len(np.unique(embedding[:, 0])) >= n_pieces:
        return n_pieces
    return min(n_pieces, len(np.unique(embedding, axis=0)))


def cut(block: Floats, n_pieces: int, seed: int) -> NDArray[np.int64]:
    """k-means labels, numbered without gaps."""
    if n_pieces == 1:
        return np.zeros(len(block), dtype=np.int64)
    from sklearn.cluster import KMeans

    every = max(1, len(block) // max(_ROWS_TO_START, _ROWS_PER_START * n_pieces))
    starts = _spread_out(block[::every], n_pieces, np.random.default_rng(seed))
    kmeans = KMeans(n_pieces, init=starts, n_init=1, max_iter=_KMEANS_ITERATIONS)
    labels = kmeans.fit_predict(block)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _spread_out(block: Floats, n_starts: int, rng: np.random.Generator) -> Floats:
    """Rows far from each other: greedy k-means++, which scikit-learn has too but far slower."""
    starts = [block[rng.integers(len(block))]]
    squares = (block**2).sum(axis=1)[:, None]
    nearest = ((block - starts[0]) ** 2).sum(axis=1)
    while len(starts) < n_starts:
        cumulative = np.cumsum(nearest)
        drawn = np.searchsorted(cumulative, rng.random(_START_TRIALS) * cumulative[-1])
        trials = block[np.minimum(drawn, len(block) - 1)]
        cross = block @ trials.T
        distance = squares - 2.0 * cross + (trials**2).sum(axis=1)
        left = np.minimum(nearest[:, None], np.maximum(distance, 0.0))
        best = int(left.sum(axis=0).argmin())
        nearest = left[:, best]
        starts.append(trials[best])
    return np.stack(starts)
