"""Steps (c) and (d): the map L, Γ and the weights to the joint distribution P(H)."""
