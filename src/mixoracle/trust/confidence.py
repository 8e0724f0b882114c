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
problems that were drawn for this and are never tested on (``docs/decisions/132``). Probabilities of
Λ's edges are multiplied by how likely the latents are as found.
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
from mixoracle.structure import EdgePosterior
from mixoracle.trust.drives import Drives, drive_posterior

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
RIGHT_EDGES: Mapping[str, float] = {"believe": 1.0, "beside": 1.0, "part": 0.85, "doubt": 0.85}


@dataclass(frozen=True, eq=False)
class Confidence:
    """What the evidence says about Γ ``graph`` and its counts, which an ``oracle`` gave."""

    oracle: MixtureOracle
    graph: Bipartite
    drives: Drives

    @classmethod
    def of(
        cls, oracle: MixtureOracle, graph: Bipartite, prepared: Prepared, refinement: Refinement
    ) -> Confidence:
        """Of an answer."""
        return cls(oracle, graph, drive_posterior(prepared, graph, refinement))

    def counts(self, names: Sequence[str], grade: str | None = None) -> ComponentCounts:
        """All counts; with what they are worth under this grade, or as the evidence says."""
        worth = (0.0, 1.0) if grade is None else RIGHT_COUNTS[grade]
        return ComponentCounts(names, partial(self._count, worth))

    def edges(self, grade: str) -> Floats:
        """The probability (n, m) that X_i is driven by H_j, under this grade."""
        return np.asarray(np.interp(self.drives.edges, (0.0, 1.0), RIGHT_DRIVES[grade]))

    def _count(self, worth: tuple[float, float], subset: frozenset[int]) -> int:
        """One count; nothing rivals the count 1 of an answer without latents."""
        if not isinstance(self.oracle, DecodedCounts):
            return self.oracle.count(subset)
        members, found, sure = sorted(subset), self.oracle.count(subset), 1.0
        if self.graph.n_latent:
            adjacency, edges = self.graph.adjacency[members], self.drives.edges[members]
            sure = float(np.where(adjacency, edges, 1.0 - edges).prod())
            sure *= float(self.drives.states[adjacency.any(axis=0)].prod())
            sure *= self.oracle.rivals.agreement(members, int(found))
        return ComponentCount(int(found), float(np.interp(sure, (0.0, 1.0), worth)), found.seen)


def of_graph(posterior: EdgePosterior | None, grade: str) -> EdgePosterior | None:
    """The posterior of Λ's edges, given the latents, as far as these are as found."""
    if posterior is None:
        return None
    worth = RIGHT_EDGES[grade]
    return EdgePosterior(worth * posterior.adjacency, worth * posterior.arrows)
