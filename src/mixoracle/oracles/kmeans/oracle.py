"""The mixture oracle of the paper: k-means, merged centres, silhouettes and votes (``sec:alg``).

Every subset of at most three variables is clustered on its own coordinates, and each number of
clusters is scored by its silhouette. The mixtures of single variables and of pairs then vote for
each other's counts, and triples start from what was elected ('Details of Step (a)', 1 to 6).
Step (c) comes after Γ is known: :meth:`KMeansOracle.informed_by` takes it, and
:meth:`KMeansOracle.projection` clusters all of X with the k(X) components it implies.

Assumes nondegeneracy, complete continuous columns, and components further apart than they are
wide. It is told no number of components and no number of latents. Where the paper leaves a
choice open (the end of the scan for k_max, the linkage, what 'close' means, a variable with one
component) the choice made is stated beside the code that makes it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from mixoracle._arrays import Integers
from mixoracle._checks import check_whole, make_generator
from mixoracle.errors import InvalidInputError, ProjectionError
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, Projection
from mixoracle.observations import ColumnKind, Observations
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.kmeans.clusters import (
    MIN_SAMPLES_PER_CENTRE,
    OVERSEGMENTATION,
    best_candidates,
)
from mixoracle.oracles.kmeans.consensus import elect
from mixoracle.oracles.kmeans.tasks import Workbench
from mixoracle.oracles.run import Run, Stage
from mixoracle.oracles.subsets import checked_members, count_by_parents

# The paper's oracle counts components of subsets up to this size; Γ needs no more
# (``thm:recovery:eff``).
LARGEST_SUBSET = 3

# More centres than this make k-means slow at any N, and no silhouette tells so many counts apart.
MAX_CENTRES = 500


@dataclass(kw_only=True, eq=False)
class KMeansOracle:
    """Count mixture components as the paper does, and learn the map L once Γ is known.

    Parameters
    ----------
    max_components : int, optional
        The upper bound k_max on the components of one variable. None finds it by silhouette.
    n_candidates : int
        How many counts of each variable take part in the votes.
    random_state : int, Generator or None
        The same int gives the same answer for every ``n_jobs`` and order of the variables. In a
        learner, the learner's unless it is given here.
    n_jobs : int, optional
        Processes to share the subsets among, as joblib counts them; the learner's number, or 1.

    Attributes
    ----------
    k_max_ : int
        The upper bound that was used.
    single_candidates_ : tuple of tuples of CountCandidate
        For each variable its best counts, highest silhouette first. One candidate of one
        component where the variable does not fall into clusters.
    pair_candidates_, triple_candidates_ : dict from tuple of int to tuple of CountCandidate
        The same for each pair and triple, by ascending count.
    votes_ : dict from tuple of int to Election
        Who was elected for each variable and pair, with all votes by kind.
    bipartite_ : Bipartite or None
        Γ, once :meth:`informed_by` has taken it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> state = rng.integers(3, size=400)
    >>> noise = rng.normal(scale=0.05, size=(400, 4))
    >>> centres = np.array([[0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 1]])
    >>> data = Observations.from_array(centres[state] + noise, groups=2)
    >>> oracle = KMeansOracle(random_state=0).fit(data)
    >>> oracle.count([0]), oracle.count([0, 1])
    (3, 3)
    """

    # Each count is estimated on its own, so no graph need fit them all: the closest one is taken.
    count_tolerance: ClassVar[float] = float("inf")

    max_components: int | None = None
    n_candidates: int = 5
    random_state: int | np.random.Generator | None = None
    n_jobs: int | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments, so that scikit-learn can clone the oracle."""
        del deep  # nothing here holds parameters of its own
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change some of the constructor's arguments."""
        unknown = sorted(params.keys() - self.get_params().keys())
        if unknown:
            raise InvalidInputError(
                f"KMeansOracle has no parameter {unknown[0]!r}; it has "
                + ", ".join(self.get_params())
            )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def candidates(self, prepared: Prepared, run: Run, /) -> tuple[Candidate, ...]:
        """The one candidate that the learner gets: counts, and the map L once Γ is known."""
        run = run.with_own(self.max_components, self.n_jobs, self.random_state)
        run.report(Stage.COUNTING)
        oracle = replace(
            self, max_components=run.max_components, random_state=run.rng, n_jobs=run.n_jobs
        )
        return (Candidate.from_counts(oracle.fit(prepared.observations), "kmeans"),)

    def fit(self, observations: Observations) -> Self:
        """Count the components of every subset of at most three variables."""
        limit = self._checked_limit(observations)
        seed = int(make_generator(self.random_state).integers(2**63))
        bench = Workbench.prepare(observations, limit, seed, self.n_jobs or 1)
        scanned = bench.scan()
        # The scan, in steps of a factor, brackets the best count; and k-means needs room to spare.
        k_max = self.max_components or min(limit, OVERSEGMENTATION * max(scanned))
        singles = bench.singles([k_max if about > 1 else 1 for about in scanned], self.n_candidates)
        pairs = bench.pairs(singles)
        votes = elect(singles, pairs, bench.widths)
        elected = {
            members: (pairs[members] if len(members) > 1 else singles[members[0]])[vote.position]
            for members, vote in votes.items()
        }
        self.triple_candidates_ = bench.triples(elected)
        self.k_max_, self.votes_ = k_max, votes
        self.single_candidates_, self.pair_candidates_ = singles, pairs
        self.bipartite_: Bipartite | None = None
        self._projection: tuple[Projection, Integers] | None = None
        self._bench = bench
        return self

    @property
    def n_observed(self) -> int:
        """The number of observed variables."""
        self._check_is_fitted()
        return len(self._bench.blocks)

    def count(self, subset: Iterable[int], /) -> int:
        """k(S): elected for one and two variables, by silhouette for three, from Γ beyond."""
        members = tuple(checked_members(subset, self.n_observed))
        if not members:
            return 1
        if len(members) == LARGEST_SUBSET:
            return best_candidates(self.triple_candidates_[members], 1)[0].n_components
        if len(members) < LARGEST_SUBSET:
            return self.votes_[members].winner
        if self.bipartite_ is None:
            raise InvalidInputError(
                f"the paper's oracle clusters at most {LARGEST_SUBSET} variables at a time; got "
                f"{len(members)}: recover Γ from the smaller subsets and pass it to informed_by"
            )
        return count_by_parents(self.bipartite_, members)

    def informed_by(self, bipartite: Bipartite) -> Self:
        """Return this oracle with Γ, from which step (c) takes k(X) and every k(X_i).

        The counts of one, two and three variables stay as they were learned.
        """
        if bipartite.n_observed != self.n_observed:
            raise InvalidInputError(
                f"Γ should be over the {self.n_observed} observed variables that were fitted; "
                f"got one over {bipartite.n_observed}"
            )
        informed = copy.copy(self)
        informed.bipartite_ = bipartite
        informed._projection = None
        return informed

    def projection(self) -> Projection:
        """The map L and the weights π(X, j), by k-means over X and over each X_i.

        A component over X belongs to the nearest mean of X_i in L2 over the coordinates of X_i.
        Nothing makes the result injective or consistent with Γ: it is what the data say.
        """
        return self._projected()[0]

    @property
    def assignments(self) -> Integers:
        """The row of :meth:`projection` that each sample belongs to, (N,)."""
        return self._projected()[1]

    def _projected(self) -> tuple[Projection, Integers]:
        self._check_is_fitted()
        if self.bipartite_ is None:
            raise InvalidInputError(
                "the map L needs the number of components over all of X, which the paper takes "
                "from Γ; recover it from the counts and ask informed_by(bipartite).projection()"
            )
        if self._projection is None:
            counts = [count_by_parents(self.bipartite_, [i]) for i in range(self.n_observed)]
            total = count_by_parents(self.bipartite_, range(self.n_observed))
            n_samples = len(self._bench.blocks[0])
            if total > n_samples:
                raise ProjectionError(
                    f"Γ implies {total} components over X, more than the {n_samples} samples; "
                    "more samples, or a graph with fewer or smaller latents, are needed"
                )
            self._projection = self._bench.project(total, counts)
        return self._projection

    def _checked_limit(self, observations: Observations) -> int:
        """Refuse what k-means cannot use; return the largest count worth trying."""
        if not isinstance(observations, Observations):
            raise InvalidInputError(
                f"fit needs Observations; got {type(observations).__name__}: "
                "Observations.from_array makes them"
            )
        if observations.has_missing:
            raise InvalidInputError(
                f"k-means needs complete data; {observations.missing_fraction:.2%} of the cells "
                "are missing: drop or fill them, or use another oracle"
            )
        for name, kinds in zip(observations.names, observations.kinds, strict=True):
            if any(kind is not ColumnKind.CONTINUOUS for kind in kinds):
                raise InvalidInputError(
                    f"k-means needs distances, and {name!r} has a categorical column: leave it "
                    "out, or use another oracle"
                )
        check_whole("n_candidates", self.n_candidates, at_least=1)
        limit = min(max(observations.n_samples // MIN_SAMPLES_PER_CENTRE, 1), MAX_CENTRES)
        if self.max_components is not None:
            check_whole("max_components", self.max_components, at_least=1)
            if self.max_components > limit:
                raise InvalidInputError(
                    f"max_components should be at most {limit} with {observations.n_samples} "
                    f"samples ({MIN_SAMPLES_PER_CENTRE} to a component, and {MAX_CENTRES} "
                    f"components at most); got {self.max_components}"
                )
        return limit

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "triple_candidates_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this KMeansOracle has not seen data; call fit first")
