"""Questions to P(H) as a network: CPU seconds of each, by the number of latents.

Problems are those of ``datasets.sparse_problem``, each latent with at most so many causes. The last
column is the largest table that eliminating all latents would need, as a power of two; questions
only take part of it, and are refused beyond 10^7 entries (2^23).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from math import inf, log2, prod
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

from mixoracle import LatentModel
from mixoracle.datasets import sparse_problem
from mixoracle.errors import InvalidInputError
from mixoracle.metrics import compare
from mixoracle.model import elimination

LATENTS = (15, 30, 60, 120)
COLUMNS = ("marginal", "query", "effect", "draw", "likeliest", "bif", "files", "compare")


def seconds(ask: Callable[[], Any]) -> float | None:
    """The CPU seconds that a question takes; None where it is refused."""
    start = time.process_time()
    try:
        ask()
    except InvalidInputError:
        return None
    return time.process_time() - start


def questions(model: LatentModel, rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """One of each kind, about latents at random."""
    few = rng.choice(model.n_latent, 5, replace=False).tolist()
    given = {few[2]: 0, few[3]: 1, "X1": model.components[0].means[0]}  # type: ignore[index, attr-defined]

    def files() -> None:
        with TemporaryDirectory() as folder:
            model.save(folder)
            LatentModel.load(folder)

    return {
        "marginal": lambda: model.joint.marginal(few[:3]),
        "query": lambda: model.query(few[:2], given=given),
        "effect": lambda: model.effect(few[0], few[1]),
        "draw": lambda: model.joint.draw(100_000, rng),
        "likeliest": lambda: model.joint.likeliest(200),
        "bif": model.to_bif,
        "files": files,
        "compare": lambda: compare(model, model),
    }


def largest_table(model: LatentModel) -> int:
    """The entries of the largest table on the way when all latents are summed out."""
    scopes = [set(factor.latents) for factor in model.joint.factors()]
    with mock.patch.object(elimination, "MAX_ENTRIES", inf):
        order = elimination._order(scopes, (), model.domain_sizes)
    largest = 1
    for latent in order:
        bucket = set().union(*(scope for scope in scopes if latent in scope))
        scopes = [scope for scope in scopes if latent not in scope] + [bucket - {latent}]
        largest = max(largest, prod(model.domain_sizes[j] for j in bucket))
    return largest


def main(argv: list[str] | None = None) -> None:
    """Print the table: medians over the problems."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", type=int, default=5)
    parser.add_argument("--causes", type=int, nargs="+", default=[2, 3])
    choices = parser.parse_args(argv)
    head = "".join(f"{name:>11}" for name in COLUMNS)
    print(f"{'m':>4}{'causes':>8}{head}{'largest':>9}")
    for causes in choices.causes:
        for m in LATENTS:
            times: dict[str, list[float | None]] = {name: [] for name in COLUMNS}
            largest = []
            for seed in range(choices.problems):
                model = sparse_problem(
                    m, 5 * m, n_samples=2, random_state=seed, max_causes=causes
                ).model
                asked = questions(model, np.random.default_rng(seed))
                for name, ask in asked.items():
                    times[name].append(seconds(ask))
                largest.append(largest_table(model))
            shown = "".join(f"{_median(held):>11}" for held in times.values())
            print(f"{m:>4}{causes:>8}{shown}{f'2^{log2(max(largest)):.0f}':>9}", flush=True)


def _median(held: list[float | None]) -> str:
    known = [value for value in held if value is not None]
    refused = len(held) - len(known)
    text = f"{median(known):.3f}" if known else ""
    return text + (f" ({refused} no)" if refused else "")


if __name__ == "__main__":
    main()
