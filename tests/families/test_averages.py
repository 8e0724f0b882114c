import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.families import Entry
from mixoracle.model import (
    CategoricalComponents,
    CountComponents,
    GaussianComponents,
    ProductComponents,
    StudentComponents,
)


def levels(k, sizes, rng):
    by_column = [rng.dirichlet(np.ones(size), size=k) for size in sizes]
    return CategoricalComponents(np.hstack(by_column), np.array(sizes))


def student(degrees, k=2, d=2):
    return StudentComponents(np.arange(k * d).reshape(k, d), np.stack([np.eye(d)] * k), degrees)


def test_numbers_have_means():
    means = np.arange(6.0).reshape(2, 3)
    held = GaussianComponents(means, np.stack([np.eye(3)] * 2)).averages()
    assert held.entries == (Entry(0), Entry(1), Entry(2))
    np.testing.assert_array_equal(held.values, means)


def test_levels_have_probabilities():
    components = levels(3, (2, 4), np.random.default_rng(0))
    held = components.averages()
    assert [entry.level for entry in held.entries] == [0, 1, 0, 1, 2, 3]
    np.testing.assert_array_equal(held.values, components.probabilities)


@given(st.permutations(range(5)), st.integers(0, 1000))
def test_products_go_by_column_wherever_their_parts_are(order, seed):
    rng = np.random.default_rng(seed)
    parts = (
        levels(3, (2, 3), rng),
        CountComponents(rng.uniform(1, 5, (3, 2)), np.full((3, 2), np.inf)),
        GaussianComponents(rng.normal(size=(3, 1)), np.ones((3, 1, 1))),
    )
    columns = (tuple(order[:2]), tuple(order[2:4]), tuple(order[4:]))
    held = ProductComponents(parts, columns).averages()
    assert [entry.column for entry in held.entries] == sorted(e.column for e in held.entries)
    for part, own in zip(parts, columns, strict=True):
        single = part.averages()
        for place, entry in enumerate(single.entries):
            there = held.entries.index(Entry(own[entry.column], entry.level))
            np.testing.assert_array_equal(held.values[:, there], single.values[:, place])


def test_a_product_of_products_is_a_product():
    rng = np.random.default_rng(0)
    inner = ProductComponents((levels(2, (3,), rng), student(4.0, d=1)), ((1,), (0,)))
    outer = ProductComponents((inner, levels(2, (2,), rng)), ((2, 0), (1,))).averages()
    assert outer.entries == (
        *(Entry(0, level) for level in range(3)),
        *(Entry(1, level) for level in range(2)),
        Entry(2),
    )


@pytest.mark.parametrize(("degrees", "has_mean"), [(0.5, False), (1.0, False), (1.5, True)])
def test_tails_may_be_too_heavy_for_a_mean(degrees, has_mean):
    values = student(degrees).averages().values
    assert np.isfinite(values).all() == has_mean
    assert np.isnan(values).all() != has_mean


def test_titles_say_column_and_level():
    assert Entry(0).title("x", 1) == "x"
    assert Entry(2).title("x", 3) == "x[2]"
    assert Entry(2, 0).title("x", 3) == "x[2] = 0"
