"""Step (e) as the learner was told to do it, for its answer and for resamples alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mixoracle import structure
from mixoracle.model import CPDAG, JointTable
from mixoracle.solving import Solution

LatentSearchStep = Callable[[JointTable, int], CPDAG]


@dataclass(frozen=True)
class LatentSearch:
    """A search by its name, or a function of the user's own."""

    step: str | LatentSearchStep

    def __call__(self, joint: JointTable, n_samples: int, solution: Solution) -> CPDAG:
        """Λ of a solution; what is known of its arrows is honoured by the searches with a name."""
        if callable(self.step):
            return self.step(joint, n_samples)
        known = solution.known
        return structure.learn(joint, n_samples, self.step, known.edges, names=known.latent_names)
