"""What to point out about an answer that is no reason for or against it: a sentence each.

Values that were treated as missing, rows that were counted once, the resolution and why it was
taken, states whose names were chosen. What holds for many columns is one sentence, which names the
first of them.

Assumes a fitted learner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixoracle.assumptions.verdict import few
from mixoracle.inference.alignment import is_choice_of_names
from mixoracle.mixtures.columns import Column
from mixoracle.mixtures.ties import copies_note
from mixoracle.settings import Priors

if TYPE_CHECKING:
    from mixoracle.learner import LatentGraphLearner

# Rows that a note names one by one.
MAX_ROWS_NAMED = 10


def notes_of(
    fitted: LatentGraphLearner, ids: Sequence[str] | None, said: Sequence[str] = ()
) -> tuple[str, ...]:
    """All notes on a fitted learner after those that were ``said`` before, each once."""
    names, share = fitted.model_.observed_names, Priors.set_aside_share
    found = (
        *said,
        *copies_note(fitted._n_copies, len(fitted.states_)),
        *repeated_notes(fitted.columns_, len(fitted.states_)),
        *set_aside_notes(names, fitted.set_aside_, share, ids),
        *resolution_notes(fitted),
        *filter(is_choice_of_names, fitted.repairs_),
    )
    return tuple(dict.fromkeys(found))


def in_columns(titles: Sequence[str]) -> str:
    """Where something holds: the one column, or how many and the first of them.

    Examples
    --------
    >>> in_columns(["X1"])
    'in X1'
    >>> in_columns([f"X{i}" for i in range(1, 31)])
    'in 30 columns: X1, X2, X3, X4 and 26 more'
    """
    if len(titles) == 1:
        return f"in {titles[0]}"
    return f"in {len(titles)} columns: {few(titles)}"


def set_aside_notes(
    names: Sequence[str],
    set_aside: NDArray[np.bool_],
    share: float,
    ids: Sequence[str] | None = None,
) -> Iterator[str]:
    """Which values were treated as missing because they stand alone, in a sentence.

    Cases are called as in the table of states: by their identifiers, or numbered from 0.
    """
    rows, columns = np.flatnonzero(set_aside.any(axis=1)), np.flatnonzero(set_aside.any(axis=0))
    if not len(rows):
        return
    n_values, n_cases = int(set_aside.sum()), len(set_aside)
    cases = few([str(row if ids is None else ids[row]) for row in rows.tolist()], MAX_ROWS_NAMED)
    was, case = ("was" if n_values == 1 else "were", "case" if len(rows) == 1 else "cases")
    own = [names[i] for i in columns.tolist()]
    many = f"{len(own)} measurements ({few(own)})"
    yield (
        f"{n_values:,} of {n_cases * len(own):,} values of {own[0] if len(own) == 1 else many} "
        f"{was} treated as missing, because no other value is near ({case} {cases}); at most "
        f"{share:.0%} of a measurement may be"
    )


def repeated_notes(columns: Sequence[Column], n_rows: int) -> Iterator[str]:
    """Which numbers repeat where others do not, how often, and what they were taken for."""
    alike: dict[tuple[tuple[float, ...], bool], list[Column]] = {}
    for column in columns:
        if column.repeated or column.agreed:
            key = tuple(column.repeated or column.agreed), bool(column.repeated)
            alike.setdefault(key, []).append(column)
    for (repeated, is_missing), own in alike.items():
        values = _joined([f"{value:.6g}" for value in repeated[:MAX_ROWS_NAMED]])
        occurs, was, counts, them = (
            ("occurs", "was", "counts as a state", "it")
            if len(repeated) == 1
            else ("occur", "were", "count as states", "them")
        )
        taken = (
            f"{was} treated as missing"
            if is_missing
            else f"{counts}, because other measurements show the same cases"
        )
        most = max(column.n_repeated for column in own)
        often = f"{'' if len(own) == 1 else 'up to '}{most:,} of {n_rows:,} values"
        yield (
            f"exactly {values} {occurs} far more often than the numbers next to {them} ({often}), "
            f"and {taken}, {in_columns([column.title for column in own])}"
        )


def _joined(values: Sequence[str]) -> str:
    *rest, last = values
    return f"{', '.join(rest)} and {last}" if rest else last


def resolution_notes(fitted: LatentGraphLearner) -> Iterator[str]:
    """Which resolution was taken, why, and what the answers along the path are."""
    rows = f"resolution: {fitted.resolution_:,.0f} rows"
    many = len(fitted.resolutions_) > 1
    because = "the answer that explains best the dependence among measurements was taken"
    if fitted.resolution != "auto":
        if isfinite(fitted.resolution_):
            yield (
                "only states that several measurements share are distinguished, as asked for "
                f"({rows})"
            )
    elif isfinite(fitted.resolution_):
        yield (
            "the components do not have the assumed shape, so only states that several "
            f"measurements share are distinguished ({rows}{f'; {because}' if many else ''})"
        )
    elif many:
        yield (
            "the components do not have the assumed shape, so coarser answers were looked at too; "
            f"{because}, and it is the finest"
        )
    if many:
        answers = "; ".join(
            f"{_believed(answer.finest, answer.coarsest)}: {_states(answer.domain_sizes)}"
            for answer in fitted.resolutions_
        )
        yield f"answers from the finest resolution to the coarsest, in rows: {answers}"


def _believed(finest: float, coarsest: float) -> str:
    names = [f"{rows:,.0f}" if isfinite(rows) else "all" for rows in (finest, coarsest)]
    return names[0] if names[0] == names[1] else f"{names[0]} to {names[1]}"


def _states(domain_sizes: Iterable[int]) -> str:
    sizes = " × ".join(map(str, domain_sizes))
    return f"{sizes} states" if sizes else "no hidden cause"
