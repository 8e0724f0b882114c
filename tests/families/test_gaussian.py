import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mixoracle.families import GaussianFamily
from mixoracle.families.elliptical import NormalInverseWishart
from mixoracle.model import GaussianComponents
from mixoracle.settings import Priors

SEEDS = range(15)


def drawn_pieces(seed, n_pieces=3):
    """Some pieces of data with unlike means, covariances and sizes, and their family."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 6))
    family = GaussianFamily(width)
    pieces = [
        rng.normal(size=(int(rng.integers(1, 30)), width)) @ rng.normal(size=(width, width))
        + 3.0 * rng.normal(size=width)
        for _ in range(n_pieces)
    ]
    return family, pieces, rng


def statistics_of(family, pieces):
    return np.stack([family.features(piece).sum(axis=0) for piece in pieces])


def drawn_prior(width, rng):
    root = rng.normal(size=(width, width + 2))
    return NormalInverseWishart(
        mean_rows=float(rng.uniform(0.01, 2.0)),
        degrees=float(width + rng.uniform(0.5, 8.0)),
        scale=root @ root.T,
    )


def drawn_components(n_components, width, rng):
    roots = rng.normal(size=(n_components, width, width + 2))
    return GaussianComponents(
        rng.normal(size=(n_components, width)), roots @ np.swapaxes(roots, 1, 2)
    )


def log_evidence_row_by_row(piece, prior):
    """The chain rule: each row under the multivariate t that the rows before it predict."""
    width = piece.shape[1]
    mean, rows, degrees, scale = np.zeros(width), prior.mean_rows, prior.degrees, prior.scale
    total = 0.0
    for row in piece:
        freedom = degrees - width + 1.0
        shape = scale * (rows + 1.0) / (rows * freedom)
        total += stats.multivariate_t(loc=mean, shape=shape, df=freedom).logpdf(row)
        away = row - mean
        scale = scale + rows / (rows + 1.0) * np.outer(away, away)
        mean = mean + away / (rows + 1.0)
        rows, degrees = rows + 1.0, degrees + 1.0
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_is_the_product_of_the_predictive_densities(seed):
    family, pieces, rng = drawn_pieces(seed)
    prior = drawn_prior(family.width, rng)
    expected = [log_evidence_row_by_row(piece, prior) for piece in pieces]
    found = family.log_evidence(statistics_of(family, pieces), prior)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prior_expects_the_scatter_within_pieces_wherever_they_lie(seed):
    family, pieces, rng = drawn_pieces(seed)
    n_rows = sum(map(len, pieces))
    within = sum((piece - piece.mean(axis=0)).T @ (piece - piece.mean(axis=0)) for piece in pieces)
    within = within / (n_rows - len(pieces)) + Priors().variance_floor * np.eye(family.width)
    moved = [piece + 5.0 * rng.normal(size=family.width) for piece in pieces]
    for held in (pieces, moved):
        prior = family.prior(statistics_of(family, held))
        expected_covariance = prior.scale / (prior.degrees - family.width - 1.0)
        np.testing.assert_allclose(expected_covariance, within, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_piece_without_rows_says_nothing(seed):
    family, pieces, _ = drawn_pieces(seed)
    statistics = statistics_of(family, pieces)
    with_empty = np.vstack([statistics, np.zeros_like(statistics[:1])])
    prior = family.prior(statistics)
    padded = family.prior(with_empty)
    np.testing.assert_allclose(padded.scale, prior.scale)
    np.testing.assert_allclose(family.log_evidence(with_empty, prior)[-1], 0.0, atol=1e-10)
    assert family.components(with_empty, prior).n_components == len(pieces) + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_densities_agree_with_scipy(seed):
    family, pieces, rng = drawn_pieces(seed)
    components = drawn_components(4, family.width, rng)
    rows = np.vstack(pieces)
    expected = np.stack(
        [
            stats.multivariate_normal(mean, covariance).logpdf(rows)
            for mean, covariance in zip(components.means, components.covariances, strict=True)
        ],
        axis=-1,
    ).reshape(len(rows), 4)
    found = family.log_density(family.features(rows), components)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_density_of_a_piece_is_the_sum_over_its_rows(seed):
    family, pieces, rng = drawn_pieces(seed)
    components = drawn_components(3, family.width, rng)
    row_by_row = [
        family.log_density(family.features(piece), components).sum(axis=0) for piece in pieces
    ]
    np.testing.assert_allclose(
        family.log_density(statistics_of(family, pieces), components), row_by_row, rtol=1e-8
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_need_no_features(seed):
    family, pieces, rng = drawn_pieces(seed, n_pieces=4)
    labels = np.repeat([0, 1, 3, 4], [len(piece) for piece in pieces])
    order = rng.permutation(len(labels))
    pooled = family.pooled(np.concatenate(pieces)[order], labels[order], 5)
    np.testing.assert_allclose(pooled[[0, 1, 3, 4]], statistics_of(family, pieces), atol=1e-12)
    assert not pooled[2].any()


@given(st.integers(0, 10_000))
def test_statistics_add_up_in_any_order(seed):
    family, pieces, rng = drawn_pieces(seed, n_pieces=2)
    prior = drawn_prior(family.width, rng)
    together = rng.permutation(np.vstack(pieces))
    added = statistics_of(family, pieces).sum(axis=0, keepdims=True)
    at_once = family.features(together).sum(axis=0, keepdims=True)
    np.testing.assert_allclose(added, at_once, rtol=1e-9, atol=1e-9)
    assert at_once[0, 0] == len(together)
    np.testing.assert_allclose(
        family.log_evidence(added, prior), family.log_evidence(at_once, prior), rtol=1e-9
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_components_have_a_larger_penalised_likelihood(seed):
    family, pieces, rng = drawn_pieces(seed, n_pieces=1)
    # Weighted statistics, as EM has them.
    weights = rng.random(len(pieces[0])) + 0.01
    statistics = (weights @ family.features(pieces[0]))[None]
    prior = drawn_prior(family.width, rng)

    def objective(components):
        fit = family.log_density(statistics, components)[0, 0]
        return fit + family.log_penalty(components, prior)

    if prior.degrees + weights.sum() <= family.width + 1.0:
        prior = NormalInverseWishart(prior.mean_rows, family.width + 3.0, prior.scale)
    best = family.components(statistics, prior)
    reached = objective(best)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(10):
            root = np.eye(family.width) + size * rng.normal(size=(family.width, family.width))
            covariance = root @ best.covariances[0] @ root.T
            mean = best.means[0] + size * rng.normal(size=family.width)
            other = GaussianComponents(mean[None], 0.5 * (covariance + covariance.T)[None])
            assert objective(other) <= reached + 1e-9 * max(1.0, abs(reached))


@pytest.mark.parametrize("width", range(1, 7))
def test_parameters_and_features_are_as_many_as_a_normal_has(width):
    family = GaussianFamily(width)
    assert family.n_parameters == width + width * (width + 1) // 2
    features = family.features(np.arange(3.0 * width).reshape(3, width))
    assert features.shape == (3, 1 + family.n_parameters)
    np.testing.assert_array_equal(features[:, 0], 1.0)


def test_rows_without_any_scatter_make_a_proper_component():
    family = GaussianFamily(3)
    statistics = family.features(np.full((50, 3), 0.7)).sum(axis=0, keepdims=True)
    components = family.components(statistics, family.prior(statistics))
    np.testing.assert_allclose(components.means, 0.7)
    # Positive definite by construction of the record, and no wider than the floor asks for.
    assert components.covariances.max() <= 2.0 * Priors().variance_floor
