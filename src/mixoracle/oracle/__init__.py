"""Step (a): observations to component counts and the map L."""
