"""Where to start when Γ and the domain sizes are known: a state of each latent for each row.

The variables that a latent drives alone show its states best, and k-means in their coordinates
gives each row one of them. EM over the structured model does the rest.
"""

from __future__ import annotations

import numpy as np

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle.mixtures.preparation import Prepared
from mixoracle.mixtures.rows import unit_variance
from mixoracle.mixtures.segmentation import cut
from mixoracle.settings import Settings


def starting_states(
    prepared: Prepared,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    rng: np.random.Generator,
    settings: Settings = Settings(),
) -> Integers:
    """The joint state (N, m) of each prepared row; ``adjacency`` in prepared order."""
    coordinates = [
        unit_variance(family.embedding(block))
        for family, block in zip(prepared.families, prepared.blocks, strict=True)
    ]
    states = np.zeros((prepared.n_samples, len(domain_sizes)), dtype=np.int64)
    for j, size in enumerate(domain_sizes):
        seed = int(rng.integers(np.iinfo(np.int32).max))
        states[:, j] = _cut_by_rank(_purest(coordinates, adjacency, j), size, seed, settings)
    return states


def _purest(coordinates: list[Floats], adjacency: Bools, latent: int) -> Floats:
    """The coordinates of the variables with the fewest parents besides the latent."""
    driven = np.flatnonzero(adjacency[:, latent])
    n_parents = adjacency[driven].sum(axis=1)
    return np.hstack([coordinates[i] for i in driven[n_parents == n_parents.min()]])


def _cut_by_rank(coordinates: Floats, n_pieces: int, seed: int, settings: Settings) -> Integers:
    """Pieces numbered along the direction in which the rows differ most.

    Latents whose variables point the same way then have states that point the same way.
    """
    labels = cut(coordinates, n_pieces, seed, settings)
    centred = coordinates - coordinates.mean(axis=0)
    direction = np.linalg.svd(centred.T @ centred)[0][:, 0]
    means = np.bincount(labels, centred @ direction) / np.bincount(labels)
    return np.asarray(np.argsort(np.argsort(means))[labels])
