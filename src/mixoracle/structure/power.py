"""How strong an association has to be for its edge to be found: what 'not seen' is worth.

An edge is found if it raises the likelihood by more than the score charges for it. For an
association of Cohen's w, twice the log likelihood ratio of N cases is about noncentral χ² with
noncentrality N·w² [1]_. The w that is found in 80 % of samples therefore follows from the sizes
alone. The charge is that of BIC or that of the adaptive score, whichever is larger: under the prior
that fits it best, a statistic T of ν degrees of freedom is worth about (T − ν − ν log(T/ν))/2 nats.

References
----------
.. [1] J. Cohen. Statistical power analysis for the behavioral sciences. 2nd edition, 1988.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import ncx2

# The share of associations of the reported size that would be found.
POWER = 0.8
# Of a noncentral χ² this many standard deviations below its mean lies less than 1 - POWER.
_DEVIATIONS = 4.0
# What an edge has to be worth: the adaptive score's charge, and what a prior that also has to fit
# the single latents falls short of the best by.
_WORTH = 2.5


@lru_cache(maxsize=4096)  # dozens of latents have hundreds of pairs, nearly all of a kind
def visible_association(n_samples: float, sizes: tuple[int, int], n_conditions: int = 1) -> float:
    """The association of two latents that would be found in at least 80 % of samples of this size.

    As Cramér's V, from 0 (independent) to 1 (one determines the other); ``n_conditions`` is the
    number of joint states of the effect's other parents, within which it is looked for. 1.0 where
    nothing smaller would be found.

    Examples
    --------
    >>> round(visible_association(1_000, (2, 2)), 3)
    0.117
    """
    degrees = (sizes[0] - 1) * (sizes[1] - 1) * n_conditions
    if degrees == 0 or n_samples <= 1:
        return 1.0
    charge = max(degrees * float(np.log(n_samples)), _adaptive_charge(degrees))
    spread = _DEVIATIONS * float(np.sqrt(2.0 * (degrees + 2.0 * charge)))
    root = brentq(
        lambda shift: ncx2.sf(charge, degrees, shift) - POWER, 1e-9, charge + 2.0 * spread
    )
    return float(min(1.0, np.sqrt(root / n_samples / (min(sizes) - 1))))


def _adaptive_charge(degrees: int) -> float:
    """The statistic from which on the adaptive score finds an edge."""

    def worth(statistic: float) -> float:
        return 0.5 * (statistic - degrees - degrees * float(np.log(statistic / degrees)))

    most = degrees + 10.0 * _WORTH + 10.0 * float(np.sqrt(_WORTH * degrees))
    return float(brentq(lambda statistic: worth(statistic) - _WORTH, degrees, most))
