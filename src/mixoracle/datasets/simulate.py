"""Random problems as the paper's experiments draw them (``sec: expt_details``).

A model is drawn in a fixed order: domain sizes, Λ, Γ, P(H), and last the components; samples come
after it. So one seed gives the same graph for every kind of component and the same model for every
sample size. All that the paper fixes is a keyword here with the paper's value as its default.

Two details the paper leaves open. Its table of edge numbers (exactly 3.0 for one latent over three
observed variables) shows that each observed variable was given a parent, so that is the default.
Where it skips a draw with more than 50 joint states we draw the sizes from the allowed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from mixoracle._checks import RandomState, check_kind, check_whole, make_generator
from mixoracle.datasets.covariances import COVARIANCES, MEANS, CovarianceKind, MeanKind
from mixoracle.datasets.graphs import (
    numbered_model,
    random_bipartite,
    random_dag,
    random_domain_sizes,
    random_joint,
)
from mixoracle.errors import InvalidInputError
from mixoracle.model import GaussianComponents, LatentModel
from mixoracle.model.posterior import draw
from mixoracle.observations import Observations

PAPER_SETTINGS: tuple[tuple[int, int], ...] = ((1, 3), (2, 5), (3, 7), (3, 8), (4, 7), (4, 8))
"""The paper's (n_latent, n_observed)."""
PAPER_RATIO: tuple[int, ...] = (1, 2, 2, 3, 1, 1)
"""How often the paper draws each of :data:`PAPER_SETTINGS`."""
PAPER_MAX_DOMAIN = 6


class ComponentChoices(TypedDict, total=False):
    """How the Gaussian components are drawn; see :func:`random_model`."""

    width: int | Sequence[int]
    scale: float
    means: MeanKind


