"""How often the decoder finds the truth from labels that are wrong, and what moves add to it.

Problems are drawn with their true labels, which are then spoilt in one of several ways; the decoder
has to find Γ and the domain sizes all the same. In the last four lines it is an explanation that is
spoilt, and moves have to mend it; only problems that completion alone does not mend count there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from mixoracle.assumptions import no_twins, subset_condition
from mixoracle.datasets import Problem, paper_problem
from mixoracle.decoding import decode
from mixoracle.decoding.completion import complete
from mixoracle.decoding.explanation import Proposal, Structure
from mixoracle.decoding.moves import climb
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import Bipartite, LatentModel
from mixoracle.model.joint_states import distinct_rows
from mixoracle.settings import Budget, Settings

# Of (latents, observed, largest domain). Where nothing fits, three latents take a second each.
_SETTINGS = ((1, 4, 4), (2, 5, 3), (2, 6, 3), (2, 7, 2), (1, 3, 5), (2, 6, 2), (2, 5, 4), (3, 7, 2))
_PIECE_SETTINGS = ((2, 5, 3), (2, 6, 3), (2, 5, 4), (3, 7, 2))
_WITHOUT_MOVES = Settings(Budget(moves=0))

Integers = NDArray[np.int64]
Generator = np.random.Generator


def component_table(labels: Integers, where: Integers, problem: Problem) -> ComponentTable:
    """The table of components over X with these labels (T, n); row r is in component where[r]."""
    families, statistics, priors = [], [], []
    for i, column in enumerate(labels.T):
        block = problem.observations[i]
        family = GaussianFamily(block.shape[1])
        features = family.features((block - block.mean(axis=0)) / block.std(axis=0))
        families.append(family)
        statistics.append(pool(features, where, len(labels)))
        priors.append(family.prior(pool(statistics[-1], column, int(column.max()) + 1)))
    counts = np.bincount(where, minlength=len(labels)).astype(np.float64)
    return ComponentTable(labels, tuple(statistics), tuple(families), tuple(priors), counts)


def structure_of(model: LatentModel) -> Structure:
    """Γ and the domain sizes, whatever the order of the latents."""
    columns = zip(model.bipartite.T, model.domain_sizes, strict=True)
    return tuple(sorted((column.tobytes(), size) for column, size in columns))


def of_rows(seed: int) -> tuple[Problem, Integers]:
    """A problem and the true label of each row in each variable."""
    setting = _SETTINGS[seed % len(_SETTINGS)]
    problem = paper_problem(*setting, 1000, random_state=seed, covariance="code")
    return problem, problem.model.component_of_states(problem.states)


def of_pieces(seed: int) -> tuple[LatentModel, ComponentTable, Integers]:
    """A problem with each joint state in two components over X, and the states of those."""
    setting = _PIECE_SETTINGS[seed % len(_PIECE_SETTINGS)]
    problem = paper_problem(*setting, 1500, random_state=seed, covariance="code")
    halves = np.random.default_rng(seed).integers(2, size=len(problem.states))
    pieces, where, _ = distinct_rows(np.column_stack([problem.states, halves]))
    states = pieces[:, :-1]
    labels = problem.model.component_of_states(states)
    return problem.model, component_table(labels, where, problem), states


# --- spoilt labels of rows ---


def right(labels: Integers, spare: list[int], rng: Generator) -> Integers:
    """Nothing is wrong."""
    return labels


def two_merged(labels: Integers, spare: list[int], rng: Generator) -> Integers:
    """Two components of a variable that can be spared look like one."""
    labels, i = labels.copy(), rng.choice(spare)
    first, second = rng.choice(np.unique(labels[:, i]), size=2, replace=False)
    labels[labels[:, i] == second, i] = first
    return labels


def spurious_rows(labels: Integers, spare: list[int], rng: Generator) -> Integers:
    """Five rows have a wrong label in a variable that can be spared: new tuples appear."""
    labels = labels.copy()
    for row in rng.choice(len(labels), size=5, replace=False):
        i = rng.choice(spare)
        labels[row, i] = rng.integers(labels[:, i].max() + 1)
    return labels


def spare_variables(model: LatentModel) -> list[int]:
    """Variables that can be left out: the others still determine all latents."""
    spare = []
    for i in range(model.n_observed):
        left = np.delete(model.bipartite, i, axis=0)
        if left.any(axis=0).all():
            graph = Bipartite(left, model.domain_sizes)
            if no_twins(graph).holds and subset_condition(graph).holds:
                spare.append(i)
    return spare


def try_rows(
    spoil: Callable[[Integers, list[int], Generator], Integers], share: float, seed: int
) -> tuple[bool, bool] | None:
    """Whether spoilt labels are decoded without and with moves; ``share`` of the tuples is kept."""
    problem, labels = of_rows(seed)
    spare, rng = spare_variables(problem.model), np.random.default_rng(seed)
    if not spare:
        return None
    rows, where, _ = distinct_rows(spoil(labels, spare, rng))
    table = component_table(rows, where, problem)
    kept = rng.random(len(rows)) < share if share < 1.0 else np.ones(len(rows), dtype=bool)
    if not _all_states_seen(problem.model, rows[kept]):
        return None
    table = replace(
        table,
        labels=rows[kept],
        statistics=tuple(held[kept] for held in table.statistics),
        counts=table.counts[kept],
    )
    return _decoded(table, problem.model)


def _all_states_seen(model: LatentModel, labels: Integers) -> bool:
    """Whether each variable still shows all its components, so that the domains are there."""
    n_components = [
        int(np.prod([model.domain_sizes[j] for j in model.parents(i)]))
        for i in range(model.n_observed)
    ]
    seen = [len(np.unique(column)) for column in labels.T]
    # A variable that was spoilt may show fewer: most have to show all of them.
    return sum(np.array(seen) < np.array(n_components)) <= 1


def _decoded(table: ComponentTable, model: LatentModel) -> tuple[bool, bool]:
    truth = structure_of(model)
    without = decode(table, _WITHOUT_MOVES)[0].structure == truth
    return without, decode(table)[0].structure == truth


# --- spoilt labels of pieces ---


def overlapping(labels: Integers, rng: Generator) -> Integers:
    """Two components are taken for one in several variables."""
    labels = labels.copy()
    for i in rng.choice(labels.shape[1], size=3, replace=False):
        values = np.unique(labels[:, i])
        if len(values) > 2:
            first, second = rng.choice(values, size=2, replace=False)
            labels[labels[:, i] == second, i] = first
    return labels


def overlapping_and_cut(labels: Integers, rng: Generator) -> Integers:
    """Besides, a component is taken for two in every variable."""
    labels = overlapping(labels, rng)
    for i in range(labels.shape[1]):
        inside = np.flatnonzero(labels[:, i] == rng.choice(np.unique(labels[:, i])))
        labels[rng.permutation(inside)[: len(inside) // 2], i] = labels[:, i].max() + 1
    return labels


def try_pieces(
    spoil: Callable[[Integers, Generator], Integers], seed: int
) -> tuple[bool, bool] | None:
    """Whether spoilt labels of pieces are decoded without and with moves."""
    model, table, _ = of_pieces(seed)
    spoilt = spoil(table.labels, np.random.default_rng(seed))
    return _decoded(replace(table, labels=spoilt), model)


# --- spoilt explanations ---


def two_states_merged(states: Integers, rng: Generator) -> Integers:
    """A latent with the most states loses one."""
    latent, merged = int(np.argmax(states.max(axis=0))), states.copy()
    merged[:, latent] = np.maximum(states[:, latent] - 1, 0)
    return merged


def a_state_split(states: Integers, rng: Generator) -> Integers:
    """Half of the components over X in one state are in a new one."""
    latent, split = rng.integers(states.shape[1]), states.copy()
    inside = np.flatnonzero(states[:, latent] == 0)
    split[rng.permutation(inside)[: len(inside) // 2], latent] = states[:, latent].max() + 1
    return split


def latents_joined(states: Integers, rng: Generator) -> Integers:
    """All latents are one."""
    return distinct_rows(states)[1][:, None]


def a_latent_dropped(states: Integers, rng: Generator) -> Integers:
    """One latent is missing."""
    return np.delete(states, rng.integers(states.shape[1]), axis=1)


def try_mending(
    spoil: Callable[[Integers, Generator], Integers], seed: int
) -> tuple[bool, bool] | None:
    """Whether moves mend a spoilt explanation, where completion alone does not."""
    model, table, states = of_pieces(seed)
    start = complete(table, Proposal.of_all(spoil(states, np.random.default_rng(seed))))
    if start.structure == structure_of(model):
        return None
    reached, _ = climb(table, start, Budget().moves)
    return False, reached.structure == structure_of(model)


_TRIALS: dict[str, Callable[[int], tuple[bool, bool] | None]] = {
    "labels right": lambda seed: try_rows(right, 1.0, seed),
    "labels: two components merged": lambda seed: try_rows(two_merged, 1.0, seed),
    "labels: spurious rows": lambda seed: try_rows(spurious_rows, 1.0, seed),
    "labels: a tenth never seen": lambda seed: try_rows(right, 0.9, seed),
    "labels: overlapping in three": lambda seed: try_pieces(overlapping, seed),
    "labels: overlapping and cut": lambda seed: try_pieces(overlapping_and_cut, seed),
    "states merged": lambda seed: try_mending(two_states_merged, seed),
    "a state split": lambda seed: try_mending(a_state_split, seed),
    "latents joined": lambda seed: try_mending(latents_joined, seed),
    "a latent dropped": lambda seed: try_mending(a_latent_dropped, seed),
}


def _timed(name: str, seed: int) -> tuple[tuple[bool, bool] | None, float]:
    start = time.process_time()
    return _TRIALS[name](seed), time.process_time() - start


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    choices = parser.parse_args(argv)
    seeds = range(choices.first_seed, choices.first_seed + choices.seeds)
    print(f"{'spoilt':<32}{'problems':>9}{'without moves':>15}{'with moves':>12}{'s/problem':>11}")
    for name in _TRIALS:
        outcomes = Parallel(n_jobs=choices.jobs)(delayed(_timed)(name, seed) for seed in seeds)
        tried = np.array([found for found, _ in outcomes if found is not None])
        seconds = np.mean([spent for _, spent in outcomes])
        without, with_moves = tried.sum(axis=0)
        print(f"{name:<32}{len(tried):>9}{without:>15}{with_moves:>12}{seconds:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
