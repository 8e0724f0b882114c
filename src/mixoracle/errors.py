"""One exception for each way in which the input or the science fails.

Every message says what was expected, what came, and what to do about it. Code that calls
mixoracle can catch :class:`MixoracleError` for all of them, :class:`InvalidInputError` for what
the caller did wrong, and :class:`ModelContradictionError` for what the data (or an oracle) said
that no model of the paper can explain.
"""


class MixoracleError(Exception):
    """Anything that mixoracle raises on purpose."""


class InvalidInputError(MixoracleError, ValueError):
    """The caller passed something that cannot be used."""


class FileFormatError(InvalidInputError):
    """A file is truncated, foreign, of an unknown version or inconsistent with itself."""


class MissingDependencyError(MixoracleError, ImportError):
    """An optional extra is needed and not installed."""


class KnowledgeConflictError(InvalidInputError):
    """Background knowledge contradicts itself: a cycle, or required and forbidden at once."""


class NotExtendableError(InvalidInputError):
    """A partially directed graph that stands for no DAG at all."""


class ModelContradictionError(MixoracleError):
    """Counts, components or data that no latent model of the paper explains."""


class InconsistentCountsError(ModelContradictionError):
    """Component counts k(S) that break ``obs:counting`` for every bipartite graph."""


class NotRecoverableError(ModelContradictionError):
    """The requested method cannot tell the bipartite graph apart from others."""


class ProjectionError(ModelContradictionError):
    """The map L contradicts the bipartite graph; the base of the four ways below."""


class NotInjectiveError(ProjectionError):
    """Two components over X have the same component in every observed variable."""


class GroupSizeError(ProjectionError):
    """A group along one latent has not dim(H_j) members (``lem:hidden-directions``)."""


class EmptyIntersectionError(ProjectionError):
    """No component fits a joint state."""


class AmbiguousIntersectionError(ProjectionError):
    """More than one component fits a joint state."""


class AssumptionFailedError(ModelContradictionError):
    """An assumption of the paper failed and ``strict=True`` asked for an error."""


class AssumptionWarning(UserWarning):
    """A model was learned although an assumption of the paper failed; see ``assumptions_``."""


class DataWarning(UserWarning):
    """Some rows, columns or levels say nothing and were passed over."""
