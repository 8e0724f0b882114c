"""Step (e): the joint distribution P(H) to the latent graph Λ as a CPDAG."""
