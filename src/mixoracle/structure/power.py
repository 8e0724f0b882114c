"""How strong an association has to be for its edge to be found: what 'not seen' is worth.

An edge is found if it raises the likelihood by more than BIC charges for it. For an association of
Cohen's w, twice the log likelihood ratio of N cases is about noncentral χ² with noncentrality
N·w² [1]_. The w that is found in 80 % of samples therefore follows from the sizes alone.

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


@lru_cache(maxsize=4096)  # dozens of latents have hundreds of pairs, nearly all of a kind
def visible_association(n_samples: float, sizes: tuple[int, int], n_conditions: int = 1) -> float:
    """The association of two latents that would be found in 80 % of samples of this size.

    As Cramér's V, from 0 (independent) to 1 (one determines the other); ``n_conditions`` is the
    number of joint states of the effect's other parents, within which it is looked for. 1.0 where
    nothing smaller would be found.

    Examples
    --------
    >>> round(visible_association(1_000, (2, 2)), 3)
    0.11
    """
    degrees = (sizes[0] - 1) * (sizes[1] - 1) * n_conditions
    if degrees == 0 or n_samples <= 1:
        return 1.0
    charge = degrees * float(np.log(n_samples))
    spread = _DEVIATIONS * float(np.sqrt(2.0 * (degrees + 2.0 * charge)))
    root = brentq(
        lambda shift: ncx2.sf(charge, degrees, shift) - POWER, 1e-9, charge + 2.0 * spread
    )
    return float(min(1.0, np.sqrt(root / n_samples / (min(sizes) - 1))))
