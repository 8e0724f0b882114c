"""Step (b): component counts to the bipartite graph Γ and the domain sizes."""

from mixoracle.bipartite.recovery import EXACT, recover

__all__ = ["EXACT", "recover"]
