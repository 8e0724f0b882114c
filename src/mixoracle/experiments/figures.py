"""The paper's figures, and one of our own, drawn from results.

Bars for average SHD, run time and failures, a scatter of SHD and of UCE against |E(G)|, and dots
with intervals for studies with many arms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixoracle.experiments import published
from mixoracle.experiments.analysis import Cell, Interval, Source, counted_shd
from mixoracle.experiments.drawing import (
    FILLS,
    HATCHES,
    MARKERS,
    WIDTH,
    Drawing,
    bars,
    diamonds,
    dot,
    drawn,
    legend,
    new_figure,
    plain_log_axis,
    setting_axis,
    spots_of,
)
from mixoracle.experiments.tables import setting_name

# Area in points² of a marker that stands for one run, and for each further one.
_DOT_AREA, _DOT_GROWTH = 18.0, 7.0


def study_drawings(name: str, sources: Sequence[Source]) -> list[Drawing]:
    """All figures of the sources of one study."""
    of_the_paper = (average_shd, run_times, failures)
    kinds = of_the_paper if name in published.STUDIES else (arms,)
    drawings = [draw(name, sources) for draw in kinds]
    return [*drawings, *(scatter(name, i, source) for i, source in enumerate(sources))]


def average_shd(name: str, sources: Sequence[Source]) -> Drawing:
    """``fig:shd`` and ``fig:shd-2``: average SHD by (m, n) and N."""
    groups = _by_series(sources)
    settings = sorted({setting for cells in groups.values() for setting in cells})
    with new_figure(WIDTH, 3.6) as figure:
        axes = figure.subplots()
        for place, (label, cells) in enumerate(groups.items()):
            found = [cells.get(setting) for setting in settings]
            heights = [cell.summary.shd if cell else None for cell in found]
            limits = [cell.summary.limit_shd if cell else None for cell in found]
            spots = spots_of(place, len(groups), len(settings))
            bars(axes, spots, heights, place, label, len(groups))
            diamonds(axes, spots, limits, "limit: true states" if place == 0 else "")
        theirs = published.STUDIES[name].average_shd
        if theirs:
            said = f"largest published average, {theirs[1]:g}"
            axes.axhline(theirs[1], color="black", linestyle=(0, (1, 2)), linewidth=1.2, label=said)
        setting_axis(axes, settings)
        axes.set_ylabel("average SHD over all runs")
        axes.set_ylim(bottom=0.0)
        legend(axes)
        return drawn(
            figure,
            f"{name}_shd",
            "Average structural Hamming distance by setting, over all runs, with 95 % bootstrap "
            "intervals. Diamonds: the same search on the true hidden states.",
        )


def run_times(name: str, sources: Sequence[Source]) -> Drawing:
    """The paper's table of run times as bars, ours beside them, on a logarithmic axis."""
    groups = _by_series(sources)
    settings = sorted({setting for cells in groups.values() for setting in cells})
    sizes = sorted({cell.samples for cells in groups.values() for cell in cells.values()})
    series: dict[str, list[Interval | None]] = {}
    for size in sizes:
        said = [published.SECONDS.get((setting, size)) for setting in settings]
        if any(said):
            heights = [Interval(value, value, value) if value else None for value in said]
            series[f"published, N={size}"] = heights
    known = len(series)
    for label, cells in groups.items():
        found = [cells.get(setting) for setting in settings]
        series[label] = [cell.summary.seconds if cell else None for cell in found]
    with new_figure(WIDTH, 3.6) as figure:
        axes = figure.subplots()
        for place, (label, heights) in enumerate(series.items()):
            spots = spots_of(place, len(series), len(settings))
            bars(axes, spots, heights, place, label, len(series), whiskers=place >= known)
        setting_axis(axes, settings)
        plain_log_axis(axes, [bar for bars in series.values() for bar in bars if bar])
        axes.set_ylabel("average seconds a run (log scale)")
        legend(axes)
        return drawn(
            figure,
            f"{name}_run_times",
            "Average run time by setting, one core, on a logarithmic axis. Published times are "
            "from another machine.",
        )


