import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import ComponentSet, GaussianComponents


def drawn(seed, k=3, d=2):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((k, d, d))
    return GaussianComponents(rng.standard_normal((k, d)), roots @ roots.swapaxes(1, 2) + np.eye(d))


@pytest.mark.parametrize(
    ("means", "covariances", "sentence"),
    [
        ([0.0], [[1.0]], r"means of shape \(k, d\)"),
        ([[0.0]], [[1.0]], r"got \(1, 1\) and \(1, 1\)"),
        ([[0.0, 1.0]], [np.ones((3, 3))], r"got \(1, 2\) and \(1, 3, 3\)"),
        (np.ones((0, 2)), np.ones((0, 2, 2)), "at least one component and one column"),
        (np.ones((2, 0)), np.ones((2, 0, 0)), "at least one component and one column"),
        ([[np.nan]], [[[1.0]]], "finite means"),
        ([[0.0]], [[[np.inf]]], "finite means"),
        ([[0.0, 0.0]], [[[1.0, 0.5], [0.0, 1.0]]], "should be symmetric"),
        ([[0.0, 0.0]], [[[1e-10, 5e-11], [0.0, 1e-10]]], "should be symmetric"),
        ([[0.0, 0.0]], [[[1.0, 2.0], [2.0, 1.0]]], "positive definite"),
        ([[0.0]], [[[0.0]]], "positive definite"),
    ],
)
def test_what_are_no_components_is_refused(means, covariances, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        GaussianComponents(means, covariances)


@pytest.mark.parametrize("seed", range(10))
def test_log_density_agrees_with_scipy(seed):
    held = drawn(seed)
    block = np.random.default_rng(seed + 100).standard_normal((7, 2))
    expected = np.stack(
        [
            multivariate_normal(mean, covariance).logpdf(block)
            for mean, covariance in zip(held.means, held.covariances, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(held.log_density(block), expected, rtol=1e-10)


@pytest.mark.parametrize("shape", [(4, 1), (4, 3), (2,)])
def test_log_density_refuses_blocks_of_another_width(shape):
    with pytest.raises(InvalidInputError, match=r"should have shape \(N, 2\)"):
        drawn(0).log_density(np.ones(shape))


def test_samples_have_the_moments_of_their_components():
    held, n = drawn(1), 40_000
    labels = np.repeat([2, 0, 1], n)
    rows = held.sample(np.random.default_rng(0).permutation(labels), np.random.default_rng(1))
    assert rows.shape == (3 * n, 2)
    rows = held.sample(labels, np.random.default_rng(2))
    for block, j in enumerate([2, 0, 1]):
        part = rows[block * n : (block + 1) * n]
        # Six standard errors: a wrong component is dozens away.
        scale = np.sqrt(np.diag(held.covariances[j]))
        assert np.all(np.abs(part.mean(axis=0) - held.means[j]) < 6 * scale / np.sqrt(n))
        spread = np.outer(scale, scale) * np.sqrt(2 / n)
        assert np.all(np.abs(np.cov(part.T) - held.covariances[j]) < 6 * spread)


def test_samples_follow_their_labels_in_any_order():
    far = GaussianComponents([[0.0], [100.0]], np.ones((2, 1, 1)))
    labels = np.random.default_rng(0).integers(0, 2, 500)
    rows = far.sample(labels, np.random.default_rng(1))
    np.testing.assert_array_equal(rows[:, 0] > 50, labels == 1)


@pytest.mark.parametrize("labels", [[0, 3], [-1, 0]])
def test_samples_refuse_labels_without_component(labels):
    with pytest.raises(InvalidInputError, match="labels should run from 0 to 2"):
        drawn(0).sample(np.array(labels), np.random.default_rng(0))


def test_no_labels_give_no_rows():
    assert drawn(0).sample(np.array([], dtype=int), np.random.default_rng(0)).shape == (0, 2)


def test_take_reorders_and_equal_ones_are_found():
    held = drawn(0)
    turned = held.take(np.array([2, 0, 0]))
    np.testing.assert_array_equal(turned.means, held.means[[2, 0, 0]])
    assert turned.first_equal().tolist() == [0, 1, 1]
    assert turned.take(np.array([1])) == held.take(np.array([0]))


def test_families_are_rebuilt_by_name():
    held = drawn(0)
    assert ComponentSet.from_arrays("gaussian", held.arrays()) == held
    with pytest.raises(FileFormatError, match=r"unknown component family 'cauchy'; .* gaussian"):
        ComponentSet.from_arrays("cauchy", held.arrays())


def test_repr():
    assert repr(drawn(0)) == "GaussianComponents(3 components in R^2)"
