"""Do the components of a variable have the shape of normal ones? Asked of their moments.

If the family is right, the third and fourth Hermite polynomials of a component's standardised
coordinates are zero on average, each row weighted by its share in the component. That holds
whether components overlap or not, because a share times the density of all rows is the density of
the component [1]_. Where letting them be anything would explain so much more that it is worth the
further parameters, the family needs several of its components for one of the data's.

Assumes rows enough in a component for its moments to be nearly normal; smaller ones are left out.

References
----------
.. [1] C. M. Jarque, A. K. Bera. A test for normality of observations and regression residuals.
   International Statistical Review 55 (1987). (Here for the components of a mixture.)
.. [2] G. Schwarz. Estimating the dimension of a model. Annals of Statistics 6 (1978).
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Floats

# Coordinates so far out would decide the fourth moment on their own.
_FAR = 5.0
# The variances of the two polynomials for a normal coordinate.
_VARIANCES = (6.0, 24.0)
# Directions in which a component has no scatter show no shape.
_FLAT = 1e-12


def nats_against_normal(block: Floats, weight: Floats, fewest_rows: int) -> float:
    """How much moments of its own would explain of a component of whole rows (r, d), in nats.

    What BIC charges for the moments is taken off [2]_: where the sum over the components of a
    variable is above 0, they are not normal. ``weight`` (r,) is the share of each row in the
    component; it is 0 nats for one with fewer than ``fewest_rows`` rows.
    """
    n_rows = float(weight.sum())
    if n_rows < fewest_rows:
        return 0.0
    own, squared_weight = _standardised(block, weight), float(weight @ weight)
    statistic = 0.0
    for polynomial, variance in zip(_hermite(own), _VARIANCES, strict=True):
        sums = weight @ polynomial
        statistic += float(sums @ sums) / (variance * squared_weight)
    charge = len(_VARIANCES) * own.shape[1] * float(np.log(n_rows))
    return float(0.5 * (statistic - charge))


def _standardised(block: Floats, weight: Floats) -> Floats:
    """Uncorrelated coordinates with mean 0 and variance 1, far ones brought nearer."""
    n_rows = weight.sum()
    centred = block - weight @ block / n_rows
    scatter = (weight[:, None] * centred).T @ centred / n_rows
    values, vectors = np.linalg.eigh(scatter)
    kept = values > max(_FLAT * values[-1], np.finfo(float).tiny)
    standard = centred @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.asarray(np.clip(standard, -_FAR, _FAR))


def _hermite(coordinates: Floats) -> tuple[Floats, Floats]:
    squares = coordinates**2
    return coordinates * (squares - 3.0), squares * (squares - 6.0) + 3.0
