"""The small pictures of a report: P(H), the components of one variable, a bar in a table.

Each function returns one SVG element as text. Sizes and colours are attributes, never style
attributes, so that a page can forbid inline styles altogether.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import LatentModel
from mixoracle.report.lettering import escaped, fitted
from mixoracle.report.svg import latent_colour

if TYPE_CHECKING:
    from mixoracle.report.components import LevelBars
    from mixoracle.report.evidence import Scatter

# More joint states than this say less than the likeliest few.
MAX_PICTURED_STATES = 24
_ROW, _DOT_COLUMN, _BAR_ROOM = 22.0, 30.0, 230.0
_PLOT_WIDTH, _PLOT_HEIGHT, _PLOT_MARGIN = 240.0, 190.0, 14.0
# Columns of levels that are pictured side by side; each still has some pixels for its bars.
MAX_PICTURED_COLUMNS = 24
# Room above the bars for names of columns, left of them for numbers of components, and between.
_BARS_TOP, _BARS_LEFT, _BARS_GAP, _BARS_TEXT = 22.0, 24.0, 3.0, 10
# Below this width a name is nothing but an ellipsis.
_NARROWEST_NAME = 34.0
# The first level is the lightest; white would be mistaken for no bar.
_LIGHTEST = 0.18
# Numbers on more components than this hide the points.
_MAX_MARKED = 12
# Consecutive multiples of the golden ratio fall evenly into the unit interval.
_GOLDEN = 0.618034


def bar(share: float, colour: str = "#3b7dd8") -> str:
    """A horizontal bar, a share of the room that the page gives it."""
    percent = 100 * min(max(share, 0.0), 1.0)
    return (
        '<svg class="bar" width="100%" height="10" aria-hidden="true" focusable="false">'
        '<rect class="bar-room" width="100%" height="10" rx="5" fill="#e6eaef"/>'
        f'<rect width="{percent:.1f}%" height="10" rx="5" fill="{colour}"/></svg>'
    )


def joint_picture(model: LatentModel) -> str:
    """P(H): a line for each joint state, the states of all causes as dots, then a bar."""
    table = model.joint.table
    order = np.argsort(-table, axis=None, kind="stable")[:MAX_PICTURED_STATES]
    dots = _DOT_COLUMN * model.n_latent
    width, height = dots + _BAR_ROOM + 70, 34 + _ROW * len(order)
    likeliest = float(table.max())
    parts = [
        f'<svg class="joint" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-size="12">',
        "<title>How likely each joint state of the hidden causes is</title>",
    ]
    for j, name in enumerate(model.latent_names):
        x = _DOT_COLUMN * (j + 0.5)
        shown = fitted(name, _DOT_COLUMN - 2, 12)
        parts.append(
            f'<text x="{x:.1f}" y="18" text-anchor="middle" font-weight="600" class="ink">'
            f"<title>{escaped(name)}</title>{escaped(shown)}</text>"
        )
    for row, flat in enumerate(order):
        states = np.unravel_index(int(flat), table.shape)
        value = float(table.ravel()[flat])
        parts.append(
            _joint_row(34 + _ROW * row, [int(s) for s in states], value / likeliest, value)
        )
    return "".join([*parts, "</svg>"])


def _joint_row(top: float, states: Sequence[int], length: float, value: float) -> str:
    middle = top + _ROW / 2
    dots = "".join(
        f'<circle cx="{_DOT_COLUMN * (j + 0.5):.1f}" cy="{middle:.1f}" r="8.5" '
        f'fill="{latent_colour(j)}" fill-opacity="{max(0.16, 0.8 - 0.32 * state):.2f}"/>'
        f'<text x="{_DOT_COLUMN * (j + 0.5):.1f}" y="{middle + 4:.1f}" text-anchor="middle" '
        f'font-size="11" class="ink">{state}</text>'
        for j, state in enumerate(states)
    )
    left = _DOT_COLUMN * len(states) + 10
    width = _BAR_ROOM * length
    return (
        f'{dots}<rect x="{left:.1f}" y="{middle - 6:.1f}" width="{max(width, 1):.1f}" '
        f'height="12" rx="3" class="accent"/><text x="{left + width + 6:.1f}" '
        f'y="{middle + 4:.1f}" class="quiet">{value:.3f}</text>'
    )


def scatter_picture(scatter: Scatter, name: str) -> str:
    """Cases of one variable along its two leading directions, coloured by component."""
    points, labels = scatter_points(scatter)
    placed = _placed(points)
    n_components = int(labels.max()) + 1 if len(labels) else 0
    paths, marks = [], []
    members: defaultdict[int, list[int]] = defaultdict(list)
    for row, label in enumerate(labels.tolist()):
        members[label].append(row)
    for label in sorted(members):
        # A line of no length with a round cap is a dot, and thousands of them stay small.
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in placed[members[label]])
        colour = component_colour(label, n_components)
        paths.append(f'<path class="dots" d="{dots}" stroke="{colour}"/>')
        if n_components <= _MAX_MARKED:
            x, y = np.median(placed[members[label]], axis=0)
            marks.append(f'<text class="mark" x="{x:.1f}" y="{y + 4:.1f}">{label}</text>')
    return (
        f'<svg class="scatter" viewBox="0 0 {_PLOT_WIDTH:.0f} {_PLOT_HEIGHT:.0f}" role="img">'
        f"<title>Components of {escaped(name)}</title>"
        f'<rect class="frame" x="0.5" y="0.5" width="{_PLOT_WIDTH - 1:.0f}" '
        f'height="{_PLOT_HEIGHT - 1:.0f}" rx="8"/>{"".join(paths)}{"".join(marks)}</svg>'
    )


def levels_picture(bars: LevelBars, name: str) -> str:
    """Probabilities of levels: a line for each component, in each column a bar of its levels.

    The first level is the lightest part of a bar, the last one the darkest.
    """
    n_columns = min(len(bars.shares), MAX_PICTURED_COLUMNS)
    n_components = len(bars.shares[0])
    room = (_PLOT_WIDTH - _BARS_LEFT - _PLOT_MARGIN / 2) / n_columns
    height = (_PLOT_HEIGHT - _BARS_TOP - _PLOT_MARGIN / 2) / n_components
    parts = []
    for c in range(n_columns):
        left = _BARS_LEFT + c * room
        if room >= _NARROWEST_NAME:
            # The name of a single column stands above the picture already.
            labels = bars.labels[c]
            ends = f"{labels[0]} (light) to {labels[-1]} (dark)" if labels else ""
            shown = fitted(bars.titles[c] if n_columns > 1 else ends, room - _BARS_GAP, _BARS_TEXT)
            parts.append(f'<text class="name" x="{left:.1f}" y="15">{escaped(shown)}</text>')
        for k in range(n_components):
            colour = component_colour(k, n_components)
            box = (left, _BARS_TOP + k * height, room - _BARS_GAP, max(height - _BARS_GAP, 1.0))
            parts.append(_level_bar(bars.shares[c][k], bars.labels[c], box, colour))
    if n_components <= _MAX_MARKED:
        parts += [
            f'<text class="mark" x="{_BARS_LEFT / 2:.1f}" '
            f'y="{_BARS_TOP + (k + 0.5) * height + 3:.1f}">{k}</text>'
            for k in range(n_components)
        ]
    return (
        f'<svg class="scatter" viewBox="0 0 {_PLOT_WIDTH:.0f} {_PLOT_HEIGHT:.0f}" role="img">'
        f"<title>Levels of {escaped(name)} in each component</title>"
        f'<rect class="frame" x="0.5" y="0.5" width="{_PLOT_WIDTH - 1:.0f}" '
        f'height="{_PLOT_HEIGHT - 1:.0f}" rx="8"/>{"".join(parts)}</svg>'
    )


def _level_bar(
    shares: Sequence[float],
    labels: Sequence[str],
    box: tuple[float, float, float, float],
    colour: str,
) -> str:
    """One bar: the levels side by side, each with its name and probability as a tooltip."""
    left, top, width, height = box
    parts = []
    for level, share in enumerate(shares):
        opacity = level_opacity(level, len(shares))
        label = labels[level] if level < len(labels) else str(level)
        parts.append(
            f'<rect x="{left:.2f}" y="{top:.1f}" width="{share * width:.2f}" '
            f'height="{height:.1f}" fill="{colour}" fill-opacity="{opacity:.2f}">'
            f"<title>{escaped(label)}: {share:.1%}</title></rect>"
        )
        left += share * width
    return "".join(parts)


def level_opacity(level: int, n_levels: int) -> float:
    """From the lightest, the first level, to full colour, the last."""
    return _LIGHTEST + (1 - _LIGHTEST) * level / max(n_levels - 1, 1)


def scatter_points(scatter: Scatter) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The points to draw, (P, 2), and the component of each.

    One column alone gets lanes: a component each, its cases spread evenly across the lane.
    """
    labels = np.array(scatter.labels, dtype=np.int64)
    points = np.array(scatter.points, dtype=np.float64).reshape(len(labels), 2)
    if len(scatter.axes) == 1:
        points[:, 1] = -labels - 0.7 * ((np.arange(len(labels)) * _GOLDEN) % 1.0)
    return points, labels


def component_colour(component: int, n_components: int) -> str:
    """Hues around the circle; neighbours differ in lightness where there are many."""
    hue = 360.0 * component / max(n_components, 1) + 210
    lightness = 50 + (8 if component % 2 and n_components > 8 else 0)
    return f"hsl({hue % 360:.0f} 60% {lightness}%)"


def _placed(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Data coordinates to the frame of the picture, up is up."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    unit = (points - low) / np.where(high > low, high - low, 1.0)
    room = np.array([_PLOT_WIDTH, _PLOT_HEIGHT]) - 2 * _PLOT_MARGIN
    flipped = np.stack([unit[:, 0], 1.0 - unit[:, 1]], axis=1)
    return np.asarray(_PLOT_MARGIN + flipped * room)
