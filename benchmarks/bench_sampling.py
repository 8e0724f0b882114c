"""Time the simulator: drawing models, and rows from the largest setting of the paper.

Run with ``python benchmarks/bench_sampling.py``. The target of the project is 1 000 000 rows of
4 latents behind 8 observed variables in R^5 in under 20 s on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from mixoracle.datasets import PAPER_MAX_DOMAIN, PAPER_SETTINGS, paper_problem, random_model

MODELS = 50
SAMPLE_SIZES = (10_000, 100_000, 1_000_000)


def time_models(n_latent: int, n_observed: int, seed: int) -> float:
    """Return the seconds that drawing one model takes, on average."""
    start = time.perf_counter()
    for offset in range(MODELS):
        random_model(n_latent, n_observed, PAPER_MAX_DOMAIN, seed + offset)
    return (time.perf_counter() - start) / MODELS


def time_sampling(n_samples: int, seed: int) -> float:
    """Return the seconds that a problem of the largest paper setting takes, model included."""
    n_latent, n_observed = PAPER_SETTINGS[-1]
    start = time.perf_counter()
    paper_problem(n_latent, n_observed, PAPER_MAX_DOMAIN, n_samples, seed)
    return time.perf_counter() - start


def main(argv: Sequence[str] | None = None) -> None:
    """Print two tables of timings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    print(f"{'latents':>8}{'observed':>10}{'ms a model':>12}")
    for n_latent, n_observed in PAPER_SETTINGS:
        seconds = time_models(n_latent, n_observed, options.seed)
        print(f"{n_latent:>8}{n_observed:>10}{1000 * seconds:>12.2f}")
    print(f"\n{'rows':>10}{'seconds':>10}")
    for n_samples in SAMPLE_SIZES:
        print(f"{n_samples:>10}{time_sampling(n_samples, options.seed):>10.3f}")


if __name__ == "__main__":
    main()
