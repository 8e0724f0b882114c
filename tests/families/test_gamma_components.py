import numpy as np
import pytest
from scipy import stats

from mixoracle.errors import InvalidInputError
from mixoracle.model import GammaComponents


@pytest.mark.parametrize("seed", range(10))
def test_densities_agree_with_scipy(seed, draw_components):
    held, rng = draw_components("gamma", seed), np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 9), rng)
    block[rng.random(block.shape) < 0.2] = np.nan
    law = stats.gamma(held.shapes, scale=held.means / held.shapes)
    expected = np.nansum(law.logpdf(block[:, None]), axis=2)
    np.testing.assert_allclose(held.log_density(block), expected, rtol=1e-9)


def test_samples_have_the_moments_of_their_components(draw_components):
    held, n = draw_components("gamma", 2), 100_000
    rows = held.sample(np.full(n, 1), np.random.default_rng(0))
    variance = held.means[1] ** 2 / held.shapes[1]
    assert np.all(np.abs(rows.mean(axis=0) - held.means[1]) < 6 * np.sqrt(variance / n))
    kurtosis = 3.0 + 6.0 / held.shapes[1]
    assert np.all(np.abs(rows.var(axis=0) / variance - 1.0) < 6 * np.sqrt((kurtosis - 1.0) / n))


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_amounts_of_0_and_below_are_impossible(value):
    held = GammaComponents([[2.0], [3.0]], [[1.0], [0.5]])
    np.testing.assert_array_equal(held.log_density(np.array([[value]])), [[-np.inf, -np.inf]])


@pytest.mark.parametrize(
    ("means", "shapes", "sentence"),
    [
        ([[0.0]], [[1.0]], "means should be above 0"),
        ([[1.0]], [[-1.0]], "shapes should be above 0; the smallest is -1"),
        ([[1.0]], [[np.inf]], "shapes should be finite"),
        ([[1.0]], [1.0], r"shapes should have shape \(1, 1\)"),
    ],
)
def test_what_are_no_components_is_refused(means, shapes, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        GammaComponents(means, shapes)


def test_repr(draw_components):
    assert repr(draw_components("gamma", 0)) == "GammaComponents(3 components over 3 amounts)"
