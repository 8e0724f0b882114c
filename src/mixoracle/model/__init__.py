"""The records that travel between the stages: learned and simulated models.

Each is frozen, checks itself when it is made, compares by value and prints helpfully. None of
them knows how it was made: an exact oracle, a simulator and a learner fill the same records.
"""

from mixoracle.families import (
    CategoricalComponents,
    ComponentSet,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)
from mixoracle.model.bipartite import Bipartite
from mixoracle.model.cpdag import CPDAG
from mixoracle.model.joint import Joint, JointTable
from mixoracle.model.latent_model import LatentModel
from mixoracle.model.network import JointNetwork
from mixoracle.model.projection import Projection

__all__ = [
    "CPDAG",
    "Bipartite",
    "CategoricalComponents",
    "ComponentSet",
    "CountComponents",
    "DiagonalComponents",
    "GammaComponents",
    "GaussianComponents",
    "Joint",
    "JointNetwork",
    "JointTable",
    "LatentModel",
    "ProductComponents",
    "Projection",
    "StudentComponents",
]
