"""Support from resamples as plain numbers and in words.

The record goes to ``evidence.json`` with the rest of the evidence; nothing is computed here that
the bootstrap did not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.inference import Effects
from mixoracle.report.lettering import shortened
from mixoracle.trust.edges import Claim, PairSupport
from mixoracle.trust.support import Support

# Parts of an answer that are found in fewer resamples are pointed out.
_STABLE = 0.95

# More ordered pairs of causes than this nobody reads.
_MOST_EFFECTS = 30
# Probabilities that differ by less are the same but for rounding.
_ROUNDING = 1e-9

Row = tuple[float, ...]


@dataclass(frozen=True)
class EffectInterval:
    """What follows for one latent from setting another, with intervals.

    Each has a row for a state of ``cause`` and an entry for a state of ``effect``: ``lower`` to
    ``upper`` is the range over the learned class, ``low`` to ``high`` the 95 % interval over the
    class and the resamples.
    """

    cause: int
    effect: int
    lower: tuple[Row, ...]
    upper: tuple[Row, ...]
    low: tuple[Row, ...]
    high: tuple[Row, ...]


@dataclass(frozen=True)
class Resampled:
    """A :class:`~mixoracle.trust.support.Support` as plain numbers; see there."""

    n_resamples: int
    n_latents: tuple[tuple[int, float], ...]
    latents: Row
    domain_sizes: Row
    bipartite: tuple[Row, ...]
    adjacency: tuple[Row, ...]
    arrows: tuple[Row, ...]
    # P(H) in C order: the ends of the interval of each joint state.
    joint_low: Row | None
    joint_high: Row | None
    n_same: int
    effects: tuple[EffectInterval, ...] = ()

    @classmethod
    def checked(cls, support: object, model: LatentModel) -> Resampled:
        """The same of what a user gave, which may be no support or that of another model."""
        if not isinstance(support, Support):
            raise InvalidInputError(
                "support should be what learner.bootstrap() returned; got "
                f"{type(support).__name__}: leave it out to show none"
            )
        if support.bipartite.shape != model.bipartite.shape:
            raise InvalidInputError(
                "support should be of this model, with "
                f"{model.n_observed} measurements and {model.n_latent} hidden causes; got "
                f"{' and '.join(map(str, support.bipartite.shape))}: call bootstrap again"
            )
        return cls.of(support, model)

    @classmethod
    def of(cls, support: Support, model: LatentModel) -> Resampled:
        """The numbers of the support of a model."""

        def flat(table: np.ndarray | None) -> Row | None:
            return None if table is None else tuple(table.ravel().tolist())

        return cls(
            n_resamples=support.n_resamples,
            n_latents=tuple(support.n_latents.items()),
            latents=tuple(support.latents.tolist()),
            domain_sizes=tuple(support.domain_sizes.tolist()),
            bipartite=_rows(support.bipartite),
            adjacency=_rows(support.adjacency),
            arrows=_rows(support.arrows),
            joint_low=flat(support.joint_low),
            joint_high=flat(support.joint_high),
            n_same=support.n_same,
            effects=tuple(islice(_effects(support, model), _MOST_EFFECTS)),
        )


def _rows(matrix: np.ndarray) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _effects(support: Support, model: LatentModel) -> Iterator[EffectInterval]:
    """The effects among latents that some member of the class has."""
    if not support.resampled:
        return
    for cause, effect in permutations(range(model.n_latent), 2):
        found = Effects(model, cause).on(effect)
        lower, upper = found.lower, found.upper
        if max(np.ptp(lower, axis=0).max(), np.ptp(upper, axis=0).max()) > _ROUNDING:
            low, high = support.effect(cause, effect)
            # Halves may leave less open than all rows do; what these leave open belongs to it.
            ends = (lower, upper, np.minimum(low, lower), np.maximum(high, upper))
            yield EffectInterval(cause, effect, *map(_rows, ends))


def stability(
    model: LatentModel, held: Resampled | None, edges: Sequence[PairSupport] = ()
) -> list[str]:
    """What resamples say for and against the answer, in sentences.

    Of arrows that ``edges`` say were declared they say nothing.
    """
    if held is None:
        return []
    declared = {(pair.first, pair.second) for pair in edges if pair.claim is Claim.DECLARED}
    names = [shortened(name) for name in model.latent_names]
    numbers = ", ".join(f"{number} in {share:.0%}" for number, share in held.n_latents)
    sentences = [
        f"In {held.n_resamples} halves of the cases, drawn at random, the number of hidden causes "
        f"was {numbers}."
    ]
    for name, found, size in zip(names, held.latents, held.domain_sizes, strict=True):
        sentences.append(
            f"{name} was found again in {found:.0%}, with as many states in {size:.0%}."
        )
    weak = [
        f"{names[j]} drives {shortened(model.observed_names[i])} ({held.bipartite[i][j]:.0%})"
        for j in range(model.n_latent)
        for i in model.children(j)
        if held.bipartite[i][j] < _STABLE
    ]
    if weak:
        sentences.append(
            f"Less stable: {', '.join(weak[:6])}{' and more' if len(weak) > 6 else ''}."
        )
    sentences += [
        f"The arrow from {names[i]} to {names[j]} was found in {held.arrows[i][j]:.0%}, an edge "
        f"between them in {held.adjacency[i][j]:.0%}."
        for i, j in sorted(model.latent_graph.directed - declared)
    ]
    sentences += [
        f"An edge between {names[i]} and {names[j]} was found in {held.adjacency[i][j]:.0%}."
        for i, j in model.latent_graph.links
    ]
    return sentences