class ModelChoices(ComponentChoices, total=False):
    """The other parameters of :func:`random_model`; see there."""

    min_domain: int
    max_joint_states: int | None
    latent_density: float
    bipartite_density: float
    max_weight: int
    subset_condition: bool
    independent_columns: bool
    orphans: bool


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Simulated data with the truth behind it.

    Parameters
    ----------
    observations : Observations
    model : LatentModel
        The truth; Λ is given as its Markov equivalence class.
    states : (n_samples, n_latent) int array
        The hidden states behind each row.
    dag : frozenset of (i, j), or None
        The true arrows among the latents; None where a fixed model leaves some of them open.

    Examples
    --------
    >>> problem = paper_problem(2, 5, 3, n_samples=100, random_state=1)
    >>> problem.observations.n_samples, problem.states.shape
    (100, (100, 2))
    """

    observations: Observations
    model: LatentModel
    states: NDArray[np.int64]
    dag: frozenset[tuple[int, int]] | None

    def __post_init__(self) -> None:
        expected = (self.observations.n_samples, self.model.n_latent)
        if self.states.shape != expected:
            raise InvalidInputError(f"states should have shape {expected}; got {self.states.shape}")
        if tuple(self.observations.names) != self.model.observed_names:
            raise InvalidInputError("observations and model should name the same variables")
        self.states.setflags(write=False)

    def __repr__(self) -> str:
        return f"Problem({self.observations.n_samples} samples of {self.model!r})"


def paper_problem(
    n_latent: int | None = None,
    n_observed: int | None = None,
    max_domain: int = PAPER_MAX_DOMAIN,
    n_samples: int = 10_000,
    random_state: RandomState = None,
    covariance: CovarianceKind = "text",
    *,
    model: LatentModel | None = None,
    **choices: Unpack[ModelChoices],
) -> Problem:
    """Draw a model and samples from it.

    Parameters
    ----------
    n_latent, n_observed : int
        m and n; not needed with a fixed ``model``.
    max_domain : int
        The largest number of states that a latent may have.
    n_samples : int
    random_state : int, Generator, SeedSequence or None
    covariance : {"text", "code"}
        Whether covariances follow the paper's words or its published code.
    model : LatentModel, optional
        A fixed model instead of a drawn one. Where it has no components they are drawn; where
        it has, ``covariance`` says nothing. ``max_domain`` is for drawn models only.
    **choices
        All further choices of :func:`random_model`; with a fixed model only those about
        components it does not have.

    Examples
    --------
    >>> problem = paper_problem(2, 5, 3, n_samples=100, random_state=0)
    >>> problem.observations["X1"].shape, problem.states.shape
    ((100, 5), (100, 2))
    """
    rng = make_generator(random_state)
    dag: frozenset[tuple[int, int]] | None
    if model is None:
        if n_latent is None or n_observed is None:
            raise InvalidInputError("give n_latent and n_observed, or a fixed model")
        model, dag = draw_model(n_latent, n_observed, max_domain, rng, covariance, **choices)
    else:
        for what, asked, has in (
            ("n_latent", n_latent, model.n_latent),
            ("n_observed", n_observed, model.n_observed),
        ):
            if asked not in (None, has):
                raise InvalidInputError(f"{what} is {asked}, but the fixed model has {has}")
        # A fixed model gets components if it has none, and leaves no room for other choices.
        is_complete = model.components is not None
        useless = choices.keys() - (set() if is_complete else ComponentChoices.__annotations__)
        if useless:
            raise InvalidInputError(
                f"{min(useless)} cannot be chosen, because the fixed model settles it; leave out "
                "one of the two"
            )
        if not is_complete:
            model = random_components(model, rng, covariance, **cast(ComponentChoices, choices))
        dag = None if model.latent_graph.undirected else model.latent_graph.directed
    observations, states = sample(model, n_samples, rng)
    return Problem(observations, model, states, dag)


def random_model(
    n_latent: int,
    n_observed: int,
    max_domain: int = PAPER_MAX_DOMAIN,
    random_state: RandomState = None,
    covariance: CovarianceKind | None = "text",
    **choices: Unpack[ModelChoices],
) -> LatentModel:
    """Draw a model with its components.

    Parameters
    ----------
    n_latent, n_observed : int
        m and n. With no latents every observed variable has one component.
    max_domain, min_domain : int
        Domain sizes are uniform between these, 2 and 6 in the paper.
    random_state : int, Generator, SeedSequence or None
    covariance : {"text", "code"} or None
        As the paper's words or its published code; None draws no components at all.
    max_joint_states : int or None, default 50
        Domain sizes whose product is larger are not drawn; None for no limit.
    latent_density : float, default 0.6
        Probability of each arrow of Λ, given a uniformly random order of the latents.
    bipartite_density : float, default 0.5
        Probability of each arrow of Γ, before the conditions below.
    max_weight : int, default 4
        Conditional probabilities are proportional to integers from 1 to this.
    subset_condition : bool, default True
        Whether Γ must satisfy ``assum:ssc``. Twins are never drawn.
    independent_columns : bool, default True
        Whether the columns of Γ must be linearly independent.
    orphans : bool, default False
        Whether an observed variable may have no parent.
    width : int or one int for each observed variable, default 5
        The dimension of each X_i.
    scale : float, default 0.01
        The factor on the covariances: their largest eigenvalue with ``"text"``.
    means : {"sphere", "ball"}
        Whether means are uniform on the unit sphere or in the unit ball. One-dimensional
        variables need the ball: their sphere has two points only.

    Examples
    --------
    >>> model = random_model(2, 5, 3, random_state=1)
    >>> model.n_latent, model.n_observed
    (2, 5)
    """
    rng = make_generator(random_state)
    return draw_model(n_latent, n_observed, max_domain, rng, covariance, **choices)[0]


def sample(
    model: LatentModel, n_samples: int, random_state: RandomState = None
) -> tuple[Observations, NDArray[np.int64]]:
    """Draw rows of X, and the (n_samples, n_latent) states behind them.

    Examples
    --------
    >>> rows, states = sample(random_model(2, 5, 3, random_state=1), 10, random_state=0)
    >>> rows.n_samples, states.shape
    (10, (10, 2))
    """
    if model.components is None:
        raise InvalidInputError(
            "sampling needs a model with components; paper_problem(model=...) draws them"
        )
    check_whole("n_samples", n_samples, at_least=1)
    blocks, states = draw(model, n_samples, make_generator(random_state))
    return Observations.from_arrays(dict(zip(model.observed_names, blocks, strict=True))), states


def random_components(
    model: LatentModel,
    random_state: RandomState = None,
    covariance: CovarianceKind = "text",
    *,
    width: int | Sequence[int] = 5,
    scale: float = 0.01,
    means: MeanKind = "sphere",
) -> LatentModel:
    """Return the model with newly drawn Gaussian components; choices as in random_model.

    Examples
    --------
    >>> model = random_model(2, 5, 3, random_state=1, covariance=None)
    >>> len(random_components(model, random_state=1).components)
    5
    """
    rng = make_generator(random_state)
    check_kind("covariance", covariance, COVARIANCES)
    check_kind("means", means, MEANS)
    if not (np.isfinite(scale) and scale > 0):
        raise InvalidInputError(f"scale should be positive and finite; got {scale!r}")
    widths = _checked_widths(width, model.n_observed, means)
    counts = [model.n_components(i) for i in range(model.n_observed)]
    drawn = tuple(
        GaussianComponents(MEANS[means](k, w, rng), COVARIANCES[covariance](k, w, scale, rng))
        for k, w in zip(counts, widths, strict=True)
    )
    return replace(model, components=drawn)


def draw_model(
    n_latent: int,
    n_observed: int,
    max_domain: int,
    rng: np.random.Generator,
    covariance: CovarianceKind | None,
    *,
    min_domain: int = 2,
    max_joint_states: int | None = 50,
    latent_density: float = 0.6,
    bipartite_density: float = 0.5,
    max_weight: int = 4,
    subset_condition: bool = True,
    independent_columns: bool = True,
    orphans: bool = False,
    **component_choices: Unpack[ComponentChoices],
) -> tuple[LatentModel, frozenset[tuple[int, int]]]:
    """Draw a model and the DAG behind its CPDAG."""
    check_whole("n_latent", n_latent, at_least=0)
    check_whole("n_observed", n_observed, at_least=1)
    sizes = random_domain_sizes(n_latent, min_domain, max_domain, max_joint_states, rng)
    dag = random_dag(n_latent, latent_density, rng)
    bipartite = random_bipartite(
        n_latent,
        n_observed,
        rng,
        density=bipartite_density,
        subset_condition=subset_condition,
        independent_columns=independent_columns,
        orphans=orphans,
    )
    model = numbered_model(bipartite, random_joint(sizes, dag, max_weight, rng), dag)
    if covariance is not None:
        model = random_components(model, rng, covariance, **component_choices)
    elif component_choices:
        raise InvalidInputError(
            f"{min(component_choices)} describes components, and covariance=None draws none"
        )
    return model, dag


def _checked_widths(
    width: int | Sequence[int], n_observed: int, means: MeanKind
) -> tuple[int, ...]:
    widths = tuple(width) if isinstance(width, Sequence) else (width,) * n_observed
    if len(widths) != n_observed:
        raise InvalidInputError(
            f"width should be one number or one for each of the {n_observed} observed variables; "
            f"got {len(widths)} numbers"
        )
    for value in widths:
        check_whole("width", value, at_least=1)
    if means == "sphere" and 1 in widths:
        raise InvalidInputError(
            "the unit sphere of R^1 has two points only; use means='ball' with width 1"
        )
    return widths
