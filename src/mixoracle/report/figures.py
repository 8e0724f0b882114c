"""Figures for a paper or a notebook, through matplotlib: the graph, P(H), the components.

The graph stands as in the SVG, from the same layout. Names are data, so none is read as
mathematics. :func:`plot` draws into the caller's axes; :func:`save_figures` writes PNG and PDF
files, equal in bytes for equal results.

Knows nothing of how a model is learned: the evidence is only looked at.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from colorsys import hls_to_rgb
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import LatentModel
from mixoracle.model.state_names import joint_state_names
from mixoracle.report import svg
from mixoracle.report.charts import (
    component_colour,
    level_opacity,
    likeliest_states,
    scatter_points,
)
from mixoracle.report.lettering import fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mixoracle.report.evidence import Evidence, Scatter

# Pixels of the SVG to inches of a figure; text of 13 px becomes about 9 pt.
_PIXELS_PER_INCH = 100.0
_POINTS = {"name": 9.0, "small": 7.0}
_DPI = 200
_MAX_STATES = 24
_PLOTS_ACROSS = 4
# Of its column's room; the rest parts it from the next.
_BAR_SHARE = 0.92


def plot(model: LatentModel, ax: Axes | None = None) -> Axes:
    """Draw G = Γ ∪ Λ and return the axes; new ones are made where none are given.

    Examples
    --------
    >>> from mixoracle.datasets import random_model
    >>> axes = plot(random_model(2, 4, random_state=0))
    >>> axes.figure.savefig("graph.pdf")  # doctest: +SKIP
    """
    layout = svg.lay_out(model)
    ax = _new_axes(_graph_size(layout)) if ax is None else ax
    ax.set_xlim(0, layout.size[0])
    ax.set_ylim(layout.legend_y, 0)
    ax.set_aspect("equal")
    ax.axis("off")
    _draw_edges(ax, model, layout)
    _draw_pills(ax, model, layout)
    for g in range(len(layout.groups)):
        _draw_box(ax, layout, g)
    return ax


def plot_joint(model: LatentModel, ax: Axes | None = None) -> Axes:
    """Draw P(H) as bars, the likeliest joint states first."""
    ax = _new_axes(_joint_size(model)) if ax is None else ax
    states, heights = zip(*likeliest_states(model, _MAX_STATES), strict=True)
    places = np.arange(len(states))
    shown_states = [joint_state_names(model, state) for state in states]
    ax.barh(places, heights, color=svg.PALETTE[0], height=0.72)
    ax.set_yticks(places, [" ".join(s) for s in shown_states], fontsize=_POINTS["small"])
    ax.invert_yaxis()
    ax.set_xlabel("probability")
    shown = [fitted(name, 60, 9) for name in model.latent_names]
    ax.set_ylabel(f"states of {', '.join(shown)}", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_components(model: LatentModel, scatters: Sequence[Scatter]) -> Figure:
    """Draw the components of every observed variable, one small plot for each.

    Numbers are points; levels are bars, a line for each component and a bar for each column.
    """
    from matplotlib.figure import Figure

    across = min(_PLOTS_ACROSS, max(len(scatters), 1))
    down = max(-(-len(scatters) // across), 1)
    figure = Figure(figsize=(2.3 * across, 2.2 * down), layout="constrained")
    for i, scatter in enumerate(scatters):
        ax = figure.add_subplot(down, across, i + 1)
        shares = None if model.components is None else model.components[i].averages().of_levels()
        if shares is None:
            _draw_points(ax, scatter)
        else:
            _draw_levels(ax, shares)
        title = fitted(model.observed_names[i], 150, 11)
        if scatter.separation is not None:
            title += f"  ({scatter.separation:.0%} classified correctly)"
        ax.set_title(title, fontsize=_POINTS["small"], parse_math=False)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def _draw_points(ax: Axes, scatter: Scatter) -> None:
    points, labels = scatter_points(scatter)
    n_components = int(labels.max()) + 1 if len(labels) else 0
    for label in np.unique(labels):
        chosen = points[labels == label]
        colour = _from_hsl(component_colour(int(label), n_components))
        ax.plot(chosen[:, 0], chosen[:, 1], ".", color=colour, markersize=3)


def _draw_levels(ax: Axes, shares: Sequence[NDArray[np.float64]]) -> None:
    """A bar for each column of each component, from the first level (light) to the last."""
    k = len(shares[0])
    colours = [_from_hsl(component_colour(component, k)) for component in range(k)]
    for column, by_level in enumerate(shares):
        bars = by_level * _BAR_SHARE
        left = column + np.cumsum(bars, axis=1) - bars
        for level in range(bars.shape[1]):
            ax.barh(
                np.arange(k),
                bars[:, level],
                left=left[:, level],
                color=colours,
                alpha=level_opacity(level, bars.shape[1]),
            )
    ax.invert_yaxis()


def save_figures(model: LatentModel, evidence: Evidence, folder: FilePath) -> list[FilePath]:
    """Write graph, joint and components as PNG and PDF into a folder; return what was written."""
    from matplotlib.figure import Figure

    figures = {"graph": Figure(_graph_size(svg.lay_out(model)), layout="constrained")}
    plot(model, figures["graph"].add_subplot())
    if model.n_latent:
        figures["joint"] = Figure(_joint_size(model), layout="constrained")
        plot_joint(model, figures["joint"].add_subplot())
    figures["components"] = plot_components(model, evidence.scatters)
    folder.mkdir(exist_ok=True)
    return [path for name, figure in figures.items() for path in _save(figure, folder / name)]


def _save(figure: Figure, stem: FilePath) -> list[FilePath]:
    written = []
    # Without dates, equal results give equal files.
    undated: dict[str, dict[str, Any]] = {".png": {}, ".pdf": {"CreationDate": None}}
    with warnings.catch_warnings():
        # A name may hold letters that no font here has; a box in their place is all one can do.
        warnings.filterwarnings("ignore", message="(?s).*missing from font.*")
        for ending, metadata in undated.items():
            path = stem.with_suffix(ending)
            figure.savefig(path, dpi=_DPI, metadata=metadata)
            written.append(path)
    return written


def _graph_size(layout: svg.Layout) -> tuple[float, float]:
    return layout.size[0] / _PIXELS_PER_INCH, layout.legend_y / _PIXELS_PER_INCH


def _joint_size(model: LatentModel) -> tuple[float, float]:
    return 5.5, 0.9 + 0.22 * min(model.joint.table.size, _MAX_STATES)


def _new_axes(size: tuple[float, float]) -> Axes:
    from matplotlib import pyplot

    axes: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    return axes


def _draw_edges(ax: Axes, model: LatentModel, layout: svg.Layout) -> None:
    """Γ as curves to the boxes, Λ as arcs on the other side."""
    from matplotlib.patches import FancyArrowPatch, PathPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    left, right, end = layout.pill_left, layout.pill_right, layout.box_x
    bend = (end - right) * 0.5
    for j, y1, y2 in svg.drive_lines(layout):
        path = Path([(right, y1), (right + bend, y1), (end - bend, y2), (end, y2)], codes)
        colour = svg.latent_colour(j)
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, linewidth=1.1))
    for i, j, known in svg.latent_edges(model):
        y1, y2, reach = svg.arc_curve(layout, i, j)
        ax.add_patch(
            FancyArrowPatch(
                path=Path([(left, y1), (reach, y1), (reach, y2), (left, y2)], codes),
                arrowstyle="-|>" if known else "-",
                linestyle="-" if known else (0, (4, 3)),
                mutation_scale=9,
                color=svg.INK,
                linewidth=1.1,
                shrinkA=0,
                shrinkB=0,
            )
        )


def _draw_pills(ax: Axes, model: LatentModel, layout: svg.Layout) -> None:
    for j, y in enumerate(layout.pill_y):
        radius = svg.PILL_HEIGHT / 2
        box = (layout.pill_left, y - radius, layout.pill_width, svg.PILL_HEIGHT)
        _rounded(ax, box, radius, svg.PAPER, svg.latent_colour(j), 1.6)
        name = fitted(model.latent_names[j], svg.PILL_ROOM, 13)
        _text(ax, layout.pill_x, y - 6, name, "name", weight="bold")
        _text(ax, layout.pill_x, y + 9, f"{model.domain_sizes[j]} states", "small")


def _draw_box(ax: Axes, layout: svg.Layout, g: int) -> None:
    group, top = layout.groups[g], layout.box_y[g]
    box = (layout.box_x, top, layout.box_width, group.height)
    _rounded(ax, box, 9, "#f6f8fa", svg.LINE, 0.8)
    for _, shown, x, y, width in svg.chip_places(layout, g):
        _rounded(ax, (x, y, width, svg.CHIP_HEIGHT), 5, svg.PAPER, svg.LINE, 0.8)
        _text(ax, x + width / 2, y + svg.CHIP_HEIGHT / 2, shown, "name")


def _rounded(
    ax: Axes, box: Sequence[float], radius: float, fill: str, edge: str, width: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    left, top, breadth, height = box
    shape = f"round,pad=0,rounding_size={radius}"
    look: Any = {"boxstyle": shape, "facecolor": fill, "edgecolor": edge, "linewidth": width}
    ax.add_patch(FancyBboxPatch((left, top), breadth, height, **look))


def _text(ax: Axes, x: float, y: float, text: str, size: str, weight: str = "normal") -> None:
    letters: Any = {"fontsize": _POINTS[size], "fontweight": weight, "color": svg.INK}
    ax.text(x, y, text, ha="center", va="center", parse_math=False, clip_on=True, **letters)


def _from_hsl(colour: str) -> tuple[float, float, float]:
    """A colour as CSS writes it, for matplotlib."""
    hue, saturation, lightness = (float(n) for n in re.findall(r"\d+", colour))
    return hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
