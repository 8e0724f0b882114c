"""Problems whose observed variables are answers, counts, positive amounts, or a mixture of these.

Domain sizes, Λ, Γ and P(H) are drawn as the paper draws them (``sec: expt_details``); only the
components are of another kind, and their columns are independent within a component. How much two
components overlap is measured by their affinity Σ √(p q) (Bhattacharyya), which is the product
over the columns and bounds the error of telling the two apart. Components are picked from a pool
of candidates so that no two overlap much: all kinds are then about as hard as each other, and
harder than the paper's own.

Where a block has more components than its columns have room for (48 of them, say), the candidate
that overlaps least is taken, and the block is harder still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from string import ascii_lowercase
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mixoracle._checks import RandomState, check_kind, check_whole, make_generator
from mixoracle.datasets.simulate import Problem, draw_model
from mixoracle.errors import InvalidInputError
from mixoracle.model import (
    CategoricalComponents,
    ComponentSet,
    CountComponents,
    DiagonalComponents,
    GammaComponents,
    ProductComponents,
)
from mixoracle.model.posterior import draw
from mixoracle.observations import Observations

Floats = NDArray[np.float64]
Kind = Literal["categorical", "counts", "gamma", "mixed"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# The most that two components of a block overlap, where there is room: at even odds the better
# guess between the two is then wrong in 5 % of rows at most.
_MOST_AFFINITY = 0.1
# Components are picked from at least so many candidates, and from several for each of them.
_POOL = 256
_POOL_FOR_EACH = 4
# What is drawn, uniform on a logarithmic scale where it is positive and wide.
_FAVOURED_LEVEL = (0.82, 0.92)
_NUMBER_MEANS, _NUMBER_VARIANCES = (-1.0, 1.0), (0.02, 0.08)
_COUNT_MEANS, _COUNT_SIZES = (1.0, 30.0), (5.0, 40.0)
_AMOUNT_MEANS, _AMOUNT_SHAPES = (1.0, 8.0), (5.0, 40.0)


@dataclass(frozen=True, eq=False)
class _Column:
    """One kind of column: how its distributions are drawn, compared and put together."""

    # (n, rng) to the parameters of n candidates, (n, parameters).
    draw: Callable[[int, np.random.Generator], Floats]
    # The parameters of w columns, (k, parameters) each, to a set of width w.
    join: Callable[[Sequence[Floats]], ComponentSet]
    # (c,) each: the points at which densities are compared, and how much each stands for.
    cells: Floats
    sizes: Floats
    levels: tuple[str, ...] | None = None  # the words of a categorical column

    def affinity(self, parameters: Floats) -> Floats:
        """Σ √(p q) for each pair of n candidates, (n, n)."""
        densities = np.exp(self.join([parameters]).log_density(self.cells[:, None]))
        roots = np.sqrt(densities * self.sizes[:, None])
        return np.asarray(roots.T @ roots)


def kind_problem(
    n_latent: int,
    n_observed: int,
    max_domain: int,
    n_samples: int,
    random_state: RandomState = None,
    kind: Kind = "categorical",
    width: int = 5,
    n_levels: int = 4,
) -> Problem:
    """Draw a model whose components are of a given kind, and samples from it.

    Among equally likely components the Bayes rule with the true parameters finds the right one
    from its block of five columns in 98.6 % of rows (answers) to 99.5 % (counts, amounts) where
    there are at most nine, in 95 to 98 % where there are 10 to 27, and in 90 to 96 % where there
    are more: means over the blocks of 60 problems with two or three latents of up to four states.
    The paper's own Gaussian blocks reach 99.8 to 100 %.

    Parameters
    ----------
    n_latent, n_observed, max_domain : int
        m, n and the largest domain, as in :func:`mixoracle.datasets.paper_problem`: one seed
        gives the same graph and the same P(H) there and here, for every kind.
    n_samples : int
    random_state : int, Generator, SeedSequence or None
    kind : {"categorical", "counts", "gamma", "mixed"}
        Answers that favour one level; Poisson and negative binomial counts; positive amounts;
        or in turn two measurements, two answers and a count.
    width : int
        How many columns each observed variable has.
    n_levels : int
        How many levels an answer has.

    Examples
    --------
    >>> kind_problem(2, 5, 3, 100, random_state=0, kind="mixed").observations["X1"].shape
    (100, 5)
    """
    rng = make_generator(random_state)
    check_kind("kind", kind, KINDS)
    check_whole("width", width, at_least=1)
    check_whole("n_levels", n_levels, at_least=2)
    if n_levels > len(ascii_lowercase):
        raise InvalidInputError(
            f"n_levels should be at most {len(ascii_lowercase)}, one letter each; got {n_levels}"
        )
    columns = tuple(islice(cycle(_columns(kind, n_levels)), width))
    skeleton, dag = draw_model(n_latent, n_observed, max_domain, rng, covariance=None)
    blocks = [_random_block(columns, skeleton.n_components(i), rng) for i in range(n_observed)]
    model = replace(skeleton, components=tuple(blocks))
    check_whole("n_samples", n_samples, at_least=1)
    rows, states = draw(model, n_samples, rng)
    observations = Observations(
        np.hstack(rows),
        model.observed_names,
        (width,) * n_observed,
        (tuple(column.levels for column in columns),) * n_observed,
    )
    return Problem(observations, model, states, dag)


def _columns(kind: Kind, n_levels: int) -> tuple[_Column, ...]:
    """The columns that take turns in a block."""
    answer = _answer(n_levels)
    return {
        "categorical": (answer,),
        "counts": (_COUNT,),
        "gamma": (_AMOUNT,),
        "mixed": (_NUMBER, _NUMBER, answer, answer, _COUNT),
    }[kind]


def _random_block(
    columns: Sequence[_Column], n_components: int, rng: np.random.Generator
) -> ComponentSet:
    """Draw a pool of candidates and keep components that overlap little."""
    size = max(_POOL, _POOL_FOR_EACH * n_components)
    pool = [column.draw(size, rng) for column in columns]
    affinity = np.ones((size, size))
    for column, candidates in zip(columns, pool, strict=True):
        affinity *= column.affinity(candidates)
    chosen = _spread_out(affinity, n_components)
    return _joined(columns, [candidates[chosen] for candidates in pool])


def _spread_out(affinity: Floats, n_components: int) -> list[int]:
    """Pick one by one the first candidate that fits with those before it, else the best."""
    chosen = [0]
    overlap = affinity[0]
    while len(chosen) < n_components:
        fitting = np.flatnonzero(overlap <= _MOST_AFFINITY)
        chosen.append(int(fitting[0] if len(fitting) else overlap.argmin()))
        overlap = np.maximum(overlap, affinity[chosen[-1]])
    return chosen


def _joined(columns: Sequence[_Column], parameters: Sequence[Floats]) -> ComponentSet:
    """Columns of one kind as one component set, of several kinds as a product of such."""
    kinds = list(dict.fromkeys(columns))
    places = [tuple(c for c, column in enumerate(columns) if column is kind) for kind in kinds]
    parts = [
        kind.join([parameters[c] for c in held]) for kind, held in zip(kinds, places, strict=True)
    ]
    return parts[0] if len(parts) == 1 else ProductComponents(tuple(parts), tuple(places))


def _answer(n_levels: int) -> _Column:
    """An item that favours one of its levels; its parameters are their probabilities."""

    def draw_levels(n: int, rng: np.random.Generator) -> Floats:
        favoured = np.arange(n_levels) == rng.integers(n_levels, size=(n, 1))
        strength = rng.uniform(*_FAVOURED_LEVEL, (n, 1))
        rest = np.where(favoured, 0.0, rng.standard_gamma(2.0, (n, n_levels)))
        rest /= rest.sum(axis=1, keepdims=True)
        return np.asarray(np.where(favoured, strength, (1.0 - strength) * rest))

    def join(columns: Sequence[Floats]) -> ComponentSet:
        return CategoricalComponents(np.hstack(columns), np.full(len(columns), n_levels))

    codes = np.arange(float(n_levels))
    words = tuple(ascii_lowercase[:n_levels])
    return _Column(draw_levels, join, codes, np.ones(n_levels), words)


def _draw_numbers(n: int, rng: np.random.Generator) -> Floats:
    return np.stack([rng.uniform(*_NUMBER_MEANS, n), rng.uniform(*_NUMBER_VARIANCES, n)], axis=1)


def _draw_counts(n: int, rng: np.random.Generator) -> Floats:
    means, sizes = _log_uniform(_COUNT_MEANS, n, rng), _log_uniform(_COUNT_SIZES, n, rng)
    # About half of them vary no more than a Poisson count does.
    return np.stack([means, np.where(rng.random(n) < 0.5, np.inf, sizes)], axis=1)


def _draw_amounts(n: int, rng: np.random.Generator) -> Floats:
    drawn = [_log_uniform(bounds, n, rng) for bounds in (_AMOUNT_MEANS, _AMOUNT_SHAPES)]
    return np.stack(drawn, axis=1)


def _log_uniform(bounds: tuple[float, float], n: int, rng: np.random.Generator) -> Floats:
    return np.asarray(np.exp(rng.uniform(np.log(bounds[0]), np.log(bounds[1]), n)))


# The cells are where affinities are computed: all but a millionth of every distribution lies on
# them, and they are fine enough for three digits.
def _pair_column(
    draw: Callable[[int, np.random.Generator], Floats],
    family: Callable[[Floats, Floats], ComponentSet],
    cells: Floats,
) -> _Column:
    """A column of two parameters, joined into a family that takes them as (k, w) arrays."""

    def join(columns: Sequence[Floats]) -> ComponentSet:
        first, second = np.stack(columns, axis=1).transpose(2, 0, 1)
        return family(first, second)

    return _Column(draw, join, cells, np.gradient(cells))


_NUMBER = _pair_column(_draw_numbers, DiagonalComponents, np.linspace(-2.5, 2.5, 251))
_COUNT = _pair_column(_draw_counts, CountComponents, np.arange(200.0))
_AMOUNT = _pair_column(_draw_amounts, GammaComponents, np.geomspace(0.02, 60.0, 251))
