"""How sure each edge in a picture is: the line, the legend and the label follow from it.

A full line is a claim, a dashed one a probable edge, a dotted one an edge that may be there. An
arrowhead is there where the direction is known. An edge of which nothing is given is drawn as the
graph has it, because a picture of a model that was not learned has no figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

Ends = tuple[int, int]


class Degree(StrEnum):
    """How sure an edge is."""

    SURE = "sure"
    PROBABLE = "probable"
    POSSIBLE = "possible"


@dataclass(frozen=True)
class Sure:
    """The degree of an edge, and the figure behind it; None where there is none."""

    degree: Degree = Degree.SURE
    support: float | None = None


AS_IT_STANDS = Sure()
# Lengths of strokes and gaps; a full line has none.
DASHES = {Degree.SURE: (), Degree.PROBABLE: (8.0, 4.0), Degree.POSSIBLE: (1.6, 3.6)}
# Without a head, and there at least: as it was drawn ever since.
_OPEN_DASHES = (5.0, 4.0)
_CAUSES = {
    Degree.SURE: "causes",
    Degree.PROBABLE: "probably causes",
    Degree.POSSIBLE: "may cause",
}
_DEPEND = {
    Degree.SURE: "depend on each other, direction open",
    Degree.PROBABLE: "probably depend on each other, direction open",
    Degree.POSSIBLE: "may depend on each other, direction open",
}
DRIVES = {
    Degree.SURE: "drives",
    Degree.PROBABLE: "probably drives",
    Degree.POSSIBLE: "may drive",
}


@dataclass(frozen=True)
class Sureness:
    """How sure the edges of Λ are, by their ends, and those of Γ, by measurement and cause."""

    edges: Mapping[Ends, Sure] = field(default_factory=dict)
    drives: Mapping[Ends, Sure] = field(default_factory=dict)

    def of_edge(self, i: int, j: int) -> Sure:
        """How sure an edge of Λ is."""
        return self.edges.get((i, j), AS_IT_STANDS)

    def of_measurement(self, i: int) -> Degree:
        """The degree of the least sure edge of Γ into a measurement."""
        return self._least.get(i, Degree.SURE)

    @cached_property
    def _least(self) -> dict[int, Degree]:
        order, least = list(Degree), dict[int, Degree]()
        for (i, _), held in self.drives.items():
            least[i] = max(least.get(i, Degree.SURE), held.degree, key=order.index)
        return least


NO_FIGURES = Sureness()


def words_of(degree: Degree, known: bool) -> str:
    """What a line among the causes says; ``known`` is whether it has a direction."""
    return (_CAUSES if known else _DEPEND)[degree]


def dashes_of(degree: Degree, known: bool) -> tuple[float, ...]:
    """The strokes of a line among the causes."""
    return DASHES[degree] if known or degree is not Degree.SURE else _OPEN_DASHES


def label_of(first: str, second: str, sure: Sure, known: bool) -> str:
    """What a line says of its two ends, with its support.

    Examples
    --------
    >>> label_of("H1", "H2", Sure(Degree.POSSIBLE, 0.33), True)
    'H1 may cause H2: support 0.33'
    """
    said = words_of(sure.degree, known)
    text = f"{first} {said} {second}" if known else f"{first} and {second} {said}"
    return text if sure.support is None else f"{text}: support {sure.support:.2f}"
