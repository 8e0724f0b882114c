"""Counting components: merge pieces of data while the evidence for one component rises.

Any over-segmentation will do, as long as no piece mixes two components. The pieces are merged
greedily, always the pair whose union is the most convincing single component, down to one piece;
the answer is the level of that path with the largest evidence. The prior's scale is pooled over
the pieces of each level, because pieces that cut a component have too little scatter.

Assumes that pieces are described by a :class:`~mixoracle.families.Family`.

References
----------
.. [1] K. A. Heller and Z. Ghahramani, "Bayesian hierarchical clustering", ICML 2005: the pair is
   the one whose union has the largest marginal likelihood.
.. [2] R. E. Kass and A. E. Raftery, "Bayes factors", Journal of the American Statistical
   Association 90 (1995): levels are compared by their evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csc_array
from scipy.special import betaln, gammaln

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.families import Family, Prior
from mixoracle.mixtures.greedy import greedy_merges
from mixoracle.model.joint_states import numbered

# Up to so many numbers are counted one by one, which is quicker than making a sparse matrix.
_FEW_ENTRIES = 4096
# Nats for each piece that its evidence may rise by at most under the prior of another level: a
# prior is worth a few rows.
_PRIOR_IS_WORTH = 50.0


@dataclass(frozen=True)
class Merging:
    """Which pieces are one component.

    ``groups`` (n_pieces,) numbers the component of each piece, ``prior`` is the family's prior at
    that level and ``confidence`` the posterior probability of this number of components among
    the levels of the path.
    """

    groups: Integers
    prior: Prior
    confidence: float

    @property
    def n_components(self) -> int:
        """How many components are left."""
        return int(self.groups.max()) + 1


@dataclass(frozen=True)
class CutPieces:
    """Pieces cut from the same block: where they lie is itself evidence.

    A cut through one component makes both halves narrower, which looks like a better fit. The
    Dirichlet–multinomial probability of the labels charges for it.
    """

    # Cut pieces have too little scatter: the prior of the answer is a better one to search with.
    rounds: ClassVar[int] = 2

    def merge_bonus(self, first: Floats, second: Floats) -> Floats:
        """What a merge of pieces of these sizes adds to the evidence of the labels."""
        return log_merge_bonus(first, second)

    def level_scores(self, counts: Floats, starts: Integers) -> Floats:
        """Log probability of the labels of all rows, for levels that start at these counts."""
        n_labels = np.diff(starts, append=len(counts))
        n_rows = np.add.reduceat(counts, starts)
        weights = gammaln(n_labels) - gammaln(n_labels + n_rows)
        return np.asarray(weights + np.add.reduceat(gammaln(counts + 1.0), starts))


@dataclass(frozen=True)
class KnownPieces:
    """Pieces that other variables separated: only each further component is charged for."""

    cost_per_component: float
    # Whole pieces have the scatter of their components, and the first prior is right.
    rounds: ClassVar[int] = 1

    def merge_bonus(self, first: Floats, second: Floats) -> Floats:
        """Nothing: the labels are not this variable's doing."""
        return np.zeros(np.broadcast_shapes(np.shape(first), np.shape(second)))

    def level_scores(self, counts: Floats, starts: Integers) -> Floats:
        """The charge for the components of each level."""
        return -self.cost_per_component * np.diff(starts, append=len(counts))


def log_dirichlet_multinomial(counts: Floats) -> float:
    """Log probability of one sequence of labels with these counts, all weights equally likely."""
    return float(CutPieces().level_scores(counts, np.array([0]))[0])


def log_merge_bonus(first: Floats, second: Floats) -> Floats:
    """What one label for two adds to :func:`log_dirichlet_multinomial`, their number apart."""
    return np.asarray(gammaln(first + second + 1.0) - gammaln(first + 1.0) - gammaln(second + 1.0))


def gain_of_fewer_labels(many: float, few: float, n_rows: float) -> float:
    """What ``few`` labels instead of ``many`` add to :func:`log_dirichlet_multinomial`.

    But for how many rows have which.

    Examples
    --------
    >>> round(gain_of_fewer_labels(2.0, 1.0, 3.0), 6) == round(float(np.log(4.0)), 6)
    True
    """
    # Of the logarithms of the Gamma functions of 2^60 joint states no digit would be left.
    return float(betaln(few, n_rows) - betaln(many, n_rows))


def merge_pieces(
    statistics: Floats,
    family: Family,
    pieces: CutPieces | KnownPieces,
    max_components: int | None = None,
) -> Merging:
    """Decide which pieces are one component; ``statistics`` is (n_pieces, n_features)."""
    fewest_merges = max(0, len(statistics) - (max_components or len(statistics)))
    prior = family.prior(statistics)
    best_score, best = -np.inf, None
    for _ in range(pieces.rounds):
        path = _merge_path(statistics, family, prior, pieces, fewest_merges)
        levels = _score_levels(statistics, family, path, pieces)
        chosen = max(levels, key=lambda level: (level.score, -level.n_merges))
        if best is not None and chosen.score <= best_score:
            break
        best_score, prior = chosen.score, chosen.prior
        share = np.exp(np.array([level.score for level in levels]) - chosen.score)
        groups = _groups_at(path.merges, chosen.n_merges, len(statistics))
        best = Merging(groups, prior, float(1.0 / share.sum()))
        if chosen.n_merges == path.n_expected:
            break  # both priors end at this level, and a search with its own would end there, too
    assert best is not None  # the first round always sets it
    return best


