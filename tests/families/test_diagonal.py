import numpy as np
import pytest

from mixoracle.families import DiagonalFamily, GaussianFamily
from mixoracle.settings import Priors

SEEDS = range(15)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_is_its_columns_one_by_one(seed, missing, draw):
    """Evidence, prior and components of one column are those of a normal family of width 1."""
    case = draw("diagonal", seed)
    pieces = [case.rows(n, missing=missing) for n in (2, 9, 30)]
    statistics = np.stack([case.family.features(piece).sum(axis=0) for piece in pieces])
    prior = case.family.prior(statistics)
    components = case.family.components(statistics, prior)
    single = GaussianFamily(1)
    evidence, penalty = np.zeros(3), 0.0
    for c in range(3):
        column = np.stack([single.features(piece[:, [c]]).sum(axis=0) for piece in pieces])
        own = single.prior(column)
        evidence += single.log_evidence(column, own)
        fitted = single.components(column, own)
        penalty += single.log_penalty(fitted, own)
        np.testing.assert_allclose(components.means[:, c], fitted.means[:, 0])
        np.testing.assert_allclose(components.variances[:, c], fitted.covariances[:, 0, 0])
    np.testing.assert_allclose(case.family.log_evidence(statistics, prior), evidence, rtol=1e-9)
    np.testing.assert_allclose(case.family.log_penalty(components, prior), penalty)


def test_rows_without_any_scatter_make_a_proper_component():
    family = DiagonalFamily(2)
    statistics = family.features(np.full((50, 2), 0.7)).sum(axis=0, keepdims=True)
    components = family.components(statistics, family.prior(statistics))
    np.testing.assert_allclose(components.means, 0.7)
    assert 0 < components.variances.max() <= 2.0 * Priors().variance_floor


def test_missing_values_are_filled_with_the_column_mean_in_the_embedding():
    block = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(DiagonalFamily(2).embedding(block), [[1, 0], [3, 0], [2, 0]])


def test_parameters_are_a_mean_and_a_variance_a_column():
    assert DiagonalFamily(5).n_parameters == 10
