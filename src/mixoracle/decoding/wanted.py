"""An explanation with as many latents, or with such domain sizes, as somebody asked for.

What was found freely may have others. Then small changes lead from it to the nearest explanation
that is as asked for, and on to the best of those, by the evidence that all explanations are
compared by. Two states of a latent may be merged for that although they differ.

Assumes nothing beyond the evidence; that a better one exists which no such change reaches is
possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, prod

import numpy as np

from mixoracle.decoding.changes import Change, change_latents, tell_more_apart
from mixoracle.decoding.explanation import Explanation
from mixoracle.decoding.moves import climb
from mixoracle.errors import InvalidInputError
from mixoracle.mixtures.table import ComponentTable
from mixoracle.model.joint_states import numbered
from mixoracle.settings import Settings


@dataclass(frozen=True)
class Wanted:
    """How many latents there should be, or which domain sizes they should have, in any order.

    Examples
    --------
    >>> Wanted(domain_sizes=(3, 2)).distance((2, 2, 3))
    1
    >>> Wanted(n_latents=2).distance((4, 4))
    0
    """

    n_latents: int | None = None
    domain_sizes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.domain_sizes is not None and self.n_latents not in (None, len(self.domain_sizes)):
            raise InvalidInputError(
                f"there should be a number of states for each of the {self.n_latents} latents that "
                f"are asked for; got {len(self.domain_sizes)} numbers: leave one of the two out"
            )

    def __bool__(self) -> bool:
        return self.n_latents is not None or self.domain_sizes is not None

    def __str__(self) -> str:
        if self.domain_sizes is not None:
            return f"states {', '.join(map(str, self.domain_sizes))}"
        return f"{self.n_latents} latent{'' if self.n_latents == 1 else 's'}"

    @property
    def joint_states(self) -> tuple[float, float]:
        """How many joint states there are at least and at most, if it is as asked for.

        Examples
        --------
        >>> Wanted(domain_sizes=(3, 2)).joint_states, Wanted(n_latents=3).joint_states
        ((6, 6), (8, inf))
        """
        if self.domain_sizes is not None:
            return prod(self.domain_sizes), prod(self.domain_sizes)
        return 2 ** (self.n_latents or 0), inf

    def distance(self, domain_sizes: tuple[int, ...]) -> int:
        """How many latents or states too many or too few there are."""
        if self.domain_sizes is None:
            return 0 if self.n_latents is None else abs(len(domain_sizes) - self.n_latents)
        n_latents = max(len(domain_sizes), len(self.domain_sizes))
        # A latent that is not there is one with a single state.
        asked, found = (
            sorted((*sizes, *[1] * (n_latents - len(sizes))), reverse=True)
            for sizes in (self.domain_sizes, domain_sizes)
        )
        return sum(abs(one - other) for one, other in zip(asked, found, strict=True))


def nearest_wanted(
    table: ComponentTable,
    start: Explanation,
    wanted: Wanted,
    max_evaluations: int,
    settings: Settings = Settings(),
) -> Explanation:
    """The best explanation as asked for that changes of ``start`` reach, or the nearest to it."""
    reached, _ = climb(
        table,
        start,
        max_evaluations,
        settings,
        kinds=(change_latents, _merge_two_states, tell_more_apart),
        distance=lambda explanation: wanted.distance(explanation.domain_sizes),
    )
    # What was done because somebody asked for it is no repair.
    return replace(reached, moves=start.moves)


def _merge_two_states(
    _table: ComponentTable, explanation: Explanation, _settings: Settings
) -> Iterator[Change]:
    """One state less, for each pair of states of each latent that has more than two."""
    for latent, size in enumerate(explanation.domain_sizes):
        for kept, absorbed in combinations(range(size if size > 2 else 0), 2):
            states = explanation.states.copy()
            states[states[:, latent] == absorbed, latent] = kept
            states[:, latent] = numbered(states[:, latent])
            yield "merged two states", np.asarray(states)
