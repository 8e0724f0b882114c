import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.families import (
    CategoricalFamily,
    DiagonalFamily,
    GammaFamily,
    GaussianFamily,
    Patterns,
    ProductFamily,
)

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_product_of_one_is_that_one(seed, draw):
    case = draw("gaussian", seed)
    family = ProductFamily([(case.family, [2, 0, 1])])
    pieces = [case.rows(n) for n in (5, 30)]
    turned = [piece[:, [2, 0, 1]] for piece in pieces]
    product = np.stack([family.features(piece).sum(axis=0) for piece in pieces])
    alone = np.stack([case.family.features(piece).sum(axis=0) for piece in turned])
    np.testing.assert_allclose(product[:, 1:], alone)
    prior, own = family.prior(product), case.family.prior(alone)
    np.testing.assert_allclose(
        family.log_evidence(product, prior), case.family.log_evidence(alone, own)
    )
    components = family.components(product, prior)
    assert components.parts[0] == case.family.components(alone, own)
    np.testing.assert_allclose(
        family.log_penalty(components, prior), case.family.log_penalty(components.parts[0], own)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_parts_does_not_matter(seed, draw):
    case = draw("product", seed)
    turned = ProductFamily(
        list(zip(case.family.families[::-1], case.family.columns[::-1], strict=True))
    )
    pieces = [case.rows(30, j, missing=0.2) for j in (0, 1)]
    answers = []
    for family in (case.family, turned):
        statistics = np.stack([family.features(piece).sum(axis=0) for piece in pieces])
        prior = family.prior(statistics)
        components = family.components(statistics, prior)
        evidence = family.log_evidence(statistics, prior)
        answers.append((components.log_density(pieces[0]), evidence))
    np.testing.assert_allclose(answers[0][0], answers[1][0])
    np.testing.assert_allclose(answers[0][1], answers[1][1])


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_values_in_one_part_leave_the_others_alone(seed, draw):
    case = draw("product", seed)
    block = case.rows(40)
    block[case.rng.random(40) < 0.4, 3] = np.nan  # a column of the normal part
    family, patterns = case.family, Patterns.of(block)
    features = family.features(block)
    labels = case.rng.integers(0, 2, 40)
    completed = family.completed(features, labels, case.truth, patterns)
    inside = family._slices[0]
    changed = np.any(completed != features, axis=0)
    assert changed[inside].any()
    changed[inside] = False
    assert not changed.any()
    np.testing.assert_array_equal(completed[:, 0], 1.0)
    worth = np.where(np.isnan(block[:, 3]), 0.5, 1.0)
    np.testing.assert_allclose(completed[:, inside.start], worth)


def test_parameters_and_embeddings_are_those_of_all_parts():
    family = ProductFamily(
        [(GaussianFamily(2), [0, 3]), (CategoricalFamily([3]), [1]), (GammaFamily(1), [2])]
    )
    assert family.n_parameters == 5 + 2 + 2
    rng = np.random.default_rng(0)
    block = np.column_stack(
        [rng.normal(size=50), rng.integers(0, 3, 50), rng.gamma(2.0, size=50), rng.normal(size=50)]
    )
    embedded = family.embedding(block)
    assert embedded.shape == (50, 2 + 3 + 1)
    np.testing.assert_array_equal(embedded[:, :2], block[:, [0, 3]])


@pytest.mark.parametrize("columns", [[[0, 1], [1]], [[0, 2], [3]], [[1, 2], [3]]])
def test_columns_that_overlap_or_leave_gaps_are_refused(columns):
    parts = [(DiagonalFamily(2), columns[0]), (DiagonalFamily(1), columns[1])]
    with pytest.raises(InvalidInputError, match="should be 0 to 2, each once"):
        ProductFamily(parts)


def test_a_product_of_nothing_is_refused():
    with pytest.raises(InvalidInputError, match="should be 0 to 0, each once"):
        ProductFamily([])
