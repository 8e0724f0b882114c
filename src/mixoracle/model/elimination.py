"""Sums of products over many latents, one latent at a time.

A distribution over many latents is a product of factors over few of them each. Summing it over all
latents but some need not build the product: each latent in turn is summed out of the factors that
know it, and of nothing else (variable elimination, bucket by bucket). The next latent is always the
one whose bucket is smallest ("min-weight"); finding the best order is NP-hard.

Assumption: some order needs no bucket larger than ``MAX_ENTRIES``. Where the one found does, the
question is refused before anything is computed.

References
----------
.. [1] R. Dechter (1999), Bucket elimination: a unifying framework for reasoning, Artificial
   Intelligence 113, 41-85.
.. [2] U. Kjærulff (1990), Triangulation of graphs: algorithms giving small total state space,
   Aalborg University, R 90-09.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod

import numpy as np

from mixoracle._arrays import Floats, Integers
from mixoracle.errors import InvalidInputError

# The largest array that is built: 80 MB, and well below a second for all of its sums.
MAX_ENTRIES = 10_000_000


@dataclass(frozen=True, eq=False)
class Factor:
    """Numbers for all joint states of some latents: ``values`` has an axis for each, in order."""

    latents: tuple[int, ...]
    values: Floats


def eliminate(
    factors: Iterable[Factor],
    kept: Sequence[int],
    domain_sizes: Sequence[int],
    *,
    largest: bool = False,
) -> Floats:
    """The sum over all other latents of the product of the factors, with an axis for each kept one.

    With ``largest`` the largest product instead of the sum of all. Latents that no factor knows
    take part in no sum; a kept one among them has equal entries.

    Examples
    --------
    >>> step = np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> chain = [Factor((0,), np.array([0.5, 0.5])), Factor((0, 1), step)]
    >>> eliminate(chain, [1], (2, 2)).round(3).tolist()
    [0.6, 0.4]
    """
    waiting = _without_known(list(factors), kept)
    for bucket in _buckets(waiting, kept, domain_sizes):
        rest = bucket.values.max(axis=-1) if largest else bucket.values.sum(axis=-1)
        waiting.append(Factor(bucket.latents[:-1], rest))
    return _product(waiting, kept, domain_sizes)


def likeliest(
    factors: Iterable[Factor], domain_sizes: Sequence[int], most: int
) -> tuple[Integers, Floats]:
    """The joint states of the largest products, at most so many, and these products.

    The largest products with a part of the latents fixed follow from one elimination: read in the
    opposite order, each bucket says how much is lost by each state of its latent. So a best-first
    search never has to turn back.

    Examples
    --------
    >>> step = np.array([[0.9, 0.1], [0.3, 0.7]])
    >>> states, found = likeliest([Factor((0,), np.ones(2) / 2), Factor((0, 1), step)], (2, 2), 2)
    >>> states.tolist(), found.round(2).tolist()
    ([[0, 0], [1, 1]], [0.45, 0.35])
    """
    waiting, steps = list(factors), []
    for bucket in _buckets(waiting, (), domain_sizes):
        steps.append(bucket)
        waiting.append(Factor(bucket.latents[:-1], bucket.values.max(axis=-1)))
    start = float(_product(waiting, (), domain_sizes))
    # The largest product that is left, then the states of the latents of the last steps.
    queue: list[tuple[float, tuple[int, ...]]] = [(-start, ())] if start > 0 else []
    order = [bucket.latents[-1] for bucket in reversed(steps)]
    found: list[tuple[float, list[int]]] = []
    while queue and len(found) < most:
        value, chosen = heappop(queue)
        if len(chosen) == len(order):
            found.append((value, [chosen[order.index(j)] for j in range(len(order))]))
            continue
        bucket = steps[-1 - len(chosen)]
        row = bucket.values[tuple(chosen[order.index(j)] for j in bucket.latents[:-1])]
        for state in map(int, np.flatnonzero(row)):
            heappush(queue, (value * float(row[state] / row.max()), (*chosen, state)))
    states = np.array([held for _, held in found], dtype=np.int64)
    products = -np.array([value for value, _ in found], dtype=np.float64)
    return states.reshape(len(found), len(order)), products


def _without_known(factors: list[Factor], kept: Sequence[int]) -> list[Factor]:
    """The factors at the states that are known, so that these latents join no others in a table.

    A latent is known if a factor of its own has a single state that is not 0: evidence, or what an
    intervention sets.
    """
    known = {
        factor.latents[0]: int(factor.values.argmax())
        for factor in factors
        if len(factor.latents) == 1 and np.count_nonzero(factor.values) == 1
    }
    known = {latent: state for latent, state in known.items() if latent not in kept}
    return [
        Factor(
            tuple(latent for latent in factor.latents if latent not in known),
            factor.values[tuple(known.get(latent, slice(None)) for latent in factor.latents)],
        )
        for factor in factors
    ]


def _buckets(
    waiting: list[Factor], kept: Sequence[int], domain_sizes: Sequence[int]
) -> Iterator[Factor]:
    """The product of all factors that know a latent, its axis last, one latent after the other.

    These factors leave ``waiting``; what becomes of their product should be appended to it.
    """
    for latent in _order([set(factor.latents) for factor in waiting], kept, domain_sizes):
        bucket = [factor for factor in waiting if latent in factor.latents]
        waiting[:] = [factor for factor in waiting if latent not in factor.latents]
        scope = sorted(set().union(*(factor.latents for factor in bucket)) - {latent})
        yield Factor((*scope, latent), _product(bucket, [*scope, latent], domain_sizes))


def _order(scopes: list[set[int]], kept: Sequence[int], domain_sizes: Sequence[int]) -> list[int]:
    """The latents to eliminate, each with the smallest bucket at its turn."""
    refuse_large(kept, domain_sizes)
    left = set().union(*scopes) - set(kept)
    buckets = {latent: _bucket(scopes, latent) for latent in left}
    order = []
    while left:
        chosen = min(left, key=lambda latent: (_n_entries(buckets[latent], domain_sizes), latent))
        refuse_large(buckets[chosen], domain_sizes)
        rest = buckets[chosen] - {chosen}
        scopes = [scope for scope in scopes if chosen not in scope] + [rest]
        left.remove(chosen)
        order.append(chosen)
        for latent in rest & left:
            buckets[latent] = _bucket(scopes, latent)
    return order


def _bucket(scopes: Sequence[set[int]], latent: int) -> set[int]:
    """All latents that share a factor with one, and that one."""
    return set().union(*(scope for scope in scopes if latent in scope))


def _n_entries(latents: Iterable[int], domain_sizes: Sequence[int]) -> int:
    return prod(domain_sizes[latent] for latent in latents)


def refuse_large(latents: Iterable[int], domain_sizes: Sequence[int]) -> None:
    """Raise where a table over these latents would be too large."""
    n_entries = _n_entries(latents, domain_sizes)
    if n_entries > MAX_ENTRIES:
        raise InvalidInputError(
            f"this would need a table of {n_entries:,} entries, more than {MAX_ENTRIES:,}: ask "
            "about fewer latents at a time"
        )


def _product(factors: Iterable[Factor], latents: Sequence[int], sizes: Sequence[int]) -> Floats:
    """The product of factors over some of these latents, with an axis for each of them."""
    place = {latent: axis for axis, latent in enumerate(latents)}
    product = np.ones(tuple(sizes[latent] for latent in latents))
    for factor in factors:
        axes = [place[latent] for latent in factor.latents]
        shape = [1] * len(place)
        for axis, size in zip(axes, factor.values.shape, strict=True):
            shape[axis] = size
        product *= np.transpose(factor.values, np.argsort(axes)).reshape(shape)
    return product
