"""Step (e): the joint distribution P(H) to the latent graph Λ as a CPDAG."""

from mixoracle.structure.knowledge import Knowledge
from mixoracle.structure.scores import BIC, BDeu, Score
from mixoracle.structure.search import SearchResult, check_method, learn, search

__all__ = ["BIC", "BDeu", "Knowledge", "Score", "SearchResult", "check_method", "learn", "search"]
