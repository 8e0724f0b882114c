"""The graph through matplotlib, for a paper or a notebook.

It stands as in the SVG, from the same layout. Names are data, so none is read as mathematics. A
model draws itself with this module, so it knows nothing of how a model is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mixoracle.model import LatentModel
from mixoracle.report import svg
from mixoracle.report.lettering import fitted
from mixoracle.report.sureness import DASHES, NO_FIGURES, Sureness, dashes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Pixels of the SVG to inches of a figure; text of 13 px becomes about 9 pt.
_PIXELS_PER_INCH = 100.0
_POINTS = {"name": 9.0, "small": 7.0}


def plot(
    model: LatentModel,
    ax: Axes | None = None,
    sureness: Sureness = NO_FIGURES,
) -> Axes:
    """Draw G = Γ ∪ Λ and return the axes; new ones are made where none are given.

    ``sureness`` says how sure the edges are, and so which lines are full, dashed or dotted.

    Examples
    --------
    >>> from mixoracle.datasets import random_model
    >>> axes = plot(random_model(2, 4, random_state=0))
    >>> axes.figure.savefig("graph.pdf")  # doctest: +SKIP
    """
    layout = svg.lay_out(model)
    ax = new_axes(graph_size(layout)) if ax is None else ax
    ax.set_xlim(0, layout.size[0])
    ax.set_ylim(layout.legend_y, 0)
    ax.set_aspect("equal")
    ax.axis("off")
    _draw_edges(ax, model, layout, sureness)
    _draw_pills(ax, model, layout)
    for g in range(len(layout.groups)):
        _draw_box(ax, layout, g, sureness)
    return ax


def new_axes(size: tuple[float, float]) -> Axes:
    """Axes in a figure of their own."""
    from matplotlib import pyplot

    axes: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    return axes


def graph_size(layout: svg.Layout) -> tuple[float, float]:
    """The size of the graph in inches."""
    return layout.size[0] / _PIXELS_PER_INCH, layout.legend_y / _PIXELS_PER_INCH


def _draw_edges(ax: Axes, model: LatentModel, layout: svg.Layout, sureness: Sureness) -> None:
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
        sure = sureness.of_edge(i, j)
        ax.add_patch(
            FancyArrowPatch(
                path=Path([(left, y1), (reach, y1), (reach, y2), (left, y2)], codes),
                arrowstyle="-|>" if known else "-",
                linestyle=_line(dashes_of(sure.degree, known)),
                mutation_scale=9,
                color=svg.INK,
                linewidth=0.65 * svg.arc_width(sure.support),
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


def _line(dashes: Sequence[float]) -> Any:
    """The strokes of a line as matplotlib has them, in widths of the line."""
    return (0, tuple(0.8 * length for length in dashes)) if dashes else "-"


def _draw_box(ax: Axes, layout: svg.Layout, g: int, sureness: Sureness) -> None:
    group, top = layout.groups[g], layout.box_y[g]
    box = (layout.box_x, top, layout.box_width, group.height)
    _rounded(ax, box, 9, "#f6f8fa", svg.LINE, 0.8)
    for i, shown, x, y, width in svg.chip_places(layout, g):
        dashes = DASHES[sureness.of_measurement(i)]
        frame = svg.MUTED if dashes else svg.LINE
        _rounded(ax, (x, y, width, svg.CHIP_HEIGHT), 5, svg.PAPER, frame, 0.8, _line(dashes))
        _text(ax, x + width / 2, y + svg.CHIP_HEIGHT / 2, shown, "name")


def _rounded(
    ax: Axes,
    box: Sequence[float],
    radius: float,
    fill: str,
    edge: str,
    width: float,
    line: Any = "-",
) -> None:
    from matplotlib.patches import FancyBboxPatch

    left, top, breadth, height = box
    shape = f"round,pad=0,rounding_size={radius}"
    look: Any = {"boxstyle": shape, "facecolor": fill, "edgecolor": edge, "linewidth": width}
    look["linestyle"] = line
    ax.add_patch(FancyBboxPatch((left, top), breadth, height, **look))


def _text(ax: Axes, x: float, y: float, text: str, size: str, weight: str = "normal") -> None:
    letters: Any = {"fontsize": _POINTS[size], "fontweight": weight, "color": svg.INK}
    ax.text(x, y, text, ha="center", va="center", parse_math=False, clip_on=True, **letters)
