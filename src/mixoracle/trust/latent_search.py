"""Step (e) as the learner was told to do it, for its answer and for resamples alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mixoracle import structure
from mixoracle._arrays import Integers
from mixoracle.background import Application
from mixoracle.model import CPDAG, Joint, JointNetwork
from mixoracle.model.graphs import Edge
from mixoracle.solving import Solution
from mixoracle.structure import StateCounts

LatentSearchStep = Callable[[Joint, int], CPDAG]
# Where there is no table of P(H), one of so many joint states is still quicker than none.
_MOST_COUNTED = 1_000_000


@dataclass(frozen=True)
class LatentSearch:
    """A search by its name, or a function of the user's own."""

    step: str | LatentSearchStep

    def __call__(self, joint: Joint, n_samples: int, solution: Solution) -> CPDAG:
        """Λ of a solution; what is known of its arrows is honoured by the searches with a name."""
        if callable(self.step):
            return self.step(joint, n_samples)
        known = solution.known
        if isinstance(joint, JointNetwork):
            return structure.as_class(
                joint.edges, joint.n_latent, known.edges, names=known.latent_names
            )
        return structure.learn(joint, n_samples, self.step, known.edges, names=known.latent_names)

    def arrows(
        self, states: Integers, domain_sizes: tuple[int, ...], known: Application
    ) -> frozenset[Edge]:
        """Arrows of Λ from the states (N, m) of rows, along which P(H) can be a network."""
        method = "auto" if callable(self.step) else self.step
        rows = StateCounts(states, domain_sizes)
        counted = rows.marginal(range(rows.n_latent)) if rows.n_joint <= _MOST_COUNTED else rows
        names = known.latent_names
        graph = structure.learn(counted, len(states), method, known.edges, names=names)
        return graph.extension()
