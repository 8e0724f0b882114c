"""Problems with their true labels, as the decoder sees them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from mixoracle.datasets import paper_problem
from mixoracle.decoding.explanation import Structure
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model import LatentModel
from mixoracle.model.joint_states import distinct_rows

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def _table_of(labels: Integers, where: Integers, blocks: list[Floats]) -> ComponentTable:
    """The table of components over X with these labels (T, n); row r is in component where[r]."""
    blocks = [(block - block.mean(axis=0)) / block.std(axis=0) for block in blocks]
    families = tuple(GaussianFamily(block.shape[1]) for block in blocks)
    statistics = tuple(
        pool(family.features(block), where, len(labels))
        for family, block in zip(families, blocks, strict=True)
    )
    priors = tuple(
        family.prior(pool(held, column, int(column.max()) + 1))
        for family, held, column in zip(families, statistics, labels.T, strict=True)
    )
    counts = np.bincount(where, minlength=len(labels)).astype(float)
    return ComponentTable(labels, statistics, families, priors, counts)


@cache
def _drawn_pieces(
    setting: tuple[int, int, int], n_samples: int, seed: int, scale: float = 0.01
) -> tuple[LatentModel, ComponentTable, Integers]:
    problem = paper_problem(*setting, n_samples, random_state=seed, covariance="code", scale=scale)
    halves = np.random.default_rng(seed).integers(2, size=n_samples)
    pieces, where, _ = distinct_rows(np.column_stack([problem.states, halves]))
    states = pieces[:, :-1]
    blocks = [problem.observations[i] for i in range(problem.model.n_observed)]
    table = _table_of(problem.model.component_of_states(states), where, blocks)
    return problem.model, table, states


def _structure_of(model: LatentModel) -> Structure:
    columns = zip(model.bipartite.T, model.domain_sizes, strict=True)
    return tuple(sorted((column.tobytes(), size) for column, size in columns))


def _is_same_partition(first: Integers, second: Integers) -> bool:
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


@pytest.fixture(scope="session")
def table_of() -> Callable[..., ComponentTable]:
    """A table from labels of components, the component of each row, and the blocks of data."""
    return _table_of


@pytest.fixture(scope="session")
def drawn_pieces() -> Callable[..., tuple[LatentModel, ComponentTable, Integers]]:
    """A problem with each joint state in two components over X, and the states of those."""
    return _drawn_pieces


@pytest.fixture(scope="session")
def structure_of() -> Callable[[LatentModel], Structure]:
    """Γ and the domain sizes of a model, whatever the order of the latents."""
    return _structure_of


@pytest.fixture(scope="session")
def is_same_partition() -> Callable[[Integers, Integers], bool]:
    """Whether two labellings agree up to the names of the labels."""
    return _is_same_partition
