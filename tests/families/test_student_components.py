import numpy as np
import pytest
from scipy.stats import multivariate_t

from mixoracle.errors import InvalidInputError
from mixoracle.model import StudentComponents


@pytest.mark.parametrize("seed", range(10))
def test_densities_of_whole_rows_and_of_parts_agree_with_scipy(seed, draw_components):
    held, rng = draw_components("student", seed), np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 7), rng)
    for columns in ([0, 1, 2], [0, 2], [1]):
        expected = [
            multivariate_t(mean[columns], scale[np.ix_(columns, columns)], float(held.degrees))
            for mean, scale in zip(held.means, held.scales, strict=True)
        ]
        incomplete = np.full_like(block, np.nan)
        incomplete[:, columns] = block[:, columns]
        np.testing.assert_allclose(
            held.log_density(incomplete),
            np.stack([one.logpdf(block[:, columns]) for one in expected], axis=1),
            rtol=1e-9,
        )


def test_samples_have_the_moments_of_their_components(draw_components):
    held, n = draw_components("student", 4), 100_000
    held = StudentComponents(held.means, held.scales, 12.0)
    rows = held.sample(np.full(n, 1), np.random.default_rng(0))
    covariance = held.scales[1] * 12.0 / 10.0
    scale = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(rows.mean(axis=0) - held.means[1]) < 6 * scale / np.sqrt(n))
    # Twice the standard error of a normal covariance, six times: tails are heavier.
    error = 2 * np.outer(scale, scale) * np.sqrt(2 / n)
    assert np.all(np.abs(np.cov(rows.T) - covariance) < 6 * error)


@pytest.mark.parametrize("degrees", [0.0, -1.0, np.inf, np.nan, [3.0, 4.0]])
def test_degrees_of_freedom_are_one_number_above_0(degrees):
    with pytest.raises(InvalidInputError, match="should be one number above 0"):
        StudentComponents([[0.0]], [[[1.0]]], degrees)


def test_scales_are_checked_and_named():
    with pytest.raises(InvalidInputError, match="component scales should be positive definite"):
        StudentComponents([[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]], 4.0)


def test_repr(draw_components):
    held = StudentComponents(np.zeros((2, 1)), np.ones((2, 1, 1)), 4.0)
    assert repr(held) == "StudentComponents(2 components in R^1, 4 degrees of freedom)"
