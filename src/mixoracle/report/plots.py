"""The report's pictures through matplotlib, for a notebook or a paper.

Each function draws the numbers of the evidence that the report draws, in the same colours, and
returns the axes; new ones are made where none are given. Names are data, so none is read as
mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.mixtures.columns import Column
from mixoracle.model import LatentModel
from mixoracle.report import svg
from mixoracle.report.colours import state_colours
from mixoracle.report.evidence import (
    Certainty,
    Effect,
    Sample,
    Scatter,
    Shape,
    Step,
    Strip,
)
from mixoracle.report.figures import new_axes
from mixoracle.report.lettering import fitted
from mixoracle.report.profiles import MAX_PROFILE_LINES, ProfileLine, is_item, profile_of
from mixoracle.report.states import CERTAINTY_BINS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SMALL = 7.0
# In the order of the report's symbols.
_MARKERS = ("o", "s", "^", "d", "*", "P", "1", "X")
# Tiles of distributions, side by side and in all.
_ACROSS, _MAX_TILES = 4, 40
# Of the room of a bar; the rest parts it from the next.
_BAR_SHARE = 0.9


def plot_profile(
    model: LatentModel,
    effects: Sequence[Effect],
    columns: Sequence[Column],
    latent: int = 0,
    ax: Axes | None = None,
    *,
    standardised: bool = True,
) -> Axes:
    """Draw the mean of each measurement in each state of a latent, with 95 % intervals.

    Shares of levels are drawn as they are where there is nothing else. Otherwise means are
    ``standardised``, or each line has a scale of its own with its figures in units.
    """
    lines = profile_of(effects, columns, latent)[:MAX_PROFILE_LINES]
    ax = new_axes((6.0, 1.1 + 0.26 * max(len(lines), 1))) if ax is None else ax
    shares = all(line.is_share for line in lines)
    for state, colour in enumerate(state_colours(latent, model.domain_sizes[latent])):
        points = []
        for at, line in enumerate(lines):
            mean, low, high = _line_places(line, state, standardised and not shares, shares)
            if low is not None and high is not None:
                ax.plot([low, high], [at, at], color=colour, linewidth=2.4, alpha=0.55)
            if mean is not None:
                points.append((mean, at))
                if not standardised and not shares:
                    text = f"{line.means[state]:.4g}"
                    ax.annotate(
                        text,
                        (mean, at),
                        (0, 5),
                        textcoords="offset points",
                        ha="center",
                        fontsize=_SMALL,
                    )
        if points:
            ax.plot(*zip(*points, strict=True), color=colour, linewidth=0.9, alpha=0.5)
            ax.plot(
                *zip(*points, strict=True),
                linestyle="",
                marker=_marker(state),
                color=colour,
                markersize=5,
                label=_state(model, latent, state),
            )
    _name_lines(ax, [line.title for line in lines])
    if shares:
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("share of the cases in a state")
    elif standardised:
        ax.axvline(0, color=svg.MUTED, linewidth=0.7)
        ax.set_xlabel("standard deviations from the mean of all cases")
    else:
        ax.set_xticks([])
        ax.set_xlabel("means in units, each line with its own scale")
    _titled(ax, f"Profile of {model.latent_names[latent]}")
    _legend(ax)
    return ax


def _line_places(
    line: ProfileLine, state: int, standardised: bool, shares: bool
) -> tuple[float | None, ...]:
    held = (line.means, line.low, line.high)
    if standardised:
        return tuple(line.standardised(values)[state] for values in held)
    if shares:
        return tuple(values[state] for values in held)
    known = [value for values in held for value in values if value is not None]
    low, room = min(known, default=0.0), (max(known, default=1.0) - min(known, default=0.0)) or 1.0
    return tuple(
        None if values[state] is None else (values[state] - low) / room  # type: ignore[operator]
        for values in held
    )


def plot_distribution(
    model: LatentModel,
    columns: Sequence[Column],
    picture: Shape | Scatter,
    observed: int,
    latent: int | None,
    ax: Axes | None = None,
    sample: Sample | None = None,
) -> Axes:
    """Draw one measurement by the states of one latent: a density, bars, or the sampled points."""
    ax = new_axes((3.6, 2.6)) if ax is None else ax
    n_states = 1 if latent is None else model.domain_sizes[latent]
    colours = (svg.MUTED,) if latent is None else state_colours(latent, n_states)
    names = [
        "all cases" if latent is None else _state(model, latent, state) for state in range(n_states)
    ]
    if isinstance(picture, Scatter):
        _draw_points(ax, picture, sample, latent, colours, names)
    elif picture.kind == "density":
        for state, heights in enumerate(picture.heights):
            ax.fill_between(picture.at, heights, color=colours[state], alpha=0.2, linewidth=0)
            ax.plot(
                picture.at,
                heights,
                color=colours[state],
                linewidth=1.4,
                label=names[state],
                linestyle="--" if state % 2 else "-",
            )
        ax.set_ylim(bottom=0)
        ax.set_ylabel("density", fontsize=_SMALL)
    else:
        _draw_bars(ax, picture, colours, names)
        if picture.kind == "levels":
            own = [column for column in columns if column.observed == observed]
            levels = own[0].levels or ()
            codes = [int(code) for code in picture.at]
            labels = [fitted(levels[c] if c < len(levels) else str(c), 70, 9) for c in codes]
            ax.set_xticks(codes, labels, parse_math=False)
    ax.tick_params(labelsize=_SMALL)
    _titled(ax, model.observed_names[observed])
    return ax


def _draw_points(
    ax: Axes,
    scatter: Scatter,
    sample: Sample | None,
    latent: int | None,
    colours: Sequence[str],
    names: Sequence[str],
) -> None:
    points = np.array(scatter.points).reshape(len(scatter.points), 2)
    held = () if sample is None else sample.states
    states = np.array([0 if latent is None else held[p][latent] for p in scatter.places])
    for state, colour in enumerate(colours):
        own = points[states == state]
        ax.plot(
            own[:, 0],
            own[:, 1],
            linestyle="",
            marker=_marker(state),
            markersize=3,
            color=colour,
            label=names[state],
        )
    look: Any = {"fontsize": _SMALL, "parse_math": False}
    ax.set_xlabel(fitted(scatter.axes[0], 170, 9), **look)
    if len(scatter.axes) > 1:
        ax.set_ylabel(fitted(scatter.axes[1], 170, 9), **look)


def _draw_bars(ax: Axes, shape: Shape, colours: Sequence[str], names: Sequence[str]) -> None:
    """Bars of counts or levels, those of the states side by side."""
    at = np.array(shape.at)
    starts, room = (at - 0.5, 1.0) if shape.kind == "levels" else (at[:-1], at[1] - at[0])
    breadth = _BAR_SHARE * room / len(shape.heights)
    for state, heights in enumerate(shape.heights):
        left = starts + (1 - _BAR_SHARE) / 2 * room + state * breadth
        ax.bar(left, heights, breadth, align="edge", color=colours[state], label=names[state])
    ax.set_ylabel("share of a state's cases", fontsize=_SMALL)


def plot_certainty(
    model: LatentModel, certainty: Certainty, latent: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw how many cases have which probability of their state of a latent."""
    ax = new_axes((4.5, 2.8)) if ax is None else ax
    left = np.arange(CERTAINTY_BINS) / CERTAINTY_BINS
    bottom = np.zeros(CERTAINTY_BINS)
    colours = state_colours(latent, model.domain_sizes[latent])
    for state, counts in enumerate(certainty.counts):
        ax.bar(
            left,
            counts,
            1 / CERTAINTY_BINS,
            bottom,
            align="edge",
            color=colours[state],
            label=_state(model, latent, state),
            edgecolor="white",
            linewidth=0.5,
        )
        bottom += counts
    used = np.flatnonzero(bottom)
    ax.set_xlim(left[min([*used[:1], CERTAINTY_BINS - 4])], 1)
    ax.set_xlabel("probability of the state")
    ax.set_ylabel("cases")
    _titled(ax, f"How certain the states of {model.latent_names[latent]} are")
    _legend(ax)
    return ax


