"""Time Algorithm 1 (`mixoracle.latent.layout`) as the number of components grows.

Run with ``python benchmarks/bench_layout.py``. The last binary row is the target of the project:
16 latents behind 40 observed variables, 65 536 components, in under 5 s on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from mixoracle.datasets import random_model
from mixoracle.latent import layout

# (latents, observed variables, states of each latent)
SETTINGS = ((4, 8, 2), (8, 20, 2), (12, 30, 2), (16, 40, 2), (4, 10, 10), (6, 15, 5), (2, 6, 200))


def time_layout(n_latent: int, n_observed: int, size: int, seed: int) -> tuple[int, float]:
    """Return the number of components and the seconds that their layout took."""
    rng = np.random.default_rng(seed)
    model = random_model(
        n_latent,
        n_observed,
        size,
        rng,
        covariance=None,
        min_domain=size,
        max_joint_states=None,
    )
    states = np.stack(np.unravel_index(np.arange(size**n_latent), model.domain_sizes), axis=1)
    labels = model.component_of_states(rng.permutation(states))
    start = time.perf_counter()
    cells = layout(labels, model.bipartite, model.domain_sizes)
    seconds = time.perf_counter() - start
    return cells.size, seconds


def main(argv: Sequence[str] | None = None) -> None:
    """Print a table of timings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    print(f"{'latents':>8}{'observed':>10}{'states':>8}{'components':>12}{'seconds':>10}")
    for n_latent, n_observed, size in SETTINGS:
        n_components, seconds = time_layout(n_latent, n_observed, size, options.seed)
        print(f"{n_latent:>8}{n_observed:>10}{size:>8}{n_components:>12}{seconds:>10.3f}")


if __name__ == "__main__":
    main()
