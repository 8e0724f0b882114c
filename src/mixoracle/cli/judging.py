"""Options on how far to trust a result, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_AT_LEAST_ONE = click.IntRange(min=1)

_OPTIONS = (
    click.option(
        "--starts",
        type=_AT_LEAST_ONE,
        metavar="N",
        help="Starts of the search; otherwise until the best answer was reached twice.",
    ),
    click.option(
        "--alternatives",
        is_flag=True,
        help="Leave what else the data allow as models in OUT/alternatives/1, 2, …",
    ),
    click.option(
        "--held-out",
        is_flag=True,
        help="Learn from each half of the cases, and judge the answer on the other.",
    ),
    click.option(
        "--bootstrap",
        type=_AT_LEAST_ONE,
        metavar="B",
        help="Learn again from B halves of the cases, and show how often each finding comes back.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Exit with 3 if an assumption fails or the answer is not to be believed; the result "
        "is kept.",
    ),
)


def judging_options(command: _Command) -> _Command:
    """``--starts``, ``--alternatives``, ``--held-out``, ``--bootstrap`` and ``--strict``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
