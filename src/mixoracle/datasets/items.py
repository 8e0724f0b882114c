"""Tests of binary items: skills that are mastered or not, and one answer an item.

Each skill has some items of its own and shares the others with one or two further skills. An item
is solved with a high probability by those who master what it needs and with a low one by the
rest; a shared item needs all of its skills, or any one of them (the DINA and DINO models of
psychometrics). So an item of two skills has two distributions, not four: a single answer cannot
tell more apart, and nondegeneracy (b) fails for shared items (``assump:strong:SDC``).

All joint states keep a fair probability, and no skill's items all belong to another one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixoracle._checks import RandomState, check_probability, check_whole, make_generator
from mixoracle.datasets.graphs import numbered_model, random_dag, random_joint
from mixoracle.datasets.simulate import Problem, sample
from mixoracle.errors import InvalidInputError
from mixoracle.model import CategoricalComponents, JointTable

# As the paper draws Λ and P(H) (``sec: expt_details``).
_LATENT_DENSITY = 0.6
_MAX_WEIGHT = 4
# No profile is rarer than this part of an even share: 0.03 with three skills.
_FAIR_PART = 0.25
# Of the draws of P(H) two in three will do with three skills, and one in eighty with six.
_JOINT_DRAWS = 2_000
_MOST_SHARING = 3


def item_problem(
    n_latent: int,
    n_items: int,
    n_samples: int,
    random_state: RandomState = None,
    low: float = 0.1,
    high: float = 0.9,
    own: int = 3,
) -> Problem:
    """Draw a test and the answers to it, 0 or 1, each item an observed variable of its own.

    Parameters
    ----------
    n_latent : int
        The number of skills; state 1 is mastery.
    n_items : int
        All items. Those beyond the skills' own are shared by two or three skills; a single
        skill has all items to itself.
    n_samples : int
    random_state : int, Generator, SeedSequence or None
    low, high : float
        The probability of a 1 without and with what the item needs.
    own : int
        How many items each skill has to itself.

    Examples
    --------
    >>> problem = item_problem(2, 8, 100, random_state=0)
    >>> problem.observations.n_observed, int(problem.model.bipartite.sum(axis=1).max())
    (8, 2)
    """
    rng = make_generator(random_state)
    check_whole("n_latent", n_latent, at_least=1)
    check_whole("own", own, at_least=1)
    check_whole("n_items", n_items, at_least=own * n_latent)
    check_probability("low", low)
    check_probability("high", high)
    if not low < high:
        raise InvalidInputError(
            f"low should be smaller than high, or answers say nothing; got {low!r} and {high!r}"
        )
    dag = random_dag(n_latent, _LATENT_DENSITY, rng)
    bipartite = _random_needs(n_latent, n_items, own, rng)
    joint = _fair_joint(n_latent, dag, rng)
    answers = [_answers(int(needs.sum()), low, high, rng) for needs in bipartite]
    model = numbered_model(bipartite, joint, dag, answers, ("item", "skill"))
    observations, states = sample(model, n_samples, rng)
    return Problem(observations, model, states, dag)


def _random_needs(
    n_latent: int, n_items: int, own: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Γ, with the items in random order."""
    needs = np.zeros((n_items, n_latent), dtype=bool)
    needs[np.arange(own * n_latent), np.repeat(np.arange(n_latent), own)] = True
    most = min(_MOST_SHARING, n_latent)
    for item in needs[own * n_latent :]:
        sharing = rng.integers(min(2, most), most, endpoint=True)
        item[rng.choice(n_latent, sharing, replace=False)] = True
    return rng.permutation(needs)


def _fair_joint(
    n_latent: int, dag: frozenset[tuple[int, int]], rng: np.random.Generator
) -> JointTable:
    """P(H) along Λ, drawn again until no profile is too rare."""
    sizes = (2,) * n_latent
    for _ in range(_JOINT_DRAWS):
        joint = random_joint(sizes, dag, _MAX_WEIGHT, rng)
        if joint.table.min() >= _FAIR_PART / joint.table.size:
            return joint
    raise InvalidInputError(
        f"none of {_JOINT_DRAWS} draws of P(H) gave all 2^{n_latent} profiles a fair share; use "
        "fewer skills"
    )


def _answers(
    n_parents: int, low: float, high: float, rng: np.random.Generator
) -> CategoricalComponents:
    """The chance of a 1 in each configuration of the parents, which count in C order."""
    mastered = np.indices((2,) * n_parents).reshape(n_parents, -1)
    needs_all = rng.random() < 0.5
    enough = mastered.all(axis=0) if needs_all else mastered.any(axis=0)
    solved = np.where(enough, high, low)
    return CategoricalComponents(np.stack([1.0 - solved, solved], axis=1), np.array([2]))
