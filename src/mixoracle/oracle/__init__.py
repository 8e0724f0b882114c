"""Step (a): observations to component counts and the map L."""

from mixoracle.oracle.counts import ComponentCount, ComponentCounts
from mixoracle.oracle.exact import ExactOracle
from mixoracle.oracle.protocol import BatchMixtureOracle, MixtureOracle

__all__ = [
    "BatchMixtureOracle",
    "ComponentCount",
    "ComponentCounts",
    "ExactOracle",
    "MixtureOracle",
]
