"""Background knowledge about Λ: required arrows, forbidden arrows, tiers.

Latents are named or counted from 0. Tiers are an order in time: nothing in a later tier causes
anything in an earlier one. Knowledge that contradicts itself is refused with the edges named;
knowledge that does not is always satisfiable, because its required arrows alone form a DAG.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.model.graphs import Edge, find_cycle

Node = str | int


@dataclass(frozen=True)
class ResolvedKnowledge:
    """Knowledge about nodes 0..n_nodes−1 that is known to be free of contradictions."""

    n_nodes: int
    required: frozenset[Edge] = frozenset()  # arrows i→j that must be there
    forbidden: frozenset[Edge] = frozenset()  # and those that must not

    def honoured_by(self, scores: Floats) -> Floats:
        """Local scores (m, 2^m), by the bits of the parents, −∞ for parents that break it."""
        subsets = np.arange(scores.shape[1])
        result = scores.copy()
        for i, j in self.required:
            result[j, (subsets >> i & 1) == 0] = -np.inf
        for i, j in self.forbidden:
            result[j, (subsets >> i & 1) == 1] = -np.inf
        return result


@dataclass(frozen=True, init=False)
class Knowledge:
    """Background knowledge about the arrows of Λ.

    Parameters
    ----------
    required, forbidden : iterables of (cause, effect)
        Arrows that must be there, or must not.
    tiers : sequence of iterables
        Earlier tiers first; a latent in no tier is free.

    Examples
    --------
    >>> known = Knowledge(required=[("skill", "answer")], tiers=[["skill"], ["answer", "mood"]])
    >>> sorted(known.resolved(["skill", "mood", "answer"]).forbidden)
    [(1, 0), (2, 0)]
    """

    required: frozenset[tuple[Node, Node]] = frozenset()
    forbidden: frozenset[tuple[Node, Node]] = frozenset()
    tiers: tuple[frozenset[Node], ...] = ()

    def __init__(
        self,
        required: Iterable[tuple[Node, Node]] = (),
        forbidden: Iterable[tuple[Node, Node]] = (),
        tiers: Sequence[Iterable[Node]] = (),
    ) -> None:
        object.__setattr__(self, "required", _edges(required, "required"))
        object.__setattr__(self, "forbidden", _edges(forbidden, "forbidden"))
        if any(isinstance(tier, str) for tier in tiers):
            raise InvalidInputError("each tier should be a collection of latents; got one string")
        object.__setattr__(self, "tiers", tuple(frozenset(tier) for tier in tiers))

    def resolved(self, names: Sequence[str]) -> ResolvedKnowledge:
        """Name by name to indices; raise where the knowledge contradicts itself."""
        required = _indexed(self.required, names)
        forbidden = _indexed(self.forbidden, names) | self._against_time(names)
        clash = sorted(required & forbidden)
        if clash:
            i, j = clash[0]
            raise KnowledgeConflictError(
                f"{names[i]}→{names[j]} is both required and forbidden (or runs against the "
                "tiers); drop one of the two"
            )
        cycle = find_cycle(required)
        if cycle:
            path = "→".join(names[i] for i in (*cycle, cycle[0]))
            raise KnowledgeConflictError(
                f"the required edges form the cycle {path}; drop one of them"
            )
        return ResolvedKnowledge(len(names), required, forbidden)

    def _against_time(self, names: Sequence[str]) -> frozenset[Edge]:
        tiers = [[_index(node, names) for node in tier] for tier in self.tiers]
        placed = [i for tier in tiers for i in tier]
        twice = sorted({i for i in placed if placed.count(i) > 1})
        if twice:
            raise KnowledgeConflictError(
                f"{names[twice[0]]} is in more than one tier; keep it in one"
            )
        return frozenset(
            (late, early)
            for t, tier in enumerate(tiers)
            for late in tier
            for earlier in tiers[:t]
            for early in earlier
        )


def _edges(pairs: Iterable[tuple[Node, Node]], kind: str) -> frozenset[tuple[Node, Node]]:
    checked = []
    for pair in pairs:
        if isinstance(pair, str) or len(tuple(pair)) != 2:
            raise InvalidInputError(f"{kind} edges should be pairs (cause, effect); got {pair!r}")
        cause, effect = pair
        checked.append((cause, effect))
    return frozenset(checked)


def _indexed(pairs: Iterable[tuple[Node, Node]], names: Sequence[str]) -> frozenset[Edge]:
    edges = frozenset((_index(i, names), _index(j, names)) for i, j in pairs)
    for i, j in edges:
        if i == j:
            raise KnowledgeConflictError(
                f"{names[i]}→{names[i]} is no edge; a latent cannot cause itself"
            )
    return edges


def _index(node: Node, names: Sequence[str]) -> int:
    if isinstance(node, str):
        if node not in names:
            raise InvalidInputError(
                f"knowledge names {node!r}, but the latents are {', '.join(names) or 'none'}"
            )
        return list(names).index(node)
    if not 0 <= node < len(names):
        raise InvalidInputError(
            f"knowledge names latent {node}, but latents are counted from 0 to {len(names) - 1}"
        )
    return int(node)


def named_nodes(names: Sequence[str] | None, n_latent: int) -> list[str]:
    """The names of the latents, checked; H1, H2, … where there are none."""
    if names is None:
        return [f"H{j + 1}" for j in range(n_latent)]
    if len(names) != n_latent or len(set(names)) != n_latent:
        raise InvalidInputError(
            f"names should be {n_latent} distinct strings, one for each latent; got {names!r}"
        )
    return list(names)
