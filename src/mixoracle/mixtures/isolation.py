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
component that is very much wider than the others looks isolated in every row. If it holds more than
the share of rows that may be set aside, it is kept unless nothing else depends on its rows.

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
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import pieces_of, segment
from mixoracle.settings import Settings

# The interquartile range of a normal distribution, in standard deviations.
_NORMAL_QUARTILES = 1.349
# Most of the rows are the measurement, whatever they look like.
_MOST = 0.5
# The same rows are cut in the same way whatever else is drawn: no seed decides what is set aside.
_SEED = 0
# A neighbour may be so many times further away, beyond once, than the nearest one.
_NEAR_ENOUGH = 2.0
# Cubes of the grid are numbered up to here; rows further out count as by themselves.
_FAR_AWAY = 2**30
# So few rows are compared with all others quicker than a tree of these is made.
_FEW = 16
# Leaves of a tree hold so many rows: made sooner than with the default's 10, and asked as soon.
_LEAF = 32


def isolated(
    block: Floats, family: Family, settings: Settings = Settings(), *, many: bool = False
) -> Bools:
    """Which rows of a variable's coordinates (N, d) stand alone; never one with missing values.

    None are if they would be more than may be set aside. If ``many`` are looked for, it is the
    other way round: none are if they are no more than that, or more than half of the rows.
    """
    alone = np.zeros(len(block), dtype=bool)
    whole = np.flatnonzero(~np.isnan(block).any(axis=1))
    distinct, member = _distinct(block[whole])
    if len(distinct) <= settings.priors.rows_per_component:
        return alone
    far = _suspects(distinct, settings, many=many)
    if far.any():
        far[far] = _without_company(distinct, far, family, settings)
    share, allowed = far[member].sum() / len(block), settings.priors.set_aside_share
    if allowed < share < _MOST if many else share <= allowed:
        alone[whole[far[member]]] = True
    return alone


def _distinct(block: Floats) -> tuple[Floats, Integers]:
    """The different rows, and which of them each row is: a copy is no neighbour."""
    if len(np.unique(block[:, 0])) == len(block):
        return block, np.arange(len(block))
    distinct, member = np.unique(block, axis=0, return_inverse=True)
    return distinct, member.ravel()


def _suspects(block: Floats, settings: Settings, *, many: bool = False) -> Bools:
    """Rows whose nearest neighbour is further away than all but an extreme eighth one.

    Extreme is by the quartiles of the logarithm, which show in some of the rows. Two rows in one
    small cube have neighbours enough, and so has a row that is close to one of those with their
    own neighbours close by; only the few others are looked at themselves.
    """
    tree = _tree(_at_most(block, settings.budget.search_rows))
    some = _at_most(block, settings.budget.shape_rows)
    known = _distance(tree, some, settings.priors.rows_per_component)
    scale = np.log(np.maximum(known, np.finfo(float).tiny))
    low, middle, high = np.quantile(scale, [0.25, 0.5, 0.75])
    # If a quarter of the rows stand alone, the upper quartile is theirs.
    between = 2.0 * (middle - low) if many else high - low
    limit = np.exp(middle + settings.priors.isolation * between / _NORMAL_QUARTILES)
    if many and np.mean(known > limit) <= settings.priors.set_aside_share:
        return np.zeros(len(block), dtype=bool)
    far = _by_itself(block, limit / np.sqrt(block.shape[1]))
    # A neighbour that is not the nearest will do: whoever has none is looked at again.
    to_known, which = _tree(some).query(block[far], eps=_NEAR_ENOUGH)
    far[far] = np.asarray(to_known + known[which] > limit)
    far[far] = _distance(tree, block[far], 1) > limit
    return far


def _by_itself(block: Floats, side: float) -> Bools:
    """Which rows (N,) have a cube of a grid with this side to themselves.

    The whole numbers of a cube are mixed to one by odd factors. Should two cubes get the same,
    which is next to impossible, their rows seem to be together.
    """
    with np.errstate(over="ignore"):
        cubes = np.floor(block / side)
    outside = np.asarray((np.abs(cubes) > _FAR_AWAY).any(axis=1))
    factors = np.random.default_rng(_SEED).integers(_FAR_AWAY, size=block.shape[1]) * 2 + 1
    mixed = np.where(outside[:, None], 0.0, cubes).astype(np.int64) @ factors
    _, member, counts = np.unique(mixed, return_inverse=True, return_counts=True)
    return np.asarray(outside | (counts[member] == 1))


def _tree(rows: Floats) -> KDTree:
    """A tree that is quick to make; balanced, it would be asked far too few times to pay off."""
    return KDTree(rows, leafsize=_LEAF, balanced_tree=False)


def _distance(tree: KDTree, rows: Floats, neighbour: int) -> Floats:
    """The distance of rows to that neighbour; the nearest row of all is the row itself."""
    return np.asarray(tree.query(rows, k=[neighbour + 1])[0])[:, 0]


def _without_company(block: Floats, suspects: Bools, family: Family, settings: Settings) -> Bools:
    """Which of the suspects have no other row as near as the rows of one component are.

    Pieces scatter less than the components that they are cut from. So components are looked for
    only if a suspect is far from all others by the scatter of pieces.
    """
    some = _at_most(block[~suspects], settings.budget.shape_rows)
    rows = VariableRows(family, some, family.features(some), None, shows_shape=False)
    # Twice a χ² variable is the squared distance of two rows of one normal component.
    reach = np.sqrt(2.0 * chi2.ppf(1.0 - settings.priors.false_alarm, block.shape[1]))
    places = np.flatnonzero(suspects)
    pieces = pieces_of(rows, settings)
    whitening = _whitening(some, pieces, 0, settings)
    alone = np.asarray(_nearest_other(block, places, whitening) > reach)
    if alone.any():
        labels, _ = segment(rows, settings.components_of_one(len(some)), _SEED, settings)
        whitening = _whitening(some, labels, int(labels.max()) + 1, settings)
        alone[alone] = _nearest_other(block, places[alone], whitening) > reach
    return alone


def _nearest_other(block: Floats, places: Integers, whitening: Floats) -> Floats:
    """How far the rows at these places are from the nearest other row, when whitened."""
    whitened = block @ whitening
    if len(places) > _FEW:
        return _distance(_tree(whitened), whitened[places], 1)
    squares = (((whitened - row) ** 2).sum(axis=1) for row in whitened[places])
    return np.sqrt([np.partition(held, 1)[1] for held in squares])


def _whitening(block: Floats, labels: Integers, n_means: int, settings: Settings) -> Floats:
    """The matrix that makes the scatter of rows within these labels that of a sphere.

    ``n_means`` is how many degrees of freedom their means take.
    """
    sizes = np.bincount(labels)
    residual = block - (pool(block, labels, len(sizes)) / sizes[:, None])[labels]
    scatter = residual.T @ residual / max(1, len(block) - n_means)
    values, vectors = np.linalg.eigh(scatter)
    return np.asarray(vectors / np.sqrt(np.maximum(values, settings.priors.variance_floor)))


def _at_most(block: Floats, n_rows: int) -> Floats:
    """Evenly spaced rows, about so many."""
    return block[:: max(1, len(block) // n_rows)]
