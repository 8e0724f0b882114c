"""Values that stand alone: rows of one variable far from all others are treated as not measured.

One value out of place in a thousand looks, to any mixture, like a component of its own, and each
such component is a hidden state that does not exist. A row that belongs to some component has
others close by, however small the component is; a row that was measured or copied wrongly has
none. Rows are suspect if their nearest neighbour is further away than nearly all eighth ones are,
on a logarithmic scale and by the quartiles of all rows [1]_. A suspect stands alone if no other row
is within the distance that two rows of one component have, by the scatter within the components
of all rows that are not suspect. Such a value is a missing value and nothing more: the other
variables of the same row still count.

Assumes that the components of one variable do not differ in scale by orders of magnitude: a
component that is very much wider than the others looks isolated in every row. It is kept if it
holds more than the share of rows that may be set aside.

References
----------
.. [1] S. Ramaswamy, R. Rastogi, K. Shim. Efficient algorithms for mining outliers from large data
   sets. SIGMOD 2000. (Distance to the k-th nearest neighbour.)
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import chi2

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families.base import Family
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import segment
from mixoracle.settings import Settings

# The interquartile range of a normal distribution, in standard deviations.
_NORMAL_QUARTILES = 1.349
# The same rows are cut in the same way whatever else is drawn: no seed decides what is set aside.
_SEED = 0
# A neighbour may be so many times further away, beyond once, than the nearest one.
_NEAR_ENOUGH = 2.0


def isolated(block: Floats, family: Family, settings: Settings = Settings()) -> Bools:
    """Which rows of a variable's coordinates (N, d) stand alone; never one with missing values."""
    alone = np.zeros(len(block), dtype=bool)
    whole = np.flatnonzero(~np.isnan(block).any(axis=1))
    distinct, member = _distinct(block[whole])
    if len(distinct) <= settings.priors.rows_per_component:
        return alone
    far = _suspects(distinct, settings)
    if far.any():
        far[far] = _without_company(distinct, far, family, settings)
    if far[member].sum() <= settings.priors.set_aside_share * len(block):
        alone[whole[far[member]]] = True
    return alone


def _distinct(block: Floats) -> tuple[Floats, Integers]:
    """The different rows, and which of them each row is: a copy is no neighbour."""
    if len(np.unique(block[:, 0])) == len(block):
        return block, np.arange(len(block))
    distinct, member = np.unique(block, axis=0, return_inverse=True)
    return distinct, member.ravel()


def _suspects(block: Floats, settings: Settings) -> Bools:
    """Rows whose nearest neighbour is further away than all but an extreme eighth one.

    Extreme is by the quartiles of the logarithm, which show in some of the rows. A row that is
    close to one of those, which has its own neighbours close by, has neighbours enough; only the
    few others are looked at themselves.
    """
    tree = KDTree(_at_most(block, settings.budget.search_rows))
    some = _at_most(block, settings.budget.shape_rows)
    known = _distance(tree, some, settings.priors.rows_per_component)
    scale = np.log(np.maximum(known, np.finfo(float).tiny))
    low, middle, high = np.quantile(scale, [0.25, 0.5, 0.75])
    limit = np.exp(middle + settings.priors.isolation * (high - low) / _NORMAL_QUARTILES)
    # A neighbour that is not the nearest will do: whoever has none is looked at again.
    to_known, which = KDTree(some).query(block, eps=_NEAR_ENOUGH)
    far = np.asarray(to_known + known[which] > limit)
    far[far] = _distance(tree, block[far], 1) > limit
    return far


def _distance(tree: KDTree, rows: Floats, neighbour: int) -> Floats:
    """The distance of rows to that neighbour; the nearest row of all is the row itself."""
    return np.asarray(tree.query(rows, k=[neighbour + 1])[0])[:, 0]


def _without_company(block: Floats, suspects: Bools, family: Family, settings: Settings) -> Bools:
    """Which of the suspects have no other row as near as the rows of one component are."""
    some = _at_most(block[~suspects], settings.budget.shape_rows)
    whitening = _within_components(some, family, settings)
    # Twice a χ² variable is the squared distance of two rows of one normal component.
    reach = np.sqrt(2.0 * chi2.ppf(1.0 - settings.priors.false_alarm, block.shape[1]))
    near = _distance(KDTree(block @ whitening), block[suspects] @ whitening, 1)
    return np.asarray(near > reach)


def _within_components(block: Floats, family: Family, settings: Settings) -> Floats:
    """The matrix that makes the scatter within the components of these rows that of a sphere."""
    rows = VariableRows(family, block, family.features(block), None, shows_shape=False)
    labels, _ = segment(rows, settings.components_of_one(len(block)), _SEED, settings)
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in block.T], axis=1)
    residual = block - means[labels]
    scatter = residual.T @ residual / max(1, len(block) - len(sizes))
    values, vectors = np.linalg.eigh(scatter)
    return np.asarray(vectors / np.sqrt(np.maximum(values, settings.priors.variance_floor)))


def _at_most(block: Floats, n_rows: int) -> Floats:
    """Evenly spaced rows, about so many."""
    return block[:: max(1, len(block) // n_rows)]
