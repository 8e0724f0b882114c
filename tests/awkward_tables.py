"""Awkward tables: every fault that tables of everyday life have, each with what must happen.

``python tests/awkward_tables.py FOLDER`` writes them all into a folder, to look at or to try by
hand; ``test_awkward_tables.py`` reads each with ``mixoracle learn --dry-run``. A table is a few
bytes under a name, the options to say, and either what was understood (the kind of each
measurement, the number of cases, a part of a note) or the one sentence that refuses it.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 60
NUMBERS = {"temp": "numbers", "flow": "numbers"}


@dataclass(frozen=True)
class Awkward:
    """One table, and what must happen with it."""

    name: str
    content: Callable[[], bytes]
    file: str = "data.csv"
    options: tuple[str, ...] = ()
    understood: dict[str, str] = field(default_factory=dict)
    rows: int = ROWS
    note: str = ""
    refused: str = ""


def plain() -> pd.DataFrame:
    """Two measurements without any fault."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "temp": rng.normal(20.0, 3.0, ROWS).round(2),
            "flow": rng.normal(0.5, 0.1, ROWS).round(4),
        }
    )


def text(frame: pd.DataFrame, encoding: str = "utf-8", **how: object) -> bytes:
    """A frame as the bytes of a text file."""
    return frame.to_csv(**{"index": False, **how}).encode(encoding)  # type: ignore[arg-type]


def with_column(**columns: object) -> Callable[[], bytes]:
    """The plain table with further columns."""
    return lambda: text(plain().assign(**columns))


def in_front(name: str, cells: object) -> bytes:
    frame = plain()
    frame.insert(0, name, cells)
    return text(frame)


def replaced(old: str, new: str, **how: object) -> bytes:
    return text(plain(), **how).decode().replace(old, new).encode()


def parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def written(form: Callable[[float], str]) -> Callable[[], bytes]:
    """The temperatures as somebody wrote them."""
    return lambda: text(plain().assign(temp=[form(value) for value in plain()["temp"]]))


DAYS = pd.date_range("2024-01-28", periods=ROWS, freq="7h")
PARTS = [f"P{i:05d}" for i in range(ROWS)]
GERMAN = {"sep": ";", "decimal": ","}
LARGE = (plain()["temp"] * 100).round(2)
IDS = "different in every row"

