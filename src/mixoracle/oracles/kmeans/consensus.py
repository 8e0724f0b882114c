"""How the mixtures over single variables and over pairs agree on their numbers of components.

Each set of variables brings a few candidate counts, each with a silhouette and the means found
with that count. A candidate of X_i and one of (X_i, X_j) vote for each other if one divides the
other (``obs:counting``), and again if the means of the pair, projected to the coordinates of X_i,
are the means of X_i (``sec:alg``). Per set, the candidate with the most votes is elected.

Assumes nondegeneracy, without which neither condition has to hold. The paper weights a vote by
'the silhouette of the predicted number of components' and leaves open whose, and what 'close'
means. Here a vote between two candidates weighs the product of their silhouettes, none if one is
negative, and a set has one vote of each kind for each candidate of another set: that of its own
candidate which agrees with most weight. Adding up all agreeing candidates instead, weighted by
the voter alone, elects numbers with many divisors (12, 24, 36) whatever the data say: of the 104
pairs in 16 small problems of ``sec: expt_details`` it got 13 right and this rule all of them.
For means see :func:`means_align`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm

import numpy as np
from scipy.spatial.distance import cdist

from mixoracle._arrays import Bools, Floats, FrozenArrays, frozen_array
from mixoracle.errors import InvalidInputError

# The observed variables of a set S, ascending.
Members = tuple[int, ...]

# A projected mean belongs to a mean of X_i if it lies closer to it than this share of the
# distance from there to the next mean: at 1/2 it would be as close to both, and a mean between
# two components that were wrongly merged lies there; a correct mean is off by sampling error only.
ALIGNMENT_SHARE = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class CountCandidate(FrozenArrays):
    """One possible number of components of a set of variables, with its evidence."""

    means: Floats  # (n_components, width), of such a mixture, over the coordinates of the set
    silhouette: float  # from -1 to 1; 0 by convention for a single component, which has none

    def __post_init__(self) -> None:
        means = frozen_array(self.means, np.float64, "candidate means")
        if means.ndim != 2 or len(means) == 0:
            raise InvalidInputError(
                f"candidate means should have shape (n_components, width); got {means.shape}"
            )
        if not -1.0 <= self.silhouette <= 1.0:
            raise InvalidInputError(
                f"a silhouette should lie between -1 and 1; got {self.silhouette}"
            )
        self._keep(means=means, silhouette=float(self.silhouette))

    @property
    def n_components(self) -> int:
        """The candidate for k(S)."""
        return len(self.means)

    @property
    def voting_weight(self) -> float:
        """What this candidate brings to the weight of a vote."""
        return max(self.silhouette, 0.0)

    def __repr__(self) -> str:
        return f"CountCandidate({self.n_components} components, silhouette={self.silhouette:.3f})"


@dataclass(frozen=True)
class Tally:
    """The votes that one candidate received, by kind."""

    n_components: int  # which candidate
    silhouette: float  # its own, which decides only between equal totals
    divisibility: float = 0.0
    means: float = 0.0

    @property
    def total(self) -> float:
        """All votes together."""
        return self.divisibility + self.means


@dataclass(frozen=True)
class Election:
    """The votes on k(S) for one set of variables."""

    members: Members
    tallies: tuple[Tally, ...]  # one for each candidate

    def __post_init__(self) -> None:
        if not self.tallies:
            raise InvalidInputError(f"an election over {self.members} needs a candidate")

    @property
    def position(self) -> int:
        """The place of the winner among the candidates.

        Equal totals (a single observed variable has no voters at all) are settled by the
        candidate's own silhouette, then for the smaller count, the simpler of two claims.
        """
        return max(
            range(len(self.tallies)),
            key=lambda c: (
                self.tallies[c].total,
                self.tallies[c].silhouette,
                -self.tallies[c].n_components,
            ),
        )

    @property
    def winner(self) -> int:
        """The elected k(S)."""
        return self.tallies[self.position].n_components


def pair_counts(first: Iterable[int], second: Iterable[int], largest: int) -> tuple[int, ...]:
    """The possible k(X_i, X_j), given the possible k(X_i) and k(X_j); ascending.

    The paper takes every number that some candidate of X_i and some candidate of X_j divide, and
    names no end. ``obs:counting`` has one: k(X_i, X_j) ≤ k(X_i)·k(X_j), attained when the two
    share no parent. Numbers above ``largest``, which the sample cannot support, are left out.

    >>> pair_counts([4], [6], largest=100)
    (12, 24)
    """
    found: set[int] = set()
    for a, b in product(set(first), set(second)):
        step = lcm(a, b)
        found.update(range(step, min(a * b, largest) + 1, step))
    return tuple(sorted(found))


def means_align(projected: Floats, means: Floats) -> bool:
    """Whether the means of a larger set, (k(S'), width) projected to S, are the means of S.

    Each projected mean has to lie near one of ``means``: no further from it than a share of the
    distance from there to the next one. Each of ``means`` has to be met, and all equally often:
    every component over S is seen with k(S')/k(S) components over S' (``obs:counting``). Both
    arrays hold the coordinates of S and no others. With a single mean there is no next one to set
    a scale, and it is always met.
    """
    if len(means) == 1:
        return True
    # cdist takes differences first, so that close points lose no digits.
    between = cdist(means, means)
    np.fill_diagonal(between, np.inf)
    reach = ALIGNMENT_SHARE * between.min(axis=1)
    distance = cdist(projected, means)
    nearest = distance.argmin(axis=1)
    close = distance.min(axis=1) <= reach[nearest]
    met = np.bincount(nearest, minlength=len(means))
    return bool(close.all()) and int(met.min()) == int(met.max())


def elect(
    singles: Sequence[Sequence[CountCandidate]],
    pairs: Mapping[Members, Sequence[CountCandidate]],
    widths: Sequence[int],
) -> dict[Members, Election]:
    """Let all candidates vote and count; one election for each variable and each pair.

    ``singles`` and ``widths`` hold the candidates and the number of coordinates of each observed
    variable, ``pairs`` the candidates of each pair (i, j), i < j, whose means hold the coordinates
    of X_i, then those of X_j.
    """
    standing: dict[Members, Sequence[CountCandidate]] = {
        **{(i,): candidates for i, candidates in enumerate(singles)},
        **pairs,
    }
    votes = {members: np.zeros((len(held), 2)) for members, held in standing.items()}
    for (i, j), candidates in pairs.items():
        coordinates = {i: slice(0, widths[i]), j: slice(widths[i], widths[i] + widths[j])}
        for member, columns in coordinates.items():
            agreement = _agreement(singles[member], candidates, columns)
            weight = np.outer(
                [held.voting_weight for held in singles[member]],
                [held.voting_weight for held in candidates],
            )
            mutual = weight[:, :, None] * agreement
            votes[(member,)] += mutual.max(axis=1)
            votes[(i, j)] += mutual.max(axis=0)
    return {
        members: Election(
            members,
            tuple(
                Tally(held.n_components, held.silhouette, float(by_count), float(by_means))
                for held, (by_count, by_means) in zip(candidates, votes[members], strict=True)
            ),
        )
        for members, candidates in standing.items()
    }


def _agreement(
    singles: Sequence[CountCandidate], pairs: Sequence[CountCandidate], columns: slice
) -> Bools:
    """Which candidates agree by divisibility [..., 0] and by means [..., 1]."""
    agreement = np.zeros((len(singles), len(pairs), 2), dtype=np.bool_)
    for s, single in enumerate(singles):
        for c, pair in enumerate(pairs):
            agreement[s, c, 0] = pair.n_components % single.n_components == 0
            agreement[s, c, 1] = means_align(pair.means[:, columns], single.means)
    return agreement
