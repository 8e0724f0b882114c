"""One observed variable on its own: how many components, and which row is in which.

k-means cuts the block into more pieces than it can have components, and the evidence merges them
again. Where the answer comes near the number of pieces, there were too few, and more are added.
This is where the number of components of a single variable is decided; the other variables may
correct it (:mod:`~mixoracle.labels`).

References
----------
.. [1] D. Arthur, S. Vassilvitskii. k-means++: the advantages of careful seeding. SODA 2007.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixoracle._arrays import Floats, Integers, row_sums
from mixoracle.mixtures.merging import (
    CutPieces,
    Merging,
    means_of,
    merge_pieces,
    pool,
)
from mixoracle.mixtures.rows import VariableRows
from mixoracle.model.joint_states import numbered
from mixoracle.settings import Settings

# The same rows are cut into the same pieces, whatever else is drawn.
_SEED = 0
# So many distances of rows to centres are computed at a time, which stay in the cache: 512 kB.
_DISTANCES_AT_ONCE = 65_536


def segment(
    variable: VariableRows, max_components: int, seed: int, settings: Settings
) -> tuple[Integers, Merging]:
    """The component of each row, and how the pieces were merged to it."""
    family, features, patterns = variable.family, variable.counted, variable.patterns
    if patterns is None:
        return _segment_whole(variable, max_components, seed, settings)
    whole = np.asarray(patterns.seen.all(axis=1))[patterns.which]
    if whole.sum() >= _enough(len(whole), settings):
        inside = variable.take(np.flatnonzero(whole))
        labels, merging = _segment_whole(inside, max_components, seed, settings)
        features = inside.counted
    else:
        labels, features = _cut_with_missing(variable, seed, settings)
        pieces = pool(features, labels, int(labels.max()) + 1)
        merging = merge_pieces(pieces, family, CutPieces(), max_components)
        labels = merging.groups[labels]
    sizes = np.bincount(labels, minlength=merging.n_components)
    components = family.components(pool(features, labels, len(sizes)), merging.prior)
    density = variable.log_density(components)
    return np.asarray((density + np.log(sizes / sizes.sum())).argmax(axis=1)), merging


def _enough(n_rows: int, settings: Settings) -> float:
    """With so many rows without a missing value the others can wait until components are known."""
    for_all_pieces = settings.budget.first_pieces * settings.priors.rows_per_component
    return min(for_all_pieces, (1.0 - settings.priors.left_out_share) * n_rows)


def _cut_with_missing(
    variable: VariableRows, seed: int, settings: Settings
) -> tuple[Integers, Floats]:
    """Pieces of all rows, and their features, where hardly any row is whole.

    Missing values replaced by the means of the columns put rows between the pieces; a few rounds
    in which each row moves to the piece that fits what was seen of it put that right.
    """
    family, embedding = variable.family, variable.embedding
    n_pieces = min(
        settings.budget.first_pieces, max(1, len(embedding) // settings.budget.rows_per_start)
    )
    labels = cut(embedding, _at_most_distinct(n_pieces, embedding), seed, settings)
    features = variable.completed(labels)
    for _ in range(settings.budget.rounds):
        pooled = pool(features, labels, int(labels.max()) + 1)
        components = family.components(pooled, family.prior(pooled))
        labels = numbered(variable.log_density(components).argmax(axis=1))
        features = variable.completed(labels)
    return labels, features


def _segment_whole(
    variable: VariableRows, max_components: int, seed: int, settings: Settings
) -> tuple[Integers, Merging]:
    """Segment rows whose coordinates are all there."""
    embedding = variable.embedding
    # Twice as many pieces as components, so that these are not held down by their number.
    affordable = max(1, 2 * len(embedding) // settings.priors.rows_per_component)
    limit = _at_most_distinct(min(2 * max_components, affordable), embedding)
    n_pieces = min(settings.budget.first_pieces, limit)
    centres = None
    while True:
        labels = cut(embedding, n_pieces, seed, settings, centres)
        n_found = int(labels.max()) + 1
        pieces = pool(variable.counted, labels, n_found)
        merging = merge_pieces(pieces, variable.family, CutPieces(), max_components)
        if 2 * merging.n_components <= n_found or n_pieces >= limit:
            return merging.groups[labels], merging
        # Where every piece stays apart, twice as many would hardly be enough.
        n_pieces = min((2 if merging.n_components < n_found else 4) * n_pieces, limit)
        centres = means_of(embedding, labels, n_found)


def pieces_of(variable: VariableRows, settings: Settings) -> Integers:
    """A variable cut into pieces that hold about as many rows as there are pieces."""
    embedding = variable.embedding
    n_pieces = min(settings.budget.first_pieces, int(np.sqrt(len(embedding))))
    return cut(embedding, _at_most_distinct(max(1, n_pieces), embedding), _SEED, settings)


def _at_most_distinct(n_pieces: int, embedding: Floats) -> int:
    """No more pieces than there are different rows."""
    some = embedding[:: max(1, len(embedding) // (2 * n_pieces)), 0]
    if len(np.unique(some)) >= n_pieces:
        return n_pieces
    return min(n_pieces, len(np.unique(embedding, axis=0)))


def cut(
    block: Floats,
    n_pieces: int,
    seed: int,
    settings: Settings = Settings(),
    begin: Floats | None = None,
) -> Integers:
    """k-means labels, numbered without gaps; further centres are added to those to ``begin`` with.

    Centres are found among some of the rows: where a piece ends is not known any better from
    more, and whatever has no row among them would not get a start of its own either.
    """
    if n_pieces == 1:
        return np.zeros(len(block), dtype=np.int64)
    budget, rng = settings.budget, np.random.default_rng(seed)
    n_rows = budget.rows_per_start * max(n_pieces, budget.first_pieces)
    some = block if len(block) <= n_rows else block[np.arange(n_rows) * len(block) // n_rows]
    begin = some[rng.integers(len(some), size=1)] if begin is None else begin
    centres = _spread_out(some, n_pieces, budget.start_trials, rng, begin)
    nearest = nearest_centres(some, centres)
    for _ in range(budget.kmeans_iterations):
        sizes = np.bincount(nearest, minlength=n_pieces)[:, None]
        # Rows that differ by rounding only can leave a piece empty; numbers close up.
        centres = np.where(sizes, pool(some, nearest, n_pieces) / np.maximum(sizes, 1), centres)
        before, nearest = nearest, nearest_centres(some, centres)
        if np.array_equal(before, nearest):
            break
    return numbered(nearest if len(some) == len(block) else nearest_centres(block, centres))


def nearest_centres(block: Floats, centres: Floats) -> Integers:
    """The nearest centre of each row, (N,)."""
    half_squares = 0.5 * row_sums(centres**2)
    nearest = np.empty(len(block), dtype=np.int64)
    for rows in _some_rows(len(block), len(centres)):
        near = block[rows] @ centres.T
        near -= half_squares
        nearest[rows] = near.argmax(axis=1)
    return nearest


def squared_distances(block: Floats, others: Floats, itself: Integers | None = None) -> Floats:
    """The squared distance of each row to the nearest of the others, (N,).

    ``itself`` (N,) is the one that a row is, and that does not count, or -1.
    """
    half_squares = 0.5 * row_sums(others**2)[:, None]
    nearness = np.empty(len(block))
    for rows in _some_rows(len(block), len(others)):
        own = block[rows]
        # (others, rows); with the longer side last in memory maxima are found quickest.
        near = others @ own.T if len(others) < len(own) else (own @ others.T).T
        near -= half_squares
        if itself is not None:
            among = np.flatnonzero(itself[rows] >= 0)
            near[itself[rows][among], among] = -np.inf
        near.max(axis=0, out=nearness[rows])
    return np.maximum(row_sums(block**2) - 2.0 * nearness, 0.0)


def _some_rows(n_rows: int, n_centres: int) -> Iterator[slice]:
    """A few rows at a time."""
    at_once = max(1, _DISTANCES_AT_ONCE // n_centres)
    return (slice(begin, begin + at_once) for begin in range(0, n_rows, at_once))


def _spread_out(
    block: Floats, n_starts: int, n_trials: int, rng: np.random.Generator, begin: Floats
) -> Floats:
    """Rows far from each other and from those to ``begin`` with: greedy k-means++ [1]_.

    scikit-learn has it too but slower.
    """
    starts = list(begin)
    squares = row_sums(block**2)
    nearest = squared_distances(block, begin)
    # A product of these two is the squared distance of a row to each of the others.
    own = np.column_stack([-2.0 * block, squares, np.ones(len(block))])
    others = np.vstack([block.T, np.ones(len(block)), squares])
    for draws in rng.random((n_starts - len(begin), n_trials)):
        cumulative = nearest.cumsum()
        drawn = cumulative.searchsorted(draws * cumulative[-1])
        drawn = np.minimum(drawn, len(block) - 1)
        left = own[drawn] @ others  # (trials, rows)
        np.minimum(left, nearest, out=left)
        best = int(left.sum(axis=1).argmin())
        nearest = np.maximum(left[best], 0.0)  # a row is as far from itself as rounding has it
        starts.append(block[drawn[best]])
    return np.stack(starts)
