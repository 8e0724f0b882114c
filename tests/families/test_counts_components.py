import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from mixoracle.errors import InvalidInputError
from mixoracle.model import CountComponents


@pytest.mark.parametrize("seed", range(10))
def test_densities_agree_with_scipy(seed, draw_components):
    held, rng = draw_components("counts", seed), np.random.default_rng(seed)
    block = held.sample(rng.integers(0, 3, 9), rng)
    block[rng.random(block.shape) < 0.2] = np.nan
    expected = np.zeros((9, 3))
    for j, (means, sizes) in enumerate(zip(held.means, held.sizes, strict=True)):
        for c, (mean, size) in enumerate(zip(means, sizes, strict=True)):
            law = poisson(mean) if np.isinf(size) else nbinom(size, size / (size + mean))
            expected[:, j] += np.nan_to_num(law.logpmf(block[:, c]), nan=0.0)
    np.testing.assert_allclose(held.log_density(block), expected, rtol=1e-9)


def test_poisson_is_the_limit_of_large_sizes():
    block = np.arange(30.0)[:, None]
    limit = CountComponents([[7.0]], [[np.inf]]).log_density(block)
    near = CountComponents([[7.0]], [[1e7]]).log_density(block)
    np.testing.assert_allclose(near, limit, atol=1e-4)


@pytest.mark.parametrize("size", [0.8, 5.0, np.inf])
def test_samples_have_the_moments_of_their_components(size):
    held, n = CountComponents([[6.0]], [[size]]), 100_000
    rows = held.sample(np.zeros(n, dtype=int), np.random.default_rng(0))
    variance = 6.0 + 36.0 / size
    assert abs(rows.mean() - 6.0) < 6 * np.sqrt(variance / n)
    kurtosis = np.mean((rows - 6.0) ** 4) / variance**2
    assert abs(rows.var() / variance - 1.0) < 6 * np.sqrt((kurtosis - 1.0) / n)
    assert np.all(rows == np.round(rows))


@pytest.mark.parametrize("value", [-1.0, 0.5, np.inf])
def test_what_is_no_count_is_impossible(value):
    held = CountComponents([[2.0], [3.0]], [[1.0], [np.inf]])
    np.testing.assert_array_equal(held.log_density(np.array([[value]])), [[-np.inf, -np.inf]])


@pytest.mark.parametrize(
    ("means", "sizes", "sentence"),
    [
        ([[0.0]], [[1.0]], "means should be above 0; the smallest is 0"),
        ([[np.inf]], [[1.0]], "means should be finite"),
        ([[1.0]], [[0.0]], "sizes should be above 0"),
        ([[1.0]], [[np.nan]], "sizes should be above 0"),
        ([[1.0]], [[1.0], [1.0]], r"sizes should have shape \(1, 1\)"),
    ],
)
def test_what_are_no_components_is_refused(means, sizes, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        CountComponents(means, sizes)


def test_repr(draw_components):
    assert repr(draw_components("counts", 0)) == "CountComponents(3 components over 3 counts)"


def test_counts_too_large_for_a_generator_are_drawn():
    held = CountComponents(np.array([[1e20], [1e20]]), np.array([[np.inf], [1e3]]))
    drawn = held.sample(np.repeat([0, 1], 500), np.random.default_rng(0))
    assert np.all(drawn == np.floor(drawn))
    # A Poisson count has the standard deviation 1e10, a negative binomial one about 3e18.
    np.testing.assert_allclose(drawn[:500], 1e20, rtol=1e-9)
    assert drawn[500:].std() == pytest.approx(1e20 / np.sqrt(1e3), rel=0.2)
