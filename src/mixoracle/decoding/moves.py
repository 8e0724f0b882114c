"""From an explanation to a better one: a bounded hill climb over small changes of the latents.

Proposals come from labels alone, and where labels are wrong in too many variables none of them is
right. Then an explanation is changed (:mod:`~mixoracle.decoding.changes`). Every change is
completed like a proposal, parents in Γ included, and scored by the same evidence; the best one
that raises it is made and recorded, until none does.

Assumes nothing beyond the evidence; the same table always gives the same moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf

from mixoracle.decoding.changes import (
    Change,
    affordable,
    change_latents,
    merge_equal_states,
    tell_more_apart,
)
from mixoracle.decoding.completion import complete
from mixoracle.decoding.explanation import Explanation, Latent, Move, Proposal
from mixoracle.mixtures.table import ComponentTable
from mixoracle.settings import Settings

# Evidence is a sum of 1e5 nats and more: a smaller gain is rounding.
LEAST_GAIN = 1e-3
# States that are the same make all else look noisier, so they are merged first; more is
# distinguished only when nothing simpler helps.
_KINDS_OF_CHANGE = (merge_equal_states, change_latents, tell_more_apart)

KindOfChange = Callable[[ComponentTable, Explanation, Settings], Iterator[Change]]
Distance = Callable[[Explanation], int]
"""How far an explanation is from what is asked for."""


def _no_distance(_explanation: Explanation) -> int:
    """Nothing is asked for: the evidence alone decides."""
    return 0


def affordable_evaluations(table: ComponentTable, settings: Settings) -> int:
    """How many changes may be evaluated so that the search for moves stays short.

    Up to a hundred components over X a change takes about 10 ms. To find the changes compares
    pairs of components: beyond, fewer are affordable.
    """
    share = min(1.0, (settings.budget.few_components / table.n_components) ** 2)
    return int(settings.budget.moves * share)


def climb(
    table: ComponentTable,
    start: Explanation,
    max_evaluations: int,
    settings: Settings = Settings(),
    kinds: tuple[KindOfChange, ...] = _KINDS_OF_CHANGE,
    distance: Distance = _no_distance,
) -> tuple[Explanation, int]:
    """The best explanation that small changes reach, and how many changes were evaluated.

    One that is nearer to what is asked for (``distance``) is better, whatever its evidence.
    """
    current, evaluated = start, 0
    improved = True
    while improved:
        improved = False
        for changes in kinds:
            tried = [
                (complete(table, Proposal.of_all(states), settings), action)
                for action, states in affordable(
                    changes(table, current, settings), max_evaluations - evaluated, settings
                )
            ]
            evaluated += len(tried)
            best, action = _best_of(tried, current, distance)
            if (distance(best), current.log_evidence + LEAST_GAIN) < (
                distance(current),
                best.log_evidence,
            ):
                move = move_between(current, best, action)
                current = replace(best, moves=(*current.moves, move))
                improved = True
                break
    return current, evaluated


def _best_of(
    tried: list[tuple[Explanation, str]], current: Explanation, distance: Distance
) -> tuple[Explanation, str]:
    """The best change; of equally good ones the last, which changes least: rounding has no say."""
    least = min((distance(change) for change, _ in tried), default=0)
    near = [each for each in tried if distance(each[0]) == least]
    top = max((change.log_evidence for change, _ in near), default=-inf)
    good = [each for each in near if each[0].log_evidence >= top - LEAST_GAIN]
    return good[-1] if good else (current, "")


def move_between(before: Explanation, after: Explanation, action: str) -> Move:
    """The latents that only one of two explanations has, and what the change gained."""
    had, has = Counter(before.latents), Counter(after.latents)
    gain = after.log_evidence - before.log_evidence
    return Move(action, _sorted(had - has), _sorted(has - had), gain)


def _sorted(latents: Counter[Latent]) -> tuple[Latent, ...]:
    return tuple(sorted(latents.elements()))
