"""Problems with a known truth, spoiled in the ways in which the world spoils data.

Each fault takes the clean rows of a problem, which are component means plus noise, and returns
spoiled ones; Γ and the domain sizes stay what they were. Sizes are in standard deviations of the
noise within a component, so that 'two standard deviations of drift' means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle import LatentModel, Observations
from mixoracle.datasets import paper_problem, random_model

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clean:
    """The parts that clean rows are made of, for each observed variable.

    ``means`` (N, d) of each row's component, ``factors`` (N, d, d) with covariance factor @
    factor.T, and standard normal ``noise`` (N, d).
    """

    names: tuple[str, ...]
    means: tuple[Floats, ...]
    factors: tuple[Floats, ...]
    noise: tuple[Floats, ...]
    rng: np.random.Generator

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.means[0])

    def rows(self, noise: tuple[Floats, ...] | list[Floats] | None = None) -> list[Floats]:
        """The blocks, with this noise instead of the normal one."""
        return [
            mean + np.einsum("nab,nb->na", factor, own)
            for mean, factor, own in zip(
                self.means, self.factors, self.noise if noise is None else noise, strict=True
            )
        ]

    def spread(self) -> list[Floats]:
        """The standard deviation of the noise in each column, (d,)."""
        return [np.sqrt((factor**2).sum(axis=2).mean(axis=0)) for factor in self.factors]


Fault = Callable[[Clean], list[Floats]]


def _outlying(share: float, whole_rows: bool) -> Fault:
    def spoil(clean: Clean) -> list[Floats]:
        blocks = clean.rows()
        everywhere = clean.rng.random(clean.n_samples) < share
        for block in blocks:
            hit = everywhere if whole_rows else clean.rng.random(len(block)) < share
            scale = 3.0 * block.std(axis=0)
            block[hit] = block.mean(axis=0) + scale * clean.rng.standard_t(
                3, size=(int(hit.sum()), block.shape[1])
            )
        return blocks

    return spoil


def _swapped(share: float) -> Fault:
    def spoil(clean: Clean) -> list[Floats]:
        blocks = clean.rows()
        for block in blocks:
            hit = np.flatnonzero(clean.rng.random(len(block)) < share)
            block[hit] = block[clean.rng.permutation(hit)]
        return blocks

    return spoil


def _noise(draw: Callable[[np.random.Generator, tuple[int, ...]], Floats]) -> Fault:
    """Another noise, column by column, with mean 0 and standard deviation 1."""

    def spoil(clean: Clean) -> list[Floats]:
        return clean.rows([draw(clean.rng, own.shape) for own in clean.noise])

    return spoil


def _student(degrees: float) -> Fault:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        # One stretch for a whole row, as for elliptical components.
        stretch = np.sqrt(degrees / rng.chisquare(degrees, (shape[0], 1)))
        return rng.standard_normal(shape) * stretch

    return _noise(draw)


def _lognormal(sigma: float) -> Fault:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        values = np.exp(sigma * rng.standard_normal(shape))
        centre, spread = np.exp(sigma**2 / 2), np.sqrt(np.expm1(sigma**2) * np.exp(sigma**2))
        return np.asarray((values - centre) / spread)

    return _noise(draw)


def _box(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)


def _banana(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    noise = rng.standard_normal(shape)
    noise[:, -1] = 0.5 * noise[:, -1] + 0.8 * (noise[:, 0] ** 2 - 1.0)
    return noise


def _submodes(distance: float) -> Fault:
    """Each component is two lumps, ``distance`` standard deviations apart in each column."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        side = rng.integers(2, size=(shape[0], 1)) - 0.5
        direction = np.full(shape[1], distance / np.sqrt(shape[1]))
        return rng.standard_normal(shape) + side * direction

    return _noise(draw)


def _nuisance(size: float) -> Fault:
    """One continuous nuisance that all variables share, each in a direction of its own."""

    def spoil(clean: Clean) -> list[Floats]:
        shared = clean.rng.standard_normal((clean.n_samples, 1))
        return _shifted(clean, size * shared)

    return spoil


def _drift(size: float) -> Fault:
    """Everything moves by ``size`` standard deviations from the first row to the last."""

    def spoil(clean: Clean) -> list[Floats]:
        return _shifted(clean, size * np.linspace(-0.5, 0.5, clean.n_samples)[:, None])

    return spoil


def _shifted(clean: Clean, shift: Floats) -> list[Floats]:
    blocks = []
    for block, spread in zip(clean.rows(), clean.spread(), strict=True):
        direction = clean.rng.standard_normal(block.shape[1])
        direction /= np.linalg.norm(direction)
        blocks.append(block + shift * direction * spread)
    return blocks


def _zeros(share: float) -> Fault:
    """A sensor that reads exactly 0 in some rows, in all its columns."""

    def spoil(clean: Clean) -> list[Floats]:
        blocks = clean.rows()
        for block in blocks:
            block[clean.rng.random(len(block)) < share] = 0.0
        return blocks

    return spoil


def _rounded(step: float) -> Fault:
    def spoil(clean: Clean) -> list[Floats]:
        return [
            np.round(block / (step * spread)) * step * spread
            for block, spread in zip(clean.rows(), clean.spread(), strict=True)
        ]

    return spoil


