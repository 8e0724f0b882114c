"""The discrete half of a random model: domain sizes, Λ, P(H) and Γ (``sec: expt_details``).

Sizes are drawn uniformly from those whose product is allowed, Λ by a random order and independent
arrows, P(H) from conditional tables of small integers. Γ has independent arrows too, given that it
satisfies the conditions asked for: draws that do not are thrown away, so the conditions are met
without another distribution sneaking in.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from mixoracle._checks import RandomState, check_probability, check_whole, make_generator
from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, ComponentSet, Joint, JointTable, LatentModel

# Rejection draws of Γ come in batches, checked as arrays. At the paper's densities one batch is
# plenty; the limit is reached within seconds where hardly any graph meets the conditions.
_GRAPHS_IN_BATCH = 256
_GRAPH_BATCHES = 400
# A joint table beyond this (half a gigabyte) is more likely a slip than a wish.
_MAX_TABLE_CELLS = 2**26


def random_domain_sizes(
    n_latent: int,
    smallest: int,
    largest: int,
    max_joint_states: int | None,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Draw uniformly from the size vectors whose product is allowed, without rejection.

    The number of ways to fill the remaining places under the remaining bound gives the
    probability of each next size.
    """
    check_whole("min_domain", smallest, at_least=2)
    check_whole("max_domain", largest, at_least=smallest)
    if max_joint_states is not None:
        check_whole("max_joint_states", max_joint_states, at_least=1)
    room = min(max_joint_states or _MAX_TABLE_CELLS, _MAX_TABLE_CELLS)
    if smallest**n_latent > room:
        raise InvalidInputError(
            f"{n_latent} latents with at least {smallest} states each have at least "
            f"{smallest}^{n_latent} joint states, more than {room}; use fewer latents or raise "
            f"max_joint_states (to {_MAX_TABLE_CELLS} at most)"
        )

    def allowed(room: int) -> range:
        return range(smallest, min(largest, room) + 1)

    @cache
    def ways(places: int, room: int) -> int:
        if places == 0:
            return 1
        return sum(ways(places - 1, room // size) for size in allowed(room))

    sizes: list[int] = []
    for places in range(n_latent, 0, -1):
        counts = [ways(places - 1, room // size) for size in allowed(room)]
        total = sum(counts)
        size = int(rng.choice(allowed(room), p=[count / total for count in counts]))
        sizes.append(size)
        room //= size
    return tuple(sizes)


def random_dag(
    n_latent: int, density: float, rng: np.random.Generator
) -> frozenset[tuple[int, int]]:
    """Draw each arrow that a random order of the latents allows with probability ``density``."""
    check_probability("latent_density", density)
    order = rng.permutation(n_latent)
    pairs = list(combinations(order.tolist(), 2))
    kept = rng.random(len(pairs)) < density
    return frozenset(pair for pair, keep in zip(pairs, kept, strict=True) if keep)


def random_joint(
    sizes: tuple[int, ...],
    dag: frozenset[tuple[int, int]],
    max_weight: int,
    rng: np.random.Generator,
) -> JointTable:
    """Multiply conditional tables whose rows are proportional to random integers."""
    check_whole("max_weight", max_weight, at_least=1)
    table = np.ones(sizes)
    for j in range(len(sizes)):
        family = {j} | {parent for parent, child in dag if child == j}
        shape = [size if i in family else 1 for i, size in enumerate(sizes)]
        weights = rng.integers(1, max_weight, size=shape, endpoint=True)
        table *= weights / weights.sum(axis=j, keepdims=True)
    return JointTable(table / table.sum())


def numbered_model(
    bipartite: NDArray[np.bool_],
    joint: Joint,
    dag: Iterable[tuple[int, int]],
    components: Iterable[ComponentSet] | None = None,
    names: tuple[str, str] = ("X", "H"),
) -> LatentModel:
    """A model whose variables and latents are numbered from 1, with the class of ``dag`` as Λ."""
    n_observed, n_latent = bipartite.shape
    observed, latent = names
    return LatentModel(
        observed_names=tuple(f"{observed}{i + 1}" for i in range(n_observed)),
        latent_names=tuple(f"{latent}{j + 1}" for j in range(n_latent)),
        bipartite=bipartite,
        domain_sizes=joint.domain_sizes,
        joint=joint,
        latent_graph=CPDAG.from_dag(dag, n_latent),
        components=None if components is None else tuple(components),
    )


def random_bipartite(
    n_latent: int,
    n_observed: int,
    random_state: RandomState = None,
    *,
    density: float = 0.5,
    subset_condition: bool = True,
    independent_columns: bool = True,
    orphans: bool = False,
) -> NDArray[np.bool_]:
    """Draw Γ by rejection: independent arrows, given that the conditions hold.

    Each latent has a child and no two latents are twins, whatever the choices.

    Examples
    --------
    >>> random_bipartite(2, 5, random_state=0).shape
    (5, 2)
    """
    rng = make_generator(random_state)
    check_whole("n_latent", n_latent, at_least=0)
    check_whole("n_observed", n_observed, at_least=1)
    check_probability("bipartite_density", density)
    if n_latent == 0:
        return np.zeros((n_observed, 0), dtype=bool)
    _check_possible(n_latent, n_observed, subset_condition, independent_columns)
    for _ in range(_GRAPH_BATCHES):
        batch = rng.random((_GRAPHS_IN_BATCH, n_observed, n_latent)) < density
        # Each latent has a child and, unless orphans may be, each X a parent.
        covered = np.all(np.any(batch, axis=1), axis=1)
        covered &= orphans or np.all(np.any(batch, axis=2), axis=1)
        good = covered & _distinguishes(batch, subset_condition)
        for graph in batch[good]:
            if not independent_columns or np.linalg.matrix_rank(graph) == n_latent:
                return np.asarray(graph)
    raise InvalidInputError(
        f"none of {_GRAPHS_IN_BATCH * _GRAPH_BATCHES} draws of Γ with {n_latent} latents, "
        f"{n_observed} observed variables and density {density} met the conditions; use fewer "
        "latents, more observed variables, another density or fewer conditions"
    )


def _distinguishes(batch: NDArray[np.bool_], subset_condition: bool) -> NDArray[np.bool_]:
    """Whether the neighbourhoods of each graph are distinct, or even none within another."""
    counts = batch.astype(np.float64)
    shared = np.swapaxes(counts, 1, 2) @ counts
    sizes = batch.sum(axis=1)
    within = shared == sizes[:, :, None]  # [g, i, j]: ne(H_i) is a subset of ne(H_j)
    if not subset_condition:
        within &= np.swapaxes(within, 1, 2)
    others = ~np.eye(batch.shape[2], dtype=bool)
    return np.asarray(~np.any(within & others, axis=(1, 2)))


def _check_possible(
    n_latent: int, n_observed: int, subset_condition: bool, independent_columns: bool
) -> None:
    """Refuse what no graph satisfies (Sperner's theorem for the subset condition)."""
    limits = [(2**n_observed - 1, "distinct neighbourhoods")]
    if subset_condition:
        limits.append((comb(n_observed, n_observed // 2), "the subset condition"))
    if independent_columns:
        limits.append((n_observed, "independent columns"))
    limit, reason = min(limits)
    if n_latent > limit:
        raise InvalidInputError(
            f"{n_observed} observed variables allow at most {limit} latents with {reason}; "
            f"got {n_latent}"
        )
