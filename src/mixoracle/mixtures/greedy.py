"""The one greedy loop: merge the best pair, compute its gains again, and go on.

Pieces of one variable are merged to its components by it, and states of one latent to its domain.
After a merge only the gains of the merged one change, so that all n - 1 merges together ask for
about as many gains as there are pairs. The caller says what a merge gains and when to stop.

References
----------
.. [1] J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
   American Statistical Association 58 (1963).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers


def greedy_merges(
    n: int,
    gains: Callable[[Integers, Integers], Floats],
    merge: Callable[[int, int, Integers], Floats],
    may_merge: Bools | None = None,
) -> Iterator[tuple[int, int, float]]:
    """Merge the best pair of n things, again and again, until one is left or the caller stops.

    Parameters
    ----------
    n : int
        How many things there are.
    gains : function of (first, second)
        The gain of merging each of these pairs; asked once, for all pairs.
    merge : function of (kept, absorbed, rest)
        Makes two things one, and returns the gain of merging that one with each of the rest.
    may_merge : (n,) bool array, optional
        The things that take part; all of them if not given.

    Yields
    ------
    kept, absorbed, gain : int, int, float
        The best pair, ``kept < absorbed``; of equal ones the first in lexicographic order. They
        are merged when the next pair is asked for.

    Examples
    --------
    Numbers that are close to each other become their mean:

    >>> numbers = np.array([0.0, 10.0, 1.0])
    >>> def gains(first, second):
    ...     return -abs(numbers[first] - numbers[second])
    >>> def merge(kept, absorbed, rest):
    ...     numbers[kept] = (numbers[kept] + numbers[absorbed]) / 2
    ...     return gains(kept, rest)
    >>> list(greedy_merges(3, gains, merge))
    [(0, 2, -1.0), (0, 1, -9.5)]
    """
    alive = np.ones(n, dtype=bool) if may_merge is None else may_merge.copy()
    rest = np.flatnonzero(alive)
    first, second = (rest[side] for side in np.triu_indices(len(rest), 1))
    # Only the upper triangle is filled, so that the first maximum has its smaller index first.
    gain = np.full((n, n), -np.inf)
    gain[first, second] = gains(first, second)
    for _ in range(len(rest) - 1):
        kept, absorbed = map(int, np.unravel_index(np.argmax(gain), gain.shape))
        yield kept, absorbed, float(gain[kept, absorbed])
        alive[absorbed] = False
        gain[absorbed, :] = gain[:, absorbed] = -np.inf
        rest = np.flatnonzero(alive)
        rest = rest[rest != kept]
        gain[np.minimum(rest, kept), np.maximum(rest, kept)] = merge(kept, absorbed, rest)
