"""Step (b): component counts to the bipartite graph Γ and the domain sizes."""

from mixoracle.bipartite.fitting import canonical_order
from mixoracle.bipartite.recovery import EXACT, Method, check, check_method, recover

__all__ = ["EXACT", "Method", "canonical_order", "check", "check_method", "recover"]
