"""Checks of arguments that many modules share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mixoracle.errors import InvalidInputError

# Some wait for the disk or for the others, so that a few on each core may gain something.
_MOST_A_CORE = 4
RandomState = int | np.random.Generator | np.random.SeedSequence | None


def make_generator(random_state: RandomState) -> np.random.Generator:
    """Make the one generator that is passed down."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "random_state should be a non-negative int, a Generator, a SeedSequence or None; "
            f"got {random_state!r}"
        ) from error


def check_whole(what: str, value: object, at_least: int) -> None:
    """Refuse what is not a whole number of at least ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InvalidInputError(
            f"{what} should be a whole number of at least {at_least}; got {value!r}"
        )


def check_flag(what: str, value: object) -> None:
    """Refuse what is neither True nor False: any other value would count as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{what} should be True or False; got {value!r}")


def check_jobs(n_jobs: object) -> None:
    """Refuse what is no number of processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidInputError(
            f"n_jobs should be a number of jobs, or -1 for all cores; got {n_jobs!r}"
        )


def n_workers(n_jobs: int, n_tasks: int | None = None) -> int:
    """The processes that ``n_jobs`` starts, as joblib counts them, for so many tasks.

    No more than there are tasks, nor than :data:`_MOST_A_CORE` for each core that joblib would use:
    further ones wait for each other, and each needs its memory.

    Examples
    --------
    >>> n_workers(1000, n_tasks=3)
    3
    """
    from joblib import effective_n_jobs

    if n_jobs == 1:
        return 1
    most: int = min(effective_n_jobs(n_jobs), _MOST_A_CORE * effective_n_jobs(-1))
    return most if n_tasks is None else max(1, min(most, n_tasks))


def check_probability(what: str, value: float) -> None:
    """Refuse what is not a probability."""
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(f"{what} should lie between 0 and 1; got {value!r}")


def check_kind(what: str, value: str, known: Iterable[str]) -> None:
    """Refuse a name that is not among the known ones."""
    if value not in known:
        raise InvalidInputError(
            f"{what} should be one of {', '.join(map(repr, known))}; got {value!r}"
        )
