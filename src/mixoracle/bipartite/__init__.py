"""Step (b): component counts to the bipartite graph Γ and the domain sizes."""
