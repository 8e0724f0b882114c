"""Changes that should not matter: how often the answer stays the same, up to names.

Fresh problems are learned as they come and after each change: another order of rows, columns and
variables, other units, a constant or irrelevant measurement more, every row twice, more processes,
more threads, another process with another hash seed. Same means the same Γ, domain sizes and Λ, and
the same rows together in each state of each latent; ``rows`` is the largest share of rows in which
any two answers with the same Γ differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import kind_problem, paper_problem
from mixoracle.errors import AssumptionWarning, DataWarning

Blocks = dict[str, NDArray[np.float64]]
_EXTRA = "added"


@dataclass(frozen=True)
class Answer:
    """What was learned, by the names of the variables: latents with their rows, and Λ."""

    latents: tuple[tuple[tuple[str, ...], int], ...]
    edges: tuple[str, ...]
    states: tuple[tuple[int, ...], ...]

    @property
    def structure(self) -> object:
        """Γ, the domain sizes and Λ."""
        return self.latents, self.edges


def answer_of(learner: LatentGraphLearner, rows: Iterable[int]) -> Answer:
    """The answer in an order that names nothing; ``rows`` says which rows, and in which order."""
    model = learner.model_
    chosen = list(rows)
    latents = []
    for j, size in enumerate(model.domain_sizes):
        drives = [model.observed_names[i] for i in np.flatnonzero(model.bipartite[:, j])]
        own = tuple(sorted(name for name in drives if name != _EXTRA))
        latents.append((own, size, _numbered(learner.states_[chosen, j]), j))
    latents.sort()
    called = {j: f"{own}{size}" for own, size, _, j in latents}
    graph = model.latent_graph
    edges = [f"{called[i]}→{called[j]}" for i, j in graph.directed]
    edges += ["—".join(sorted(called[j] for j in pair)) for pair in graph.undirected]
    return Answer(
        tuple((own, size) for own, size, _, _ in latents),
        tuple(sorted(edges)),
        tuple(states for _, _, states, _ in latents),
    )


def _numbered(states: NDArray[np.int64]) -> tuple[int, ...]:
    """States by the order in which they first occur."""
    number: dict[int, int] = {}
    return tuple(number.setdefault(int(state), len(number)) for state in states)


def learned(blocks: Blocks, rows: Iterable[int] | None = None, **choices: Any) -> Answer:
    """The answer to some blocks."""
    observations = Observations.from_arrays(blocks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", DataWarning)
        learner = LatentGraphLearner(random_state=0, **choices).fit(observations)
    return answer_of(learner, range(observations.n_samples) if rows is None else rows)


def _n_rows(blocks: Blocks) -> int:
    return len(next(iter(blocks.values())))


def _rows(blocks: Blocks, rng: np.random.Generator) -> Answer:
    order = rng.permutation(_n_rows(blocks))
    moved = {name: block[order] for name, block in blocks.items()}
    return learned(moved, np.argsort(order).tolist())


def _columns(blocks: Blocks, rng: np.random.Generator) -> Answer:
    moved = {name: block[:, rng.permutation(block.shape[1])] for name, block in blocks.items()}
    return learned(moved)


def _variables(blocks: Blocks, rng: np.random.Generator) -> Answer:
    return learned({name: blocks[name] for name in rng.permutation(list(blocks))})


def _shift(blocks: Blocks, rng: np.random.Generator) -> Answer:
    return learned({name: block + rng.integers(-1000, 1000) for name, block in blocks.items()})


def _scale(blocks: Blocks, rng: np.random.Generator) -> Answer:
    """Other units of what was measured; whole numbers are counts or levels, and have none."""
    scaled = {}
    for name, block in blocks.items():
        is_measured = (block != np.round(block)).any(axis=0)
        scaled[name] = block * np.where(is_measured, 10.0 ** rng.integers(-6, 7), 1.0)
    return learned(scaled)


def _constant(blocks: Blocks, _rng: np.random.Generator) -> Answer:
    return learned({**blocks, _EXTRA: np.full((_n_rows(blocks), 1), 3.0)})


def _irrelevant(blocks: Blocks, rng: np.random.Generator) -> Answer:
    return learned({**blocks, _EXTRA: rng.normal(size=(_n_rows(blocks), 1))})


def _doubled(blocks: Blocks, _rng: np.random.Generator) -> Answer:
    twice = {name: np.concatenate([block, block]) for name, block in blocks.items()}
    return learned(twice, range(_n_rows(blocks)))


def _jobs(blocks: Blocks, _rng: np.random.Generator) -> Answer:
    return learned(blocks, n_jobs=2)


def _threads(blocks: Blocks, _rng: np.random.Generator) -> Answer:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(2):
        return learned(blocks)


def _process(blocks: Blocks, rng: np.random.Generator) -> Answer:
    """Another process with another hash seed, which reads the blocks from its input."""
    said = json.dumps({name: block.tolist() for name, block in blocks.items()})
    done = subprocess.run(
        [sys.executable, __file__, "--answer"],
        input=said,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(rng.integers(1, 10_000))},
    )
    held = json.loads(done.stdout)
    latents = tuple((tuple(own), size) for own, size in held["latents"])
    return Answer(latents, tuple(held["edges"]), tuple(map(tuple, held["states"])))


CHANGES: dict[str, Callable[[Blocks, np.random.Generator], Answer]] = {
    "order of rows": _rows,
    "order of columns": _columns,
    "order of variables": _variables,
    "shift": _shift,
    "scale": _scale,
    "a constant more": _constant,
    "noise more": _irrelevant,
    "every row twice": _doubled,
    "two processes": _jobs,
    "two threads": _threads,
    "another process": _process,
}


def problem(seed: int, samples: int) -> Blocks:
    """A fresh problem: the paper's, or one of counts, amounts and levels."""
    kinds = ("paper", "paper", "counts", "gamma", "mixed")
    kind = kinds[seed % len(kinds)]
    size = ((2, 5), (1, 4), (3, 7))[seed % 3]
    if kind == "paper":
        drawn = paper_problem(*size, 3, samples, random_state=seed, covariance="code")
    else:
        drawn = kind_problem(*size, 3, samples, random_state=seed, kind=kind)
    observations = drawn.observations
    return {name: np.array(observations[name]) for name in observations.names}


