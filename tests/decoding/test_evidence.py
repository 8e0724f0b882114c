from math import lgamma

import numpy as np
import pytest

from mixoracle.decoding.evidence import Grouping, explains_labels, score
from mixoracle.families import GaussianFamily
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.emptiness import emptiness
from mixoracle.model.joint_states import configurations
from mixoracle.settings import Priors, Settings

# Two binary latents; X1 depends on the first, X2 on both.
ADJACENCY = np.array([[True, False], [True, True]])
SIZES = (2, 2)


@pytest.fixture
def blocks():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(40, 1)), rng.normal(size=(40, 2))]


@pytest.fixture
def table(table_of, blocks):
    """Four components over X of 4, 8, 12 and 16 rows, one for each joint state."""
    where = np.repeat(np.arange(4), [4, 8, 12, 16])
    return table_of(configurations(ADJACENCY, SIZES), where, blocks)


def test_the_score_of_a_small_case_by_hand(table, blocks):
    """Evidence of six components, Dirichlet–multinomial of the rows, less the emptiness."""
    found = score(table, ADJACENCY, SIZES, np.arange(4))
    rows = np.array([4, 8, 12, 16])
    expected = lgamma(4.0) - lgamma(44.0) + sum(lgamma(count + 1.0) for count in rows)
    expected -= emptiness(rows.reshape(2, 2).astype(float))
    members = [
        [slice(0, 12), slice(12, 40)],
        [slice(0, 4), slice(4, 12), slice(12, 24), slice(24, 40)],
    ]
    for i, block in enumerate(blocks):
        family, prior = table.families[i], table.priors[i]
        features = family.features((block - block.mean(axis=0)) / block.std(axis=0))
        for rows_of_component in members[i]:
            statistics = features[rows_of_component].sum(axis=0, keepdims=True)
            expected += float(family.log_evidence(statistics, prior)[0])
    assert found.log_evidence == pytest.approx(expected, abs=1e-9)
    assert found.is_consistent
    assert (found.n_agreed, found.n_proposals, found.moves) == (1, 1, ())


def test_without_latents_each_variable_is_one_component(table):
    found = score(table, np.zeros((2, 0), dtype=bool), (), np.zeros(4, dtype=np.int64))
    expected = sum(
        float(family.log_evidence(statistics.sum(axis=0, keepdims=True), prior)[0])
        for statistics, family, prior in table.variables()
    )
    assert found.log_evidence == pytest.approx(expected, abs=1e-9)
    assert not found.is_consistent


def test_empty_joint_states_count_against_an_explanation(table):
    """X1 alone, one component a state: a second latent that stays in the diagonal only costs."""
    alone = ComponentTable(
        np.array([[0], [1]]),
        (table.statistics[0][[2, 3]],),
        table.families[:1],
        table.priors[:1],
        np.array([400.0, 400.0]),
    )
    one = score(alone, np.array([[True]]), (2,), np.array([0, 1]))
    two = score(alone, np.array([[True, True]]), (2, 2), np.array([0, 3]))
    charge = emptiness(np.array([[400.0, 0.0], [0.0, 400.0]]))
    assert charge == pytest.approx(40.0)
    by_labels = lgamma(4.0) - lgamma(804.0) - (lgamma(2.0) - lgamma(802.0))
    assert two.log_evidence - one.log_evidence == pytest.approx(by_labels - charge, abs=1e-9)


def test_the_names_of_states_and_the_order_of_latents_do_not_change_the_evidence(table):
    first = score(table, ADJACENCY, SIZES, np.arange(4))
    renamed = score(table, ADJACENCY, SIZES, np.array([3, 2, 1, 0]))
    swapped = score(table, ADJACENCY[:, ::-1], SIZES, np.array([0, 2, 1, 3]))
    for other in (renamed, swapped):
        assert other.log_evidence == pytest.approx(first.log_evidence, abs=1e-9)
        assert other.is_consistent
        assert other.structure == first.structure


CODES = configurations(ADJACENCY, SIZES)


@pytest.mark.parametrize(
    ("labels", "assignment", "expected"),
    [
        (CODES, [0, 1, 2, 3], True),
        (1 - CODES % 2, [0, 1, 2, 3], False),  # two configurations of X2 share a label
        (np.array([[1, 5], [1, 2], [0, 3], [0, 9]]), [0, 1, 2, 3], True),  # other names
        (CODES, [0, 0, 2, 3], False),  # two components in one joint state
        (np.array([[0, 0], [2, 1], [1, 2], [1, 3]]), [0, 1, 2, 3], False),  # one label too many
        (CODES[[0, 3]], [0, 3], True),
        (CODES[:1], [0], False),  # too few joint states were seen
    ],
)
def test_labels_are_explained_if_they_are_the_configurations(labels, assignment, expected):
    assert explains_labels(labels, np.array(assignment), CODES, Settings()) is expected


def test_many_joint_states_seen_are_enough_whatever_their_share():
    few = Settings(priors=Priors(many_seen=1))
    assert explains_labels(CODES[:1], np.array([0]), CODES, few)


def test_sums_by_code_come_in_the_order_of_the_codes():
    rng = np.random.default_rng(1)
    code, statistics = rng.integers(-3, 9, size=30), rng.normal(size=(30, 2))
    expected = [statistics[code == value].sum(axis=0) for value in np.unique(code)]
    np.testing.assert_allclose(Grouping.by(code).sums(statistics), expected, atol=1e-12)


def test_families_are_asked_for_seen_configurations_only(table_of):
    """A configuration without rows has no component, and adds no evidence."""
    rng = np.random.default_rng(2)
    table = table_of(np.array([[0], [1]]), np.repeat([0, 1], 20), [rng.normal(size=(40, 1))])
    assert isinstance(table.families[0], GaussianFamily)
    wide = score(table, np.array([[True]]), (3,), np.array([0, 2]))
    narrow = score(table, np.array([[True]]), (2,), np.array([0, 1]))
    by_labels = lgamma(3.0) - lgamma(43.0) - (lgamma(2.0) - lgamma(42.0))
    # Of one latent no state is rarer than independence would have it.
    assert wide.log_evidence - narrow.log_evidence == pytest.approx(by_labels, abs=1e-9)
