"""A model as a picture in two layers: hidden causes above, measurements below.

Drawn by hand as SVG, so that it needs no graphviz, no browser and no font but the reader's own.
Latents stand in their own order with Λ as arcs above them; observed variables stand below, each
near the middle of its parents to keep the lines of Γ short. Equal models give equal text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import hypot, sqrt

import numpy as np

from mixoracle.model import LatentModel

_LATENT_COLOUR = "#b45309"
_OBSERVED_COLOUR = "#1d4ed8"
_RADIUS = 26.0
_BOX_HEIGHT = 32.0
_LAYER_GAP = 150.0
_MARGIN = 24.0
# An average glyph of a 14-pixel sans-serif font, and the room around a name.
_GLYPH_WIDTH = 8.5
_NAME_PADDING = 20.0
_BOX_GAP = 18.0
_LATENT_GAP = 60.0
# Arcs rise with the distance that they span, so that nested ones do not touch.
_ARC_RISE = 0.28
# How far from its top, in radii, an arc to the next latent meets the circle.
_ARC_LEAN = 0.7
_LONGEST_NAME = 18


def draw(model: LatentModel, title: str = "Hidden causes and what they drive") -> str:
    """Return the graph G = Γ ∪ Λ as a complete SVG document."""
    order = _observed_order(model)
    widths = [_box_width(model.observed_names[i]) for i in order]
    needed = [
        2 * _RADIUS * model.n_latent + _LATENT_GAP * max(model.n_latent - 1, 0),
        sum(widths) + _BOX_GAP * max(len(widths) - 1, 0),
    ]
    inner = max(needed)
    latent_x = _spread([2 * _RADIUS] * model.n_latent, inner)
    observed_x = dict(zip(order, _spread(widths, inner), strict=True))
    rise = _highest_arc(model, latent_x)
    latent_y = _MARGIN + rise + _RADIUS
    observed_y = latent_y + _LAYER_GAP
    size = (inner + 2 * _MARGIN, observed_y + _BOX_HEIGHT / 2 + _MARGIN)
    parts = [
        *_head(size, title, repr(model)),
        *_gamma_lines(model, latent_x, observed_x, latent_y, observed_y),
        *_latent_arcs(model, latent_x, latent_y),
        *(
            _latent_node(name, states, x, latent_y)
            for name, states, x in zip(
                model.latent_names, model.domain_sizes, latent_x, strict=True
            )
        ),
        *(
            _observed_node(model.observed_names[i], observed_x[i], observed_y, width)
            for i, width in zip(order, widths, strict=True)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _observed_order(model: LatentModel) -> list[int]:
    """Order the observed variables by the mean position of their parents; orphans go last."""
    middles = [
        float(np.mean(model.parents(i))) if model.parents(i) else float(model.n_latent)
        for i in range(model.n_observed)
    ]
    return sorted(range(model.n_observed), key=lambda i: (middles[i], i))


def _box_width(name: str) -> float:
    return _GLYPH_WIDTH * len(_short(name)) + _NAME_PADDING


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _spread(widths: Sequence[float], inner: float) -> list[float]:
    """Centres of boxes of these widths, with equal gaps, across the whole inner width."""
    gap = (inner - sum(widths)) / (len(widths) + 1)
    centres = []
    left = _MARGIN
    for width in widths:
        left += gap
        centres.append(left + width / 2)
        left += width
    return centres


def _highest_arc(model: LatentModel, latent_x: Sequence[float]) -> float:
    spans = [abs(latent_x[i] - latent_x[j]) for i, j in map(sorted, model.latent_graph.skeleton)]
    return _ARC_RISE * max(spans, default=0.0)


def _head(size: tuple[float, float], title: str, description: str) -> list[str]:
    width, height = size
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" '
        'font-family="sans-serif" font-size="14">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<defs>{_marker('latent-arrow', _LATENT_COLOUR)}"
        f"{_marker('observed-arrow', _OBSERVED_COLOUR)}</defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]


def _marker(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
    )


def _gamma_lines(
    model: LatentModel,
    latent_x: Sequence[float],
    observed_x: dict[int, float],
    latent_y: float,
    observed_y: float,
) -> list[str]:
    """Dashed lines from the rim of each latent to the upper edge of what it drives."""
    lines = []
    end_y = observed_y - _BOX_HEIGHT / 2
    for i, j in np.argwhere(model.bipartite):
        x1, x2 = latent_x[j], observed_x[int(i)]
        length = hypot(x2 - x1, end_y - latent_y)
        start_x = x1 + _RADIUS * (x2 - x1) / length
        start_y = latent_y + _RADIUS * (end_y - latent_y) / length
        lines.append(
            f'<path d="M{start_x:.1f} {start_y:.1f}L{x2:.1f} {end_y:.1f}" '
            f'stroke="{_OBSERVED_COLOUR}" stroke-dasharray="5 4" fill="none" '
            'marker-end="url(#observed-arrow)"/>'
        )
    return lines


def _latent_arcs(model: LatentModel, latent_x: Sequence[float], latent_y: float) -> list[str]:
    """Arcs above the latents; those whose direction is not known have no arrowhead."""
    graph = model.latent_graph
    loose = sorted(tuple(sorted(pair)) for pair in graph.undirected)
    edges = [(i, j, True) for i, j in sorted(graph.directed)]
    edges += [(i, j, False) for i, j in loose]
    arcs = []
    for i, j, known in edges:
        # Arcs leave and enter the upper rim turned towards each other; the further they go, the
        # nearer to the top, so that those of one latent do not start as one.
        lean = _ARC_LEAN * _RADIUS / (j - i)
        start, end = latent_x[i] + lean, latent_x[j] - lean
        y = latent_y - sqrt(_RADIUS**2 - lean**2)
        top = latent_y - _RADIUS - 2 * _ARC_RISE * abs(latent_x[j] - latent_x[i])
        head = ' marker-end="url(#latent-arrow)"' if known else ""
        arcs.append(
            f'<path d="M{start:.1f} {y:.1f}Q{(start + end) / 2:.1f} {top:.1f} {end:.1f} {y:.1f}" '
            f'stroke="{_LATENT_COLOUR}" stroke-width="1.8" fill="none"{head}/>'
        )
    return arcs


def _latent_node(name: str, states: int, x: float, y: float) -> str:
    return (
        f'<g text-anchor="middle"><title>{escape(name)}: {states} states</title>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS:.0f}" fill="#fff7ed" '
        f'stroke="{_LATENT_COLOUR}" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" font-weight="bold">{escape(_short(name))}</text>'
        f'<text x="{x:.1f}" y="{y + 14:.1f}" font-size="10">{states} states</text></g>'
    )


def _observed_node(name: str, x: float, y: float, width: float) -> str:
    return (
        f'<g text-anchor="middle"><title>{escape(name)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{_BOX_HEIGHT:.0f}" rx="6" fill="#eff6ff" stroke="{_OBSERVED_COLOUR}"/>'
        f'<text x="{x:.1f}" y="{y + 5:.1f}">{escape(_short(name))}</text></g>'
    )
