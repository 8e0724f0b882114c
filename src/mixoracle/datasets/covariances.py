"""Random means and covariances of Gaussian components, as the paper's experiments have them.

``sec: expt_details`` describes the covariances in words and the published code draws them in
another way, with about a third of the noise; both are here under the names ``"text"`` and
``"code"``. All components of one observed variable are drawn at once, as stacked arrays. Every
covariance is positive definite by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

CovarianceKind = Literal["text", "code"]
MeanKind = Literal["sphere", "ball"]

# The published code writes 0.01·diag(u²) + 0.002·AAᵀ: the second factor is a fifth of the first.
_CODE_MIXING = 0.2


def means_on_sphere(n_components: int, width: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw means uniformly from the unit sphere of R^width; (n_components, width)."""
    directions = rng.standard_normal((n_components, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions


def means_in_ball(n_components: int, width: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw means uniformly from the unit ball of R^width; (n_components, width)."""
    directions = means_on_sphere(n_components, width, rng)
    # The volume within radius r grows as r^width.
    return directions * rng.random((n_components, 1)) ** (1.0 / width)


def dominant_covariances(
    n_components: int, width: int, scale: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw symmetric diagonally dominant matrices whose largest eigenvalue is ``scale``.

    Off the diagonal the entries are uniform on [-1, 1]; each diagonal entry exceeds the sum of
    its row's absolute values by a uniform amount. Then the whole matrix is rescaled.
    """
    upper = np.triu(rng.uniform(-1.0, 1.0, (n_components, width, width)), k=1)
    matrices = upper + np.swapaxes(upper, 1, 2)
    # 1 - u lies in (0, 1], so that dominance is strict and the matrix positive definite.
    excess = 1.0 - rng.random((n_components, width))
    diagonal = np.arange(width)
    matrices[:, diagonal, diagonal] = np.abs(matrices).sum(axis=2) + excess
    largest = np.linalg.eigvalsh(matrices)[:, -1]
    return scale * matrices / largest[:, None, None]


def code_covariances(
    n_components: int, width: int, scale: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw scale·diag(u²) + 0.2·scale·AAᵀ with ‖u‖ = 1 and ‖A‖_F = 1, as the published code."""
    unit = means_on_sphere(n_components, width, rng)
    mixing = rng.standard_normal((n_components, width, width))
    mixing /= np.linalg.norm(mixing, axis=(1, 2), keepdims=True)
    matrices = _CODE_MIXING * (mixing @ np.swapaxes(mixing, 1, 2))
    diagonal = np.arange(width)
    matrices[:, diagonal, diagonal] += unit**2
    return scale * matrices


COVARIANCES: dict[str, Callable[[int, int, float, np.random.Generator], NDArray[np.float64]]] = {
    "text": dominant_covariances,
    "code": code_covariances,
}
MEANS = {"sphere": means_on_sphere, "ball": means_in_ball}
