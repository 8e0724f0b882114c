"""Step (b): component counts to the bipartite graph Γ and the domain sizes."""

from mixoracle.bipartite.recovery import recover

__all__ = ["recover"]
