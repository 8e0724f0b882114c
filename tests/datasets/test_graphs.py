"""The discrete half of a random model."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import random_bipartite
from mixoracle.datasets.graphs import random_dag, random_domain_sizes, random_joint
from mixoracle.errors import InvalidInputError


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 6))
@settings(max_examples=100, deadline=None)
def test_domain_sizes_keep_the_bounds(seed: int, n_latent: int, largest: int) -> None:
    sizes = random_domain_sizes(n_latent, 2, largest, 50, np.random.default_rng(seed))
    assert len(sizes) == n_latent
    assert min(sizes) >= 2
    assert max(sizes) <= largest
    assert prod(sizes) <= 50


def test_domain_sizes_are_uniform_over_the_allowed_ones() -> None:
    rng = np.random.default_rng(0)
    drawn = Counter(random_domain_sizes(3, 2, 4, 18, rng) for _ in range(8_000))
    allowed = [
        (a, b, c) for a in range(2, 5) for b in range(2, 5) for c in range(2, 5) if a * b * c <= 18
    ]
    assert set(drawn) == set(allowed)
    expected = 8_000 / len(allowed)
    chi_square = sum((drawn[sizes] - expected) ** 2 / expected for sizes in allowed)
    # 9 degrees of freedom: the 99.9 % point is 27.9.
    assert len(allowed) == 10
    assert chi_square < 27.9


def test_tight_and_absent_bounds() -> None:
    rng = np.random.default_rng(1)
    assert random_domain_sizes(12, 2, 6, 2**12, rng) == (2,) * 12
    assert random_domain_sizes(3, 5, 5, None, rng) == (5, 5, 5)
    assert random_domain_sizes(0, 2, 6, 50, rng) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((6, 2, 6, 50), r"2\^6 joint states, more than 50"),
        ((30, 2, 2, None), r"2\^30 joint states, more than 67108864"),
        ((2, 1, 6, 50), "min_domain should be a whole number of at least 2; got 1"),
        ((2, 2, 1, 50), "max_domain should be a whole number of at least 2; got 1"),
        ((2, 4, 3, 50), "max_domain should be a whole number of at least 4; got 3"),
        ((2, 2, 2.5, 50), "max_domain should be a whole number"),
        ((2, 2, 3, 0), "max_joint_states should be a whole number of at least 1"),
    ],
)
def test_bad_domains(arguments: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        random_domain_sizes(*arguments, np.random.default_rng(0))


def test_dag_has_the_density_and_every_order() -> None:
    rng = np.random.default_rng(2)
    drawn = [random_dag(4, 0.6, rng) for _ in range(2_000)]
    # 12 000 Bernoulli draws: four standard errors are 0.018.
    assert np.mean([len(dag) for dag in drawn]) / 6 == pytest.approx(0.6, abs=0.018)
    full = {random_dag(3, 1.0, rng) for _ in range(200)}
    assert full == {frozenset(combinations(order, 2)) for order in permutations(range(3))}
    assert random_dag(4, 0.0, rng) == frozenset()


@pytest.mark.parametrize("seed", range(30))
def test_joint_is_positive_and_markov_to_the_dag(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(4, 0.5, rng)
    table = random_joint((2, 3, 2, 2), dag, 4, rng).table
    assert table.min() > 0
    # Each factor of the chain rule in a topological order depends on the parents alone.
    parents = {j: {i for i, child in dag if child == j} for j in range(4)}
    order: list[int] = []
    while len(order) < 4:
        order.append(next(j for j in range(4) if j not in order and parents[j] <= set(order)))
    for position, j in enumerate(order):
        later = tuple(order[position + 1 :])
        up_to = table.sum(axis=later, keepdims=True)
        conditional = up_to / up_to.sum(axis=j, keepdims=True)
        others = tuple(set(order[:position]) - parents[j])
        spread = conditional.max(axis=others) - conditional.min(axis=others)
        assert spread.max() < 1e-12


def test_conditional_probabilities_are_ratios_of_small_integers() -> None:
    table = random_joint((6,), frozenset(), 4, np.random.default_rng(3)).table
    smallest_unit = min(
        unit
        for unit in range(6, 25)
        if np.allclose(table * unit, np.round(table * unit), rtol=0, atol=1e-12)
    )
    assert set(np.round(table * smallest_unit).astype(int)) <= {1, 2, 3, 4}


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([(1, 3), (2, 5), (3, 7), (4, 8), (5, 5), (6, 12)])
)
@settings(max_examples=60, deadline=None)
def test_bipartite_meets_all_conditions(seed: int, shape: tuple[int, int]) -> None:
    n_latent, n_observed = shape
    gamma = random_bipartite(n_latent, n_observed, seed)
    assert gamma.shape == (n_observed, n_latent)
    assert gamma.any(axis=1).all()
    assert np.linalg.matrix_rank(gamma.astype(float)) == n_latent
    for i, j in permutations(range(n_latent), 2):
        assert np.any(gamma[:, i] & ~gamma[:, j])


def test_conditions_can_be_dropped() -> None:
    rng = np.random.default_rng(4)
    nested = dependent = orphaned = False
    for _ in range(200):
        gamma = random_bipartite(
            4, 4, rng, subset_condition=False, independent_columns=False, orphans=True
        )
        assert len({tuple(column) for column in gamma.T}) == 4
        assert gamma.any(axis=0).all()
        nested |= any(not np.any(gamma[:, i] & ~gamma[:, j]) for i, j in permutations(range(4), 2))
        dependent |= int(np.linalg.matrix_rank(gamma.astype(float))) < 4
        orphaned |= not gamma.any(axis=1).all()
    assert nested
    assert dependent
    assert orphaned


def test_more_latents_than_observed_under_the_subset_condition_alone() -> None:
    gamma = random_bipartite(5, 4, 0, independent_columns=False)
    assert gamma.shape == (4, 5)
    for i, j in permutations(range(5), 2):
        assert np.any(gamma[:, i] & ~gamma[:, j])


def test_no_latents() -> None:
    assert random_bipartite(0, 3, 0).shape == (3, 0)


@pytest.mark.parametrize(
    ("shape", "choices", "message"),
    [
        ((5, 4), {}, "at most 4 latents with independent columns; got 5"),
        ((7, 4), {"independent_columns": False}, "at most 6 latents with the subset condition"),
        (
            (8, 3),
            {"independent_columns": False, "subset_condition": False},
            "at most 7 latents with distinct neighbourhoods",
        ),
        ((1, 3), {"density": 0.0}, "none of 102400 draws"),
        ((1, 3), {"density": 1.5}, "bipartite_density should lie between 0 and 1"),
        ((1, 3), {"density": float("nan")}, "bipartite_density should lie between 0 and 1"),
        ((1.5, 3), {}, "n_latent should be a whole number of at least 0"),
        ((1, 0), {}, "n_observed should be a whole number of at least 1"),
    ],
)
def test_impossible_graphs(shape: tuple[int, int], choices: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        random_bipartite(*shape, 0, **choices)
