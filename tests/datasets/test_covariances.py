"""Random means and covariances."""

from __future__ import annotations

import numpy as np
import pytest

from mixoracle.datasets.covariances import (
    code_covariances,
    dominant_covariances,
    means_in_ball,
    means_on_sphere,
)


@pytest.mark.parametrize("width", [1, 2, 5, 9])
def test_text_covariances(width: int) -> None:
    matrices = dominant_covariances(200, width, 0.01, np.random.default_rng(width))
    assert np.array_equal(matrices, np.swapaxes(matrices, 1, 2))
    eigenvalues = np.linalg.eigvalsh(matrices)
    np.testing.assert_allclose(eigenvalues[:, -1], 0.01, rtol=1e-12)
    assert eigenvalues.min() > 0
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    off_diagonal = np.abs(matrices).sum(axis=2) - diagonal
    assert np.all(diagonal > off_diagonal)


@pytest.mark.parametrize("scale", [0.01, 0.1])
def test_code_covariances(scale: float) -> None:
    matrices = code_covariances(500, 5, scale, np.random.default_rng(0))
    assert np.array_equal(matrices, np.swapaxes(matrices, 1, 2))
    assert np.linalg.eigvalsh(matrices).min() > 0
    # tr diag(u²) = ‖u‖² = 1 and tr AAᵀ = ‖A‖²_F = 1.
    traces = np.trace(matrices, axis1=1, axis2=2)
    np.testing.assert_allclose(traces, 1.2 * scale, rtol=1e-12)
    # Off the diagonal only the mixing part is left, whose trace is 0.2·scale.
    off = matrices - np.einsum("kii->ki", matrices)[:, :, None] * np.eye(5)
    assert 0 < np.linalg.norm(off, axis=(1, 2)).max() < 0.2 * scale


def test_code_is_less_noisy_than_text() -> None:
    text = dominant_covariances(2_000, 5, 0.01, np.random.default_rng(1))
    code = code_covariances(2_000, 5, 0.01, np.random.default_rng(1))
    ratio = np.trace(code, axis1=1, axis2=2).mean() / np.trace(text, axis1=1, axis2=2).mean()
    assert 0.3 < ratio < 0.5


def test_means_on_the_sphere_are_uniform() -> None:
    means = means_on_sphere(20_000, 5, np.random.default_rng(2))
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1.0, rtol=1e-12)
    # E x_i = 0 and E x_i² = 1/5; the bounds are four standard errors.
    assert np.abs(means.mean(axis=0)).max() < 4 * np.sqrt(0.2 / 20_000)
    assert np.abs((means**2).mean(axis=0) - 0.2).max() < 0.006


def test_means_in_the_ball_are_uniform() -> None:
    radius = np.linalg.norm(means_in_ball(20_000, 3, np.random.default_rng(3)), axis=1)
    assert radius.max() <= 1.0
    # P(‖x‖ ≤ r) = r³.
    for r in (0.3, 0.6, 0.9):
        assert np.mean(radius <= r) == pytest.approx(r**3, abs=0.015)
