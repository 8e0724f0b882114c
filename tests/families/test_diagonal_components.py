import numpy as np
import pytest
from scipy.stats import norm

from mixoracle.errors import InvalidInputError
from mixoracle.model import DiagonalComponents, GaussianComponents


@pytest.mark.parametrize("seed", range(10))
def test_densities_agree_with_scipy_and_with_full_covariances(seed, draw_components):
    held, rng = draw_components("diagonal", seed), np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 7), rng)
    block[rng.random(block.shape) < 0.2] = np.nan
    cells = norm.logpdf(block[:, None], held.means, np.sqrt(held.variances))
    np.testing.assert_allclose(held.log_density(block), np.nansum(cells, axis=2), rtol=1e-10)
    full = GaussianComponents(held.means, np.stack([np.diag(v) for v in held.variances]))
    np.testing.assert_allclose(held.log_density(block), full.log_density(block), rtol=1e-9)


def test_samples_have_the_moments_of_their_components(draw_components):
    held, n = draw_components("diagonal", 1), 40_000
    rows = held.sample(np.full(n, 2), np.random.default_rng(0))
    scale = np.sqrt(held.variances[2])
    assert np.all(np.abs(rows.mean(axis=0) - held.means[2]) < 6 * scale / np.sqrt(n))
    assert np.all(np.abs(rows.var(axis=0) / scale**2 - 1.0) < 6 * np.sqrt(2 / n))


@pytest.mark.parametrize(
    ("means", "variances", "sentence"),
    [
        ([0.0], [1.0], r"means should have shape \(k, d\)"),
        (np.ones((0, 2)), np.ones((0, 2)), "at least one component and one column"),
        ([[np.nan]], [[1.0]], "means should be finite"),
        ([[0.0]], [[1.0, 1.0]], r"variances should have shape \(1, 1\); got \(1, 2\)"),
        ([[0.0]], [[0.0]], "variances should be above 0; the smallest is 0"),
        ([[0.0]], [[np.inf]], "variances should be finite"),
        ([[0.0]], [[np.nan]], "variances should be above 0"),
    ],
)
def test_what_are_no_components_is_refused(means, variances, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        DiagonalComponents(means, variances)


def test_repr(draw_components):
    assert repr(draw_components("diagonal", 0)) == "DiagonalComponents(3 components in R^3)"