TABLES = (
    Awkward("plain", lambda: text(plain()), understood=NUMBERS),
    # Columns that are no measurements.
    Awkward("index of pandas", lambda: text(plain(), index=True), understood=NUMBERS,
            note="'Unnamed: 0' (an index without a name)"),
    Awkward("text index of pandas", lambda: text(plain().set_axis(PARTS), index=True),
            understood=NUMBERS, note="'Unnamed: 0' (an index without a name)"),
    Awkward("iso times", with_column(when=DAYS.strftime("%Y-%m-%dT%H:%M:%S")), understood=NUMBERS,
            note="'when' (dates or times)"),
    Awkward("german dates", with_column(Datum=DAYS.strftime("%d.%m.%Y")), understood=NUMBERS,
            note="'Datum' (dates or times)"),
    Awkward("american times", with_column(at=DAYS.strftime("%m/%d/%y %I:%M %p")),
            understood=NUMBERS, note="'at' (dates or times)"),
    Awkward("days as numbers", with_column(day=DAYS.strftime("%Y%m%d").astype(int)),
            understood=NUMBERS, note="'day' (dates or times)"),
    Awkward("seconds since 1970", with_column(t=1_700_000_000 + np.arange(ROWS) ** 2 // 2),
            understood=NUMBERS, note="'t' (dates or times)"),
    Awkward("barcodes", with_column(code=4_000_000_000_000 + np.arange(ROWS)[::-1] ** 5),
            understood=NUMBERS, note=f"'code' ({IDS})"),
    Awkward("clock", with_column(seconds=np.arange(ROWS) * 0.5), understood=NUMBERS,
            note="'seconds' (counts the rows)"),
    Awkward("row numbers", with_column(n=range(1, ROWS + 1)), understood=NUMBERS,
            note="'n' (counts the rows)"),
    Awkward("identifiers", with_column(part=PARTS), understood=NUMBERS, note=f"'part' ({IDS})"),
    Awkward("number of the case", with_column(case_id=np.arange(ROWS)[::-1] ** 2 + 10_000),
            understood=NUMBERS, note=f"'case_id' ({IDS})"),
    Awkward("two identifiers", with_column(part=PARTS, other=[f"Q{p}" for p in PARTS]),
            understood=NUMBERS, note=f"'part' ({IDS}), 'other' ({IDS})"),
    Awkward("identifier kept", with_column(part=PARTS), options=("--keep", "part"),
            understood={**NUMBERS, "part": "levels"}),
    Awkward("identifier named", with_column(part=PARTS), options=("--id", "part"),
            understood=NUMBERS),
    Awkward("constant text", with_column(plant="Graz"), understood=NUMBERS,
            note="'plant' (the same in every row)"),
    Awkward("constant number", with_column(version=3), understood=NUMBERS,
            note="'version' (the same in every row)"),
    Awkward("empty column", with_column(remark=""), understood=NUMBERS, note="'remark' (empty)"),
    Awkward("separator at the end", lambda: replaced("\n", ",\n"), understood=NUMBERS,
            note="'Unnamed: 2' (empty)"),
    Awkward("everything at once",
            lambda: text(plain().assign(when=DAYS.astype(str), part=PARTS, plant="Graz"),
                         index=True), understood=NUMBERS, note="'Unnamed: 0'"),
    Awkward("nothing but identifiers", lambda: text(pd.DataFrame({"part": PARTS})),
            refused="at least one column should be a measurement; none seems to be one: 'part' "
            f"({IDS}): name those that are with --keep"),
    Awkward("20 000 texts",
            lambda: text(pd.DataFrame({"part": [f"P{i}" for i in range(20_000)],
                                       "x": np.random.default_rng(0).normal(size=20_000)})),
            understood={"x": "numbers"}, rows=20_000, note=f"'part' ({IDS})"),
    # Dialects.
    Awkward("semicolons", lambda: text(plain(), sep=";"), understood=NUMBERS),
    Awkward("tabs in a csv", lambda: text(plain(), sep="\t"), understood=NUMBERS),
    Awkward("commas in a tsv", lambda: text(plain()), "data.tsv", understood=NUMBERS),
    Awkward("bars", lambda: text(plain(), sep="|"), understood=NUMBERS),
    Awkward("blanks", lambda: replaced(",", "   "), "data.txt", understood=NUMBERS),
    Awkward("another separator", lambda: text(plain(), sep="^"), options=("--sep", "^"),
            understood=NUMBERS),
    Awkward("german", lambda: text(plain(), **GERMAN), understood=NUMBERS),
    Awkward("german with letters and dates",
            lambda: text(plain().assign(Prüfer=["Jörg", "Änne"] * (ROWS // 2),
                                        Datum=DAYS.strftime("%d.%m.%Y")), "latin-1", **GERMAN),
            understood={**NUMBERS, "Prüfer": "levels"}, note="read as Latin-1"),
    Awkward("utf-16 of a spreadsheet", lambda: text(plain(), "utf-16", sep="\t"),
            understood=NUMBERS),
    Awkward("byte-order mark", lambda: text(plain(), "utf-8-sig"), understood=NUMBERS),
    Awkward("windows line ends", lambda: replaced("\n", "\r\n"), understood=NUMBERS),
    Awkward("compressed", lambda: gzip.compress(text(plain())), "data.csv.gz",
            understood=NUMBERS),
    Awkward("compressed without saying so", lambda: gzip.compress(text(plain())),
            understood=NUMBERS),
    Awkward("no names", lambda: text(plain(), header=False),
            understood={"X1": "numbers", "X2": "numbers"}, note="holds no names"),
    Awkward("names are numbers", lambda: text(plain().set_axis([0, 1], axis=1)),
            understood={"0": "numbers", "1": "numbers"}),
    Awkward("names of rows as R writes them",
            lambda: text(plain().set_axis(PARTS), index=True)[1:], understood=NUMBERS,
            note="'Unnamed: 0' (an index without a name)"),
    Awkward("names with quotes and separators",
            lambda: text(plain().set_axis(['temp, "inner"', "flow;outer"], axis=1)),
            understood={'temp, "inner"': "numbers", "flow;outer": "numbers"}),
    Awkward("names twice", lambda: replaced("flow", "temp"),
            refused="columns should have distinct names; 'temp' occurs more than once: rename one"),
    Awkward("a line too short", lambda: text(plain()) + b"1\n",
            refused=f"data.csv, line {ROWS + 2}, should have 2 cells like the header; it has 1"),
    Awkward("bytes that are no text", lambda: bytes(range(256)) * 4,
            refused="data.csv should be UTF-8, UTF-16 or Latin-1 text; it holds bytes that are no "
            "text: save it as UTF-8"),
    # Numbers as people write them.
    Awkward("percent", written(lambda v: f"{v}%"), understood=NUMBERS),
    Awkward("money", written(lambda v: f"${v:,.2f}"), understood=NUMBERS),
    Awkward("units", written(lambda v: f"{v} °C"), understood=NUMBERS),
    Awkward("thousands", lambda: text(plain().assign(temp=[f"{v:,.2f}" for v in LARGE])),
            understood=NUMBERS),
    Awkward("swiss", lambda: text(plain().assign(temp=[f"{v:,.2f}".replace(",", "'")
                                                       for v in LARGE])), understood=NUMBERS),
    Awkward("german thousands",
            lambda: text(plain().assign(temp=[f"{v:,.2f}".translate({44: 46, 46: 44})
                                              for v in LARGE]), **GERMAN), understood=NUMBERS),
    Awkward("quoted decimal commas", written(lambda v: str(v).replace(".", ",")),
            understood=NUMBERS),
    Awkward("thousands or decimals", written(lambda v: f"{1000 + int(v * 10):,}"),
            refused="column 'temp' holds '1,203', which may be 1203 or 1.203: say which with "
            "--decimal . or --decimal ,"),
    Awkward("thousands, said", written(lambda v: f"{1000 + int(v * 10):,}"),
            options=("--decimal", "."), understood=NUMBERS),
    Awkward("a word for missing", lambda: text(plain().astype(object).replace(
                plain()["temp"][5], "n.d.")), options=("--na", "n.d."), understood=NUMBERS,
            note="1 of 120 cells are missing"),
    Awkward("a word among numbers", lambda: text(plain().astype(object).replace(
                plain()["temp"][5], "n.d.")),
            refused="column 'temp' should hold numbers or labels, not both; row 0 is '20.38' and "
            "row 5 is 'n.d.': mark missing numbers by NaN or an empty cell, name the word with "
            "--na, or declare the column with --categorical"),
    Awkward("a number for missing", lambda: text(plain().replace(plain()["flow"][7], -999)),
            options=("--na", "-999"), understood=NUMBERS, note="1 of 120 cells are missing"),
    Awkward("below the limit of detection", written(lambda v: "<15" if v < 15 else str(v)),
            refused="column 'temp' should hold numbers or labels, not both; row 0 is '20.38' and "
            "row 12 is '<15': mark missing numbers by NaN or an empty cell, name the word with "
            "--na, or declare the column with --categorical"),
    # Other files.
    Awkward("dates of a database", lambda: parquet(plain().assign(when=DAYS, part=PARTS)),
            "data.parquet", understood=NUMBERS, note=f"'when' (dates or times), 'part' ({IDS})"),
    Awkward("parquet called csv", lambda: parquet(plain()),
            refused="data.csv should be text, as its ending says; it is a .parquet file"),
    Awkward("a spreadsheet called csv", lambda: b"PK\x03\x04 and more",
            refused="data.csv should be text, as its ending says; it is a zip archive (perhaps an "
            ".npz or a spreadsheet)"),
)  # fmt: skip


def write_all(folder: Path) -> None:
    """Every table under its own name."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        ending = table.file.removeprefix("data")
        (folder / f"{table.name.replace(' ', '-')}{ending}").write_bytes(table.content())


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
