"""The map L: counts and weights of every marginal mixture."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixoracle.datasets import random_model
from mixoracle.errors import InvalidInputError
from mixoracle.latent import marginal
from mixoracle.model import LatentModel, Projection
from mixoracle.model.joint_states import distinct_rows


def projection_of(model: LatentModel) -> Projection:
    states = np.array(list(np.ndindex(*model.domain_sizes)))
    return Projection(model.component_of_states(states), model.joint.table.ravel())


@pytest.mark.parametrize("seed", range(20))
def test_counts_of_marginals_follow_the_counting_observation(seed: int) -> None:
    model = random_model(3, 5, 4, seed, covariance=None)
    projection = projection_of(model)
    for size in range(6):
        for subset in combinations(range(5), size):
            parents = np.flatnonzero(model.bipartite[list(subset)].any(axis=0))
            expected = prod(model.domain_sizes[j] for j in parents)
            assert marginal(projection, subset).n_components == expected


def test_weights_of_a_marginal_are_those_of_the_parents() -> None:
    model = random_model(2, 4, 3, 5, covariance=None, orphans=True)
    for i in range(4):
        over_one = marginal(projection_of(model), [i])
        by_label = over_one.weights[np.argsort(over_one.labels[:, 0])]
        expected = model.joint.marginal(model.parents(i)).table.ravel()
        np.testing.assert_allclose(by_label, expected, rtol=0, atol=1e-15)


def test_columns_come_in_the_order_asked_for() -> None:
    projection = Projection([[0, 1, 2], [1, 0, 2]], [0.25, 0.75])
    swapped = marginal(projection, [2, 0])
    assert swapped == Projection([[2, 0], [2, 1]], [0.25, 0.75])


@pytest.mark.parametrize("subset", [[0, 0], [3], [-1]])
def test_bad_subsets(subset: list[int]) -> None:
    with pytest.raises(InvalidInputError, match="distinct observed variables from 0 to 1"):
        marginal(Projection([[0, 0]], [1.0]), subset)


@given(
    st.integers(1, 30).flatmap(
        lambda rows: st.lists(
            st.lists(st.integers(0, 2**45), min_size=3, max_size=3), min_size=rows, max_size=rows
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_groups_are_the_equal_rows(rows: list[list[int]]) -> None:
    groups = distinct_rows(np.array(rows)[:, [0, 2]])[1]
    for a, b in combinations(range(len(rows)), 2):
        same = rows[a][0] == rows[b][0] and rows[a][2] == rows[b][2]
        assert (groups[a] == groups[b]) == same


def test_packing_restarts_before_it_overflows() -> None:
    # 12 columns of 200 values are 200^12 > 2^62 codes; rows differ in the first column alone.
    labels = np.zeros((200, 12), dtype=np.int64)
    labels[:, :] = np.arange(200)[:, None]
    twin = labels.copy()
    twin[:, 0] = np.roll(twin[:, 0], 1)
    both = np.vstack([labels, twin])
    assert len(distinct_rows(both)[0]) == 400
    assert len(distinct_rows(both[:, 1:])[0]) == 200
