"""The same model with its latents and their states in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixoracle._arrays import frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.metrics.tables import reordered
from mixoracle.model import CPDAG, ComponentSet, JointTable, LatentModel


def relabel(
    model: LatentModel,
    latent_order: Sequence[int],
    state_orders: Sequence[Sequence[int]] | None = None,
) -> LatentModel:
    """Return the same model with its latents and their states in another order.

    Parameters
    ----------
    model : LatentModel
    latent_order : sequence of int
        New latent a is the old latent ``latent_order[a]`` and keeps its name.
    state_orders : sequence of sequences of int, optional
        New state s of new latent a is its old state ``state_orders[a][s]``.

    Notes
    -----
    With ``matching = match_latents(truth, estimate)``, ``relabel(estimate, matching.latents,
    matching.states)`` has the latents and states of the truth, where both are as many.
    """
    order = _checked_order(latent_order, model.n_latent, "latent_order")
    sizes = tuple(model.domain_sizes[j] for j in order)
    states = [list(range(size)) for size in sizes]
    if state_orders is not None:
        if len(state_orders) != len(sizes):
            raise InvalidInputError(
                f"state_orders should hold one order for each of the {len(sizes)} latents; "
                f"got {len(state_orders)}"
            )
        states = [
            _checked_order(given, size, f"state_orders[{a}]")
            for a, (given, size) in enumerate(zip(state_orders, sizes, strict=True))
        ]
    position = {old: new for new, old in enumerate(order)}
    components = model.components
    return replace(
        model,
        latent_names=tuple(model.latent_names[j] for j in order),
        bipartite=model.bipartite[:, order],
        domain_sizes=sizes,
        joint=JointTable(reordered(np.transpose(model.joint.table, order), states)),
        latent_graph=CPDAG(
            model.n_latent,
            frozenset((position[i], position[j]) for i, j in model.latent_graph.directed),
            frozenset(
                frozenset(position[i] for i in pair) for pair in model.latent_graph.undirected
            ),
        ),
        components=components
        if components is None
        else tuple(
            _relabelled_components(model, i, held, order, states)
            for i, held in enumerate(components)
        ),
    )


def _relabelled_components(
    model: LatentModel,
    observed: int,
    held: ComponentSet,
    order: list[int],
    states: list[list[int]],
) -> ComponentSet:
    """Put the components of one observed variable in the order of its relabelled parents."""
    parents = model.parents(observed)
    new_parents = [a for a, old in enumerate(order) if old in parents]
    numbers = np.arange(held.n_components).reshape([model.domain_sizes[j] for j in parents])
    axes = [parents.index(order[a]) for a in new_parents]
    moved = reordered(np.transpose(numbers, axes), [states[a] for a in new_parents])
    return held.take(moved.ravel())


def _checked_order(order: Sequence[int], size: int, what: str) -> list[int]:
    checked = [int(entry) for entry in frozen_whole_numbers(order, what)]
    if sorted(checked) != list(range(size)):
        raise InvalidInputError(
            f"{what} should name each of 0 to {size - 1} once; got {list(order)}"
        )
    return checked
