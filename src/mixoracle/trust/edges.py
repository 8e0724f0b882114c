"""What can be claimed of each pair of latents, given how probable its edges are.

One claim a pair: an arrow that was declared, an arrow in three degrees, an edge whose direction is
open, an edge that is absent, or one that was not seen though it may be there. The degree follows
from the posterior, the kind from the learned class. Words for a claim stand in
:mod:`mixoracle.report.claims` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import prod

from mixoracle.model import CPDAG, LatentModel
from mixoracle.structure import EdgePosterior, Knowledge, can_average, edge_posterior
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.power import visible_association

# From these supports on an edge is said to be there, and to be there probably.
SURE = 0.95
PROBABLE = 0.8
# Joint states of the table that graphs are averaged from, at most.
_MOST_AVERAGED = 1_000_000


class Claim(StrEnum):
    """What is claimed of a pair of latents."""

    DECLARED = "declared"
    CAUSES = "causes"
    PROBABLY = "probably causes"
    MAY = "may cause"
    OPEN = "direction open"
    ABSENT = "absent"
    NOT_SEEN = "not seen"


@dataclass(frozen=True)
class PairSupport:
    """The edge of one pair of latents: what is claimed, and what the claim rests on.

    Parameters
    ----------
    first, second : int
        The latents; of an arrow the cause comes first.
    claim : Claim
    adjacency : float or None
        The probability that the two are adjacent; None where it could not be computed.
    forward, backward : float or None
        Those of first→second and of second→first.
    visible : float
        The association (Cramér's V) that would have been found in 80 % of samples of this size.
    declared : bool
        Whether the direction of the arrow, or that there is no edge, was declared beforehand.
    """

    first: int
    second: int
    claim: Claim
    adjacency: float | None
    forward: float | None
    backward: float | None
    visible: float
    declared: bool = False

    def __post_init__(self) -> None:
        # A file holds the claim as text.
        object.__setattr__(self, "claim", Claim(self.claim))


def posterior_of(
    model: LatentModel, n_samples: int, knowledge: Knowledge | None = None
) -> EdgePosterior | None:
    """The posterior of the model's edges; None where there are too many latents to average."""
    if not can_average(model.joint) or model.joint.n_joint > _MOST_AVERAGED:
        return None
    return edge_posterior(model.joint.to_table(), n_samples, knowledge, names=model.latent_names)


def pair_supports(
    model: LatentModel,
    n_samples: int,
    posterior: EdgePosterior | None,
    known: ResolvedKnowledge | None = None,
) -> tuple[PairSupport, ...]:
    """What can be claimed of each pair of latents, arrows first, beside what is ``known``."""
    known = ResolvedKnowledge(model.n_latent) if known is None else known
    graph = model.latent_graph
    pairs = []
    for a, b in combinations(range(model.n_latent), 2):
        first, second = (b, a) if (b, a) in graph.directed else (a, b)
        adjacency = forward = backward = None
        if posterior is not None:
            adjacency = float(posterior.adjacency[first, second])
            forward = float(posterior.arrows[first, second])
            backward = float(posterior.arrows[second, first])
        claim = _claim(graph, first, second, adjacency, forward)
        claim = Claim.DECLARED if (first, second) in known.required else claim
        directed = (first, second) in graph.directed
        ruled_out = {(second, first)} | (set() if directed else {(first, second)})
        declared = claim is Claim.DECLARED or ruled_out <= known.forbidden
        visible = _visible(model, n_samples, first, second)
        figures = (adjacency, forward, backward, visible)
        pairs.append(PairSupport(first, second, claim, *figures, declared))
    order = list(Claim)
    return tuple(sorted(pairs, key=lambda p: (order.index(p.claim), p.first, p.second)))


def _claim(
    graph: CPDAG, first: int, second: int, adjacency: float | None, forward: float | None
) -> Claim:
    """The claim that the class allows, in the degree that the figures allow."""
    if (first, second) in graph.directed:
        if forward is None or forward < PROBABLE:
            return Claim.MAY
        return Claim.CAUSES if forward >= SURE else Claim.PROBABLY
    if frozenset((first, second)) in graph.undirected:
        return Claim.OPEN
    ruled_out = adjacency is not None and adjacency <= 1.0 - SURE
    return Claim.ABSENT if ruled_out else Claim.NOT_SEEN


def _visible(model: LatentModel, n_samples: int, first: int, second: int) -> float:
    """The association that would have been found, as an arrow in the easier direction."""
    parents = model.latent_graph.parents
    sizes = model.domain_sizes
    conditions = (
        prod(sizes[k] for k in parents(effect) if k not in (first, second))
        for effect in (first, second)
    )
    return visible_association(n_samples, (sizes[first], sizes[second]), min(conditions))
