"""One observed variable on its own: how many components, and which row is in which.

k-means cuts the block into more pieces than it can have components, and the evidence merges them
again. Where the answer comes near the number of pieces, there were too few, and it is asked again
with twice as many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle.oracle.families import Family
from mixoracle.oracle.families.base import Floats
from mixoracle.oracle.merging import CutPieces, Merging, merge_pieces, pool

FIRST_PIECES = 32
# With fewer rows a piece says nothing about its scatter.
ROWS_PER_PIECE = 3
# An answer above this share of the pieces may have been held down by their number.
_FULL_SHARE = 0.5
# Pieces need not be the best ones, only pure; later iterations hardly move their borders.
_KMEANS_ITERATIONS = 10


def segment(
    block: Floats, features: Floats, family: Family, max_components: int, seed: int
) -> tuple[NDArray[np.int64], Merging]:
    """The component of each row, and how the pieces were merged to it."""
    limit = max(1, min(2 * max_components, len(block) // ROWS_PER_PIECE))
    if len(np.unique(block[:, 0])) < limit:
        limit = min(limit, len(np.unique(block, axis=0)))
    n_pieces = min(FIRST_PIECES, limit)
    while True:
        labels = _cut(block, n_pieces, seed)
        n_found = int(labels.max()) + 1
        pieces = pool(features, labels, n_found)
        merging = merge_pieces(pieces, family, CutPieces(), max_components)
        if merging.n_components <= _FULL_SHARE * n_found or n_pieces >= limit:
            return merging.groups[labels], merging
        n_pieces = min(2 * n_pieces, limit)


def _cut(block: Floats, n_pieces: int, seed: int) -> NDArray[np.int64]:
    """k-means labels, numbered without gaps."""
    if n_pieces == 1:
        return np.zeros(len(block), dtype=np.int64)
    from sklearn.cluster import KMeans

    kmeans = KMeans(n_pieces, n_init=1, max_iter=_KMEANS_ITERATIONS, random_state=seed)
    labels = kmeans.fit_predict(block)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
