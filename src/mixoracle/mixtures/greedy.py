"""The one greedy loop: merge the best pair, compute its gains again, and go on.

Pieces of one variable are merged to its components by it, and states of one latent to its domain.
After a merge only the gains of the merged one change, so that all n - 1 merges together ask for
about as many gains as there are pairs. Pairs of which each is the best for the other may be merged
at once. The caller says what a merge gains and when to stop.

References
----------
.. [1] J. H. Ward, "Hierarchical grouping to optimize an objective function", Journal of the
   American Statistical Association 58 (1963).
.. [2] F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms", The Computer
   Journal 26 (1983): reciprocal nearest neighbours are merged at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers

# Of pairs that are merged at once, each gains at least this share of what the best one does: a
# small gain may look otherwise when others have been merged.
_NEARLY_AS_GOOD = 0.5


def greedy_merges(
    n: int,
    gains: Callable[[Integers, Integers], Floats],
    merge: Callable[[Integers, Integers], None],
    may_merge: Bools | None = None,
    *,
    several: bool = False,
) -> Iterator[tuple[int, int, float]]:
    """Merge the best pair of n things, again and again, until one is left or the caller stops.

    Parameters
    ----------
    n : int
        How many things there are.
    gains : function of (first, second)
        The gain of merging each of these pairs.
    merge : function of (kept, absorbed)
        Makes one thing of each of these pairs.
    may_merge : (n,) bool array, optional
        The things that take part; all of them if not given.
    several : bool
        Merge pairs at once that gain, and of which each is the best for the other [2]_.

    Yields
    ------
    kept, absorbed, gain : int, int, float
        The best pair, ``kept < absorbed``; of equal ones the first in lexicographic order. They
        are merged when the next pair is asked for, or after all that are merged at once.

    Examples
    --------
    Numbers that are close to each other become their mean:

    >>> numbers = np.array([0.0, 10.0, 1.0])
    >>> def gains(first, second):
    ...     return -abs(numbers[first] - numbers[second])
    >>> def merge(kept, absorbed):
    ...     numbers[kept] = (numbers[kept] + numbers[absorbed]) / 2
    >>> list(greedy_merges(3, gains, merge))
    [(0, 2, -1.0), (0, 1, -9.5)]
    """
    alive = np.ones(n, dtype=bool) if may_merge is None else may_merge.copy()
    rest = np.flatnonzero(alive)
    first, second = (rest[side] for side in np.triu_indices(len(rest), 1))
    gain = np.full((n, n), -np.inf)
    while len(rest) > 1:
        gain[first, second] = gain[second, first] = gains(first, second)
        partner = gain.argmax(axis=1)
        kept = _best_pairs(gain[np.arange(n), partner], partner, several=several)
        absorbed = partner[kept]
        yield from zip(kept.tolist(), absorbed.tolist(), gain[kept, absorbed].tolist(), strict=True)
        merge(kept, absorbed)
        alive[absorbed] = False
        gain[absorbed, :] = gain[:, absorbed] = -np.inf
        rest = np.flatnonzero(alive)
        first, second = np.repeat(kept, len(rest)), np.tile(rest, len(kept))
        others = first != second
        first, second = first[others], second[others]


def _best_pairs(gain: Floats, partner: Integers, *, several: bool) -> Integers:
    """The things that are merged with their partner, which is the larger one; the best first."""
    # The first maximum has the smaller index of the pair.
    best = np.array([gain.argmax()])
    if not several or gain[best] <= 0:
        return best
    smaller = np.arange(len(gain)) < partner
    mutual = smaller & (partner[partner] == np.arange(len(gain)))
    kept = np.flatnonzero(mutual & (gain >= _NEARLY_AS_GOOD * gain[best]))
    return np.asarray(kept[np.argsort(-gain[kept], kind="stable")])
