"""Problems with dozens of latents and hundreds of observed variables.

The paper's draws connect half of all pairs, and their P(H) is a table. Here graphs are sparse: each
observed variable has a few parents whatever the number of latents, each latent a few causes among
the latents, and P(H) is a :class:`~mixoracle.model.JointNetwork`. Components are those of the
paper. A model is drawn in a fixed order (sizes, Γ, Λ with its conditional tables, components), and
samples come after it, so one seed gives the same model for every sample size.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from mixoracle._arrays import Bools
from mixoracle._checks import RandomState, check_whole, make_generator
from mixoracle.datasets.covariances import CovarianceKind
from mixoracle.datasets.graphs import numbered_model
from mixoracle.datasets.simulate import ComponentChoices, Problem, random_components, sample
from mixoracle.errors import InvalidInputError
from mixoracle.model import JointNetwork

# Draws of Γ before one gives up: a second or so.
_GRAPH_DRAWS = 2_000
# Rows of conditional tables are proportional to whole numbers up to this, as in the paper.
_MAX_WEIGHT = 4


def sparse_problem(
    n_latent: int,
    n_observed: int,
    max_domain: int = 2,
    n_samples: int = 20_000,
    random_state: RandomState = None,
    covariance: CovarianceKind = "text",
    *,
    max_parents: int = 3,
    max_causes: int = 2,
    **choices: Unpack[ComponentChoices],
) -> Problem:
    """Draw a sparse model with many latents, and samples from it.

    Parameters
    ----------
    n_latent, n_observed : int
        m and n.
    max_domain : int
        Domain sizes are uniform between 2 and this.
    n_samples : int
    random_state : int, Generator, SeedSequence or None
    covariance : {"text", "code"}
        As the paper's words or its published code.
    max_parents : int
        Each observed variable has 1 to so many parents. No latent's children are all another's as
        well (the subset condition).
    max_causes : int
        Each latent has 0 to so many causes among the latents before it.
    **choices
        How components are drawn; see :func:`random_model`.

    Examples
    --------
    >>> problem = sparse_problem(30, 100, n_samples=50, random_state=0)
    >>> problem.model.joint.n_joint == 2**30, problem.states.shape
    (True, (50, 30))
    """
    check_whole("n_latent", n_latent, at_least=1)
    check_whole("n_observed", n_observed, at_least=1)
    check_whole("max_domain", max_domain, at_least=2)
    check_whole("max_parents", max_parents, at_least=1)
    check_whole("max_causes", max_causes, at_least=0)
    rng = make_generator(random_state)
    sizes = [int(size) for size in rng.integers(2, max_domain + 1, size=n_latent)]
    bipartite = _bipartite(n_latent, n_observed, max_parents, rng)
    joint = _network(sizes, max_causes, rng)
    model = numbered_model(bipartite, joint, joint.edges)
    model = random_components(model, rng, covariance, **choices)
    observations, states = sample(model, n_samples, rng)
    return Problem(observations, model, states, joint.edges)


def _bipartite(n_latent: int, n_observed: int, most: int, rng: np.random.Generator) -> Bools:
    """Γ with 1 to ``most`` parents each in which no latent's children are all another's as well."""
    for _ in range(_GRAPH_DRAWS):
        adjacency = np.zeros((n_observed, n_latent), dtype=bool)
        for row in adjacency:
            n_parents = rng.integers(1, min(most, n_latent) + 1)
            row[rng.choice(n_latent, size=n_parents, replace=False)] = True
        within = adjacency.T.astype(int) @ ~adjacency == 0
        if adjacency.any(axis=0).all() and not (within & ~np.eye(n_latent, dtype=bool)).any():
            return adjacency
    raise InvalidInputError(
        f"none of {_GRAPH_DRAWS} draws of Γ with {n_latent} latents and {n_observed} observed "
        f"variables of 1 to {most} parents met the subset condition; use fewer latents or more "
        "observed variables"
    )


def _network(sizes: list[int], max_causes: int, rng: np.random.Generator) -> JointNetwork:
    """P(H) along a DAG in which each latent has a few of the earlier ones as causes."""
    parents, tables = [], []
    for j, size in enumerate(sizes):
        n_causes = min(j, int(rng.integers(0, max_causes + 1)))
        causes = sorted(rng.choice(j, size=n_causes, replace=False).tolist())
        shape = [*(sizes[i] for i in causes), size]
        weights = rng.integers(1, _MAX_WEIGHT, size=shape, endpoint=True)
        parents.append(tuple(causes))
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    return JointNetwork(tuple(parents), tuple(tables))