def failures(name: str, sources: Sequence[Source]) -> Drawing:
    """Shares of failed runs by stage, beside the published ones."""
    theirs = published.STUDIES[name]
    rows: dict[str, tuple[float, float, float]] = {
        "published": (theirs.failed_oracle, theirs.failed_graph, 0.0)
    }
    for source in sources:
        for cell in source.cells(by_setting=False):
            summary = cell.summary
            stages = (summary.failed_oracle, summary.failed_graph, summary.failed_else)
            shares = [stage.value if stage else 0.0 for stage in stages]
            rows[f"{cell.source}, {cell.arm}"] = (shares[0], shares[1], shares[2])
    names = ("in the oracle (a)", "to produce a graph (b–d)", "elsewhere")
    with new_figure(WIDTH, 1.2 + 0.35 * len(rows)) as figure:
        axes = figure.subplots()
        left = np.zeros(len(rows))
        for stage, label in enumerate(names):
            shares_here = 100.0 * np.array([shares[stage] for shares in rows.values()])
            fill: Any = {"facecolor": FILLS[stage], "hatch": HATCHES[stage], "edgecolor": "black"}
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
        legend(axes, "failed")
        return drawn(
            figure, f"{name}_failures", "Failed runs by stage, in per cent of all runs drawn."
        )


def scatter(name: str, number: int, source: Source) -> Drawing:
    """``fig:scatter``: SHD and UCE against |E(G)|, a marker for each (m, n)."""
    panels = (
        ("SHD", [(r, counted_shd(r)) for r in source.record.results]),
        ("UCE", [(r, r.score.uce if r.score else None) for r in source.record.results]),
    )
    settings = source.settings()
    with new_figure(WIDTH, 3.6) as figure:
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
                look["marker"] = MARKERS[place % len(MARKERS)]
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
        return drawn(
            figure,
            f"{name}_scatter_{number + 1}",
            f"{source.label}: SHD (left) and right but unoriented edges (right) against the number "
            "of edges of the true graph. The area of a marker grows with the runs at that point.",
        )


def arms(name: str, sources: Sequence[Source]) -> Drawing:
    """For each arm the share of exact graphs, the average SHD and the run time."""
    labels = list(dict.fromkeys(label for source in sources for label in source.arms()))
    panels: tuple[tuple[str, str, str | None, float], ...] = (
        ("graph exact, %", "exact", "limit_exact", 100.0),
        ("average SHD", "shd", "limit_shd", 1.0),
        ("seconds a run", "seconds", None, 1.0),
    )
    with new_figure(WIDTH, 1.4 + 0.32 * len(labels) * len(sources)) as figure:
        grid = figure.subplots(1, 3, sharey=True)
        for axes, (title, key, limit, factor) in zip(grid, panels, strict=True):
            for place, source in enumerate(sources):
                cells = {cell.arm: cell.summary for cell in source.cells(by_setting=False)}
                offset = spots_of(place, len(sources), 1)[0]
                for row, label in enumerate(labels):
                    if label in cells:
                        at = row + offset
                        dot(axes, cells[label], key, at, factor, MARKERS[place], filled=True)
                        if limit:
                            dot(axes, cells[label], limit, at, factor, "|", filled=False)
            axes.set_xlabel(title)
            axes.set_xlim(left=0.0)
            axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)
        for axes in grid[1:]:
            axes.tick_params(left=False)
        grid[0].set_xlim(0.0, 100.0)
        grid[0].set_yticks(range(len(labels)), labels)
        grid[0].invert_yaxis()
        handles = [
            grid[0].plot([], [], "k" + MARKERS[i], linestyle="none", label=source.label)[0]
            for i, source in enumerate(sources)
        ]
        handles += grid[0].plot([], [], "k|", markersize=10, linestyle="none", label="limit")
        figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return drawn(
            figure,
            f"{name}_arms",
            "By arm: share of exact graphs (Wilson intervals), average SHD and seconds a run "
            "(bootstrap intervals), all 95 %. Strokes: the same search on the true hidden states.",
        )


Series = dict[str, dict[tuple[int, int], Cell]]


def _by_series(sources: Sequence[Source]) -> Series:
    """For each source and arm its cells by setting; a lone source goes without its name."""
    series: Series = {}
    for source in sources:
        for cell in source.cells(by_setting=True):
            if cell.setting is not None:
                label = f"{source.label}, {cell.arm}"
                series.setdefault(label, {})[cell.setting] = cell
    return series
