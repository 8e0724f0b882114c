"""The answers along the path over resolutions: which causes and states persist."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from mixoracle.decoding.explanation import Structure, structure_of
from mixoracle.model import Bipartite
from mixoracle.oracles.candidate import Candidate


@dataclass(frozen=True)
class Resolution:
    """One answer, and the resolutions at which it is the best one that was found.

    ``finest`` and ``coarsest`` are the largest and the smallest of them, in rows up to which the
    data are believed; infinite stands for all of them. ``strength`` is what answers along one path
    are compared by, larger is better.
    """

    graph: Bipartite
    finest: float
    coarsest: float
    strength: float

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each hidden cause."""
        return self.graph.domain_sizes


def resolutions(candidates: Iterable[Candidate]) -> tuple[Resolution, ...]:
    """The best candidate at each resolution, finest first; neighbours that agree are one answer."""
    best: dict[float, tuple[float, Bipartite]] = {}
    for candidate in candidates:
        held = best.get(candidate.resolution)
        if candidate.graph is not None and (held is None or candidate.strength > held[0]):
            best[candidate.resolution] = candidate.strength, candidate.graph
    ordered = sorted(best.items(), reverse=True)
    path = []
    for _, group in groupby(ordered, key=lambda item: _structure(item[1][1])):
        members = list(group)
        strength, graph = max((held for _, held in members), key=lambda held: held[0])
        path.append(Resolution(graph, members[0][0], members[-1][0], strength))
    return tuple(path)


def _structure(graph: Bipartite) -> Structure:
    return structure_of(graph.adjacency, graph.domain_sizes)
