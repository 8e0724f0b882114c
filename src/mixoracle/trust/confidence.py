"""How sure the counts k(S) and the edges of Γ are.

A count is right if the candidate is, each measurement of S has the parents that it was given, and
none of their states are to be merged. Three figures say so: the share of the evidence, among all
candidates, of those that agree on the count; the probability of each edge of Γ
(:mod:`mixoracle.trust.drives`); and that of each latent's states being different. Their product is
the confidence, as far as evidence goes. How many components a measurement shows alone does not
enter: what the others corrected of it is better known.

All that holds if the data are as the model has them and the states were found. Whether that is so
is what the verdict on the whole answer says. So a figure p becomes a + (b − a)·p, where a and b are
how often statements were right under each grade of verdict if the evidence said 0 and 1, on
problems that were drawn for this and are never tested on (``docs/decisions/132``, ``138``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.inference.refine import Refinement
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite
from mixoracle.oracles.candidate import DecodedCounts
from mixoracle.oracles.counts import ComponentCount, ComponentCounts
from mixoracle.oracles.protocol import MixtureOracle
from mixoracle.settings import Settings
from mixoracle.structure import EdgePosterior
from mixoracle.trust.drives import Drives, drive_posterior
from mixoracle.trust.edges import SURE

# Below this, what drives a variable is not sure: of answers with a lower one nearly all are wrong
# somewhere (docs/decisions/137).
WEAK_CONFIDENCE = 0.995

# Right statements where the evidence says 0 and 1, by the grade of the verdict: least squares over
# problems of the seeds 200 000 to 200 459 and 300 000 to 300 519 (up to 200 rows), by
# python benchmarks/bench_calibration.py --fit.
RIGHT_COUNTS: Mapping[str, tuple[float, float]] = {
    "believe": (0.0, 0.99),
    "beside": (0.0, 0.83),
    "part": (0.26, 0.57),
    "doubt": (0.08, 0.23),
}
RIGHT_DRIVES: Mapping[str, tuple[float, float]] = {
    "believe": (0.0, 0.995),
    "beside": (0.0, 0.97),
    "part": (0.04, 0.865),
    "doubt": (0.06, 0.28),
}
# Likewise of Λ's adjacencies, over 508 problems of up to 1 000 rows (docs/decisions/138).
RIGHT_EDGES: Mapping[str, tuple[float, float]] = {
    "believe": (0.0, 1.0),
    "beside": (0.32, 0.76),
    "part": (0.16, 0.595),
    "doubt": (0.28, 0.47),
}


@dataclass(frozen=True, eq=False)
class Confidence:
    """What the evidence says about Γ ``graph`` and its counts, which an ``oracle`` gave."""

    oracle: MixtureOracle
    graph: Bipartite
    drives: Drives

    @classmethod
    def of(
        cls,
        oracle: MixtureOracle,
        graph: Bipartite,
        prepared: Prepared,
        refinement: Refinement,
        settings: Settings = Settings(),
    ) -> Confidence:
        """Of an answer."""
        return cls(oracle, graph, drive_posterior(prepared, graph, refinement, settings))

    def counts(self, names: Sequence[str], grade: str | None = None) -> ComponentCounts:
        """All counts; with what they are worth under this grade, or as the evidence says."""
        worth = (0.0, 1.0) if grade is None else RIGHT_COUNTS[grade]
        return ComponentCounts(names, partial(self._count, worth))

    def edges(self, grade: str) -> Floats:
        """The probability (n, m) that X_i is driven by H_j, under this grade."""
        return np.asarray(np.interp(self.drives.edges, (0.0, 1.0), RIGHT_DRIVES[grade]))

    def unsure(self) -> tuple[int, ...]:
        """The variables whose number of components is in doubt, by the evidence alone.

        That a latent does not drive a variable is never as sure as that it does: a slight effect
        stays possible, and where it costs one parameter, as of an item with two answers, the odds
        against it are √N at most. So an edge that was not found is in doubt where it is open, as
        it would be in Λ, and everything that was found already where it is a little less than sure.
        """
        places = range(len(self.graph.adjacency))
        return tuple(i for i in places if self._is_unsure(i))

    def _is_unsure(self, place: int) -> bool:
        if not isinstance(self.oracle, DecodedCounts):
            own = self.oracle.count(frozenset({place}))
            said = own.confidence if isinstance(own, ComponentCount) else None
            return said is not None and said < WEAK_CONFIDENCE
        absent = self.drives.edges[place][~self.graph.adjacency[place]]
        is_open = absent.max(initial=0.0) > 1.0 - SURE
        return bool(is_open) or self._found([place]) < WEAK_CONFIDENCE

    def _count(self, worth: tuple[float, float], subset: frozenset[int]) -> int:
        """One count."""
        if not isinstance(self.oracle, DecodedCounts):
            return self.oracle.count(subset)
        members, found = sorted(subset), self.oracle.count(subset)
        absent = np.where(self.graph.adjacency[members], 0.0, self.drives.edges[members])
        sure = self._found(members) * float((1.0 - absent).prod())
        return ComponentCount(int(found), float(np.interp(sure, (0.0, 1.0), worth)), found.seen)

    def _found(self, members: list[int]) -> float:
        """How sure is what drives these variables; nothing rivals that nothing does."""
        if not self.graph.n_latent:
            return 1.0
        assert isinstance(self.oracle, DecodedCounts)  # asked only of such
        adjacency, edges = self.graph.adjacency[members], self.drives.edges[members]
        sure = float(edges[adjacency].prod())
        sure *= float(self.drives.states[adjacency.any(axis=0)].prod())
        return sure * self.oracle.rivals.agreement(members, int(self.oracle.count(members)))


def of_graph(posterior: EdgePosterior | None, grade: str) -> EdgePosterior | None:
    """The posterior of Λ's edges, given the latents, as far as these are as found.

    Latents that are not as found are adjacent all the same at times, in either direction.
    """
    if posterior is None:
        return None
    low, high = RIGHT_EDGES[grade]
    pairs = 1.0 - np.eye(len(posterior.adjacency))
    return EdgePosterior(
        pairs * low + (high - low) * posterior.adjacency,
        0.5 * pairs * low + (high - low) * posterior.arrows,
    )
