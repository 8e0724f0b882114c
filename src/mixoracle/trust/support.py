"""How often each part of an answer was found again, in resamples that were aligned with it.

A share near 1 says that the part does not hang on which cases happened to be measured. Intervals of
P(H) and of effects are quantiles over the resamples in which the same latents with the same numbers
of states were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.model.inference import Effects
from mixoracle.model.variables import Variable
from mixoracle.trust.aligning import Sighting

# The interval of a probability holds this share of the resamples.
COVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class Support:
    """The share of resamples in which each part of the answer was found again.

    Parameters
    ----------
    n_resamples : int
    n_latents : mapping from int to float
        The share of resamples with each number of latents.
    latents : (m,) array
        How often each latent was found again.
    domain_sizes : (m,) array
        How often with the same number of states.
    bipartite : (n, m) array
        How often each variable was driven by what stands for each latent.
    adjacency : (m, m) array
        How often two latents were adjacent; symmetric.
    arrows : (m, m) array
        Entry [i, j] is how often i→j was found. Edges whose direction stayed open count in
        ``adjacency`` only.
    joint_low, joint_high : arrays of the shape of P(H), or None
        Between them lie 95 % of the resamples in which the same latents with the same numbers of
        states were found; None if there are none.
    n_same : int
        How many resamples these are.
    resampled : tuple of LatentModel
        The answer with P(H) and Λ of each of them, which :meth:`effect` asks.
    """

    n_resamples: int
    n_latents: Mapping[int, float]
    latents: Floats
    domain_sizes: Floats
    bipartite: Floats
    adjacency: Floats
    arrows: Floats
    joint_low: Floats | None
    joint_high: Floats | None
    n_same: int
    resampled: tuple[LatentModel, ...] = ()

    def effect(self, cause: Variable, effect: Variable) -> tuple[Floats, Floats]:
        """The interval of P(effect | do(cause = state)) over the class and the resamples.

        In each resample the effect is a range over all members of its class. Returned are the
        2.5 % quantile of the lower ends and the 97.5 % quantile of the upper ends; the first axis
        is the state of the cause.
        """
        if not self.resampled:
            raise InvalidInputError(
                "no resample has the same causes with the same numbers of states as the answer, so "
                "that there is no interval of an effect; use more resamples or more cases"
            )
        found = [Effects(model, cause).on(effect) for model in self.resampled]
        tail = 0.5 * (1.0 - COVERAGE)
        low = np.quantile(np.stack([held.lower for held in found]), tail, axis=0)
        high = np.quantile(np.stack([held.upper for held in found]), 1.0 - tail, axis=0)
        return np.asarray(low), np.asarray(high)

    @classmethod
    def of(cls, sightings: list[Sighting], model: LatentModel) -> Support:
        """Count what was found again of the answer."""
        total, domain_sizes = len(sightings), model.domain_sizes
        numbers = Counter(sighting.n_latents for sighting in sightings)
        found = np.array([sighting.domain_sizes for sighting in sightings]).reshape(total, -1)
        tables = [sighting.joint for sighting in sightings if sighting.joint is not None]
        low = high = None
        if tables:
            tail = 0.5 * (1.0 - COVERAGE)
            low, high = np.quantile(np.stack(tables), [tail, 1.0 - tail], axis=0)
        return cls(
            n_resamples=total,
            n_latents={number: numbers[number] / total for number in sorted(numbers)},
            latents=np.mean(found > 0, axis=0),
            domain_sizes=np.mean(found == np.array(domain_sizes, dtype=np.int64), axis=0),
            bipartite=np.mean([sighting.bipartite for sighting in sightings], axis=0),
            adjacency=np.mean([sighting.adjacency for sighting in sightings], axis=0),
            arrows=np.mean([sighting.arrows for sighting in sightings], axis=0),
            joint_low=low,
            joint_high=high,
            n_same=len(tables),
            resampled=tuple(
                _seen_as(model, sighting) for sighting in sightings if sighting.joint is not None
            ),
        )


def _seen_as(model: LatentModel, sighting: Sighting) -> LatentModel:
    """The answer with P(H) and Λ of a resample that has the same latents and states."""
    both = sighting.adjacency & ~sighting.arrows & ~sighting.arrows.T
    graph = CPDAG(
        model.n_latent,
        frozenset((int(i), int(j)) for i, j in np.argwhere(sighting.arrows)),
        frozenset(frozenset((int(i), int(j))) for i, j in np.argwhere(np.triu(both))),
    )
    return LatentModel(
        observed_names=model.observed_names,
        latent_names=model.latent_names,
        bipartite=model.bipartite,
        domain_sizes=model.domain_sizes,
        joint=JointTable(np.asarray(sighting.joint)),
        latent_graph=graph,
        components=model.components,
    )
