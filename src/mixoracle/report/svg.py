"""A model as a picture in two layers: hidden causes on the left, measurements on the right.

Drawn as SVG by a template, so that it needs no graphviz, no browser and no font but the reader's
own. Measurements that the same causes drive share one box, so that sixty of them stay readable and
each line of Γ is drawn once for a box; Λ is drawn as arcs on the far side of the causes, with an
arrowhead where the direction is known. Lines, and frames of measurements, are full, dashed or
dotted by how sure the edge is (:mod:`~mixoracle.report.sureness`). Where that would take more than
a few dozen boxes, each cause has one box instead, beside it, and a measurement stands in the boxes
of all its causes: no lines cross. A box of more than thirty names the first, and counts the others:
the tables of a report name them all. Equal models give equal text.

Colours are given as attributes for light paper; a page that embeds the picture may override them
by its classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle.model import LatentModel
from mixoracle.report.lettering import fitted, is_familiar, page_environment, width_of
from mixoracle.report.sureness import (
    DASHES,
    DRIVES,
    NO_FIGURES,
    Degree,
    Sureness,
    dashes_of,
    label_of,
    words_of,
)

# Told apart by people with any colour vision, readable on white and on near-black.
PALETTE = (
    *("#3b7dd8", "#d9730d", "#2f9e6e", "#c2478f", "#8a63d2"),
    *("#a3820a", "#0e93a8", "#d14b4b", "#6b7f39", "#7a6a5d"),
)
INK, MUTED, PAPER, LINE = "#1f2933", "#5f6b7a", "#ffffff", "#c9d1db"
_SIZE = 13.0
_MARGIN = 14.0
PILL_HEIGHT, _PILL_GAP, PILL_ROOM = 42.0, 22.0, 118.0
_LAYER_GAP = 104.0
_BOX_LEAST, _BOX_MOST, _BOX_PADDING, _BOX_GAP = 84.0, 196.0, 7.0, 10.0
CHIP_HEIGHT, _CHIP_GAP, _CHIP_PADDING = 22.0, 5.0, 8.0
# Arcs rise with the number of causes that they pass, so that nested ones do not touch.
_ARC_FIRST, _ARC_STEP, _ARC_ROOM = 26.0, 15.0, 180.0
# A narrow box names so many measurements; REST is the place of the chip that counts the others.
_MOST_CHIPS, REST = 30, -1
# More boxes than this are a tangle of lines: each cause has one then, and it is wider.
_MOST_BOXES, _BOX_WIDE = 48, 620.0
_LEGEND_LINE = 19.0
# Edges of Λ: without figures, with no support at all, and with full support.
_ARC_WIDTH, _ARC_LEAST, _ARC_WIDEST = 1.7, 0.8, 2.6
# A page has room for letters of the size of its text.
_PAGE_SCALE = 1.2
_LOOK = {
    "ink": INK,
    "muted": MUTED,
    "paper": PAPER,
    "line": LINE,
    "size": _SIZE,
    "margin": _MARGIN,
    "pill_height": PILL_HEIGHT,
    "pill_room": PILL_ROOM,
    "chip_height": CHIP_HEIGHT,
    "chip_padding": _CHIP_PADDING,
    "legend_line": _LEGEND_LINE,
}


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

    @property
    def pill_left(self) -> float:
        """The left edge of the pills."""
        return self.pill_x - self.pill_width / 2

    @property
    def pill_right(self) -> float:
        """The right edge of the pills."""
        return self.pill_x + self.pill_width / 2


def draw(
    model: LatentModel,
    title: str = "Hidden causes and what they drive",
    *,
    interactive: bool = False,
    sureness: Sureness = NO_FIGURES,
    number: int = 0,
) -> str:
    """Return the graph G = Γ ∪ Λ as a complete SVG document.

    ``interactive`` makes the causes reachable by keyboard, for a page that knows what to do then.
    ``sureness`` says how sure the edges are: lines and legend follow it, and the more support an
    edge of Λ has, the wider it is. ``number`` tells several pictures on one page apart.
    """
    layout = lay_out(model, sureness)
    page = page_environment("mixoracle.report").get_template("graph.svg.j2")
    drawing = page.render(
        model=model,
        layout=layout,
        title=title,
        description=repr(model),
        interactive=interactive,
        scale=_PAGE_SCALE if interactive else 1.0,
        drives=drive_lines(layout),
        arcs=[
            (i, j, known, *arc_curve(layout, i, j), *_arc_look(model, (i, j), known, sureness))
            for i, j, known in latent_edges(model)
        ],
        frame=[_strokes(DASHES[sureness.of_measurement(i)]) for i in range(model.n_observed)],
        head=f"arc-head-{number}" if number else "arc-head",
        chips=[chip_places(layout, g) for g in range(len(layout.groups))],
        legend=_legend_entries(model, sureness),
        colour=latent_colour,
        fitted=fitted,
        length_of=_length_of,
        **_LOOK,
    )
    return f"{drawing}\n"


def latent_colour(latent: int) -> str:
    """The colour of a latent wherever it is shown."""
    return PALETTE[latent % len(PALETTE)]


def lay_out(model: LatentModel, sureness: Sureness = NO_FIGURES) -> Layout:
    """Decide where everything goes."""
    groups = _grouped(model)
    beside = len(groups) > _MOST_BOXES
    groups = _by_cause(model) if beside else groups
    shown = [fitted(name, PILL_ROOM, _SIZE) for name in model.latent_names]
    pill_width = max([64.0, *(min(width_of(name, _SIZE), PILL_ROOM) + 24 for name in shown)])
    arc_room = max(
        [0.0, *(_rise(model.n_latent, *sorted(pair)) for pair in model.latent_graph.skeleton)]
    )
    pill_x = _MARGIN + arc_room + pill_width / 2
    box_x = pill_x + pill_width / 2 + _LAYER_GAP if model.n_latent else _MARGIN
    box_total = sum(g.height for g in groups) + _BOX_GAP * max(len(groups) - 1, 0)
    pill_total = model.n_latent * (PILL_HEIGHT + _PILL_GAP) - _PILL_GAP
    inner = max(box_total, pill_total)
    box_y = _spread([g.height for g in groups], inner)
    pill_y = _spread([PILL_HEIGHT] * model.n_latent, inner)
    if beside:
        middles = [y + g.height / 2 for y, g in zip(box_y, groups, strict=True)]
        pill_y = [y - PILL_HEIGHT / 2 for y in middles[: model.n_latent]]
    legend_y = _MARGIN + inner + 24
    n_lines = len(_legend_entries(model, sureness))
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


def _by_cause(model: LatentModel) -> tuple[Group, ...]:
    """The children of each latent, in the order of the latents; orphans go last."""
    held = [((j,), model.children(j)) for j in range(model.n_latent)]
    orphans = tuple(map(int, np.flatnonzero(~model.bipartite.any(axis=1))))
    members = [*held, *([((), orphans)] if orphans else [])]
    return tuple(
        Group(parents, _flowed(model.observed_names, own, _BOX_WIDE)) for parents, own in members
    )


def _flowed(
    names: Sequence[str], members: Sequence[int], widest: float = _BOX_MOST
) -> tuple[tuple[tuple[int, str, float], ...], ...]:
    """Chips in rows, as many in a row as there is room for; beyond some, the rest is counted."""
    room = widest - 2 * _BOX_PADDING
    rows: list[list[tuple[int, str, float]]] = [[]]
    used = 0.0
    # Wide boxes have room for several times as many.
    most = round(_MOST_CHIPS * (widest / _BOX_MOST) ** 2)
    shown = members if len(members) <= most else members[: most - 1]
    texts = [(i, fitted(names[i], room - 2 * _CHIP_PADDING, _SIZE)) for i in shown]
    if len(shown) < len(members):
        texts.append((REST, f"and {len(members) - len(shown)} more"))
    for i, text in texts:
        width = min(max(width_of(text, _SIZE) + 2 * _CHIP_PADDING, 30.0), room)
        if rows[-1] and used + _CHIP_GAP + width > room:
            rows.append([])
            used = 0.0
        used += width + (_CHIP_GAP if rows[-1] else 0.0)
        rows[-1].append((i, text, width))
    return tuple(map(tuple, rows))


def _rise(n_latent: int, i: int, j: int) -> float:
    """How far an arc reaches out: in smaller steps where there are many causes."""
    return _ARC_FIRST + min(_ARC_STEP, _ARC_ROOM / n_latent) * (abs(i - j) - 1)


def _spread(heights: Sequence[float], inner: float) -> list[float]:
    """Upper edges of things of these heights, with equal gaps, over the whole inner height."""
    gap = (inner - sum(heights)) / max(len(heights), 1)
    return [_MARGIN + gap * (i + 0.5) + sum(heights[:i]) for i in range(len(heights))]


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
    reach = layout.pill_left - _rise(len(layout.pill_y), i, j) / 0.75
    return layout.pill_y[i] + lean, layout.pill_y[j] - lean, reach


def _arc_look(
    model: LatentModel, ends: tuple[int, int], known: bool, sureness: Sureness
) -> tuple[float, str, str]:
    """The width of an edge of Λ, its strokes, and what a reader who points at it is told."""
    sure = sureness.of_edge(*ends)
    first, second = (model.latent_names[k] for k in ends)
    strokes = _strokes(dashes_of(sure.degree, known))
    return arc_width(sure.support), strokes, label_of(first, second, sure, known)


def _strokes(dashes: Sequence[float]) -> str:
    return " ".join(f"{length:g}" for length in dashes)


def arc_width(support: float | None) -> float:
    """The width of an edge of Λ by its support."""
    return _ARC_WIDTH if support is None else _ARC_LEAST + support * (_ARC_WIDEST - _ARC_LEAST)


def drive_lines(layout: Layout) -> list[tuple[int, float, float]]:
    """The lines of Γ: the latent, where the line starts and where it ends, from top to bottom."""
    return [
        (j, layout.pill_y[j], top + group.height * (place + 1) / (len(group.parents) + 1))
        for group, top in zip(layout.groups, layout.box_y, strict=True)
        for place, j in enumerate(group.parents)
    ]


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


def _length_of(shown: str, room: float) -> float | None:
    """The length to hold a text to whose width cannot be estimated."""
    return None if is_familiar(shown) else min(room, width_of(shown, _SIZE))


def _legend_entries(model: LatentModel, sureness: Sureness) -> list[tuple[str, str, str]]:
    """The kind of each line that is there, its strokes, and what it says."""
    entries = []
    found = {(known, sureness.of_edge(i, j).degree) for i, j, known in latent_edges(model)}
    for known in (True, False):
        for degree in Degree:
            if (known, degree) in found:
                kind, strokes = "directed" if known else "undirected", dashes_of(degree, known)
                entries.append((kind, _strokes(strokes), words_of(degree, known)))
    driven = [i for i in range(model.n_observed) if model.parents(i)]
    frames = {sureness.of_measurement(i) for i in driven}
    if Degree.SURE in frames:
        which = "every measurement" if len(frames) == 1 else "the other measurements"
        entries.append(("drives", "", f"drives {which} in the box"))
    entries += [
        ("chip", _strokes(DASHES[degree]), f"{DRIVES[degree]} this measurement")
        for degree in (Degree.PROBABLE, Degree.POSSIBLE)
        if degree in frames
    ]
    return entries