def _clipped(share: float) -> Fault:
    """The largest values of the first column of each block are cut off."""

    def spoil(clean: Clean) -> list[Floats]:
        blocks = clean.rows()
        for block in blocks:
            block[:, 0] = np.minimum(block[:, 0], np.quantile(block[:, 0], 1.0 - share))
        return blocks

    return spoil


def _repeated(times: int) -> Fault:
    def spoil(clean: Clean) -> list[Floats]:
        n_different = clean.n_samples // times
        return [np.repeat(block[:n_different], times, axis=0) for block in clean.rows()]

    return spoil


def _local_dependence(clean: Clean) -> list[Floats]:
    """The second variable's noise repeats half of the first one's."""
    noise = [own.copy() for own in clean.noise]
    width = min(noise[0].shape[1], noise[1].shape[1])
    noise[1][:, :width] = np.sqrt(0.75) * noise[1][:, :width] + 0.5 * noise[0][:, :width]
    return clean.rows(noise)


def _mixed_shapes(clean: Clean) -> list[Floats]:
    """Every variable has noise of another shape, drawn from five."""
    draws = (
        lambda rng, shape: rng.standard_normal(shape),
        lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2.0),
        lambda rng, shape: rng.gamma(1.5, size=shape) / np.sqrt(1.5) - np.sqrt(1.5),
        lambda rng, shape: rng.triangular(-1.0, 1.0, 1.0, shape) * 2.0 - 0.7,
        lambda rng, shape: np.where(rng.random(shape) < 0.3, 2.0, -0.5) + rng.normal(size=shape),
    )
    return clean.rows(
        [draws[clean.rng.integers(len(draws))](clean.rng, own.shape) for own in clean.noise]
    )


def _saturated(clean: Clean) -> list[Floats]:
    """Sensors that bend smoothly towards their limits, as amplifiers do."""
    blocks = []
    for block in clean.rows():
        scaled = (block - block.mean(axis=0)) / block.std(axis=0)
        blocks.append(np.asarray(np.tanh(0.8 * scaled)))
    return blocks


def _gains(clean: Clean) -> list[Floats]:
    """How loud the noise is differs from row to row, in all variables together."""
    gain = np.exp(0.5 * clean.rng.standard_normal((clean.n_samples, 1)))
    return clean.rows([own * gain for own in clean.noise])


FAULTS: dict[str, Fault] = {
    "clean": lambda clean: clean.rows(),
    "outlying rows 0.1 %": _outlying(0.001, True),
    "outlying rows 1 %": _outlying(0.01, True),
    "outlying rows 5 %": _outlying(0.05, True),
    "outlying cells 0.1 %": _outlying(0.001, False),
    "outlying cells 1 %": _outlying(0.01, False),
    "outlying cells 5 %": _outlying(0.05, False),
    "swapped blocks 1 %": _swapped(0.01),
    "nuisance 0.5 sd": _nuisance(0.5),
    "nuisance 1 sd": _nuisance(1.0),
    "nuisance 2 sd": _nuisance(2.0),
    "nuisance 5 sd": _nuisance(5.0),
    "drift 3 sd": _drift(3.0),
    "drift 10 sd": _drift(10.0),
    "t(3)": _student(3.0),
    "t(2)": _student(2.0),
    "lognormal(0.5)": _lognormal(0.5),
    "lognormal(1)": _lognormal(1.0),
    "boxes": _noise(_box),
    "bananas": _noise(_banana),
    "submodes 3 sd": _submodes(3.0),
    "submodes 6 sd": _submodes(6.0),
    "zeros 5 %": _zeros(0.05),
    "zeros 30 %": _zeros(0.3),
    "rounded 0.5 sd": _rounded(0.5),
    "rounded 2 sd": _rounded(2.0),
    "clipped 10 %": _clipped(0.1),
    "clipped 25 %": _clipped(0.25),
    "rows five times": _repeated(5),
    "local dependence": _local_dependence,
}

#: Made after the method, to see how it does on what nobody had in mind.
FURTHER: dict[str, Fault] = {
    "mixed shapes": _mixed_shapes,
    "saturated": _saturated,
    "noise of unequal rows": _gains,
}


def fault_problem(
    fault: str, setting: tuple[int, int, int], n_samples: int, seed: int
) -> tuple[Observations, LatentModel]:
    """Spoiled observations, and the model behind them."""
    model = random_model(*setting, seed, covariance="text")
    problem = paper_problem(model=model, n_samples=n_samples, random_state=seed)
    labels = model.component_of_states(problem.states)
    assert model.components is not None  # random models have components
    rng = np.random.default_rng([seed, 17])
    arrays = [held.arrays() for held in model.components]
    clean = Clean(
        names=model.observed_names,
        means=tuple(held["means"][labels[:, i]] for i, held in enumerate(arrays)),
        factors=tuple(
            np.linalg.cholesky(held["covariances"])[labels[:, i]] for i, held in enumerate(arrays)
        ),
        noise=tuple(rng.standard_normal((n_samples, held["means"].shape[1])) for held in arrays),
        rng=rng,
    )
    blocks = (FAULTS | FURTHER)[fault](clean)
    return Observations.from_arrays(dict(zip(clean.names, blocks, strict=True))), model
