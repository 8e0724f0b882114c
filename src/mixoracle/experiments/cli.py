"""``mixoracle experiment``: run the paper's studies and ours, and report on them.

Each command defines its study, runs what is missing of it in ``--out``, and shows how far it is;
the same command again continues an interrupted study. Like :mod:`mixoracle.cli` this module loads
nothing heavy before a command runs. The group is made to be attached to the main command, which
turns the errors that mixoracle raises on purpose into one line and exit code 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from mixoracle.experiments.results import Result

_Command = TypeVar("_Command", bound=Callable[..., None])
_INTERRUPTED = 130  # what shells use for a process ended by Ctrl-C


def _whole_numbers(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """Read whole numbers with commas in between: ``10000,15000``."""
    if value is None:
        return None
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a list of whole numbers such as 10000,15000", ctx, param
        ) from None


def _study_options(command: _Command) -> _Command:
    """The options of every study."""
    options = (
        click.option("--oracle", default="signature", show_default=True, help="signature, kmeans."),
        click.option(
            "--samples",
            metavar="N[,N…]",
            callback=_whole_numbers,
            help="Sample sizes instead of the usual.",
        ),
        click.option(
            "--runs", type=click.IntRange(min=1), help="Runs for each arm instead of the usual."
        ),
        click.option("--seed", default=0, type=click.IntRange(min=0), show_default=True),
        click.option(
            "--covariance",
            type=click.Choice(["code", "text"]),
            default="code",
            show_default=True,
            help="Noise as the paper's published code draws it, or as its text says.",
        ),
        click.option(
            "--jobs", default=1, type=int, show_default=True, help="Processes; -1 for all cores."
        ),
        click.option("--dask", metavar="ADDRESS", help="Run on the workers of a Dask scheduler."),
        click.option(
            "--out",
            required=True,
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder for study.json and results.jsonl; continued if it holds this study.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def experiment() -> None:
    """Run the paper's studies and ours, and report on them."""


@experiment.command()
@_study_options
def paper(**asked: Any) -> None:
    """The paper's study: 300 runs each for N = 10 000 and 15 000."""
    _run("paper", **asked)


@experiment.command()
@_study_options
def small(**asked: Any) -> None:
    """The paper's small study: 136 runs for N = 1 000."""
    _run("small", **asked)


@experiment.command()
@_study_options
def overlap(**asked: Any) -> None:
    """More noise, and fewer coordinates for each observed variable."""
    _run("overlap", **asked)


@experiment.command()
@_study_options
def samples(**asked: Any) -> None:
    """From N = 300 to 100 000."""
    _run("samples", **asked)


@experiment.command()
@_study_options
def size(**asked: Any) -> None:
    """More latents, observed variables and states than the paper has."""
    _run("size", **asked)


@experiment.command()
@_study_options
def families(**asked: Any) -> None:
    """Noise that is not Gaussian."""
    _run("families", **asked)


@experiment.command()
@_study_options
def search(**asked: Any) -> None:
    """Exact, greedy and constraint-based search of the latent graph, on the same problems."""
    _run("search", **asked)


@experiment.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="DIR…",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the report; the first DIR's 'report' if left out.",
)
def report(folders: tuple[Path, ...], out: Path | None) -> None:
    """Tables and figures of one or more studies, side by side and beside the paper's.

    Leaves report.html, figures as SVG and PNG, tables as CSV, and headline.md.
    """
    from mixoracle.experiments.report import write_report

    page = write_report(folders, out or folders[0] / "report")
    click.echo(f"wrote {page}")


def _run(
    name: str,
    *,
    oracle: str,
    samples: tuple[int, ...] | None,
    runs: int | None,
    seed: int,
    covariance: str,
    jobs: int,
    dask: str | None,
    out: Path,
) -> None:
    from mixoracle.experiments.runner import run_study
    from mixoracle.experiments.studies import define

    study = define(
        name, samples=samples, runs=runs, seed=seed, oracle=oracle, covariance=covariance
    )
    try:
        with _progress(name) as (on_start, on_result):
            made = run_study(
                study, out, jobs=jobs, dask=dask, on_start=on_start, on_result=on_result
            )
    except KeyboardInterrupt:
        click.echo(f"Interrupted; the same command continues the study in {out}.", err=True)
        raise SystemExit(_INTERRUPTED) from None
    click.echo(f"{made} runs made, all {study.n_runs} are in {out}")


@contextmanager
def _progress(
    name: str,
) -> Iterator[tuple[Callable[[int, int], None], Callable[[Result], None]]]:
    """A bar on standard error with the runs done, the failures and the remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} not answered"),
        Elapsed(),
        TextColumn("remaining"),
        Remaining(elapsed_when_finished=True),
    )
    # Runs take seconds to minutes: the speed is averaged over the whole study, not the last ones.
    whole_study = 30 * 24 * 3600.0
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=whole_study) as bar:
        shown = bar.add_task(name, total=None, failed=0)
        failed = 0

        def on_start(done: int, total: int) -> None:
            bar.update(shown, total=total, completed=done)

        def on_result(result: Result) -> None:
            nonlocal failed
            failed += result.status != "answered"
            bar.update(shown, advance=1, failed=failed)

        yield on_start, on_result
