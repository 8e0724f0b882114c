"""In which order the states of a latent are counted: from low to high, else by frequency.

States have an order where the means of the latent's children agree on one: put in it, nearly all
that changes from state to state goes on in the same direction, in each column upwards or in each
downwards. Then they are counted so that the columns, in units of their own spread, rise on the
whole; with two states that is always so. Otherwise the most frequent state comes first. Columns of
levels take part where the labels are numbers.

Numbering means nothing to learning, so this is done once, when a model is made of a solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mixoracle._arrays import Floats, Integers, column_moments, without_missing
from mixoracle.mixtures.preparation import Prepared
from mixoracle.model import Bipartite, ComponentSet, Joint
from mixoracle.observations.columns import Levels, spelled_number

# The share of all changes from state to state that goes on in one direction, at least.
_ONE_DIRECTION = 0.9


def state_orders(
    joint: Joint, graph: Bipartite, components: Sequence[ComponentSet], prepared: Prepared
) -> list[Integers]:
    """For each latent its states in the order in which they are to be counted.

    ``joint`` is P(H), ``components`` are in own units and in the order of the observations.
    """
    driven = np.flatnonzero(graph.adjacency.any(axis=1)).tolist()
    means = {i: _scaled_means(components[i], prepared, i) for i in driven}
    orders = []
    for j in range(graph.n_latent):
        children = np.flatnonzero(graph.adjacency[:, j]).tolist()
        columns = [_component_shares(joint, graph, i, j) @ means[i] for i in children]
        has_means = any(own.shape[1] for own in columns)
        ordered = low_to_high(np.hstack(columns)) if has_means else None
        frequent = np.argsort(-joint.marginal([j]).table, kind="stable").astype(np.int64)
        orders.append(frequent if ordered is None else ordered)
    return orders


def low_to_high(means: Floats) -> Integers | None:
    """The order of states by their means (states, columns); None where the columns have no order.

    Examples
    --------
    >>> low_to_high(np.array([[5.0, 9.0], [1.0, 2.0], [3.0, 4.0]])).tolist()
    [1, 2, 0]
    >>> low_to_high(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])) is None
    True
    """
    centred = means - means.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    order = np.argsort(left[:, 0] * lengths[0], kind="stable").astype(np.int64)
    steps = np.diff(means[order], axis=0)
    net = steps.sum(axis=0)
    if np.abs(net).sum() < _ONE_DIRECTION * np.abs(steps).sum() or not steps.any():
        return None
    # Where as much rises as falls, the first column decides.
    rises = net.sum() if abs(net.sum()) > 1e-9 * np.abs(net).sum() else net[0]
    return order if rises > 0 else order[::-1].copy()


def _scaled_means(components: ComponentSet, prepared: Prepared, observed: int) -> Floats:
    """The mean of each column in each component (components, columns), in units of its spread.

    Only of columns that vary and have a mean.
    """
    block, levels = prepared.measured[observed], prepared.observations.levels[observed]
    means, spreads = [], column_moments(block)[1].tolist()
    for column, values, numbers in _numeric(components, levels):
        spread = spreads[column]
        if numbers is not None:
            seen = without_missing(block[:, column])
            spread = float(np.std(numbers[seen.astype(np.int64)]))
        if spread > 0 and np.all(np.isfinite(values)):
            means.append(values / spread)
    return np.stack(means, axis=1) if means else np.zeros((components.n_components, 0))


def _component_shares(joint: Joint, graph: Bipartite, observed: int, j: int) -> Floats:
    """P(component of X_i | state of H_j), (states, components)."""
    parents = np.flatnonzero(graph.adjacency[observed]).tolist()
    weights = joint.marginal(parents).table
    axis = parents.index(j)
    n_states = joint.domain_sizes[j]
    shares = np.zeros((n_states, *weights.shape))
    for state in range(n_states):
        at = tuple(state if a == axis else slice(None) for a in range(weights.ndim))
        total = weights[at].sum()
        shares[(state, *at)] = weights[at] / total if total > 0 else 1.0 / weights[at].size
    return shares.reshape(n_states, -1)


def _numeric(
    components: ComponentSet, levels: Sequence[Levels | None]
) -> Iterator[tuple[int, Floats, Floats | None]]:
    """Each column that has a mean: its place, the mean in each component, numbers of its levels."""
    averages = components.averages()
    places = np.array([entry.column for entry in averages.entries])
    for column, labels in enumerate(levels):
        own = averages.values[:, places == column]
        if not own.shape[1]:  # an exposure, which has no mean of its own
            continue
        if labels is None:
            yield column, own[:, 0], None
            continue
        spelled = [spelled_number(label) for label in labels]
        if len(spelled) == own.shape[1] and all(number is not None for number in spelled):
            numbers = np.array(spelled, dtype=np.float64)
            yield column, own @ numbers, numbers


def reordered_codes(graph: Bipartite, orders: list[Integers], observed: int) -> Integers:
    """Which old configuration of pa(X_i) stands at each new one after states are reordered."""
    parents = [int(j) for j in np.flatnonzero(graph.adjacency[observed])]
    sizes = tuple(graph.domain_sizes[j] for j in parents)
    codes = np.arange(int(np.prod(sizes, dtype=int))).reshape(sizes)
    return np.asarray(codes[np.ix_(*(orders[j] for j in parents))] if parents else codes).ravel()