def main() -> None:
    """Print a line for each change."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--problems", type=int, default=5)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=600.0, help="no new fit after this")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.answer:
        blocks = {name: np.array(held) for name, held in json.load(sys.stdin).items()}
        found = learned(blocks)
        print(json.dumps({k: getattr(found, k) for k in ("latents", "edges", "states")}))
        return
    same: dict[str, list[bool]] = {name: [] for name in CHANGES}
    apart: dict[str, float] = dict.fromkeys(CHANGES, 0.0)
    begin = time.perf_counter()
    for seed in range(asked.problems):
        if time.perf_counter() - begin > asked.seconds:
            break
        blocks = problem(seed, asked.samples)
        before = learned(blocks)
        for name, change in CHANGES.items():
            if time.perf_counter() - begin > asked.seconds:
                break
            after = change(blocks, np.random.default_rng(seed))
            same[name].append(after.structure == before.structure)
            if same[name][-1] and before.states:
                differ = np.not_equal(after.states, before.states).any(axis=0).mean()
                apart[name] = max(apart[name], float(differ))
            elif not same[name][-1]:
                print(f"{name}, problem {seed}: {before.latents} → {after.latents}", flush=True)
    print(f"{'change':22s}{'problems':>9s}{'same':>6s}{'rows':>8s}")
    for name, held in same.items():
        print(f"{name:22s}{len(held):9d}{sum(held):6d}{apart[name]:8.1%}")


if __name__ == "__main__":
    main()
