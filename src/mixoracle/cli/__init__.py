"""The command line: ``mixoracle demo | simulate | learn | predict | query | report | …``.

Only this package writes to the terminal. A command is loaded when it is called, and loads heavy
packages only when it runs. An error that a user can cause (bad
input, a full disk, Ctrl-C) ends with one line on stderr and a fixed exit code; anything else that
goes wrong is a bug and shows its traceback.
"""

from __future__ import annotations

import errno
from importlib import import_module
from typing import Any

import click

from mixoracle._version import __version__
from mixoracle.cli.stopping import EXIT_INTERRUPTED, STOPPED, Stopped, stoppable
from mixoracle.cli.terminal import DEBUG_KEY, debug_option, example, verbose_option
from mixoracle.cli.terminal import EXIT_ASSUMPTION_FAILED as EXIT_ASSUMPTION_FAILED
from mixoracle.errors import MixoracleError

EXIT_BAD_INPUT = 2

# In the order in which they are used: where each command is, loaded only when it is asked for.
_COMMANDS = {
    "demo": ("mixoracle.cli.demo", "command"),
    "simulate": ("mixoracle.cli.simulate", "command"),
    "learn": ("mixoracle.cli.learn", "command"),
    "predict": ("mixoracle.cli.predict", "command"),
    "query": ("mixoracle.cli.questions", "query"),
    "do": ("mixoracle.cli.questions", "do"),
    "effect": ("mixoracle.cli.questions", "effect"),
    "sample": ("mixoracle.cli.sample", "command"),
    "rename": ("mixoracle.cli.rename", "command"),
    "export": ("mixoracle.cli.export", "command"),
    "compare": ("mixoracle.cli.compare", "command"),
    "evaluate": ("mixoracle.cli.results", "evaluate"),
    "report": ("mixoracle.cli.results", "report"),
    "check": ("mixoracle.cli.results", "check"),
    "experiment": ("mixoracle.cli.experiment", "command"),
}


class _BadInput(click.ClickException):
    exit_code = EXIT_BAD_INPUT


class _Program(click.Group):
    """Loads commands when they are needed and turns expected failures into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with stoppable():
                return super().invoke(ctx)
        except (MixoracleError, OSError, MemoryError) as error:
            # Click knows what to do when nobody reads on.
            if ctx.meta.get(DEBUG_KEY) or isinstance(error, BrokenPipeError):
                raise
            raise _BadInput(_one_line(error)) from error
        except KeyboardInterrupt as error:
            if ctx.meta.get(DEBUG_KEY):
                raise
            click.echo(STOPPED, err=True)
            ctx.exit(error.exit_code if isinstance(error, Stopped) else EXIT_INTERRUPTED)


_REMEDIES = {
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EFBIG: "choose a place without such a limit",
    errno.EACCES: "choose a place that you may use, or ask for the right to it",
    errno.EROFS: "choose a place that can be written to",
}


def _one_line(error: Exception) -> str:
    """The message of an error without line breaks."""
    if isinstance(error, MixoracleError):
        message = str(error)
    elif isinstance(error, OSError):
        reason = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        remedy = _REMEDIES.get(error.errno or 0, "check the place, or choose another")
        message = f"{where}{reason[:1].lower()}{reason[1:]}; {remedy}"
    else:
        message = "the data need more memory than there is; use fewer rows or a larger machine"
    return " ".join(message.split())


@click.group(
    cls=_Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "mixoracle simulate --latents 3 --observed 7 --out problem",
        "mixoracle learn problem/data.csv --out result",
        "mixoracle evaluate result problem",
    ),
)
@click.version_option(__version__, prog_name="mixoracle")
@debug_option
@verbose_option
def main() -> None:
    """Find the hidden discrete causes behind data, and the causal graph among them.

    Exit codes: 0 done, 2 bad input or no place to write, 3 an assumption failed under --strict,
    130 stopped by Ctrl-C, 143 by a signal to end.
    """
