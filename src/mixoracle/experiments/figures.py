"""The paper's figures, and one of our own, drawn from results.

Bars for average SHD, run time and failures, a scatter of SHD and of UCE against |E(G)|, and dots
with intervals for studies with many arms. Series differ by hatching or by the shape of a marker,
so that a print without colours loses nothing. The same results give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.experiments import published
from mixoracle.experiments.analysis import Cell, Interval, Source, counted_shd
from mixoracle.experiments.studies import Setting
from mixoracle.experiments.tables import setting_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Light fills under a black hatch: the order is by how well neighbours differ in print.
_FILLS = ("#ffffff", "#b8b8b8", "#e4e4e4", "#8c8c8c", "#f4f4f4", "#cfcfcf")
_HATCHES = ("", "", "////", "", "....", "xxxx")
_MARKERS = "osD^vP*Xh<>p"
_PNG_DPI = 150
_WIDTH = 8.0  # inches; fits a page
_BARS_SHARE = 0.84  # of the room that a group of bars has
_WIDEST_BAR = 0.4
_SHORTEST_SECONDS = 1e-3  # timings are kept to the millisecond
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9.0,
    "svg.fonttype": "none",  # text stays text: smaller, and it can be searched
    "hatch.linewidth": 0.7,
    "axes.prop_cycle": "cycler('color', ['black'])",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# Area in points² of a marker that stands for one run, and for each further one.
_DOT_AREA, _DOT_GROWTH = 18.0, 7.0


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its name and what it shows, in words."""

    name: str
    caption: str
    svg: str
    png: bytes

    @property
    def inline_svg(self) -> str:
        """The SVG for the inside of a page: no prolog, and identifiers that are its own."""
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r'\bid="', f'id="{self.name}-', body)
        body = re.sub(r'(href="|url\()#', rf"\g<1>#{self.name}-", body)
        return body.replace("<svg ", '<svg role="img" ', 1)


def study_drawings(name: str, sources: Sequence[Source]) -> list[Drawing]:
    """All figures of the sources of one study."""
    of_the_paper = (average_shd, run_times, failures)
    kinds = of_the_paper if name in published.STUDIES else (arms,)
    drawings = [draw(name, sources) for draw in kinds]
    return [*drawings, *(scatter(name, i, source) for i, source in enumerate(sources))]


def average_shd(name: str, sources: Sequence[Source]) -> Drawing:
    """``fig:shd`` and ``fig:shd-2``: average SHD by (m, n) and N."""
    groups, settings = _by_series(sources)
    with _new_figure(_WIDTH, 3.6) as figure:
        axes = _bar_chart(figure, settings, _heights(groups, settings, "shd"))
        for place, limits in enumerate(_heights(groups, settings, "limit_shd").values()):
            axes.plot(
                _spots_of(place, len(groups), len(settings)),
                [limit.value if limit else np.nan for limit in limits],
                linestyle="none",
                marker="D",
                markersize=4.5,
                markerfacecolor="white",
                markeredgecolor="black",
                label="limit: true states" if place == 0 else None,
                zorder=4,
                clip_on=False,  # a limit of 0 sits on the axis
            )
        theirs = published.STUDIES[name].average_shd
        if theirs:
            said = f"largest published average, {theirs[1]:g}"
            axes.axhline(theirs[1], color="black", linestyle=(0, (1, 2)), linewidth=1.2, label=said)
        axes.set_ylabel("average SHD over all runs")
        axes.set_ylim(bottom=0.0)
        _legend(axes)
        return _drawn(
            figure,
            f"{name}_shd",
            "Average structural Hamming distance by setting, over all runs, with 95 % bootstrap "
            "intervals. Diamonds: the same search on the true hidden states.",
        )


def run_times(name: str, sources: Sequence[Source]) -> Drawing:
    """The paper's table of run times as bars, ours beside them, on a logarithmic axis."""
    groups, settings = _by_series(sources)
    series: dict[str, list[Interval | None]] = {}
    for size in sorted({cell.samples for cells in groups.values() for cell in cells.values()}):
        said = [published.SECONDS.get((setting, size)) for setting in settings]
        if any(said):
            heights = [Interval(value, value, value) if value else None for value in said]
            series[f"published, N={size}"] = heights
    known = len(series)
    series |= _heights(groups, settings, "seconds")
    bars = [bar for bars in series.values() for bar in bars if bar]
    with _new_figure(_WIDTH, 3.6) as figure:
        axes = _bar_chart(figure, settings, series, without_whiskers=known)
        # A logarithmic axis from a whole decade on, with plain numbers: 0.1, 1, 10, 100.
        axes.set_yscale("log")
        lowest = max(min(bar.low for bar in bars), _SHORTEST_SECONDS)
        axes.set_ylim(10.0 ** np.floor(np.log10(lowest)), 1.5 * max(bar.high for bar in bars))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
        axes.set_ylabel("average seconds a run (log scale)")
        _legend(axes)
        return _drawn(
            figure,
            f"{name}_run_times",
            "Average run time by setting, one core, on a logarithmic axis. Published times are "
            "from another machine.",
        )


