"""The report's tables, ours beside the paper's, as one record for HTML, CSV and Markdown.

A table holds numbers and intervals; how they are written is decided by the column, once for all
three forms. For readers intervals stand in brackets after their value, for programs (CSV) they
are columns of their own, unrounded.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mixoracle.errors import InvalidInputError
from mixoracle.experiments import published
from mixoracle.experiments.analysis import (
    Cell,
    Interval,
    Source,
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

    @property
    def csv_names(self) -> tuple[str, ...]:
        """The columns that it becomes in a CSV file."""
        bounds = (f"{self.name}_low", f"{self.name}_high") if self.interval else ()
        return (self.name, *bounds)


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
        writer.writerow(name for column in self.columns for name in column.csv_names)
        for row in self.rows:
            writer.writerow(
                entry
                for value, column in zip(row, self.columns, strict=True)
                for entry in _parts(value)[: len(column.csv_names)]
            )
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
    shared = on_shared_problems(sources)
    return [
        headline(name, sources),
        *([graphs(name, "shared_problem", "On the same problems", shared)] if shared else []),
        graphs(name, "arm", "By arm", by_arm),
        graphs(name, "setting", "By arm and setting", by_setting),
        failures(name, by_arm),
        *([edges(name, by_setting)] if name in published.STUDIES else []),
        run_times(name, by_setting),
        points(name, sources),
    ]


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
    times = [value for cell in cells if (value := _published(cell, published.SECONDS)) is not None]
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


_RUNS = Column("runs", "runs", "count")
_CELL_COLUMNS = (Column("source", "source"), Column("arm", "arm"), Column("setting", "(m, n)"))


def _by_cell(
    name: str,
    title: str,
    note: str,
    cells: Sequence[Cell],
    summary: Sequence[Column],
    beside: Sequence[tuple[Column, Callable[[Cell], Value]]] = (),
) -> Table:
    """A row for each cell: the entries of its summary by their names, then what stands beside."""
    rows = tuple(
        (
            cell.source,
            cell.arm,
            setting_name(cell.setting) if cell.setting else "all",
            *(getattr(cell.summary, column.name) for column in summary),
            *(value_of(cell) for _, value_of in beside),
        )
        for cell in cells
    )
    columns = (*_CELL_COLUMNS, *summary, *(column for column, _ in beside))
    return Table(name, title, note, columns, rows)


_GRAPH_COLUMNS = (
    _RUNS,
    Column("exact", "graph exact", "percent", interval=True),
    Column("limit_exact", "limit: exact", "percent", interval=True),
    Column("shd", "SHD", "mean", interval=True),
    Column("shd_answered", "SHD, answered only", "mean", interval=True),
    Column("limit_shd", "limit: SHD", "mean", interval=True),
    Column("largest_shd", "largest SHD", "count"),
    Column("uce", "UCE", "mean", interval=True),
    Column("gamma", "Γ exact", "percent", interval=True),
    Column("sizes", "domains exact", "percent", interval=True),
    Column("tv", "P(H) distance", "distance", interval=True),
    Column("limit_tv", "limit: P(H) distance", "distance", interval=True),
    Column("seconds", "seconds", "seconds", interval=True),
)


def graphs(name: str, what: str, title: str, cells: Sequence[Cell]) -> Table:
    """How right the graphs are, for each cell."""
    note = "The limit is the same search on the true hidden states of the same rows."
    return _by_cell(f"{name}_by_{what}", title, note, cells, _GRAPH_COLUMNS)


def failures(name: str, cells: Sequence[Cell]) -> Table:
    """Failed runs by stage, beside the published shares."""
    columns = (
        _RUNS,
        Column("failed_oracle", "failed in the oracle (a)", "percent", interval=True),
        Column("failed_graph", "failed to produce a graph (b–d)", "percent", interval=True),
        Column("fallbacks", "of these, answered by a fallback", "count"),
        Column("failed_else", "failed elsewhere", "percent", interval=True),
    )
    note = (
        "A run whose steps (b) to (d) contradict each other counts as failed here, as in the "
        "paper, although the learner falls back on the best consistent answer it has."
    )
    table = _by_cell(f"{name}_failures", "Failures by stage", note, cells, columns)
    theirs = published.STUDIES.get(name)
    if theirs is None:
        return table
    said = (theirs.drawn, theirs.failed_oracle, theirs.failed_graph, None, None)
    return replace(table, rows=(("published", "all", _NOTHING, *said), *table.rows))


def edges(name: str, cells: Sequence[Cell]) -> Table:
    """The average |E(G)| beside the published one, to see that we draw such problems."""
    return _by_cell(
        f"{name}_edges",
        "Average number of edges",
        "The published averages are over the runs that did not fail, ours over all.",
        cells,
        (_RUNS, Column("edges", "edges", "mean", interval=True)),
        [(Column("published", "published", "mean"), lambda c: _published(c, published.EDGES))],
    )


def run_times(name: str, cells: Sequence[Cell]) -> Table:
    """The average run time beside the published one."""

    def faster(cell: Cell) -> float | None:
        ours, theirs = cell.summary.seconds, _published(cell, published.SECONDS)
        return theirs / ours.value if ours and theirs and ours.value else None

    return _by_cell(
        f"{name}_run_times",
        "Average run time",
        "Seconds of learning on one core, drawing and comparing not counted. Other machines than "
        "the paper's: the last column is an indication, not a measurement.",
        cells,
        (_RUNS, Column("seconds", "seconds", "seconds", interval=True)),
        [
            (
                Column("published", "published", "seconds"),
                lambda cell: _published(cell, published.SECONDS),
            ),
            (Column("faster", "times as fast", "mean"), faster),
        ],
    )


def points(name: str, sources: Sequence[Source]) -> Table:
    """The points of the scatter plots: how many runs have that |E(G)|, SHD and UCE."""
    counts = Counter(
        (source.label, r.arm, r.m, r.n, r.edges, shd, None if r.score is None else r.score.uce)
        for source in sources
        for r in source.record.results
        if r.edges is not None and (shd := counted_shd(r)) is not None
    )
    columns = (
        *_CELL_COLUMNS[:2],
        *(Column(key, key, "count") for key in ("m", "n", "edges", "shd", "uce", "runs")),
    )
    rows = tuple(
        (*key, count)
        for key, count in sorted(counts.items(), key=lambda item: (item[0][:-1], item[0][-1] or 0))
    )
    return Table(f"{name}_points", "Points of the scatter plots", "", columns, rows)


def setting_name(setting: tuple[int, int]) -> str:
    """(m, n) as the paper writes it."""
    return f"({setting[0]}, {setting[1]})"


def _published(cell: Cell, table: Mapping[published.Key, float]) -> float | None:
    return table.get((cell.setting, cell.samples)) if cell.setting else None


def _parts(value: Value) -> tuple[str | float | None, ...]:
    """A value and its bounds, where it has any."""
    if isinstance(value, Interval):
        return value.value, value.low, value.high
    return value, None, None


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
