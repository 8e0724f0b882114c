"""Bars, dots, axes and files of the figures, all alike in style.

Series differ by hatching or by the shape of a marker, so that a print without colours loses
nothing. The same results give the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.experiments.analysis import Interval, Summary
from mixoracle.experiments.tables import setting_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Light fills under a black hatch: the order is by how well neighbours differ in print.
FILLS = ("#ffffff", "#b8b8b8", "#e4e4e4", "#8c8c8c", "#f4f4f4", "#cfcfcf")
HATCHES = ("", "", "////", "", "....", "xxxx")
MARKERS = "osD^vP*Xh<>p"
_PNG_DPI = 150
WIDTH = 8.0  # inches; fits a page
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


def spots_of(place: int, total: int, groups: int) -> NDArray[np.float64]:
    """Where the bars of one series stand, side by side with the others around each group."""
    return np.arange(groups, dtype=np.float64) + (place - (total - 1) / 2) * _BARS_SHARE / total


def bars(
    axes: Axes,
    spots: NDArray[np.float64],
    heights: Sequence[Interval | None],
    place: int,
    label: str,
    total: int,
    *,
    whiskers: bool = True,
) -> None:
    """One series of bars with whiskers; a setting without runs has no bar."""
    there = [(spot, height) for spot, height in zip(spots, heights, strict=True) if height]
    reach = [[h.value - h.low for _, h in there], [h.high - h.value for _, h in there]]
    axes.bar(
        [spot for spot, _ in there],
        [height.value for _, height in there],
        min(_BARS_SHARE / total, _WIDEST_BAR),
        label=label,
        facecolor=FILLS[place % len(FILLS)],
        hatch=HATCHES[place % len(HATCHES)],
        edgecolor="black",
        linewidth=0.8,
        yerr=reach if whiskers else None,
        error_kw={"linewidth": 0.9, "capsize": 2.0},
    )


def dot(
    axes: Axes,
    summary: Summary,
    key: str,
    at: float,
    factor: float,
    marker: str,
    *,
    filled: bool,
) -> None:
    """One value with its interval, or a plain stroke where it is not filled."""
    interval: Interval | None = getattr(summary, key)
    if interval is None:
        return
    value = factor * interval.value
    if filled:
        ends = [factor * interval.low, factor * interval.high]
        axes.plot(ends, [at, at], "k-", linewidth=1.0, solid_capstyle="butt")
        axes.plot([value], [at], f"k{marker}", markersize=5, clip_on=False)
    else:
        axes.plot([value], [at], f"k{marker}", markersize=12, markeredgewidth=1.2, clip_on=False)


def diamonds(
    axes: Axes, spots: NDArray[np.float64], limits: Sequence[Interval | None], label: str
) -> None:
    """Mark what the search reaches on the true states; in the legend where there is a label."""
    axes.plot(
        spots,
        [limit.value if limit else np.nan for limit in limits],
        linestyle="none",
        marker="D",
        markersize=4.5,
        markerfacecolor="white",
        markeredgecolor="black",
        label=label or None,
        zorder=4,
        clip_on=False,  # a limit of 0 sits on the axis
    )


def setting_axis(axes: Axes, settings: Sequence[tuple[int, int]]) -> None:
    """One place for each (m, n)."""
    axes.set_xticks(range(len(settings)), [setting_name(setting) for setting in settings])
    axes.set_xlim(-0.5, len(settings) - 0.5)
    axes.set_xlabel("(m, n): hidden causes, observed variables")


def plain_log_axis(axes: Axes, bars: Sequence[Interval]) -> None:
    """A logarithmic axis from a whole decade on, with plain numbers: 0.1, 1, 10, 100."""
    axes.set_yscale("log")
    lowest = max(min(bar.low for bar in bars), _SHORTEST_SECONDS)
    axes.set_ylim(10.0 ** np.floor(np.log10(lowest)), 1.5 * max(bar.high for bar in bars))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")


def legend(axes: Axes, title: str | None = None) -> None:
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
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """An empty figure in the style of all of them."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def drawn(figure: Figure, name: str, caption: str) -> Drawing:
    """The figure as SVG and as PNG."""
    from matplotlib import rc_context

    svg, png = io.StringIO(), io.BytesIO()
    # Neither a date nor a random salt, so that equal results give equal files.
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png, format="png", dpi=_PNG_DPI, metadata={"Software": None})
    return Drawing(name, caption, svg.getvalue(), png.getvalue())