def plot_states(model: LatentModel, strip: Strip, ax: Axes | None = None) -> Axes:
    """Draw the states of all latents in the order of the rows."""
    ax = new_axes((7.0, 0.9 + 0.5 * model.n_latent)) if ax is None else ax
    for j, held in enumerate(strip.counts):
        counts = np.array(held, dtype=np.float64)
        shares = 0.8 * counts / counts.sum(axis=1, keepdims=True)
        ends = np.r_[0.0, counts.sum(axis=1).cumsum()]
        base = np.full(len(counts) + 1, j - 0.4)
        for state, colour in enumerate(state_colours(j, model.domain_sizes[j])):
            top = base + np.r_[shares[:, state], 0.0]
            ax.fill_between(
                ends, base, top, step="post", color=colour, linewidth=0, rasterized=True
            )
            base = top
    _name_lines(ax, list(model.latent_names))
    ax.set_xlim(0, sum(map(sum, strip.counts[0])) if strip.counts else 1)
    ax.set_xlabel("case")
    return ax


def plot_joint(model: LatentModel, first: int = 0, second: int = 1, ax: Axes | None = None) -> Axes:
    """Draw P(H) of two latents as a heat map, summed over all others."""
    table = model.joint.marginal(sorted((first, second))).table
    table = table if first < second else table.T
    ax = new_axes((1.6 + 0.8 * len(table), 1.2 + 0.5 * table.shape[1])) if ax is None else ax
    ax.imshow(table.T, cmap="Blues", vmin=0.0, vmax=2.2 * table.max(), aspect="auto")
    for i, j in np.ndindex(table.shape):
        ax.text(i, j, f"{table[i, j]:.3f}", ha="center", va="center", color=svg.INK)
    ax.set_xticks(range(len(table)), model.states_of(first), parse_math=False)
    ax.set_yticks(range(table.shape[1]), model.states_of(second), parse_math=False)
    ax.set_xlabel(fitted(model.latent_names[first], 200, 10), parse_math=False)
    ax.set_ylabel(fitted(model.latent_names[second], 150, 10), parse_math=False)
    ax.tick_params(length=0)
    return ax


