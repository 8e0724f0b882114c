"""The report's tables, ours beside the paper's, as one record for HTML, CSV and Markdown.

A table holds numbers and intervals; how they are written is decided by the column, once for all
three forms. For readers intervals stand in brackets after their value, for programs (CSV) they
are columns of their own, unrounded.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from mixoracle.errors import InvalidInputError
from mixoracle.experiments import published
from mixoracle.experiments.analysis import (
    Cell,
    Interval,
    Source,
    Summary,
    counted_shd,
    on_shared_problems,
    summarise,
)

Kind = Literal["text", "count", "mean", "percent", "seconds", "distance"]
Value = str | int | float | Interval | None

_DIGITS: dict[str, str] = {"count": "d", "mean": ".2f", "seconds": ".2f", "distance": ".4f"}
_NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """A heading, a name for programs, and how values are written."""

    name: str
    title: str
    kind: Kind = "text"
    interval: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of values under columns.

    ``name`` is also the name of the CSV file.
    """

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidInputError(
                    f"table {self.name} has {len(self.columns)} columns; a row has {len(row)}"
                )

    def shown(self) -> list[list[str]]:
        """The rows as a reader sees them."""
        return [
            [_shown(value, column.kind) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """The rows for programs: unrounded, intervals in columns of their own."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = []
        for column in self.columns:
            names.append(column.name)
            if column.interval:
                names += [f"{column.name}_low", f"{column.name}_high"]
        writer.writerow(names)
        for row in self.rows:
            cells: list[str | int | float | None] = []
            for value, column in zip(row, self.columns, strict=True):
                if isinstance(value, Interval):
                    cells += [value.value, value.low, value.high]
                else:
                    cells += [value, None, None] if column.interval else [value]
            writer.writerow(cells)
        return out.getvalue()

    def to_markdown(self) -> str:
        """The table for a README."""
        lines = [
            "| " + " | ".join(column.title for column in self.columns) + " |",
            "|" + "|".join(" --- " for _ in self.columns) + "|",
        ]
        lines += ["| " + " | ".join(row) + " |" for row in self.shown()]
        return "\n".join(lines) + "\n"


def study_tables(name: str, sources: Sequence[Source]) -> list[Table]:
    """All tables of the sources of one study."""
    by_setting = [cell for source in sources for cell in source.cells(by_setting=True)]
    by_arm = [cell for source in sources for cell in source.cells(by_setting=False)]
    tables = [
        headline(name, sources),
        *shared(name, sources),
        graphs(name, "arm", "By arm", by_arm),
        graphs(name, "setting", "By arm and setting", by_setting),
        failures(name, by_arm),
    ]
    if name in published.STUDIES:
        tables += [edges(name, by_setting)]
    tables += [run_times(name, by_setting), points(name, sources)]
    return tables


def headline(name: str, sources: Sequence[Source]) -> Table:
    """The numbers that the paper states in words, and more, one column for each source."""
    stated = _stated(name, sources)
    found = [_found(source) for source in sources]
    columns = (
        Column("what", "what"),
        Column("published", "published"),
        *(Column(f"ours_{i + 1}", source.label) for i, source in enumerate(sources)),
    )
    note = (
        "In brackets: 95 % intervals, Wilson for shares, percentile bootstrap for averages. A run "
        "that ended with an error counts with all its edges missing. The limit is the same search "
        "on the true hidden states of the same rows. P(H) distances are over the runs with the "
        "right domain sizes."
    )
    rows = tuple(
        (what, stated.get(what, _NOTHING), *(values[what] for values in found)) for what in found[0]
    )
    return Table(f"{name}_headline", "Headline", note, columns, rows)


_DRAWN, _COUNTED = "runs drawn", "runs in the averages"
_NO_ORACLE, _NO_GRAPH = "failed in the oracle", "failed to produce a graph"
_LARGEST, _EDGES = "largest SHD", "edges of the true graphs"
_SHD_RANGE = "average SHD by setting and N, failed runs left out as in the paper"
_SECONDS = "average run time by setting and N, in seconds"


def _stated(name: str, sources: Sequence[Source]) -> dict[str, str]:
    """The paper's own numbers of the study."""
    cells = [cell for source in sources for cell in source.cells(by_setting=True)]
    times = [value for cell in cells if (value := _published(cell, "seconds")) is not None]
    stated = {_SECONDS: _range(times, ".2f")}
    theirs = published.STUDIES.get(name)
    if theirs is None:
        return stated
    return stated | {
        _DRAWN: str(theirs.drawn),
        _COUNTED: str(theirs.reported),
        _NO_ORACLE: _number(theirs.failed_oracle, "percent"),
        _NO_GRAPH: _number(theirs.failed_graph, "percent"),
        _SHD_RANGE: _range(theirs.average_shd or (), ".2f"),
        _LARGEST: _shown(theirs.largest_shd, "count"),
        _EDGES: _range(theirs.edges or (), "d"),
    }


def _found(source: Source) -> dict[str, str]:
    """The results of one source, row by row."""
    whole = summarise(source.record.results)
    cells = [cell.summary for cell in source.cells(by_setting=True)]
    return {
        _DRAWN: str(whole.runs),
        _COUNTED: f"{whole.runs} (all)",
        _NO_ORACLE: _shown(whole.failed_oracle, "percent"),
        _NO_GRAPH: _shown(whole.failed_graph, "percent"),
        "failed elsewhere": _shown(whole.failed_else, "percent"),
        "average SHD, all runs": _shown(whole.shd, "mean"),
        "average SHD, all runs, at the limit": _shown(whole.limit_shd, "mean"),
        "average SHD by setting and N": _range([s.shd.value for s in cells if s.shd], ".2f"),
        _SHD_RANGE: _range([s.shd_answered.value for s in cells if s.shd_answered], ".2f"),
        _LARGEST: _shown(whole.largest_shd, "count"),
        "graph exact (Γ, domains, class of Λ)": _shown(whole.exact, "percent"),
        "graph exact at the limit": _shown(whole.limit_exact, "percent"),
        "Γ exact": _shown(whole.gamma, "percent"),
        "domain sizes exact": _shown(whole.sizes, "percent"),
        "P(H) distance (total variation)": _shown(whole.tv, "distance"),
        "P(H) distance at the limit": _shown(whole.limit_tv, "distance"),
        "rows with all hidden states right": _shown(whole.accuracy, "percent"),
        _EDGES: _range(whole.edge_range or (), "d"),
        _SECONDS: _range([s.seconds.value for s in cells if s.seconds], ".2f"),
    }


def shared(name: str, sources: Sequence[Source]) -> list[Table]:
    """The sources on the problems that all of them have solved; no table where there are none."""
    cells = on_shared_problems(sources)
    if not cells:
        return []
    return [graphs(name, "shared_problem", "On the same problems", cells)]


_GRAPH_COLUMNS: tuple[tuple[str, str, Kind], ...] = (
    ("runs", "runs", "count"),
    ("exact", "graph exact", "percent"),
    ("limit_exact", "limit: exact", "percent"),
    ("shd", "SHD", "mean"),
    ("shd_answered", "SHD, answered only", "mean"),
    ("limit_shd", "limit: SHD", "mean"),
    ("largest_shd", "largest SHD", "count"),
    ("uce", "UCE", "mean"),
    ("gamma", "Γ exact", "percent"),
    ("sizes", "domains exact", "percent"),
    ("tv", "P(H) distance", "distance"),
    ("limit_tv", "limit: P(H) distance", "distance"),
    ("seconds", "seconds", "seconds"),
)
_WITHOUT_INTERVAL = ("runs", "largest_shd")


def graphs(name: str, what: str, title: str, cells: Sequence[Cell]) -> Table:
    """How right the graphs are, for each cell."""
    columns = (
        *_CELL_COLUMNS,
        *(
            Column(key, heading, kind, interval=key not in _WITHOUT_INTERVAL)
            for key, heading, kind in _GRAPH_COLUMNS
        ),
    )
    rows = tuple(
        (*_cell_values(cell), *(_of(cell.summary, key) for key, _, _ in _GRAPH_COLUMNS))
        for cell in cells
    )
    note = "The limit is the same search on the true hidden states of the same rows."
    return Table(f"{name}_by_{what}", title, note, columns, rows)


def failures(name: str, cells: Sequence[Cell]) -> Table:
    """Failed runs by stage, beside the published shares."""
    theirs = published.STUDIES.get(name)
    rows: list[tuple[Value, ...]] = [
        (
            *_cell_values(cell),
            cell.summary.runs,
            cell.summary.failed_oracle,
            cell.summary.failed_graph,
            cell.summary.fallbacks,
            cell.summary.failed_else,
        )
        for cell in cells
    ]
    if theirs:
        said = (theirs.drawn, theirs.failed_oracle, theirs.failed_graph, None, None)
        rows.insert(0, ("published", "all", _NOTHING, *said))
    columns = (
        *_CELL_COLUMNS,
        Column("runs", "runs", "count"),
        Column("failed_oracle", "failed in the oracle (a)", "percent", interval=True),
        Column("failed_graph", "failed to produce a graph (b–d)", "percent", interval=True),
        Column("fallbacks", "of these, answered by a fallback", "count"),
        Column("failed_else", "failed elsewhere", "percent", interval=True),
    )
    note = (
        "A run whose steps (b) to (d) contradict each other counts as failed here, as in the "
        "paper, although the learner falls back on the best consistent answer it has."
    )
    return Table(f"{name}_failures", "Failures by stage", note, columns, tuple(rows))


def edges(name: str, cells: Sequence[Cell]) -> Table:
    """The average |E(G)| beside the published one, to see that we draw such problems."""
    rows = tuple(
        (*_cell_values(cell), cell.summary.runs, cell.summary.edges, _published(cell, "edges"))
        for cell in cells
    )
    columns = (
        *_CELL_COLUMNS,
        Column("runs", "runs", "count"),
        Column("edges", "edges", "mean", interval=True),
        Column("published", "published", "mean"),
    )
    note = "The published averages are over the runs that did not fail, ours over all."
    return Table(f"{name}_edges", "Average number of edges", note, columns, rows)


def run_times(name: str, cells: Sequence[Cell]) -> Table:
    """The average run time beside the published one."""
    rows = []
    for cell in cells:
        ours, theirs = cell.summary.seconds, _published(cell, "seconds")
        faster = theirs / ours.value if ours and theirs and ours.value else None
        rows.append((*_cell_values(cell), cell.summary.runs, ours, theirs, faster))
    columns = (
        *_CELL_COLUMNS,
        Column("runs", "runs", "count"),
        Column("seconds", "seconds", "seconds", interval=True),
        Column("published", "published", "seconds"),
        Column("faster", "times as fast", "mean"),
    )
    note = (
        "Seconds of learning on one core, drawing and comparing not counted. Other machines than "
        "the paper's: the last column is an indication, not a measurement."
    )
    return Table(f"{name}_run_times", "Average run time", note, columns, tuple(rows))


def points(name: str, sources: Sequence[Source]) -> Table:
    """The points of the scatter plots: how many runs have that |E(G)|, SHD and UCE."""
    counts: dict[tuple[str, str, int, int, int, int, int | None], int] = {}
    for source in sources:
        for r in source.record.results:
            shd = counted_shd(r)
            if r.edges is None or shd is None:
                continue
            uce = None if r.score is None else r.score.uce
            key = (source.label, r.arm, r.m, r.n, r.edges, shd, uce)
            counts[key] = counts.get(key, 0) + 1
    columns = (
        *_CELL_COLUMNS[:2],
        *(Column(key, key, "count") for key in ("m", "n", "edges", "shd", "uce", "runs")),
    )
    rows = tuple(
        (*key, count)
        for key, count in sorted(counts.items(), key=lambda item: (item[0][:-1], item[0][-1] or 0))
    )
    return Table(f"{name}_points", "Points of the scatter plots", "", columns, rows)


_CELL_COLUMNS = (Column("source", "source"), Column("arm", "arm"), Column("setting", "(m, n)"))


def _cell_values(cell: Cell) -> tuple[str, str, str]:
    return cell.source, cell.arm, setting_name(cell.setting) if cell.setting else "all"


def setting_name(setting: tuple[int, int]) -> str:
    """(m, n) as the paper writes it."""
    return f"({setting[0]}, {setting[1]})"


def _of(summary: Summary, key: str) -> Value:
    if key not in {field.name for field in fields(Summary)}:
        raise InvalidInputError(f"a summary has no {key!r}")
    value: Value = getattr(summary, key)
    return value


def _published(cell: Cell, what: Literal["edges", "seconds"]) -> float | None:
    held = published.EDGES if what == "edges" else published.SECONDS
    return held.get((cell.setting, cell.samples)) if cell.setting else None


def _range(values: Sequence[float], spec: str) -> str:
    return f"{min(values):{spec}} to {max(values):{spec}}" if values else _NOTHING


def _shown(value: Value, kind: Kind) -> str:
    """One value as a reader sees it."""
    if value is None:
        return _NOTHING
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        low, high = (_number(bound, kind).removesuffix(" %") for bound in (value.low, value.high))
        return f"{_number(value.value, kind)} ({low}–{high})"
    return _number(value, kind)


def _number(value: float, kind: Kind) -> str:
    if kind == "percent":
        return f"{100 * value:.1f} %"
    return format(value, _DIGITS[kind])
