"""The small pictures of a report: P(H), the components of one variable, a bar in a table.

Each function returns one SVG element as text. Sizes and colours are attributes, never style
attributes, so that a page can forbid inline styles altogether.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.model import LatentModel
from mixoracle.report.lettering import fitted, page_environment
from mixoracle.report.svg import latent_colour

if TYPE_CHECKING:
    from mixoracle.report.components import LevelBars
    from mixoracle.report.evidence import Scatter

# More joint states than this say less than the likeliest few.
MAX_PICTURED_STATES = 24
_DOT_COLUMN = 30.0
_PLOT_WIDTH, _PLOT_HEIGHT, _PLOT_MARGIN = 240.0, 190.0, 14.0
# Columns of levels that are pictured side by side; each still has some pixels for its bars.
MAX_PICTURED_COLUMNS = 24
# Room above the bars for names of columns, left of them for numbers of components, and between.
_BARS_TOP, _BARS_LEFT, _BARS_GAP, _BARS_TEXT = 22.0, 24.0, 3.0, 10
# Below this width a name is nothing but an ellipsis.
_NARROWEST_NAME = 34.0
# The first level is the lightest; white would be mistaken for no bar.
_LIGHTEST = 0.18
# Numbers on more than ``most_marked`` components hide the points.
_PLOT = {"width": _PLOT_WIDTH, "height": _PLOT_HEIGHT, "most_marked": 12}
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


def likeliest_states(model: LatentModel, most: int) -> list[tuple[tuple[int, ...], float]]:
    """The likeliest joint states with their probabilities."""
    table = model.joint.table
    order = np.argsort(-table, axis=None, kind="stable")[:most]
    states = np.stack(np.unravel_index(order, table.shape), axis=1) if model.n_latent else [()]
    return [
        (tuple(int(s) for s in state), float(p))
        for state, p in zip(states, table.ravel()[order], strict=True)
    ]


def joint_picture(model: LatentModel) -> str:
    """P(H): a line for each joint state, the states of all causes as dots, then a bar."""
    return _drawn(
        "joint.svg.j2",
        model=model,
        rows=likeliest_states(model, MAX_PICTURED_STATES),
        column=_DOT_COLUMN,
        colour=latent_colour,
        fitted=fitted,
    )


def scatter_picture(scatter: Scatter, name: str) -> str:
    """Cases of one variable along its two leading directions, coloured by component."""
    points, labels = scatter_points(scatter)
    placed = _placed(points)
    n_components = int(labels.max()) + 1 if len(labels) else 0
    members = {label: placed[labels == label] for label in np.unique(labels).tolist()}
    middles = {label: np.median(held, axis=0) for label, held in members.items()}
    return _drawn(
        "components.svg.j2",
        **_PLOT,
        n_components=n_components,
        title=f"Components of {name}",
        dots=[(held, component_colour(label, n_components)) for label, held in members.items()],
        marks=[(x, y + 4, label) for label, (x, y) in middles.items()],
    )


def levels_picture(bars: LevelBars, name: str) -> str:
    """Probabilities of levels: a line for each component, in each column a bar of its levels.

    The first level is the lightest part of a bar, the last one the darkest.
    """
    n_columns = min(len(bars.shares), MAX_PICTURED_COLUMNS)
    n_components = len(bars.shares[0])
    room = (_PLOT_WIDTH - _BARS_LEFT - _PLOT_MARGIN / 2) / n_columns
    height = (_PLOT_HEIGHT - _BARS_TOP - _PLOT_MARGIN / 2) / n_components
    names, parts = [], []
    for c in range(n_columns):
        left, labels = _BARS_LEFT + c * room, bars.labels[c]
        if room >= _NARROWEST_NAME:
            # The name of a single column stands above the picture already.
            ends = f"{labels[0]} (light) to {labels[-1]} (dark)" if labels else ""
            shown = fitted(bars.titles[c] if n_columns > 1 else ends, room - _BARS_GAP, _BARS_TEXT)
            names.append((left, shown))
        for k, shares in enumerate(bars.shares[c]):
            x, y = left, _BARS_TOP + k * height
            for level, share in enumerate(shares):
                breadth = share * (room - _BARS_GAP)
                label = labels[level] if level < len(labels) else str(level)
                look = (component_colour(k, n_components), level_opacity(level, len(shares)))
                parts.append((x, y, breadth, max(height - _BARS_GAP, 1.0), *look, label, share))
                x += breadth
    middles = [(k, _BARS_TOP + (k + 0.5) * height) for k in range(n_components)]
    return _drawn(
        "components.svg.j2",
        **_PLOT,
        n_components=n_components,
        title=f"Levels of {name} in each component",
        names=names,
        bars=parts,
        marks=[(_BARS_LEFT / 2, y + 3, k) for k, y in middles],
    )


def _drawn(template: str, **values: Any) -> str:
    page: str = page_environment("mixoracle.report").get_template(template).render(values)
    return page


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
