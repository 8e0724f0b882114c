from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from mixoracle.datasets.graphs import random_dag, random_joint
from mixoracle.model import JointTable


def draw_table(rng, n_nodes, largest=3, density=0.6, n_samples=None, faithful=False):
    """A DAG, and P(H) that it generates or a table counted from samples of it.

    Weights 1..4, as the paper has them, make rows equal by chance, so that an arrow may leave no
    trace in P(H); ``faithful`` draws from so many weights that none does.
    """
    sizes = tuple(int(size) for size in rng.integers(2, largest + 1, n_nodes))
    edges = random_dag(n_nodes, density, rng)
    joint = random_joint(sizes, edges, 1000 if faithful else 4, rng)
    if n_samples is not None:
        cells = joint.table.ravel() / joint.table.sum()
        counts = rng.multinomial(n_samples, cells).reshape(joint.table.shape)
        joint = JointTable(counts / n_samples)
    return edges, joint


def all_dags(n_nodes):
    pairs = list(combinations(range(n_nodes), 2))
    for marks in product([None, 0, 1], repeat=len(pairs)):
        edges = frozenset(
            (i, j) if mark else (j, i)
            for (i, j), mark in zip(pairs, marks, strict=True)
            if mark is not None
        )
        if nx.is_directed_acyclic_graph(nx.DiGraph(list(edges))):
            yield edges


@pytest.fixture(scope="session")
def draw():
    return draw_table


@pytest.fixture(scope="session")
def dags_by_size():
    return {n_nodes: list(all_dags(n_nodes)) for n_nodes in range(5)}


@pytest.fixture
def rng():
    return np.random.default_rng(20211207)
