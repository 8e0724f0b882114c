"""Graphs as the paper draws them, and oracles that know them."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest


class GraphOracle:
    """Answers counts one at a time from a known graph, and remembers what it was asked."""

    def __init__(self, adjacency, domain_sizes):
        self.adjacency = np.asarray(adjacency, dtype=bool)
        self.domain_sizes = tuple(int(size) for size in domain_sizes)
        self.asked = []

    @property
    def n_observed(self):
        return len(self.adjacency)

    def count(self, subset):
        self.asked.append(frozenset(subset))
        hit = self.adjacency[sorted(set(subset))].any(axis=0)
        return prod(size for size, there in zip(self.domain_sizes, hit, strict=True) if there)


class NoisyOracle(GraphOracle):
    """Adds independent Gaussian errors to log k(S), the same ones whenever S is asked for."""

    def __init__(self, adjacency, domain_sizes, noise, seed):
        super().__init__(adjacency, domain_sizes)
        self.noise, self.seed = noise, seed

    def log_counts(self, subsets):
        sizes = np.log(np.array(self.domain_sizes, dtype=float))
        exact = self.adjacency[subsets].any(axis=1) @ sizes
        errors = [
            np.random.default_rng([self.seed, *sorted(set(row))]).standard_normal()
            for row in subsets.tolist()
        ]
        return exact + self.noise * np.array(errors)


class TableOracle:
    """Answers from a dictionary, whatever it says."""

    def __init__(self, n_observed, counts):
        self.n_observed = n_observed
        self.counts = {frozenset(key): value for key, value in counts.items()}

    def count(self, subset):
        return self.counts[frozenset(subset)]


def draw_graph(rng, n_latent, n_observed, max_domain=5, density=0.5):
    """Γ as ``sec: expt_details`` draws it: the subset condition and independent columns."""
    while True:
        adjacency = rng.random((n_observed, n_latent)) < density
        columns = adjacency.T
        nested = any(
            not np.any(columns[i] & ~columns[j])
            for i in range(n_latent)
            for j in range(n_latent)
            if i != j
        )
        if nested or not adjacency.any(axis=0).all():
            continue
        if np.linalg.matrix_rank(adjacency.astype(float)) == n_latent:
            return adjacency, tuple(rng.integers(2, max_domain + 1, n_latent).tolist())


def draw_without_twins(rng, n_latent, n_observed, max_domain=5):
    """Distinct columns that are not empty, and nothing else asked of them."""
    codes = rng.choice(2**n_observed - 1, size=n_latent, replace=False) + 1
    adjacency = (codes[None, :] >> np.arange(n_observed)[:, None]) & 1
    return adjacency.astype(bool), tuple(rng.integers(2, max_domain + 1, n_latent).tolist())


def as_set(adjacency, domain_sizes):
    """A graph without the order of its latents."""
    columns = np.asarray(adjacency, dtype=bool).T
    return {
        (tuple(np.flatnonzero(column).tolist()), size)
        for column, size in zip(columns, domain_sizes, strict=True)
    }


class Graphs:
    """What the tests of this folder share; a fixture, since test folders are not packages."""

    GraphOracle = GraphOracle
    NoisyOracle = NoisyOracle
    TableOracle = TableOracle
    draw = staticmethod(draw_graph)
    draw_without_twins = staticmethod(draw_without_twins)
    as_set = staticmethod(as_set)


@pytest.fixture(scope="session")
def graphs():
    return Graphs
