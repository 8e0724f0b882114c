"""``mixoracle predict``: the states of new cases, for files of any size."""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mixoracle.cli.tables import data_file, dialect_options
from mixoracle.cli.terminal import answer, example, output_options
from mixoracle.errors import DataWarning, InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.model import LatentModel
    from mixoracle.observations.columns import Spelling
    from mixoracle.observations.new_rows import NewRows

# Rows that are read, judged and written at a time.
_ROWS_AT_ONCE = 20_000
_PROBABILITY_DIGITS = 4
# Names of columns that are listed one by one.
_LISTED = 5
_TOGETHER = "all together"


@click.command(
    "predict",
    epilog=example("mixoracle predict result new.csv --id patient --out new-states.csv"),
)
@click.argument("result", type=click.Path())
@click.argument("data", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--out", type=click.Path(dir_okay=False), required=True, help="The .csv file of states."
)
@click.option("--force", is_flag=True, help="Replace the file of --out if it is there.")
@click.option(
    "--id",
    "--id-column",
    "id_column",
    metavar="COLUMN",
    help="Column that names the cases; the one of learn, if it is there, needs no mention.",
)
@dialect_options
@output_options
def command(
    result: str,
    data: str,
    out: str,
    force: bool,
    id_column: str | None,
    quiet: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Find the states of new cases in DATA with RESULT, a folder that learn made.

    Columns go by name, in any order; further ones are ignored. The file of --out has a line for
    each case: the state of each hidden cause, how likely it is, and which measurements are unlike
    everything learned, if any.
    """
    from mixoracle.cli.choices import InputChoices
    from mixoracle.cli.inputs import SEPARATOR_NAMES, in_options
    from mixoracle.model import LatentModel
    from mixoracle.observations.columns import Spelling
    from mixoracle.observations.dialects import TextOptions

    model = LatentModel.load(result)
    settings = _settings(Path(result))
    given = said["na"] or tuple(settings.get("na") or ())
    target = Path(out)
    if target.exists() and not force:
        raise InvalidInputError(f"{out} exists already; choose another file, or say --force")
    if not target.resolve().parent.is_dir():
        raise InvalidInputError(f"{target.parent} should be a folder to write to; make it first")
    reported = _Reported(model, id_column, settings.get("id_column"))
    try:
        spelling = Spelling.of(said["decimal"] or settings.get("decimal"), given)
        sep = SEPARATOR_NAMES.get(said["sep"] or "", said["sep"])
        options = TextOptions(sep, said["header"], said["encoding"])
        with data_file(data) as file, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            _predict(reported, file, target, spelling, options)
    except InvalidInputError as error:
        raise type(error)(in_options(str(error), InputChoices())) from error
    reported.read = [in_options(str(warning.message), InputChoices()) for warning in caught]
    terminal = answer({"out": out, **reported.document()}, quiet, as_json)
    for line in reported.lines():
        terminal.print(line, markup=False, soft_wrap=True)
    terminal.print(f"Written to {out}.", markup=False)


def _settings(folder: Path) -> dict[str, Any]:
    """How the rows that were learned from were read; a saved model alone does not say."""
    from mixoracle.report.folder import RUN_FILE, read_json

    held = read_json(folder / RUN_FILE) if (folder / RUN_FILE).is_file() else {}
    settings = held.get("settings", {})
    return settings if isinstance(settings, dict) else {}


@dataclass
class _Reported:
    """What there is to tell about the new rows, gathered chunk by chunk."""

    model: LatentModel
    asked_id: str | None
    usual_id: str | None
    id_column: str | None = None
    rows: int = 0
    missing: int = 0
    unlike: int = 0
    ignored: tuple[str, ...] = ()
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)
    states: list[Counter[int]] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def wanted(self, labels: Any) -> list[str]:
        """The columns to read: those of the model, and the one that names the cases."""
        from mixoracle.observations.input_columns import did_you_mean
        from mixoracle.observations.new_rows import check_columns, further_columns, reading_of

        reading = reading_of(self.model)
        check_columns(reading, labels)
        if self.asked_id is not None and self.asked_id not in labels:
            raise InvalidInputError(
                f"id names the column {self.asked_id!r}, which is not there"
                + did_you_mean(self.asked_id, list(labels))
            )
        self.id_column = self.asked_id or (self.usual_id if self.usual_id in labels else None)
        further = further_columns(self.model, labels)
        self.ignored = tuple(label for label in further if label != self.id_column)
        columns = list(reading.table_columns)
        if self.id_column is not None and self.id_column not in columns:
            columns.append(self.id_column)
        return columns

    def level_unseen(self, name: str, lost: int, _cells: int, level: str) -> None:
        self.unseen[name, level] += lost

    def names_of(self, chunk: pd.DataFrame) -> list[str]:
        """What the cases of a chunk are called."""
        from mixoracle.observations.columns import row_names

        if self.id_column is None:
            return [str(self.rows + r) for r in range(len(chunk))]
        return list(row_names(chunk[self.id_column].tolist(), f"column {self.id_column!r}"))

    def lines(self) -> list[str]:
        """Sentences for the terminal."""
        shares = (
            f"{name}: "
            + ", ".join(
                f"{self._called(j, s)} {n / self.rows:.1%}" for s, n in sorted(counts.items())
            )
            for j, (name, counts) in enumerate(
                zip(self.model.latent_names, self.states, strict=True)
            )
        )
        return [f"{self.rows} cases.", *shares, *(f"Note: {note}." for note in self.notes())]

    def _called(self, latent: int, state: int) -> str:
        named = self.model.state_names[latent]
        return f"state {state}" if named is None else named[state]

    def notes(self) -> list[str]:
        """What is worth knowing about the new rows."""
        notes = list(self.read)
        if self.unlike:
            notes.append(
                f"{self.unlike} of {self.rows} cases are unlike everything learned, and their "
                "states mean little; the column 'unlike' names the measurements"
            )
        if self.ignored:
            shown = ", ".join(map(repr, self.ignored[:_LISTED]))
            more = len(self.ignored) - _LISTED
            notes.append(
                f"not learned from, and ignored: {shown}"
                + (f" and {more} more" if more > 0 else "")
            )
        by_name: dict[str, tuple[int, str]] = {}
        for (name, level), lost in self.unseen.items():
            before = by_name.get(name, (0, level))
            by_name[name] = (before[0] + lost, before[1])
        notes += [
            f"{name}: {lost} cells hold a level that was not learned from (such as {level!r}); "
            "they count as missing"
            for name, (lost, level) in by_name.items()
        ]
        if self.missing:
            notes.append(f"{self.missing} cells are missing; the others of their case decide")
        return notes

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "rows": self.rows,
            "states": {
                name: {self.model.states_of(j)[s]: count for s, count in sorted(counts.items())}
                for j, (name, counts) in enumerate(
                    zip(self.model.latent_names, self.states, strict=True)
                )
            },
            "unlike": self.unlike,
            "ignored": list(self.ignored),
            "missing": self.missing,
            "notes": self.notes(),
        }


def _predict(
    reported: _Reported, file: Path, target: Path, spelling: Spelling, options: Any
) -> None:
    """Read, judge and write chunk by chunk; the file appears when it is complete."""
    from mixoracle.model.storage import open_atomically
    from mixoracle.observations.files import read_chunks
    from mixoracle.observations.new_rows import new_rows
    from mixoracle.report.cells import text_cell

    model = reported.model
    reported.states = [Counter() for _ in model.latent_names]
    with open_atomically(target) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        chunks = read_chunks(file, reported.wanted, spelling, options, _ROWS_AT_ONCE)
        for chunk, spelled in chunks:
            if reported.rows == 0:
                sure = [f"P({name})" for name in model.latent_names]
                title = reported.id_column or "row"
                writer.writerow([*map(text_cell, (title, *model.latent_names)), *sure, "unlike"])
            rows = new_rows(model, chunk, spelled, reported.level_unseen, missing=None)
            _write(reported, writer, reported.names_of(chunk), rows)
        text.flush()
        text.detach()
    if reported.rows == 0:
        raise InvalidInputError(f"{file} should hold at least one case; it holds none")


def _write(reported: _Reported, writer: Any, names: list[str], rows: NewRows) -> None:
    import numpy as np

    from mixoracle.model.state_names import state_labels
    from mixoracle.report.cells import text_cell

    states, probabilities, unlike = rows.states(), rows.probabilities(), rows.unlike()
    titles = np.array([*reported.model.observed_names, _TOGETHER], dtype=object)
    each = np.arange(len(names))
    sure = [held[each, states[:, j]] for j, held in enumerate(probabilities)]
    called = state_labels(reported.model, states)
    for r, (name, row) in enumerate(zip(names, called, strict=True)):
        certain = [f"{held[r]:.{_PROBABILITY_DIGITS}f}" for held in sure]
        odd = text_cell("; ".join(titles[unlike[r]]))
        writer.writerow([text_cell(name), *map(text_cell, row), *certain, odd])
    reported.rows += len(names)
    reported.missing += sum(int(np.isnan(block).sum()) for block in rows.blocks)
    reported.unlike += int(unlike.any(axis=1).sum())
    for counts, column in zip(reported.states, states.T, strict=True):
        counts.update(column.tolist())
