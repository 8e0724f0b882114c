"""Joint states without rows: whether latents can be in all combinations of their states.

Nondegeneracy (``assump:strong`` (a)) says that they can. Two latents that cannot are a sign that Γ
is wrong: one latent with three states explains the same rows as two with two each, one combination
of which never occurs. How many rows a combination should have is told by independent latents, and
of more than two latents by their pairs: where latents depend on each other strongly, some of their
joint states are rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.model.joint_states import flat
from mixoracle.settings import Priors

# A joint state is nearly empty below this share of what independent latents would give it: one that
# falls short of more is just rare.
HOLE = 0.05
# Below this share nondegeneracy (a) begins to be implausible.
_IMPLAUSIBLE = 0.1
# So many latents are looked at together: one that three others determine is seen.
_TOGETHER = 4
# Margins of a fitted table that are off by less are as good as met.
_HALF_A_ROW = 0.5
_MOST_ROUNDS = 100


def are_possible(states: Integers, domain_sizes: Sequence[int], priors: Priors) -> bool:
    """Whether rows in these states (N, m) show all that a few latents together should be in.

    No two may lack one, and of more none that their pairs suggest; nor may one follow from the
    others but for stray rows. All latents together are not looked at: most joint states of many
    are rare.

    Examples
    --------
    >>> never_both = np.repeat([[0, 0], [0, 1], [1, 0]], 100, axis=0)
    >>> are_possible(never_both, (2, 2), Priors())
    False
    """
    tolerated = priors.same_evidence
    if any(emptiness(pair) > tolerated for pair in _tables(states, domain_sizes, 2)):
        return False
    n_together = min(len(domain_sizes), _TOGETHER)
    return not any(
        emptiness(table) > tolerated
        and (
            emptiness(table, as_pairs_suggest(table)) > tolerated
            or _one_follows(table, priors.stray_share)
        )
        for table in _tables(states, domain_sizes, n_together)
    )


def _one_follows(table: Floats, stray_share: float) -> bool:
    """Whether the states of all other latents tell that of one in nearly all rows of a table.

    Pairs may suggest such a table, as where one latent is what most of three others are.
    """
    least_off = min(float(table.sum() - table.max(axis=axis).sum()) for axis in range(table.ndim))
    return least_off <= stray_share * float(table.sum())


def _tables(states: Integers, domain_sizes: Sequence[int], n_together: int) -> Iterator[Floats]:
    """How many rows are in each joint state of every so many latents."""
    for chosen in map(list, combinations(range(len(domain_sizes)), n_together)):
        sizes = [domain_sizes[j] for j in chosen]
        rows = np.bincount(flat(states[:, chosen], sizes), minlength=prod(sizes))
        yield rows.reshape(sizes).astype(np.float64)


def emptiness(rows: Floats, usual: Floats | None = None) -> float:
    """How far so many rows in each joint state speak against every state being possible, in nats.

    Nondegeneracy (a) is taken to mean that no state is rarer than a tenth of what is ``usual``,
    which is what independent latents would give it; a state that is costs the log-likelihood
    (Poisson) that it falls short by.

    Examples
    --------
    >>> round(emptiness(np.array([[400.0, 0.0], [0.0, 400.0]])), 3)
    40.0
    >>> emptiness(np.array([[300.0, 100.0], [100.0, 300.0]]))
    0.0
    """
    least = _IMPLAUSIBLE * (independent(rows) if usual is None else usual)
    short = rows < least
    seen, needed = rows[short], least[short]
    ratio = np.where(seen > 0, seen / needed, 1.0)
    return float((needed - seen + seen * np.log(ratio)).sum())


def independent(table: Floats) -> Floats:
    """The table with the same margins and independent latents."""
    total = float(table.sum())
    expected = np.full(table.shape, total)
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        expected = expected * (table.sum(axis=others, keepdims=True) / total)
    return expected


def as_pairs_suggest(table: Floats) -> Floats:
    """The table of largest entropy with the margins of every two latents.

    It is fitted to one margin after the other [1]_, until none of them is off by half a row, or as
    nearly as a hundred rounds come to it: where all but some joint states are empty they are slow.

    References
    ----------
    .. [1] W. E. Deming, F. F. Stephan. On a least squares adjustment of a sampled frequency table
       when the expected marginal totals are known. Annals of Mathematical Statistics 11 (1940).

    Examples
    --------
    >>> odd = np.array([[[40.0, 0.0], [0.0, 40.0]], [[0.0, 40.0], [40.0, 0.0]]])
    >>> as_pairs_suggest(odd).ravel().tolist()
    [20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0]
    """
    axes = range(table.ndim)
    others = [tuple(axis for axis in axes if axis not in pair) for pair in combinations(axes, 2)]
    margins = [table.sum(axis=left_out, keepdims=True) for left_out in others]
    fitted = np.full(table.shape, table.mean())
    for _ in range(_MOST_ROUNDS):
        off = 0.0
        for left_out, margin in zip(others, margins, strict=True):
            own = fitted.sum(axis=left_out, keepdims=True)
            off = max(off, float(np.abs(own - margin).max()))
            fitted *= np.divide(margin, own, out=np.zeros_like(own), where=own > 0)
        if off < _HALF_A_ROW:
            break
    return fitted
