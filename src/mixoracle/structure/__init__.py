"""Step (e): the joint distribution P(H) to the latent graph Λ as a CPDAG."""

from mixoracle.structure.averaging import EdgePosterior, can_average, edge_posterior
from mixoracle.structure.knowledge import Knowledge
from mixoracle.structure.power import visible_association
from mixoracle.structure.scores import BIC, BDeu, Score
from mixoracle.structure.search import (
    SearchResult,
    as_class,
    check_method,
    close_classes,
    learn,
    search,
)
from mixoracle.structure.state_counts import StateCounts

__all__ = [
    "BIC",
    "BDeu",
    "EdgePosterior",
    "Knowledge",
    "Score",
    "SearchResult",
    "StateCounts",
    "as_class",
    "can_average",
    "check_method",
    "close_classes",
    "edge_posterior",
    "learn",
    "search",
    "visible_association",
]
