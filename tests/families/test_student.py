import numpy as np
import pytest
from scipy import stats

from mixoracle.errors import InvalidInputError
from mixoracle.families import GaussianFamily, StudentFamily
from mixoracle.settings import Priors

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_before_weights_are_known_the_evidence_is_that_of_normal_components(seed, draw):
    case = draw("student", seed)
    normal = GaussianFamily(3)
    pieces = [case.rows(n) for n in (1, 10, 40)]
    own = np.stack([case.family.features(piece).sum(axis=0) for piece in pieces])
    theirs = np.stack([normal.features(piece).sum(axis=0) for piece in pieces])
    np.testing.assert_allclose(
        case.family.log_evidence(own, case.family.prior(own)),
        normal.log_evidence(theirs, normal.prior(theirs)),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_is_that_of_normal_rows_with_known_weights(seed, draw):
    """The chain rule with unequal weights; what is left out is the weights' own factor."""
    case = draw("student", seed)
    family, block = case.family, case.rows(12)
    features = family.completed(family.features(block), np.zeros(12, np.int64), case.truth)
    prior = family.prior(family.features(case.rows(50)).sum(axis=0, keepdims=True))
    weights = features[:, -1]
    mean, rows, degrees, scale = np.zeros(3), prior.mean_rows, prior.degrees, prior.scale
    total = 0.0
    for row, weight in zip(block, weights, strict=True):
        freedom = degrees - 2.0
        shape = scale * (1.0 / rows + 1.0 / weight) / freedom
        total += stats.multivariate_t(mean, shape, freedom).logpdf(row)
        away = row - mean
        scale = scale + rows * weight / (rows + weight) * np.outer(away, away)
        mean = mean + away * weight / (rows + weight)
        rows, degrees = rows + weight, degrees + 1.0
    found = family.log_evidence(features.sum(axis=0, keepdims=True), prior)[0]
    assert found == pytest.approx(total - 1.5 * np.log(weights).sum(), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stray_row_hardly_moves_a_component(seed, draw):
    case = draw("student", seed)
    family, normal = case.family, GaussianFamily(3)
    block = np.vstack([case.rows(60, label=0), np.full((1, 3), 60.0)])
    features = family.features(block)
    statistics = features.sum(axis=0, keepdims=True)
    prior = family.prior(family.features(block[:60]).sum(axis=0, keepdims=True))
    for _ in range(60):
        components = family.components(statistics, prior)
        statistics = family.statistics(features, np.ones((61, 1)), components)
    moved = np.abs(components.means[0] - case.truth.means[0]).max()
    of_normal = normal.components(normal.features(block).sum(axis=0, keepdims=True), prior)
    assert moved < 0.6 < np.abs(of_normal.means[0] - case.truth.means[0]).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_density_of_a_piece_is_a_lower_bound_and_exact_for_one_row(seed, draw):
    case = draw("student", seed)
    family, block = case.family, case.rows(40)
    features = family.features(block)
    by_row = family.log_density(features, case.truth)
    np.testing.assert_allclose(by_row, case.truth.log_density(block), rtol=1e-8)
    bound = family.log_density(features.sum(axis=0, keepdims=True), case.truth)[0]
    assert np.all(bound < by_row.sum(axis=0))
    nothing = family.log_density(np.zeros_like(features[:1]), case.truth)
    np.testing.assert_array_equal(nothing, 0.0)


def test_the_parameters_are_as_many_as_those_of_normal_components():
    assert StudentFamily(4).n_parameters == GaussianFamily(4).n_parameters == 14


@pytest.mark.parametrize("degrees", [0.0, -2.0, np.inf, np.nan])
def test_degrees_of_freedom_are_checked(degrees):
    with pytest.raises(InvalidInputError, match="should be a number above 0"):
        StudentFamily(2, priors=Priors(student_degrees=degrees))
