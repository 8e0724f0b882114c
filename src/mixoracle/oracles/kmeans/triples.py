"""The number of components over three variables, started from what is known about their pairs.

A component over (X_a, X_b, X_c) is a component of each of the three pairs at once. So every
triple of single components whose three pairs all occur is a possible location, found without
clustering; k-means starts there, its centres are merged, and the silhouette picks among the
counts that the singles and pairs allow ('Details of Step (a)', 6).

Assumes that the elected pair means project near the elected means of single variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np

from mixoracle._arrays import Bools, Floats
from mixoracle.oracles.kmeans.clusters import nearest
from mixoracle.oracles.kmeans.consensus import CountCandidate


def triple_counts(singles: Sequence[int], pairs: Sequence[int], largest: int) -> tuple[int, ...]:
    """The possible k(X_a, X_b, X_c), ascending; at least one.

    ``obs:counting`` makes it a multiple of all three pair counts. log k is a coverage function,
    hence submodular: k(a,b,c)·k(b) ≤ k(a,b)·k(b,c), and so for each shared variable. If the
    elected counts leave no such number they contradict each other; then any number from the
    largest pair count on is possible and the silhouette has to decide alone. More components
    than ``largest`` cannot be told apart.
    """
    (a, b, c), (ab, ac, bc) = singles, pairs  # k of each variable, of each pair in this order
    smallest = max(pairs)
    bound = max(min(ab * ac // a, ab * bc // b, ac * bc // c), smallest)
    bound = max(min(bound, largest), 1)
    step = lcm(*pairs)
    allowed = tuple(range(step, bound + 1, step))
    return allowed or tuple(range(min(smallest, bound), bound + 1))


def triple_locations(singles: Sequence[CountCandidate], pairs: Sequence[CountCandidate]) -> Floats:
    """Where the components over (X_a, X_b, X_c) may lie; an (n_locations, width) array.

    ``singles`` are the elected mixtures of X_a, X_b and X_c, ``pairs`` those of (X_a, X_b),
    (X_a, X_c) and (X_b, X_c), whose means hold the coordinates of the first member, then those of
    the second.
    """
    a, b, c = singles
    ab, ac, bc = pairs
    seen_ab, a_in_ab, b_in_ab = _pair_table(ab, a, b)
    seen_ac, a_in_ac, c_in_ac = _pair_table(ac, a, c)
    seen_bc, b_in_bc, c_in_bc = _pair_table(bc, b, c)
    u, v, w = np.nonzero(seen_ab[:, :, None] & seen_ac[:, None, :] & seen_bc[None, :, :])
    return np.hstack(
        [
            (a_in_ab[u, v] + a_in_ac[u, w]) / 2,
            (b_in_ab[u, v] + b_in_bc[v, w]) / 2,
            (c_in_ac[u, w] + c_in_bc[v, w]) / 2,
        ]
    )


def occupied(data: Floats, locations: Floats, at_most: int) -> Floats:
    """The locations that are nearest to some row, the ``at_most`` fullest of them."""
    from sklearn.metrics import pairwise_distances_argmin

    sizes = np.bincount(pairwise_distances_argmin(data, locations), minlength=len(locations))
    fullest = np.argsort(-sizes, kind="stable")[:at_most]
    return locations[np.sort(fullest[sizes[fullest] > 0])]


def _pair_table(
    pair: CountCandidate, first: CountCandidate, second: CountCandidate
) -> tuple[Bools, Floats, Floats]:
    """Which single components occur together, and the pair's mean in either variable there.

    A pair mean belongs to the nearest mean of each variable, in the coordinates of that variable
    only. Pair components that fall on the same cell are averaged.
    """
    width = first.means.shape[1]
    parts = pair.means[:, :width], pair.means[:, width:]
    rows = nearest(parts[0], first.means)
    columns = nearest(parts[1], second.means)
    shape = (first.n_components, second.n_components)
    sizes = np.zeros(shape)
    np.add.at(sizes, (rows, columns), 1.0)
    averages = []
    for part in parts:
        sums = np.zeros((*shape, part.shape[1]))
        np.add.at(sums, (rows, columns), part)
        averages.append(sums / np.maximum(sizes, 1.0)[:, :, None])
    return sizes > 0, averages[0], averages[1]
