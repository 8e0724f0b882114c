"""``mixoracle learn``: from a file to a folder with the model, the states and a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mixoracle.cli.judging import judging_options
from mixoracle.cli.tables import data_files, table_options
from mixoracle.cli.terminal import (
    answer,
    console,
    example,
    leave_if_failed,
    out_option,
    output_options,
    seed_option,
    staged,
)

if TYPE_CHECKING:
    from rich.console import Console

    from mixoracle.cli.given import Input

_ANY_FILE = click.Path(allow_dash=True)
_AT_LEAST_ONE = click.IntRange(min=1)


class _FromRegistry(click.Option):
    """An option that is completed from a registry, which is loaded when somebody asks for it."""

    def __init__(
        self, *names: Any, look_up: Callable[[click.Option], None], **choices: Any
    ) -> None:
        super().__init__(*names, **choices)
        self._look_up = look_up

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self._look_up(self)
        return super().get_help_record(ctx)

    def handle_parse_result(self, ctx: click.Context, opts: Any, args: list[str]) -> Any:
        self._look_up(self)
        return super().handle_parse_result(ctx, opts, args)


def _oracles(option: click.Option) -> None:
    from mixoracle.oracles.registry import ORACLES

    option.type = click.Choice(list(ORACLES))


def _searches(option: click.Option) -> None:
    from mixoracle.structure.search import METHODS

    option.type = click.Choice(list(METHODS))


def _families(option: click.Option) -> None:
    from mixoracle.families.registry import entries

    known = "; ".join(f"{entry.name} ({entry.purpose})" for entry in entries())
    option.help = (
        f"What the numbers of a variable are, or of all: {known}. Repeatable. Left out, it is "
        "recognised from the values."
    )


def _some_jobs(_ctx: click.Context, _parameter: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("expected 1 or more processors, or -1 for all; got 0")
    return value


def _resolution(
    _context: click.Context, _parameter: click.Parameter, value: str
) -> float | str | None:
    """The resolution as the learner takes it."""
    if value in ("auto", "finest"):
        return None if value == "finest" else value
    try:
        rows = float(value)
    except ValueError:
        rows = 0.0
    if not rows > 0:
        raise click.BadParameter(f"should be auto, finest or a number of rows; got {value!r}")
    return rows


def _sizes(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """Numbers of states as the learner takes them."""
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() and int(part) > 1 for part in parts):
        raise click.BadParameter(
            f"should be numbers of states from 2 on, such as 3,2,2; got {value!r}"
        )
    return tuple(map(int, parts))


@click.command(
    "learn",
    epilog=example(
        "mixoracle learn patients.csv --groups panels.toml --id patient --out result",
        "with panels.toml:",
        'blood = ["hb", "crp", "leu"]',
        'heart = ["pulse", "pressure"]',
        "mixoracle learn survey.csv --categorical region --family visits=counts --out result",
        "mixoracle learn survey.csv --dry-run --write-columns columns.toml",
        "mixoracle learn survey.csv --columns columns.toml --out result",
        "mixoracle learn 'data/*.parquet' --jobs 2 --out result",
    ),
)
@click.argument("data", type=_ANY_FILE, nargs=-1, required=True)
@out_option("Folder to leave the result in; needed unless --dry-run.")
@click.option(
    "--columns",
    type=click.Path(),
    metavar="FILE.toml",
    help="What each column is, in one place: a file as --write-columns leaves it. The options "
    "below say the same column by column.",
)
@click.option(
    "--write-columns",
    type=click.Path(dir_okay=False),
    metavar="FILE.toml",
    help="Write what each column was read as, to be corrected and given back by --columns.",
)
@click.option(
    "--groups",
    metavar="FILE|N|prefix",
    help="Which columns make one variable: a .toml or .json file that maps names to columns, "
    "a number of columns each, or those whose names begin alike (blood_hb, blood_crp). "
    "Left out, columns name[0], name[1], … belong together.",
)
@click.option(
    "--types",
    multiple=True,
    metavar="NAME=KIND|FILE",
    help="Declare columns as categorical or continuous; may be repeated.",
)
@click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="A column whose numbers are labels; the same as --types COLUMN=categorical; repeatable.",
)
@click.option(
    "--family",
    cls=_FromRegistry,
    look_up=_families,
    multiple=True,
    metavar="[NAME=]FAMILY",
)
@table_options
@click.option(
    "--exposure",
    metavar="COLUMN|total",
    help="What counts are out of: a column (a depth, a time), or the total of each row's counts.",
)
@click.option(
    "--knowledge",
    type=click.Path(),
    metavar="FILE.toml",
    help="What is known about the hidden causes: names, children, states, arrows.",
)
@click.option(
    "--qmatrix",
    type=click.Path(),
    metavar="FILE.csv",
    help="Which items need which skills: a line for each item, 0 or 1 for each skill. Each skill "
    "has two states, and there are no others.",
)
@click.option(
    "--oracle",
    cls=_FromRegistry,
    look_up=_oracles,
    default="signature",
    show_default=True,
    help="How components are counted: one variable at a time (and all at once where single "
    "variables show no components), all at once, or as in the paper.",
)
@click.option(
    "--search",
    cls=_FromRegistry,
    look_up=_searches,
    default="auto",
    show_default=True,
    help="How the graph among the hidden causes is searched.",
)
@click.option(
    "--max-components", type=_AT_LEAST_ONE, help="Most components that one variable may have."
)
@seed_option
@click.option(
    "--jobs",
    type=click.IntRange(min=-1),
    callback=_some_jobs,
    default=1,
    show_default=True,
    help="Processors to use; -1 uses all.",
)
@click.option(
    "--chunks/--in-memory",
    default=None,
    help="Read the rows in chunks: structure from a random sample, the rest from all rows. Left "
    "out, this is done where the table would take more than half of the memory.",
)
@click.option(
    "--dask", metavar="ADDRESS", help="Work on the chunks by the workers of a Dask scheduler."
)
@click.option(
    "--set-aside/--keep-all",
    default=True,
    show_default=True,
    help="Treat single values far from all others of their variable as missing, or keep them.",
)
@click.option(
    "--resolution",
    default="auto",
    show_default=True,
    metavar="auto|finest|ROWS",
    callback=_resolution,
    help="Rows up to which the data are believed: a smaller number gives a coarser answer.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Leave out what the answer can do without when the time is up.",
)
@click.option(
    "--memory-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="GB",
    help="Refuse to learn where it may take more memory.",
)
@click.option(
    "--latents", type=click.IntRange(min=0), metavar="M", help="How many hidden causes to find."
)
@click.option(
    "--sizes",
    metavar="K,K,…",
    callback=_sizes,
    help="How many states the hidden causes should have, such as 3,2,2; in any order.",
)
@judging_options
@click.option("--dry-run", is_flag=True, help="Show how the data were read, and learn nothing.")
@output_options
def command(
    data: tuple[str, ...],
    out: str | None,
    force: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    strict: bool,
    groups: str | None,
    types: tuple[str, ...],
    categorical: tuple[str, ...],
    family: tuple[str, ...],
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    id_column: str | None,
    sep: str | None,
    decimal: str | None,
    na: tuple[str, ...],
    header: bool | None,
    encoding: str | None,
    exposure: str | None,
    columns: str | None,
    write_columns: str | None,
    **settings: Any,
) -> None:
    """Learn the hidden causes behind DATA (.csv, .tsv, .txt, .parquet, .feather, .xlsx, .npz).

    Text may be compressed (.csv.gz); - reads it from standard input. Several files, a folder of
    .parquet files or a pattern ('data/*.parquet') are one table, which need not fit into memory.

    Leaves in the folder of --out: report.html to look at, model.json with its arrays, states.csv
    with the state of every case (of a large table states/part-00001.parquet, …), graph.svg,
    run.json and evidence.json.
    """
    from mixoracle.cli.choices import InputChoices
    from mixoracle.cli.large import read_table, working
    from mixoracle.observations import Columns

    choices = InputChoices(
        *(groups, types, categorical, family, drop, keep, id_column),
        *(sep, decimal, na, header, encoding, exposure, Columns.of(columns)),
    ).completed()
    if out is None and not dry_run:
        raise click.UsageError("say where to leave the result: --out DIR (or --dry-run)")
    chunks = True if settings["dask"] and settings["chunks"] is None else settings["chunks"]
    with data_files(data) as files, working(settings["jobs"], settings["dask"]):
        given = read_table(files, choices, chunks, settings["seed"], settings["jobs"])
        given = replace(given, jobs=settings["jobs"])
        if write_columns is not None:
            _write_columns(given, write_columns, force)
        if out is None or dry_run:
            _show_understood(given, quiet, as_json)
            return
        failed = _learn(
            Path(files[0]), given, out, force, quiet, as_json, {**settings, **asdict(choices)}
        )
    leave_if_failed(strict and failed)


def _write_columns(given: Input, path: str, force: bool) -> None:
    """Leave what the columns were read as in a file."""
    from mixoracle.errors import InvalidInputError

    if Path(path).exists() and not force:
        raise InvalidInputError(f"{path} exists already; choose another file, or say --force")
    given.described.write(path)


def _learn(
    data: Path,
    given: Input,
    out: str,
    force: bool,
    quiet: bool,
    as_json: bool,
    settings: dict[str, Any],
) -> bool:
    """Learn, write, report; return whether the answer is refused."""
    from mixoracle.cli.fitting import kept_resamples, learn_into, plan_of
    from mixoracle.report import text
    from mixoracle.report.folder import new_folder

    # The folder is made first: no place to write should not cost an hour of learning.
    with new_folder(out, replace=force, data=data) as folder:
        # What was read as what comes before the work, so that it can be stopped and corrected.
        _show_read(console(quiet or as_json), given)
        plan = plan_of(settings["oracle"], given.observations.n_samples)
        with staged(plan, quiet or as_json) as tell:
            kept = kept_resamples(Path(out))
            _, result = learn_into(folder, data, given, settings, tell, kept)
    kept.unlink(missing_ok=True)
    evidence = result.evidence
    terminal = answer(text.summary_document(result.model, evidence, out), quiet, as_json)
    # The verdict is the first thing to read.
    terminal.print(text.summary(result.model, evidence))
    terminal.print(text.kinds_table(given.columns, given.observations.n_samples))
    for note in evidence.notes:
        if note not in given.notes:
            terminal.print(f"Note: {note}.", markup=False, soft_wrap=True)
    terminal.print(text.written(out))
    return evidence.is_refused


def _show_read(terminal: Console, given: Input) -> None:
    """How the columns were read, in a line, and what to point out about them."""
    from mixoracle.report import text

    n_samples = given.observations.n_samples
    terminal.print(text.kinds_line(given.columns, n_samples), markup=False, soft_wrap=True)
    _show_notes(terminal, given)


def _show_notes(terminal: Console, given: Input) -> None:
    """What to point out, and what learning may take."""
    for note in given.notes:
        terminal.print(f"Note: {note}.", markup=False, soft_wrap=True)
    terminal.print(f"Learning takes {given.cost}.", markup=False, soft_wrap=True)


def _show_understood(given: Input, quiet: bool, as_json: bool) -> None:
    """The data as they were read: variables, widths, kinds, missing values."""
    from mixoracle.report import text

    held = given.learned
    document = text.understood_document(given.columns, held.names, held.n_samples, given.notes)
    terminal = answer({**document, "most": asdict(given.cost)}, quiet, as_json)
    terminal.print(text.understood_table(given.columns, held.names, held.n_samples))
    _show_notes(terminal, given)
    terminal.print(
        "Nothing was learned (--dry-run). To correct how the data were read, change the file that "
        "--write-columns FILE.toml leaves, and give it back by --columns FILE.toml.",
        markup=False,
        soft_wrap=True,
    )
