"""Find the hidden discrete causes behind data, and the causal graph among them.

The public names load when they are first used, so that ``import mixoracle`` costs nothing.

>>> import mixoracle
>>> mixoracle.CPDAG.from_dag([(0, 1), (2, 1)], n_nodes=3)
CPDAG(3 nodes: 0→1, 2→1)
"""

# Loading ``typing`` takes longer than all of this, and Ctrl-C is not yet answered in our way.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mixoracle._version import __version__
    from mixoracle.background import Background, KnownLatent
    from mixoracle.learner import LatentGraphLearner
    from mixoracle.model import CPDAG, JointNetwork, JointTable, LatentModel
    from mixoracle.observations import ChunkedObservations, Columns, Observations
    from mixoracle.oracles.exact import ExactOracle
    from mixoracle.oracles.kmeans import KMeansOracle
    from mixoracle.oracles.projection import ProjectionOracle
    from mixoracle.oracles.protocol import MixtureOracle
    from mixoracle.oracles.signature import SignatureOracle

__all__ = [
    "CPDAG",
    "Background",
    "ChunkedObservations",
    "Columns",
    "ExactOracle",
    "JointNetwork",
    "JointTable",
    "KMeansOracle",
    "KnownLatent",
    "LatentGraphLearner",
    "LatentModel",
    "MixtureOracle",
    "Observations",
    "ProjectionOracle",
    "SignatureOracle",
    "__version__",
]

_HOMES = {
    "Background": "mixoracle.background",
    "CPDAG": "mixoracle.model",
    "ChunkedObservations": "mixoracle.observations",
    "Columns": "mixoracle.observations",
    "ExactOracle": "mixoracle.oracles.exact",
    "JointNetwork": "mixoracle.model",
    "JointTable": "mixoracle.model",
    "KMeansOracle": "mixoracle.oracles.kmeans",
    "KnownLatent": "mixoracle.background",
    "LatentGraphLearner": "mixoracle.learner",
    "LatentModel": "mixoracle.model",
    "MixtureOracle": "mixoracle.oracles.protocol",
    "Observations": "mixoracle.observations",
    "ProjectionOracle": "mixoracle.oracles.projection",
    "SignatureOracle": "mixoracle.oracles.signature",
    "__version__": "mixoracle._version",
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'mixoracle' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
