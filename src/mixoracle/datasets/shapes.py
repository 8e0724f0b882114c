"""Components that are not normal: the same means and covariances, other shapes.

A row is ``mean + L z`` with L the Cholesky factor of the covariance and z of zero mean and unit
covariance, drawn from one of a few shapes. So a shape changes nothing that a mean or a covariance
can see, and a learner that relies on normality only is found out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln

from mixoracle.datasets.covariances import means_on_sphere
from mixoracle.errors import InvalidInputError
from mixoracle.families.base import WithMeans
from mixoracle.model import GaussianComponents, LatentModel

Floats = NDArray[np.float64]
Shape = Literal["ball", "heavy", "laplace", "skewed"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
# Student-t with so few degrees of freedom has no fourth moment worth the name.
_HEAVY_DEGREES = 5
# A Gamma with this shape parameter has skewness sqrt(2).
_GAMMA_SHAPE = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class ShapedComponents(WithMeans):
    """Components of a given shape around given means, with given covariances.

    Parameters
    ----------
    means : (n_components, width) array
    covariances : (n_components, width, width) array
    shape : {"ball", "heavy", "laplace", "skewed"}
        Uniform on a ball; multivariate Student-t with 5 degrees of freedom; independent Laplace;
        independent centred Gamma with shape 2.
    """

    covariances: Floats
    shape: Shape

    family: ClassVar[str] = "shaped"
    shared: ClassVar[frozenset[str]] = frozenset({"shape"})

    def __post_init__(self) -> None:
        frame = GaussianComponents(self.means, self.covariances)
        shape = str(self.shape)
        if shape not in SHAPES:
            raise InvalidInputError(f"shape should be one of {', '.join(SHAPES)}; got {shape!r}")
        self._keep(means=frame.means, covariances=frame.covariances, shape=shape)

    def log_density(self, block: Floats) -> Floats:
        answer = np.empty((len(block), self.n_components))
        for j, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            factor = np.linalg.cholesky(covariance)
            standard = np.linalg.solve(factor, (block - mean).T).T
            log_volume = float(np.log(np.diag(factor)).sum())
            answer[:, j] = _STANDARD[self.shape][1](standard) - log_volume
        return answer

    def sample(self, labels: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        standard = _STANDARD[self.shape][0](rng, len(labels), self.width)
        factors = np.linalg.cholesky(self.covariances)
        rows = np.empty_like(standard)
        for j in np.unique(labels):
            members = labels == j
            rows[members] = standard[members] @ factors[j].T + self.means[j]
        return rows

    def __repr__(self) -> str:
        return f"ShapedComponents({self.n_components} {self.shape} in R^{self.width})"


def reshape_components(model: LatentModel, shape: Shape) -> LatentModel:
    """Return the model with components of the same means and covariances, but of this shape."""
    components = []
    for name, held in zip(model.observed_names, model.components or (), strict=True):
        if not isinstance(held, GaussianComponents):
            raise InvalidInputError(f"{name} should have Gaussian components; got {held!r}")
        components.append(ShapedComponents(held.means, held.covariances, shape))
    return replace(model, components=tuple(components))


# Each shape by a draw of (n, width) rows and by their log-density, with zero mean and unit
# covariance.
def _draw_ball(rng: np.random.Generator, n: int, width: int) -> Floats:
    # A ball of radius sqrt(width + 2) has unit covariance.
    direction = means_on_sphere(n, width, rng)
    return np.asarray(direction * np.sqrt(width + 2.0) * rng.random((n, 1)) ** (1.0 / width))


def _log_ball(standard: Floats) -> Floats:
    width = standard.shape[1]
    log_volume = 0.5 * width * np.log(np.pi * (width + 2.0)) - gammaln(0.5 * width + 1.0)
    inside = (standard**2).sum(axis=1) <= width + 2.0
    return np.where(inside, -log_volume, -np.inf)


def _draw_heavy(rng: np.random.Generator, n: int, width: int) -> Floats:
    stretch = np.sqrt((_HEAVY_DEGREES - 2.0) / rng.chisquare(_HEAVY_DEGREES, (n, 1)))
    return np.asarray(rng.standard_normal((n, width)) * stretch)


def _log_heavy(standard: Floats) -> Floats:
    shape = (1.0 - 2.0 / _HEAVY_DEGREES) * np.eye(standard.shape[1])
    density = stats.multivariate_t(shape=shape, df=_HEAVY_DEGREES)
    return np.asarray(density.logpdf(standard)).reshape(len(standard))


def _draw_laplace(rng: np.random.Generator, n: int, width: int) -> Floats:
    return rng.laplace(scale=np.sqrt(0.5), size=(n, width))


def _log_laplace(standard: Floats) -> Floats:
    return np.asarray(stats.laplace.logpdf(standard, scale=np.sqrt(0.5)).sum(axis=1))


def _draw_skewed(rng: np.random.Generator, n: int, width: int) -> Floats:
    drawn = rng.gamma(_GAMMA_SHAPE, size=(n, width))
    return np.asarray((drawn - _GAMMA_SHAPE) / np.sqrt(_GAMMA_SHAPE))


def _log_skewed(standard: Floats) -> Floats:
    # A standard row is a Gamma variable less its mean, in units of its standard deviation.
    root = np.sqrt(_GAMMA_SHAPE)
    return np.asarray(stats.gamma.logpdf(standard, _GAMMA_SHAPE, -root, 1.0 / root).sum(axis=1))


_Draw = Callable[[np.random.Generator, int, int], Floats]
_STANDARD: dict[str, tuple[_Draw, Callable[[Floats], Floats]]] = {
    "ball": (_draw_ball, _log_ball),
    "heavy": (_draw_heavy, _log_heavy),
    "laplace": (_draw_laplace, _log_laplace),
    "skewed": (_draw_skewed, _log_skewed),
}
