"""``mixoracle experiment``: run the paper's studies and ours, and report on them.

Each command defines its study, runs what is missing of it in ``--out``, and shows how far it is;
the same command again continues an interrupted study. Like :mod:`mixoracle.cli` this module loads
nothing heavy before a command runs. The group is made to be attached to the main command, which
turns the errors that mixoracle raises on purpose into one line and exit code 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mixoracle.experiments.results import Result

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


_FOLDER = click.Path(file_okay=False, path_type=Path)


def _output_options() -> list[click.Parameter]:
    """``--quiet`` and ``--json``, as all commands have them."""
    return [
        click.Option(["--quiet", "-q"], is_flag=True, help="Print nothing but errors."),
        click.Option(
            ["--json", "as_json"], is_flag=True, help="Print one JSON document instead of text."
        ),
    ]


def _say(text: str, document: dict[str, Any], quiet: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(document, indent=2))
    elif not quiet:
        click.echo(text)


_ABOUT = {
    "paper": "The paper's study: 300 runs each for N = 10 000 and 15 000.",
    "small": "The paper's small study: 136 runs for N = 1 000.",
    "overlap": "More noise, and fewer coordinates for each observed variable.",
    "samples": "From N = 300 to 100 000.",
    "size": "More latents, observed variables and states than the paper has.",
    "families": "Noise that is not Gaussian.",
    "search": "Exact, greedy and constraint-based search of the latent graph, on the same "
    "problems.",
}
_OPTIONS: list[click.Parameter] = [
    click.Option(["--oracle"], default="signature", show_default=True, help="signature, kmeans."),
    click.Option(
        ["--samples"],
        metavar="N[,N…]",
        callback=_whole_numbers,
        help="Sample sizes instead of the usual.",
    ),
    click.Option(
        ["--runs"], type=click.IntRange(min=1), help="Runs for each arm instead of the usual."
    ),
    click.Option(["--seed"], default=0, type=click.IntRange(min=0), show_default=True),
    click.Option(
        ["--covariance"],
        type=click.Choice(["code", "text"]),
        default="code",
        show_default=True,
        help="Noise as the paper's published code draws it, or as its text says.",
    ),
    click.Option(
        ["--jobs"], default=1, type=int, show_default=True, help="Processes; -1 for all cores."
    ),
    click.Option(["--dask"], metavar="ADDRESS", help="Run on the workers of a Dask scheduler."),
    click.Option(
        ["--out"],
        required=True,
        type=_FOLDER,
        help="Folder for study.json and results.jsonl; continued if it holds this study.",
    ),
    *_output_options(),
]


@click.group()
def experiment() -> None:
    """Run the paper's studies and ours, and report on them."""


@experiment.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="DIR…",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--out", type=_FOLDER, help="Folder for the report; the first DIR's 'report' if left out."
)
def report(folders: tuple[Path, ...], out: Path | None, quiet: bool, as_json: bool) -> None:
    """Tables and figures of one or more studies, side by side and beside the paper's.

    Leaves report.html, figures as SVG and PNG, tables as CSV, and headline.md.
    """
    from mixoracle.experiments.report import write_report

    page = write_report(folders, out or folders[0] / "report")
    _say(f"wrote {page}", {"written": str(page)}, quiet, as_json)


report.params += _output_options()


def _run(
    name: str,
    *,
    jobs: int,
    dask: str | None,
    out: Path,
    quiet: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Run what is missing of a study; ``asked`` are the choices of :func:`define`."""
    from mixoracle.experiments.runner import run_study
    from mixoracle.experiments.studies import define

    study = define(name, **asked)
    try:
        with _progress(name, quiet or as_json) as (on_start, on_result):
            made = run_study(
                study, out, jobs=jobs, dask=dask, on_start=on_start, on_result=on_result
            )
    except KeyboardInterrupt:
        click.echo(f"Interrupted; the same command continues the study in {out}.", err=True)
        raise SystemExit(_INTERRUPTED) from None
    document = {"made": made, "runs": study.n_runs, "out": str(out)}
    _say(f"{made} runs made, all {study.n_runs} are in {out}", document, quiet, as_json)


for _name, _about in _ABOUT.items():
    experiment.add_command(
        click.Command(_name, callback=partial(_run, _name), params=[*_OPTIONS], help=_about)
    )


@contextmanager
def _progress(
    name: str, quiet: bool
) -> Iterator[tuple[Callable[[int, int], None], Callable[[Result], None]]]:
    """A bar on standard error with the runs done, the failures and the remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        "{task.fields[failed]} not answered",
        Elapsed(),
        "remaining",
        Remaining(elapsed_when_finished=True),
    )
    # Runs take seconds to minutes: the speed is averaged over the whole study, not the last ones.
    whole_study = 30 * 24 * 3600.0
    console = Console(stderr=True, quiet=quiet)
    with Progress(*columns, console=console, speed_estimate_period=whole_study) as bar:
        shown = bar.add_task(name, total=None, failed=0)

        def on_start(done: int, total: int) -> None:
            bar.update(shown, total=total, completed=done)

        def on_result(result: Result) -> None:
            failed = bar.tasks[shown].fields["failed"] + (result.status != "answered")
            bar.update(shown, advance=1, failed=failed)

        yield on_start, on_result