def failures(name: str, sources: Sequence[Source]) -> Drawing:
    """Shares of failed runs by stage, beside the published ones."""
    theirs = published.STUDIES[name]
    rows = {"published": [theirs.failed_oracle, theirs.failed_graph, 0.0]}
    for source in sources:
        for cell in source.cells(by_setting=False):
            summary = cell.summary
            stages = (summary.failed_oracle, summary.failed_graph, summary.failed_else)
            rows[f"{cell.source}, {cell.arm}"] = [stage.value if stage else 0.0 for stage in stages]
    names = ("in the oracle (a)", "to produce a graph (b–d)", "elsewhere")
    with _new_figure(_WIDTH, 1.2 + 0.35 * len(rows)) as figure:
        axes = figure.subplots()
        left = np.zeros(len(rows))
        for stage, label in enumerate(names):
            shares_here = 100.0 * np.array([shares[stage] for shares in rows.values()])
            fill: Any = {"facecolor": _FILLS[stage], "hatch": _HATCHES[stage], "edgecolor": "black"}
            axes.barh(range(len(rows)), shares_here, 0.6, left=left, label=label, **fill)
            left += shares_here
        for place, total in enumerate(left):
            axes.annotate(
                f"{total:.1f} %", (total, place), (4, 0), textcoords="offset points", va="center"
            )
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlim(0.0, max(float(left.max()) * 1.15, 5.0))
        axes.set_xlabel("failed runs in % of those drawn")
        _legend(axes, "failed")
        return _drawn(
            figure, f"{name}_failures", "Failed runs by stage, in per cent of all runs drawn."
        )


def scatter(name: str, number: int, source: Source) -> Drawing:
    """``fig:scatter``: SHD and UCE against |E(G)|, a marker for each (m, n)."""
    panels = (
        ("SHD", [(r, counted_shd(r)) for r in source.record.results]),
        ("UCE", [(r, r.score.uce if r.score else None) for r in source.record.results]),
    )
    settings = source.settings()
    with _new_figure(_WIDTH, 3.6) as figure:
        for axes, (title, values) in zip(figure.subplots(1, 2), panels, strict=True):
            for place, setting in enumerate(settings):
                at = Counter(
                    (r.edges, value)
                    for r, value in values
                    if (r.m, r.n) == setting and r.edges is not None and value is not None
                )
                if not at:
                    continue
                x, y = zip(*at, strict=True)
                look: Any = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.8}
                look["marker"] = _MARKERS[place % len(_MARKERS)]
                areas = [_DOT_AREA + _DOT_GROWTH * (count - 1) for count in at.values()]
                axes.scatter(x, y, areas, **look)
                # An empty twin for the legend, whose size must not depend on the counts.
                axes.scatter([], [], _DOT_AREA, label=setting_name(setting), **look)
            axes.set_xlabel("|E(G)|: edges of the true graph")
            axes.set_ylabel(title)
            axes.yaxis.get_major_locator().set_params(integer=True)
            axes.set_ylim(bottom=-0.4)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, title="(m, n)", loc="outside right upper", frameon=False)
        return _drawn(
            figure,
            f"{name}_scatter_{number + 1}",
            f"{source.label}: SHD (left) and right but unoriented edges (right) against the number "
            "of edges of the true graph. The area of a marker grows with the runs at that point.",
        )


