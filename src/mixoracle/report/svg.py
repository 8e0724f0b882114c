"""A model as a picture in two layers: hidden causes on the left, measurements on the right.

Drawn by hand as SVG, so that it needs no graphviz, no browser and no font but the reader's own.
Measurements that the same causes drive share one box, so that sixty of them stay readable and
each line of Γ is drawn once for a box; Λ is drawn as arcs on the far side of the causes, with an
arrowhead where the direction is known and dashed where it is not. Equal models give equal text.

Colours are given as attributes for light paper; a page that embeds the picture may override them
by its classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle.model import LatentModel
from mixoracle.report.lettering import escaped, fitted, is_familiar, width_of

# Told apart by people with any colour vision, readable on white and on near-black.
PALETTE = (
    "#3b7dd8",
    "#d9730d",
    "#2f9e6e",
    "#c2478f",
    "#8a63d2",
    "#a3820a",
    "#0e93a8",
    "#d14b4b",
    "#6b7f39",
    "#7a6a5d",
)
INK, MUTED, PAPER, LINE = "#1f2933", "#5f6b7a", "#ffffff", "#c9d1db"
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_SIZE, _SMALL = 13.0, 10.5
_MARGIN = 14.0
PILL_HEIGHT, _PILL_GAP, PILL_ROOM = 42.0, 22.0, 118.0
_LAYER_GAP = 104.0
_BOX_LEAST, _BOX_MOST, _BOX_PADDING, _BOX_GAP = 84.0, 196.0, 7.0, 10.0
CHIP_HEIGHT, _CHIP_GAP, _CHIP_PADDING = 22.0, 5.0, 8.0
# Arcs rise with the number of causes that they pass, so that nested ones do not touch.
_ARC_FIRST, _ARC_STEP, _ARC_MOST = 26.0, 15.0, 110.0
_LEGEND_LINE = 19.0
# A page has room for letters of the size of its text.
_PAGE_SCALE = 1.2


@dataclass(frozen=True)
class Group:
    """Observed variables with the same parents, laid out as rows of (variable, name, width)."""

    parents: tuple[int, ...]
    rows: tuple[tuple[tuple[int, str, float], ...], ...]

    @property
    def width(self) -> float:
        """The width of the box around the chips."""
        widest = max(sum(w for _, _, w in row) + _CHIP_GAP * (len(row) - 1) for row in self.rows)
        return widest + 2 * _BOX_PADDING

    @property
    def height(self) -> float:
        """The height of the box around the chips."""
        chips = len(self.rows) * (CHIP_HEIGHT + _CHIP_GAP) - _CHIP_GAP
        return chips + 2 * _BOX_PADDING


@dataclass(frozen=True)
class Layout:
    """Where everything is: pills by centre, boxes by their upper edge."""

    pill_x: float
    pill_width: float
    pill_y: tuple[float, ...]
    box_x: float
    box_width: float
    box_y: tuple[float, ...]
    groups: tuple[Group, ...]
    size: tuple[float, float]
    legend_y: float


def draw(
    model: LatentModel,
    title: str = "Hidden causes and what they drive",
    *,
    interactive: bool = False,
) -> str:
    """Return the graph G = Γ ∪ Λ as a complete SVG document.

    ``interactive`` makes the causes reachable by keyboard, for a page that knows what to do then.
    """
    layout = lay_out(model)
    parts = [
        *_head(layout.size, title, repr(model), interactive),
        *_gamma_lines(layout),
        *_latent_arcs(model, layout),
        *(_pill(model, layout, j, interactive) for j in range(model.n_latent)),
        *(_box(model, layout, g) for g in range(len(layout.groups))),
        *_legend(model, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def latent_colour(latent: int) -> str:
    """The colour of a latent wherever it is shown."""
    return PALETTE[latent % len(PALETTE)]


def lay_out(model: LatentModel) -> Layout:
    """Decide where everything goes."""
    groups = _grouped(model)
    pill_width = max([64.0, *(_pill_room(name) for name in model.latent_names)])
    arc_room = max([0.0, *(_rise(i, j) for i, j in map(sorted, model.latent_graph.skeleton))])
    pill_x = _MARGIN + arc_room + pill_width / 2
    box_x = pill_x + pill_width / 2 + _LAYER_GAP if model.n_latent else _MARGIN
    box_total = sum(g.height for g in groups) + _BOX_GAP * max(len(groups) - 1, 0)
    pill_total = model.n_latent * (PILL_HEIGHT + _PILL_GAP) - _PILL_GAP
    inner = max(box_total, pill_total)
    pill_y = _spread([PILL_HEIGHT] * model.n_latent, inner)
    box_y = _spread([g.height for g in groups], inner)
    legend_y = _MARGIN + inner + 24
    n_lines = len(_legend_entries(model))
    # All boxes are as wide as the widest needs to be, and the legend needs some room too.
    box_width = max(_BOX_LEAST, *(group.width for group in groups))
    size = (box_x + box_width + _MARGIN, legend_y + n_lines * _LEGEND_LINE + _MARGIN / 2)
    return Layout(
        pill_x,
        pill_width,
        tuple(y + PILL_HEIGHT / 2 for y in pill_y),
        box_x,
        box_width,
        tuple(box_y),
        groups,
        size,
        legend_y,
    )


def _grouped(model: LatentModel) -> tuple[Group, ...]:
    """Variables by their parents, each group near the middle of them; orphans go last."""
    members: dict[tuple[int, ...], list[int]] = {}
    for i in range(model.n_observed):
        members.setdefault(model.parents(i), []).append(i)
    middle = {p: float(np.mean(p)) if p else float(model.n_latent) for p in members}
    order = sorted(members, key=lambda parents: (middle[parents], members[parents][0]))
    return tuple(
        Group(parents, _flowed(model.observed_names, members[parents])) for parents in order
    )


def _flowed(
    names: Sequence[str], members: Sequence[int]
) -> tuple[tuple[tuple[int, str, float], ...], ...]:
    """Chips in rows, as many in a row as there is room for."""
    room = _BOX_MOST - 2 * _BOX_PADDING
    rows: list[list[tuple[int, str, float]]] = [[]]
    used = 0.0
    for i in members:
        text = fitted(names[i], room - 2 * _CHIP_PADDING, _SIZE)
        width = min(max(width_of(text, _SIZE) + 2 * _CHIP_PADDING, 30.0), room)
        if rows[-1] and used + _CHIP_GAP + width > room:
            rows.append([])
            used = 0.0
        used += width + (_CHIP_GAP if rows[-1] else 0.0)
        rows[-1].append((i, text, width))
    return tuple(map(tuple, rows))


def _pill_room(name: str) -> float:
    return min(width_of(fitted(name, PILL_ROOM, _SIZE), _SIZE), PILL_ROOM) + 24


def _rise(i: int, j: int) -> float:
    return min(_ARC_FIRST + _ARC_STEP * (abs(i - j) - 1), _ARC_MOST)


def _spread(heights: Sequence[float], inner: float) -> list[float]:
    """Upper edges of things of these heights, with equal gaps, over the whole inner height."""
    if not heights:
        return []
    gap = (inner - sum(heights)) / len(heights)
    edges, top = [], _MARGIN + gap / 2
    for height in heights:
        edges.append(top)
        top += height + gap
    return edges


def _head(size: tuple[float, float], title: str, description: str, interactive: bool) -> list[str]:
    width, height = size
    role = "group" if interactive else "img"
    scale = _PAGE_SCALE if interactive else 1.0
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" width="{scale * width:.0f}" height="{scale * height:.0f}" role="{role}" '
        f'font-family="{_FONT}" font-size="{_SIZE:.0f}">',
        f"<title>{escaped(title)}</title>",
        # Line by line, since no name may bring a line break of its own.
        f"<desc>{'; '.join(escaped(line.strip()) for line in description.splitlines())}</desc>",
        '<defs><marker id="arc-head" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="7.5" '
        'markerHeight="7.5" orient="auto"><path class="arc-head" d="M0 0.8L9.5 5L0 9.2z" '
        f'fill="{INK}"/></marker></defs>',
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>',
    ]


def _gamma_lines(layout: Layout) -> list[str]:
    """A curve from each cause to each box that it drives, in the colour of the cause."""
    lines = []
    start = layout.pill_x + layout.pill_width / 2
    end = layout.box_x - 2
    bend = (end - start) * 0.5
    for j, y1, y2 in drive_lines(layout):
        lines.append(
            f'<path class="drives" data-latent="{j}" d="M{start:.1f} {y1:.1f}'
            f'C{start + bend:.1f} {y1:.1f} {end - bend:.1f} {y2:.1f} {end:.1f} {y2:.1f}" '
            f'stroke="{latent_colour(j)}" stroke-width="1.6" stroke-opacity="0.75" fill="none"/>'
            f'<circle class="drives-end" data-latent="{j}" cx="{end:.1f}" cy="{y2:.1f}" '
            f'r="2.6" fill="{latent_colour(j)}"/>'
        )
    return lines


def _latent_arcs(model: LatentModel, layout: Layout) -> list[str]:
    """Arcs left of the causes; those whose direction is not known are dashed, without a head."""
    x = layout.pill_x - layout.pill_width / 2
    arcs = []
    for i, j, known in latent_edges(model):
        start, end, reach = arc_curve(layout, i, j)
        kind = 'marker-end="url(#arc-head)"' if known else 'stroke-dasharray="5 4"'
        arcs.append(
            f'<path class="arc {"directed" if known else "undirected"}" data-ends="{i} {j}" '
            f'd="M{x:.1f} {start:.1f}C{reach:.1f} {start:.1f} {reach:.1f} {end:.1f} '
            f'{x - 1:.1f} {end:.1f}" stroke="{INK}" stroke-width="1.7" fill="none" {kind}/>'
        )
    return arcs


def latent_edges(model: LatentModel) -> list[tuple[int, int, bool]]:
    """The edges of Λ, and whether their direction is known."""
    graph = model.latent_graph
    known = [(i, j, True) for i, j in sorted(graph.directed)]
    return known + [(i, j, False) for i, j in graph.links]


def arc_curve(layout: Layout, i: int, j: int) -> tuple[float, float, float]:
    """Where an arc starts and ends along the column of pills, and how far it reaches out."""
    # Arcs leave and enter turned towards each other; the further they go, the nearer to the
    # middle, so that those of one cause do not start as one.
    lean = (1 if j > i else -1) * PILL_HEIGHT * 0.36 / abs(j - i)
    # The curve goes three quarters of the way to its control points.
    reach = layout.pill_x - layout.pill_width / 2 - _rise(i, j) / 0.75
    return layout.pill_y[i] + lean, layout.pill_y[j] - lean, reach


def drive_lines(layout: Layout) -> list[tuple[int, float, float]]:
    """The lines of Γ: the latent, where the line starts and where it ends, from top to bottom."""
    return [
        (j, layout.pill_y[j], top + group.height * (place + 1) / (len(group.parents) + 1))
        for group, top in zip(layout.groups, layout.box_y, strict=True)
        for place, j in enumerate(group.parents)
    ]


def _pill(model: LatentModel, layout: Layout, j: int, interactive: bool) -> str:
    name, states = model.latent_names[j], model.domain_sizes[j]
    x, y = layout.pill_x, layout.pill_y[j]
    left, top = x - layout.pill_width / 2, y - PILL_HEIGHT / 2
    shown = fitted(name, PILL_ROOM, _SIZE)
    colour = latent_colour(j)
    reach = (
        f' tabindex="0" role="button" aria-pressed="false" aria-controls="latent-{j}" '
        f'aria-label="Hidden cause {escaped(name)}, {states} states"'
        if interactive
        else ""
    )
    return (
        f'<g class="latent" data-latent="{j}" text-anchor="middle"{reach}>'
        f"<title>{escaped(name)}: {states} states</title>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{layout.pill_width:.1f}" '
        f'height="{PILL_HEIGHT:.0f}" rx="{PILL_HEIGHT / 2:.0f}" fill="{PAPER}" '
        f'stroke="{colour}" stroke-width="2.2"/>'
        f'<text x="{x:.1f}" y="{y - 2:.1f}" font-weight="600" fill="{INK}"'
        f"{_held_to(shown, PILL_ROOM)}>{escaped(shown)}</text>"
        f'<text class="quiet" x="{x:.1f}" y="{y + 12:.1f}" font-size="{_SMALL}" fill="{MUTED}">'
        f"{states} states</text></g>"
    )


def chip_places(layout: Layout, g: int) -> list[tuple[int, str, float, float, float]]:
    """The chips in a box: the variable, the text to show, left, top and width."""
    places = []
    for r, row in enumerate(layout.groups[g].rows):
        x = layout.box_x + _BOX_PADDING
        y = layout.box_y[g] + _BOX_PADDING + r * (CHIP_HEIGHT + _CHIP_GAP)
        for i, shown, width in row:
            places.append((i, shown, x, y, width))
            x += width + _CHIP_GAP
    return places


def _box(model: LatentModel, layout: Layout, g: int) -> str:
    group, top = layout.groups[g], layout.box_y[g]
    dash = "" if group.parents else ' stroke-dasharray="4 4"'
    chips = [
        _chip(model.observed_names[i], i, shown, x, y, width)
        for i, shown, x, y, width in chip_places(layout, g)
    ]
    return (
        f'<g class="group" data-latents="{" ".join(map(str, group.parents))}">'
        f'<rect class="box" x="{layout.box_x:.1f}" y="{top:.1f}" width="{layout.box_width:.1f}" '
        f'height="{group.height:.1f}" rx="9" fill="#f6f8fa" stroke="{LINE}"{dash}/>'
        f"{''.join(chips)}</g>"
    )


def _chip(name: str, observed: int, shown: str, x: float, y: float, width: float) -> str:
    return (
        f'<g class="chip" data-observed="{observed}"><title>{escaped(name)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{CHIP_HEIGHT:.0f}" rx="5" '
        f'fill="{PAPER}" stroke="{LINE}"/>'
        f'<text x="{x + width / 2:.1f}" y="{y + 15.5:.1f}" text-anchor="middle" fill="{INK}"'
        f"{_held_to(shown, width - 2 * _CHIP_PADDING)}>{escaped(shown)}</text></g>"
    )


def _held_to(shown: str, room: float) -> str:
    """Hold text whose width cannot be estimated to the room that it has."""
    if is_familiar(shown):
        return ""
    return f' textLength="{min(room, width_of(shown, _SIZE)):.1f}" lengthAdjust="spacingAndGlyphs"'


def _legend_entries(model: LatentModel) -> list[tuple[str, str]]:
    entries = []
    if model.latent_graph.directed:
        entries.append(("directed", "causes"))
    if model.latent_graph.undirected:
        entries.append(("undirected", "depend on each other, direction open"))
    if model.bipartite.any():
        entries.append(("drives", "drives every measurement in the box"))
    return entries


def _legend(model: LatentModel, layout: Layout) -> list[str]:
    strokes = {
        "directed": f'class="arc" stroke="{INK}" stroke-width="1.7" marker-end="url(#arc-head)"',
        "undirected": f'class="arc" stroke="{INK}" stroke-width="1.7" stroke-dasharray="5 4"',
        "drives": f'stroke="{PALETTE[0]}" stroke-width="1.6"',
    }
    lines = []
    for place, (kind, words) in enumerate(_legend_entries(model)):
        y = layout.legend_y + place * _LEGEND_LINE
        lines.append(
            f'<g class="legend"><path d="M{_MARGIN:.0f} {y:.1f}h26" fill="none" {strokes[kind]}/>'
            f'<text class="quiet" x="{_MARGIN + 34:.0f}" y="{y + 4:.1f}" font-size="11.5" '
            f'fill="{MUTED}">{escaped(words)}</text></g>'
        )
    return lines