def plot_path(path: Sequence[Step], n_samples: int, ax: Axes | None = None) -> Axes:
    """Draw which answer is the best at which resolution; the one that was taken is wide."""
    ax = new_axes((6.0, 1.1 + 0.32 * max(len(path), 1))) if ax is None else ax
    for at, step in enumerate(path):
        # A resolution may exceed the number of rows; what the rows are worth at it does not.
        ends = [
            n_samples if rows is None else n_samples * rows / (n_samples + rows)
            for rows in (step.coarsest, step.finest)
        ]
        # An answer at a single resolution is a line too.
        ax.plot(
            [ends[0] / 1.12, ends[1] * 1.12],
            [at, at],
            color=svg.PALETTE[0],
            linewidth=8 if step.chosen else 3,
            solid_capstyle="round",
        )
    ax.set_xscale("log")
    ax.set_xlabel("rows that the evidence is worth")
    sizes = [" × ".join(map(str, step.domain_sizes)) for step in path]
    _name_lines(ax, [f"{size} states" if size else "no hidden cause" for size in sizes])
    return ax


def distribution_pictures(
    model: LatentModel,
    columns: Sequence[Column],
    shapes: Sequence[Shape],
    scatters: Sequence[Scatter],
    latent: int,
) -> list[tuple[int, Shape | Scatter]]:
    """The measurements that a latent drives with their pictures; items are in the profile."""
    held = {shape.observed: shape for shape in shapes if shape.latent == latent}
    pictures: list[tuple[int, Shape | Scatter]] = []
    for i in model.children(latent):
        if i in held and not is_item(columns, i):
            pictures.append((i, held[i]))
        elif i not in held and scatters[i].points:
            pictures.append((i, scatters[i]))
    return pictures


def draw_distributions(
    figure: Figure,
    model: LatentModel,
    columns: Sequence[Column],
    pictures: Sequence[tuple[int, Shape | Scatter]],
    sample: Sample,
    latent: int,
) -> list[Axes]:
    """Draw tiles of measurements into a figure, and return their axes."""
    shown = pictures[:_MAX_TILES]
    across = min(_ACROSS, max(len(shown), 1))
    down = max(-(-len(shown) // across), 1)
    figure.set_size_inches(0.4 + 2.5 * across, 0.3 + 2.0 * down)
    axes = []
    for place, (i, picture) in enumerate(shown):
        ax = figure.add_subplot(down, across, place + 1)
        axes.append(plot_distribution(model, columns, picture, i, latent, ax, sample))
    if axes:
        _legend(axes[0])
    return axes


def _state(model: LatentModel, latent: int, state: int) -> str:
    name = model.states_of(latent)[state]
    return name if model.state_names[latent] else f"state {name}"


def _marker(state: int) -> str:
    return _MARKERS[state % len(_MARKERS)]


def _name_lines(ax: Axes, names: Sequence[str]) -> None:
    """Names down the left side, the first on top."""
    shown = [fitted(name, 150, 9) for name in names]
    ax.set_yticks(range(len(names)), shown, fontsize=_SMALL, parse_math=False)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)


def _titled(ax: Axes, title: str) -> None:
    ax.set_title(fitted(title, 240, 11), fontsize=9, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)


def _legend(ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    look: Any = {"fontsize": _SMALL, "frameon": False}
    legend = ax.legend(handles, labels, **look)
    for text in legend.get_texts():
        text.set_parse_math(False)
