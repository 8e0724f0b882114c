"""Shared by all commands: consoles, common options, and progress with the stages that remain.

Answers go to stdout, progress and errors to stderr, so that answers can be piped. A terminal gets
a moving line; a file or a pipe gets one line for each stage.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

DEBUG_KEY = "mixoracle.debug"
EXIT_ASSUMPTION_FAILED = 3
# A pipe has no width of its own; tables for people are laid out for this one.
_PIPE_WIDTH = 100

_Command = TypeVar("_Command", bound=Callable[..., Any])


def example(*lines: str) -> str:
    """An example for the end of a command's help; click keeps the lines after a backspace."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])


def _remember_debug(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[DEBUG_KEY] = True


def debug_option(command: _Command) -> _Command:
    """``--debug``, before or after the command's name."""
    return click.option(
        "--debug",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_debug,
        help="Show the traceback of an error.",
    )(command)


def _log_to_terminal(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Show what the library logs, on stderr, for as long as the command runs."""
    if not value:
        return
    import logging

    logger = logging.getLogger("mixoracle")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def undo() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    ctx.call_on_close(undo)


def verbose_option(command: _Command) -> _Command:
    """``--verbose``: what is done in between, on stderr."""
    return click.option(
        "--verbose",
        "-v",
        is_flag=True,
        expose_value=False,
        callback=_log_to_terminal,
        help="Also say on stderr what is done in between.",
    )(command)


def output_options(command: _Command) -> _Command:
    """``--quiet``, ``--verbose`` and ``--json``, alike for all commands; ``--debug``, for us."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document instead of text."
    )
    return quiet(verbose_option(as_json(debug_option(command))))


def out_option(help_text: str, **choices: Any) -> Callable[[_Command], _Command]:
    """``--out DIR`` with ``--force`` beside it."""

    def decorate(command: _Command) -> _Command:
        out = click.option("--out", type=click.Path(file_okay=False), help=help_text, **choices)
        force = click.option(
            "--force", is_flag=True, help="Replace the folder if it holds an earlier result."
        )
        return out(force(command))

    return decorate


seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of everything random; the same seed gives the same answer.",
)


def console(quiet: bool = False) -> Console:
    """A console that replaces what the terminal's encoding lacks instead of failing."""
    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    # A width of None lets rich ask the terminal, or COLUMNS.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(highlight=False, quiet=quiet, width=width, soft_wrap=False)


def answer(document: dict[str, Any], quiet: bool, as_json: bool) -> Console:
    """Print one JSON document, where that is asked for; return a console for the text."""
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=True, indent=2, allow_nan=False))
    return console(quiet or as_json)


def leave_if_failed(failed: bool) -> None:
    """Under ``--strict``: end with the exit code of a failed assumption."""
    if failed:
        raise click.exceptions.Exit(EXIT_ASSUMPTION_FAILED)


# A forecast from less than this share of the work is a guess.
_ENOUGH_DONE = 0.2


class Stages:
    """Called with the name of each stage, shows it with the time so far and the stages left.

    ``plan`` is a sequence of (stage, its usual share of the time). Steps within a stage are told as
    "stage: 3 of 10". A stage that is not in the plan, or that comes again, is shown without its
    number and a forecast. ``timings`` holds the seconds of each stage afterwards.
    """

    def __init__(self, plan: Sequence[tuple[str, float]], show: Callable[[str, float], None]):
        self._plan = dict(plan)
        self._show = show
        self._since = time.perf_counter()
        self._current = ""
        self._within = 0.0
        self._ended: set[str] = set()
        self.timings: dict[str, float] = {}
        self.share_done = 0.0
        """The usual share of the time that everything before this moment takes."""

    def __call__(self, told: str) -> None:
        """Begin a stage, or tell how far the current one is."""
        stage, _, step = told.partition(": ")
        self._take_time()
        if stage != self._current:
            self._ended.add(self._current)
            self._current, self._within = stage, 0.0
        if stage not in self._plan or stage in self._ended:
            self._show(told, self.share_done)
            return
        stages, shares = list(self._plan), list(self._plan.values())
        number = stages.index(stage)
        self._within = _share_of(step) * shares[number]
        self.share_done = sum(shares[:number]) + self._within
        self._show(f"step {number + 1} of {len(stages)}: {told}{self._forecast()}", self.share_done)

    def _take_time(self) -> None:
        """Count the time since the last call for the stage that was current."""
        now = time.perf_counter()
        if self._current:
            spent = self.timings.get(self._current, 0.0) + now - self._since
            self.timings[self._current] = round(spent, 3)
        self._since = now

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes, by what the planned stages took that were gone through so far.

        None before a fifth of the work is done: it would be a guess. Stages that were passed over
        have told nothing about the others.
        """
        gone_through = [stage for stage in self._plan if stage in self.timings]
        ended = (self._plan[stage] for stage in gone_through if stage != self._current)
        done = sum(ended) + self._within
        if done < _ENOUGH_DONE:
            return None
        spent = sum(self.timings[stage] for stage in gone_through)
        return spent * (1.0 - self.share_done) / done

    def _forecast(self) -> str:
        left = self.seconds_left
        return f" (about {left:.0f} s left)" if left is not None and left >= 1 else ""


def _share_of(step: str) -> float:
    """The share that "3 of 10" is; 0 of anything else."""
    done, _, total = step.partition(" of ")
    return int(done) / int(total) if done.isdigit() and total.isdigit() else 0.0


@contextmanager
def staged(plan: Sequence[tuple[str, float]], quiet: bool) -> Iterator[Stages]:
    """Show progress on stderr while the block runs."""
    begin = time.perf_counter()

    def line(stage: str, _share: float) -> None:
        if not quiet:
            click.echo(f"[{time.perf_counter() - begin:6.1f} s] {stage}", err=True)

    if sys.stderr.isatty() and not quiet:
        with _moving_line() as show:
            yield Stages(plan, show)
    else:
        yield Stages(plan, line)


@contextmanager
def _moving_line() -> Iterator[Callable[[str, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TimeElapsedColumn(),
        BarColumn(bar_width=16),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)

        def show(stage: str, share: float) -> None:
            progress.update(task, description=stage, completed=share)

        yield show
