"""Values that stand alone: rows of one variable far from all others are treated as not measured.

One value out of place in a thousand looks, to any mixture, like a component of its own, and each
such component is a hidden state that does not exist. A row that belongs to some component has
others close by, however small the component is; a row that was measured or copied wrongly has
none. A row stands alone if no other row is within the distance that two rows of one component
have, by the scatter within components, and if its nearest neighbour is further away than nearly all
eighth ones are, on a logarithmic scale and by the quartiles of all rows [1]_. Such a value is a
missing value and nothing more: the other variables of the same row still count.

Nearly every row has company by the scatter of rows within cells, which is quick to find and smaller
than that of components. Only the others are looked at further.

Assumes that the components of one variable do not differ in scale by orders of magnitude: a
component that is very much wider than the others looks isolated in every row. If it holds more than
the share of rows that may be set aside, it is kept unless nothing else depends on its rows.

References
----------
.. [1] S. Ramaswamy, R. Rastogi, K. Shim. Efficient algorithms for mining outliers from large data
   sets. SIGMOD 2000. (Distance to the k-th nearest neighbour.)
.. [2] C. Croux, G. Haesbroeck. Influence function and efficiency of the minimum covariance
   determinant scatter matrix estimator. Journal of Multivariate Analysis 71 (1999). (How the
   scatter of a core of normal rows compares with that of all.)
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import chi2

from mixoracle._arrays import Bools, Floats, Integers, row_sums, rows_with_missing
from mixoracle.families.base import Family
from mixoracle.mixtures.merging import means_of
from mixoracle.mixtures.rows import VariableRows
from mixoracle.mixtures.segmentation import (
    nearest_centres,
    pieces_of,
    segment,
    squared_distances,
)
from mixoracle.model.joint_states import numbered
from mixoracle.settings import Settings

# The interquartile range of a normal distribution, in standard deviations.
_NORMAL_QUARTILES = 1.349
# Most of the rows are the measurement, whatever they look like.
_MOST = 0.5
# The same rows are cut in the same way whatever else is drawn: no seed decides what is set aside.
_SEED = 0
# Cells that rows are put in to see their scatter: each component needs one or more.
_CELLS = 40
# Rounds in which cells move to where rows are; later ones hardly change their scatter.
_MOVES = 2
# Rounds in which the core is found: first among all rows, then by the scatter of the first one.
_CORES = 2
# Rows that all others are compared with at first; then four times as many, and so on.
_FIRST_COMPANIONS = 16
# Of the rows in cells, so many are surely with others of their component: a fifth may be
# outlying, and another fifth in components that have no cell.
_CORE = 0.6
# While rows times others are at most so many times all rows, comparing them is quicker than a tree.
_LITTLE_WORK = 64
# So few rows are compared with all others quicker than a tree of these is made.
_FEW = 64
# Leaves of a tree hold so many rows: made sooner than with the default's 10, and asked as soon.
_LEAF = 32


def isolated(block: Floats, family: Family, settings: Settings = Settings()) -> tuple[Bools, Bools]:
    """Which rows of a variable's coordinates (N, d) stand alone, and which are a crowd of such.

    Never one with missing values. Those that stand alone are no more than may be set aside; a crowd
    is more than that, and less than half of the rows. There is one of the two at most.
    """
    alone, crowd = np.zeros((2, len(block)), dtype=bool)
    whole = np.flatnonzero(~rows_with_missing(block))
    distinct, member = _distinct(block if len(whole) == len(block) else block[whole])
    if len(distinct) <= settings.priors.rows_per_component:
        return alone, crowd
    reach = _reach(settings.priors.false_alarm, block.shape[1])
    left = _apart(distinct @ _whitening_of_cells(distinct, settings), reach)
    if not len(left):
        return alone, crowd
    allowed = settings.priors.set_aside_share * len(block)
    far = whole[np.isin(member, _without_company(distinct, left, reach, family, settings))]
    if 0 < len(far) <= allowed:
        alone[far] = True
    elif np.isin(member, left).sum() > allowed:
        places = _without_company(distinct, left, reach, family, settings, many=True)
        far = whole[np.isin(member, places)]
        if allowed < len(far) < _MOST * len(block):
            crowd[far] = True
    return alone, crowd


@cache
def _reach(by_chance: float, width: int) -> float:
    """How far two rows of one component are from each other at most, but for this chance.

    Twice a χ² variable is the squared distance of two rows of one normal component.
    """
    return float(np.sqrt(2.0 * chi2.isf(by_chance, width)))


def _distinct(block: Floats) -> tuple[Floats, Integers]:
    """The different rows, and which of them each row is: a copy is no neighbour."""
    first = np.sort(block[:, 0])
    if (first[1:] > first[:-1]).all():
        return block, np.arange(len(block))
    distinct, member = np.unique(block, axis=0, return_inverse=True)
    return distinct, member.ravel()


def _without_company(
    block: Floats,
    left: Integers,
    reach: float,
    family: Family,
    settings: Settings,
    *,
    many: bool = False,
) -> Integers:
    """The places, among those that are ``left``, of rows far from all others, ``many`` or not.

    By a scatter that is larger from step to step.
    """
    some = _at_most(np.delete(block, left, axis=0), settings.budget.shape_rows)
    rows = VariableRows(family, some, family.features(some), None, shows_shape=False)
    whitening = _whitening_within(some, pieces_of(rows, settings), 0, settings)
    left = left[_nearest_other(block, left, whitening) > reach]
    if len(left):
        left = left[_are_suspect(block, left, settings, many=many)]
    if len(left):
        labels, _ = segment(rows, settings.components_of_one(len(some)), _SEED, settings)
        whitening = _whitening_within(some, labels, int(labels.max()) + 1, settings)
        left = left[_nearest_other(block, left, whitening) > reach]
    return np.asarray(left)


def _are_suspect(
    block: Floats, places: Integers, settings: Settings, *, many: bool = False
) -> Bools:
    """Which rows at these places have a nearest neighbour further away than an extreme eighth one.

    Extreme is by the quartiles of the logarithm, which show in some of the rows.
    """
    tree = _tree(_at_most(block, settings.budget.search_rows))
    some = _at_most(block, settings.budget.shape_rows)
    known = _distance(tree, some, settings.priors.rows_per_component)
    scale = np.log(np.maximum(known, np.finfo(float).tiny))
    low, middle, high = np.quantile(scale, [0.25, 0.5, 0.75])
    # If a quarter of the rows stand alone, the upper quartile is theirs.
    between = 2.0 * (middle - low) if many else high - low
    limit = np.exp(middle + settings.priors.isolation * between / _NORMAL_QUARTILES)
    return np.asarray(_distance(tree, block[places], 1) > limit)


def _whitening_of_cells(block: Floats, settings: Settings) -> Floats:
    """The matrix that makes the scatter of rows within cells that of a sphere.

    It is that of a core of the rows, made as large as if all were normal [2]_.
    """
    some = _at_most(block, settings.budget.shape_rows)
    n_cells = max(1, min(_CELLS, len(some) // max(2, settings.priors.rows_per_component)))
    middles, cell = _at_most(some, n_cells), np.zeros(len(some), dtype=np.int64)
    for _ in range(_MOVES):
        cell = numbered(nearest_centres(some, middles))
        middles = means_of(some, cell, int(cell.max()) + 1)
    apart = (some - middles.take(cell, axis=0))[np.bincount(cell)[cell] > 1]
    n_core, whitening = int(_CORE * len(apart)), np.eye(block.shape[1])
    for _ in range(_CORES):
        nearest = np.argpartition(row_sums((apart @ whitening) ** 2), n_core)[: n_core + 1]
        whitening = _whitening(apart[nearest] / _core_spread(block.shape[1]), settings)
    return whitening


@cache
def _core_spread(width: int) -> float:
    """The standard deviation of the core of standard normal rows."""
    return float(np.sqrt(chi2.cdf(chi2.ppf(_CORE, width), width + 2) / _CORE))


def _apart(whitened: Floats, reach: float) -> Integers:
    """The places of rows with no other within reach: compared with few at first, then with all."""
    n_rows, left, n_others = len(whitened), np.arange(len(whitened)), _FIRST_COMPANIONS
    # As long as that is little work; else a tree of all rows is quicker.
    while n_others < n_rows and 0 < len(left) * n_others <= n_rows * _LITTLE_WORK:
        squares = _nearest_of(whitened, left, n_others)
        left, n_others = left[squares > reach**2], 4 * n_others
    if not len(left):
        return left
    return np.asarray(left[_nearest_other(whitened, left, np.eye(whitened.shape[1])) > reach])


def _nearest_of(block: Floats, places: Integers, n_others: int) -> Floats:
    """The squared distance of rows to the nearest of about so many others, evenly spaced."""
    step = _step(len(block), n_others)
    itself = np.where(places % step == 0, places // step, -1)
    return squared_distances(block.take(places, axis=0), block[::step], itself)


def _tree(rows: Floats) -> KDTree:
    """A tree that is quick to make; balanced, it would be asked far too few times to pay off."""
    return KDTree(rows, leafsize=_LEAF, balanced_tree=False)


def _distance(tree: KDTree, rows: Floats, neighbour: int) -> Floats:
    """The distance of rows to that neighbour; the nearest row of all is the row itself."""
    return np.asarray(tree.query(rows, k=[neighbour + 1])[0])[:, 0]


def _nearest_other(block: Floats, places: Integers, whitening: Floats) -> Floats:
    """How far the rows at these places are from the nearest other row, when whitened."""
    whitened = block @ whitening
    if len(places) > _FEW:
        return _distance(_tree(whitened), whitened[places], 1)
    return np.sqrt(_nearest_of(whitened, places, len(block)))


def _whitening_within(block: Floats, labels: Integers, n_means: int, settings: Settings) -> Floats:
    """The matrix that makes the scatter of rows within these labels that of a sphere.

    ``n_means`` is how many degrees of freedom their means take.
    """
    residual = block - means_of(block, labels, int(labels.max()) + 1)[labels]
    return _whitening(residual * np.sqrt(len(block) / max(1, len(block) - n_means)), settings)


def _whitening(residual: Floats, settings: Settings) -> Floats:
    """The matrix that makes the scatter of residuals that of a sphere."""
    values, vectors = np.linalg.eigh(residual.T @ residual / max(1, len(residual)))
    return np.asarray(vectors / np.sqrt(np.maximum(values, settings.priors.variance_floor)))


def _at_most(block: Floats, n_rows: int) -> Floats:
    """Evenly spaced rows, about so many."""
    return block[:: _step(len(block), n_rows)]


def _step(n_rows: int, about: int) -> int:
    """How far rows are apart of which there are about so many."""
    return max(1, n_rows // about)
