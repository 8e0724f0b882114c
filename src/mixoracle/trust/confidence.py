"""How sure the counts k(S) and the edges of Γ are.

A count is right if the candidate is, each measurement of S has the parents that it was given, and
none of their states are to be merged. Three figures say so: the share of the evidence, among all
candidates, of those that agree on the count; the probability of each edge of Γ
(:mod:`mixoracle.trust.drives`); and that of each latent's states being different. Their product is
the confidence, as far as evidence goes. How many components a measurement shows alone does not
enter: what the others corrected of it is better known.

All that holds if the data are as the model has them and the states were found. Whether that is so
is what the verdict on the whole answer says; so figures are multiplied by how often statements were
right under each verdict, on problems that were drawn for this and are never tested on
(``docs/decisions/132``).
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
from mixoracle.trust.drives import Drives, drive_posterior

# Right statements, as a share of what was stated, under each verdict:
# python benchmarks/bench_calibration.py --fit, seeds 200 000 to 200 459.
RIGHT_COUNTS: Mapping[str, float] = {"believe": 0.99, "part": 0.83, "doubt": 0.24}
RIGHT_DRIVES: Mapping[str, float] = {"believe": 0.99, "part": 0.93, "doubt": 0.34}


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

    def counts(self, names: Sequence[str], level: str | None = None) -> ComponentCounts:
        """All counts; with what they are worth under this verdict, or as the evidence says."""
        worth = 1.0 if level is None else RIGHT_COUNTS[level]
        return ComponentCounts(names, partial(self._count, worth))

    def edges(self, level: str) -> Floats:
        """The probability (n, m) that X_i is driven by H_j, under this verdict."""
        return RIGHT_DRIVES[level] * self.drives.edges

    def _count(self, worth: float, subset: frozenset[int]) -> int:
        """One count; nothing rivals the count 1 of an answer without latents."""
        if not isinstance(self.oracle, DecodedCounts):
            return self.oracle.count(subset)
        members, found = sorted(subset), self.oracle.count(subset)
        if self.graph.n_latent:
            adjacency, edges = self.graph.adjacency[members], self.drives.edges[members]
            worth *= float(np.where(adjacency, edges, 1.0 - edges).prod())
            worth *= float(self.drives.states[adjacency.any(axis=0)].prod())
            worth *= self.oracle.rivals.agreement(members, int(found))
        return ComponentCount(int(found), worth, found.seen)
