from dataclasses import replace

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.merging import pool
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import distinct_rows


@pytest.fixture
def table():
    """Six rows with three distinct tuples of labels of two variables."""
    labels = np.array([[1, 0], [0, 0], [1, 0], [0, 2], [1, 0], [0, 2]])
    families = (GaussianFamily(1), GaussianFamily(2))
    rng = np.random.default_rng(0)
    features = [family.features(rng.normal(size=(6, family.width))) for family in families]
    rows, member, counts = distinct_rows(labels)
    return ComponentTable(
        rows,
        tuple(pool(held, member, len(rows)) for held in features),
        families,
        tuple(family.prior(held) for family, held in zip(families, features, strict=True)),
        counts.astype(float),
    ), features


def test_every_tuple_that_occurs_is_a_component_with_the_sums_of_its_rows(table):
    table, features = table
    assert table.labels.tolist() == [[0, 0], [0, 2], [1, 0]]
    assert table.counts.tolist() == [1.0, 2.0, 3.0]
    assert (table.n_components, table.n_observed) == (3, 2)
    for held, statistics in zip(features, table.statistics, strict=True):
        expected = [held[[1]].sum(axis=0), held[[3, 5]].sum(axis=0), held[[0, 2, 4]].sum(axis=0)]
        np.testing.assert_allclose(statistics, expected, atol=1e-12)


def test_variables_come_with_their_family_and_prior(table):
    table, _ = table
    for i, (statistics, family, prior) in enumerate(table.variables()):
        assert statistics is table.statistics[i]
        assert (family, prior) == (table.families[i], table.priors[i])


def test_parts_that_do_not_fit_together_are_refused(table):
    table, _ = table
    with pytest.raises(InvalidInputError, match=r"labels of 2 observed variables.*\[1, 2, 2\]"):
        replace(table, statistics=table.statistics[:1])
    with pytest.raises(InvalidInputError, match=r"labels of 3 components over X.*\[2, 3\]"):
        replace(table, counts=table.counts[:2])