def arms(name: str, sources: Sequence[Source]) -> Drawing:
    """For each arm the share of exact graphs, the average SHD and the run time."""
    labels = list(dict.fromkeys(a.label for source in sources for a in source.record.study.arms))
    panels: tuple[tuple[str, str, str | None, float], ...] = (
        ("graph exact, %", "exact", "limit_exact", 100.0),
        ("average SHD", "shd", "limit_shd", 1.0),
        ("seconds a run", "seconds", None, 1.0),
    )
    with _new_figure(_WIDTH, 1.4 + 0.32 * len(labels) * len(sources)) as figure:
        grid = figure.subplots(1, 3, sharey=True)
        for axes, (title, key, limit, factor) in zip(grid, panels, strict=True):
            for place, source in enumerate(sources):
                offset = _spots_of(place, len(sources), 1)[0]
                for cell in source.cells(by_setting=False):
                    at = labels.index(cell.arm) + offset
                    found: Interval | None = getattr(cell.summary, key)
                    bound: Interval | None = getattr(cell.summary, limit) if limit else None
                    if found:
                        ends, value = factor * np.array([found.low, found.high]), found.value
                        axes.plot(ends, [at, at], "k-", linewidth=1.0, solid_capstyle="butt")
                        marker = f"k{_MARKERS[place]}"
                        axes.plot([factor * value], [at], marker, markersize=5, clip_on=False)
                    if bound:
                        stroke: Any = {"markersize": 12, "markeredgewidth": 1.2, "clip_on": False}
                        axes.plot([factor * bound.value], [at], "k|", **stroke)
            axes.set_xlabel(title)
            axes.set_xlim(left=0.0)
            axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)
        for axes in grid[1:]:
            axes.tick_params(left=False)
        grid[0].set_xlim(0.0, 100.0)
        grid[0].set_yticks(range(len(labels)), labels)
        grid[0].invert_yaxis()
        handles = [
            grid[0].plot([], [], "k" + _MARKERS[i], linestyle="none", label=source.label)[0]
            for i, source in enumerate(sources)
        ]
        handles += grid[0].plot([], [], "k|", markersize=10, linestyle="none", label="limit")
        figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return _drawn(
            figure,
            f"{name}_arms",
            "By arm: share of exact graphs (Wilson intervals), average SHD and seconds a run "
            "(bootstrap intervals), all 95 %. Strokes: the same search on the true hidden states.",
        )


_Series = dict[str, dict[Setting, Cell]]


def _by_series(sources: Sequence[Source]) -> tuple[_Series, list[Setting]]:
    """For each source and arm its cells by setting, and all settings in order."""
    series: _Series = {}
    for source in sources:
        for cell in source.cells(by_setting=True):
            if cell.setting is not None:
                label = f"{source.label}, {cell.arm}"
                series.setdefault(label, {})[cell.setting] = cell
    return series, sorted({setting for cells in series.values() for setting in cells})


def _heights(
    groups: _Series, settings: Sequence[Setting], key: str
) -> dict[str, list[Interval | None]]:
    """One entry of the summaries for each series and setting; None without runs."""
    return {
        label: [
            getattr(cells[setting].summary, key) if setting in cells else None
            for setting in settings
        ]
        for label, cells in groups.items()
    }


def _spots_of(place: int, total: int, groups: int) -> NDArray[np.float64]:
    """Where the bars of one series stand, side by side with the others around each group."""
    return np.arange(groups, dtype=np.float64) + (place - (total - 1) / 2) * _BARS_SHARE / total


def _bar_chart(
    figure: Figure,
    settings: Sequence[Setting],
    series: dict[str, list[Interval | None]],
    without_whiskers: int = 0,
) -> Axes:
    """One place for each (m, n), one bar for each series; a setting without runs has no bar.

    The first ``without_whiskers`` series have no intervals.
    """
    axes = figure.subplots()
    for place, (label, heights) in enumerate(series.items()):
        spots = _spots_of(place, len(series), len(settings))
        there = [(spot, height) for spot, height in zip(spots, heights, strict=True) if height]
        reach = [[h.value - h.low for _, h in there], [h.high - h.value for _, h in there]]
        axes.bar(
            [spot for spot, _ in there],
            [height.value for _, height in there],
            min(_BARS_SHARE / len(series), _WIDEST_BAR),
            label=label,
            facecolor=_FILLS[place % len(_FILLS)],
            hatch=_HATCHES[place % len(_HATCHES)],
            edgecolor="black",
            linewidth=0.8,
            yerr=reach if place >= without_whiskers else None,
            error_kw={"linewidth": 0.9, "capsize": 2.0},
        )
    axes.set_xticks(range(len(settings)), [setting_name(setting) for setting in settings])
    axes.set_xlim(-0.5, len(settings) - 0.5)
    axes.set_xlabel("(m, n): hidden causes, observed variables")
    return axes


def _legend(axes: Axes, title: str | None = None) -> None:
    """Above the axes, bars first."""
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(handles)), key=lambda i: not hasattr(handles[i], "patches"))
    axes.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        title=title,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        frameon=False,
    )


@contextmanager
def _new_figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure in the style of all of them."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def _drawn(figure: Figure, name: str, caption: str) -> Drawing:
    """The figure as SVG and as PNG."""
    from matplotlib import rc_context

    svg, png = io.StringIO(), io.BytesIO()
    # Neither a date nor a random salt, so that equal results give equal files.
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return Drawing(name, caption, svg.getvalue(), png.getvalue())
