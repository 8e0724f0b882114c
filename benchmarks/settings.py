"""The ten settings (latents, observed, largest domain) that the benchmarks share."""

SETTINGS = (
    (1, 3, 5),
    (2, 5, 3),
    (2, 5, 6),
    (3, 7, 4),
    (3, 7, 5),
    (3, 8, 3),
    (3, 8, 4),
    (3, 8, 5),
    (4, 7, 3),
    (4, 8, 3),
)