def stay_apart(statistics: Floats, nearest: Integers, family: Family) -> Bools:
    """Which cut pieces (n_pieces,) lose so much with another that no prior makes them one.

    ``nearest`` (n_pieces,) is the other piece, the likeliest to be of the same component.
    """
    prior = family.prior(statistics)
    evidence = family.log_evidence(statistics, prior)
    gain = family.log_evidence(statistics + statistics[nearest], prior)
    gain += log_merge_bonus(statistics[:, 0], statistics[nearest, 0])
    return np.asarray(gain - evidence - evidence[nearest] < -2.0 * _PRIOR_IS_WORTH)


def pool(statistics: Floats, groups: Integers, n_groups: int) -> Floats:
    """Add up the statistics of the members of each group: (pieces, f) to (n_groups, f)."""
    n_pieces, n_features = statistics.shape
    if statistics.size <= _FEW_ENTRIES:
        places = groups[:, None] * n_features + np.arange(n_features)
        sums = np.bincount(places.ravel(), statistics.ravel(), n_groups * n_features)
        return np.asarray(sums.reshape(n_groups, n_features))
    members = csc_array((np.ones(n_pieces), groups, np.arange(n_pieces + 1)), (n_groups, n_pieces))
    return np.asarray(members @ statistics)


def means_of(rows: Floats, groups: Integers, n_groups: int) -> Floats:
    """The mean of the rows (N, d) in each group, (n_groups, d); 0 where there are none."""
    sizes = np.bincount(groups, minlength=n_groups)
    return np.asarray(pool(rows, groups, n_groups) / np.maximum(sizes, 1)[:, None])


@dataclass(frozen=True)
class _Path:
    """The greedy sequence of merges (kept, absorbed), and after how many of them to look.

    After ``n_expected`` merges it is largest under the prior that the path was found with; under
    the prior of their own only the levels after ``likely`` numbers of merges may be best.
    """

    merges: list[tuple[int, int]]
    n_expected: int
    likely: frozenset[int]


def _merge_path(
    statistics: Floats,
    family: Family,
    prior: Prior,
    pieces: CutPieces | KnownPieces,
    fewest_merges: int,
) -> _Path:
    """Merge down to one piece, or until so much is lost that no level from there on is likely."""
    current = statistics.copy()
    evidence = family.log_evidence(current, prior)
    united = np.empty((len(current), len(current)))  # the evidence of each two pieces as one

    def gains(first: Integers, second: Integers) -> Floats:
        joint = family.log_evidence(current[first] + current[second], prior)
        united[first, second] = united[second, first] = joint
        bonus = pieces.merge_bonus(current[first, 0], current[second, 0])
        return np.asarray(joint - evidence[first] - evidence[second] + bonus)

    def merge(kept: Integers, absorbed: Integers) -> None:
        current[kept] += current[absorbed]
        evidence[kept] = united[kept, absorbed]

    tolerated = _PRIOR_IS_WORTH * len(current)
    merges: list[tuple[int, int]] = []
    gained = [0.0]
    for kept, absorbed, gain in greedy_merges(len(current), gains, merge, several=True):
        merges.append((kept, absorbed))
        gained.append(gained[-1] + gain)
        if len(merges) > fewest_merges and max(gained[fewest_merges:]) - gained[-1] > tolerated:
            break
    most = max(gained[fewest_merges:])
    likely = (n for n in range(fewest_merges, len(gained)) if gained[n] >= most - tolerated)
    return _Path(merges, gained.index(most, fewest_merges), frozenset(likely))


@dataclass(frozen=True)
class _Level:
    n_merges: int
    score: float
    prior: Prior


def _score_levels(
    statistics: Floats, family: Family, path: _Path, pieces: CutPieces | KnownPieces
) -> list[_Level]:
    """The evidence of the likely levels under the prior that each level itself suggests."""
    current = statistics.copy()
    alive = np.ones(len(current), dtype=bool)
    levels: list[Floats] = []
    for n_merges in range(max(path.likely) + 1):
        if n_merges > 0:
            kept, absorbed = path.merges[n_merges - 1]
            current[kept] += current[absorbed]
            alive[absorbed] = False
        if n_merges in path.likely:
            levels.append(current[alive])
    sizes = np.array([len(level) for level in levels])
    counts = np.concatenate([level[:, 0] for level in levels])
    scores = pieces.level_scores(counts, np.cumsum(sizes) - sizes)
    return [
        _Level(n_merges, evidence + score, prior)
        for n_merges, score, (prior, evidence) in zip(
            sorted(path.likely), scores.tolist(), family.own_evidence(levels), strict=True
        )
    ]


def _groups_at(path: list[tuple[int, int]], level: int, n_pieces: int) -> Integers:
    groups = np.arange(n_pieces)
    for kept, absorbed in path[:level]:
        groups[groups == absorbed] = kept
    return numbered(groups)
