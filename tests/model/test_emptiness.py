from itertools import product

import numpy as np
import pytest
from scipy.stats import poisson

from mixoracle.model import JointTable
from mixoracle.model.emptiness import are_possible, as_pairs_suggest, emptiness, independent
from mixoracle.settings import Priors

TOLERATED = Priors().same_evidence


@pytest.mark.parametrize("seed", range(20))
def test_independent_latents_have_no_empty_states(seed):
    rng = np.random.default_rng(seed)
    margins = [rng.dirichlet(np.ones(size)) for size in (2, 3, 4)]
    table = np.einsum("a,b,c->abc", *margins)
    np.testing.assert_allclose(independent(table), table)
    assert len(JointTable(table / table.sum()).nearly_empty()) == 0
    assert emptiness(5000.0 * table) == 0.0


def test_what_is_short_of_a_tenth_costs_its_log_likelihood():
    rows = np.array([[500.0, 4.0], [4.0, 500.0]])
    least = 0.1 * independent(rows)[0, 1]
    expected = 2 * (poisson.logpmf(4, 4.0) - poisson.logpmf(4, least))
    assert emptiness(rows) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_a_hole_costs_the_more_the_more_rows_there_are(seed):
    table = np.random.default_rng(seed).dirichlet(np.ones(8)).reshape(2, 2, 2)
    table[0, 1, 0] = 0.0
    costs = [emptiness(n_rows * table / table.sum()) for n_rows in (100, 1_000, 10_000)]
    assert 0 < costs[0] < costs[1] < costs[2]


def test_one_latent_or_none_has_nothing_to_be_short_of():
    assert emptiness(np.array([900.0, 1.0, 0.0])) == 0.0
    assert emptiness(np.array(100.0)) == 0.0
    assert JointTable(np.array([1.0, 0.0])).nearly_empty().shape == (0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_suggest_the_table_itself_where_there_is_nothing_but_pairs(seed):
    """A log-linear model without interactions of three latents is its own fit."""
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 2, 2)
    log_table = np.zeros(sizes)
    for first, second in [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]:
        effect = rng.normal(size=(sizes[first], sizes[second]))
        shape = [size if axis in (first, second) else 1 for axis, size in enumerate(sizes)]
        log_table = log_table + effect.reshape(shape)
    table = 10_000.0 * np.exp(log_table) / np.exp(log_table).sum()
    np.testing.assert_allclose(as_pairs_suggest(table), table, rtol=0.05, atol=1.0)


def rows_of(states, times):
    return np.repeat(np.array(states), times, axis=0)


def four_dependent_causes(rng, n_rows=20_000):
    """Two causes that are mostly in the same state, and one that mostly follows each of them."""
    first = rng.random(n_rows) < 0.5
    second = rng.random(n_rows) < np.where(first, 0.9, 0.1)
    third = rng.random(n_rows) < np.where(first, 0.85, 0.15)
    fourth = rng.random(n_rows) < np.where(second, 0.9, 0.1)
    return np.stack([first, second, third, fourth], axis=1).astype(np.int64)


@pytest.mark.parametrize("seed", range(20))
def test_joint_states_that_are_rare_because_latents_depend_on_each_other_are_possible(seed):
    states = four_dependent_causes(np.random.default_rng(seed))
    table = np.bincount(states @ [8, 4, 2, 1], minlength=16).reshape((2,) * 4).astype(float)
    assert emptiness(table) > TOLERATED
    assert are_possible(states, (2,) * 4, Priors())


@pytest.mark.parametrize("n_others", [0, 1, 2])
def test_two_latents_that_exclude_each_other_are_not_possible_beside_any_others(n_others):
    pairs = [(0, 0), (0, 1), (1, 0)]
    states = [(*pair, *rest) for pair in pairs for rest in product([0, 1], repeat=n_others)]
    assert not are_possible(rows_of(states, 200), (2,) * (2 + n_others), Priors())


def test_a_latent_that_two_or_three_others_determine_is_not_possible_although_all_pairs_occur():
    every = list(product([0, 1], repeat=3))
    by_two = [(a, b, a ^ b) for a, b, _ in every]
    by_three = [(a, b, c, a ^ b ^ c) for a, b, c in every]
    assert not are_possible(rows_of(by_two, 200), (2,) * 3, Priors())
    assert not are_possible(rows_of(by_three, 200), (2,) * 4, Priors())


@pytest.mark.parametrize("times", [50, 200, 2_000])
@pytest.mark.parametrize("share", [0.0, 0.002])
def test_what_most_of_three_latents_are_is_not_a_fourth(times, share):
    """Its pairs suggest this table with all its holes."""
    states = rows_of([(a, b, c, a + b + c >= 2) for a, b, c in product([0, 1], repeat=3)], times)
    stray = np.random.default_rng(0).random(len(states)) < share
    states[stray, 3] = 1 - states[stray, 3]
    assert not are_possible(states, (2,) * 4, Priors())


@pytest.mark.parametrize("sizes", [(), (3,)])
def test_one_latent_or_none_lacks_nothing(sizes):
    states = np.zeros((5, len(sizes)), dtype=np.int64)
    assert are_possible(states, sizes, Priors())
