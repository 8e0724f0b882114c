"""Step (a): observations to component counts and the map L."""

from mixoracle.oracles.counts import ComponentCount, ComponentCounts
from mixoracle.oracles.exact import ExactOracle
from mixoracle.oracles.protocol import BatchMixtureOracle, MixtureOracle

__all__ = [
    "BatchMixtureOracle",
    "ComponentCount",
    "ComponentCounts",
    "ExactOracle",
    "MixtureOracle",
]
