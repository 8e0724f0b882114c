"""Draws the pictures of 'The paper in ten minutes' into docs/images.

Run ``python docs/site/draw_pictures.py``. The example has two latents with two and three states
and three observed variables; nothing in the pictures is placed by hand.
"""

import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mixoracle import CPDAG, JointTable, LatentModel
from mixoracle.report.svg import INK, MUTED, PALETTE, draw

IMAGES = Path(__file__).parents[1] / "images"
JOINT = np.array([[0.30, 0.14, 0.10], [0.06, 0.16, 0.24]])
GAMMA = np.array([[True, False], [True, True], [False, True]])
N_CASES = 240
SPREAD = 0.17
# The same file from the same program: no date, and names of clip paths that do not change.
STYLE = {"svg.hashsalt": "mixoracle", "svg.fonttype": "none", "font.size": 12}


def model() -> LatentModel:
    """The example."""
    return LatentModel(
        observed_names=("X1", "X2", "X3"),
        latent_names=("H1", "H2"),
        bipartite=GAMMA,
        domain_sizes=JOINT.shape,
        joint=JointTable(JOINT),
        latent_graph=CPDAG(2, undirected=frozenset({frozenset({0, 1})})),
    )


def components() -> Figure:
    """Cases of each variable in the plane, one colour for each joint state of its parents."""
    rng = np.random.default_rng(3)
    cells = rng.choice(JOINT.size, size=N_CASES, p=JOINT.ravel())
    states = np.stack(np.unravel_index(cells, JOINT.shape), axis=1)
    figure = Figure(figsize=(9.0, 3.1), layout="constrained")
    for i, axes in enumerate(figure.subplots(1, 3)):
        sizes = [size for size, drives in zip(JOINT.shape, GAMMA[i], strict=True) if drives]
        component = np.ravel_multi_index(tuple(states[:, GAMMA[i]].T), sizes)
        count = int(np.prod(sizes))
        angles = 2 * np.pi * np.arange(count) / count + 0.4 * i + 0.3
        centres = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points = centres[component] + rng.normal(scale=SPREAD, size=(N_CASES, 2))
        for k in range(count):
            axes.scatter(*points[component == k].T, s=9, color=PALETTE[k], linewidths=0)
        axes.set_title(f"X{i + 1}: {count} components", color=INK)
        bare(axes)
    return figure


def bare(axes: Axes) -> None:
    """Leave out ticks: units mean nothing here."""
    axes.set(xticks=[], yticks=[], xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
    for spine in axes.spines.values():
        spine.set_color(MUTED)


def table(cells: np.ndarray, words: list[list[str]], rows: list[str], columns: list[str]) -> Figure:
    """Numbers in a grid, the larger the darker."""
    figure = Figure(
        figsize=(1.3 * len(columns) + 1.0, 0.75 * len(rows) + 0.6), layout="constrained"
    )
    axes = figure.subplots()
    axes.imshow(cells, cmap="Blues", vmin=0.0, vmax=1.6 * cells.max(), aspect="auto")
    for i, line in enumerate(words):
        for j, word in enumerate(line):
            axes.text(j, i, word, ha="center", va="center", color=INK)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def common() -> Figure:
    """The weight that two variables have in common, from counts of components alone."""
    log_sizes = np.log(JOINT.shape)

    def log_count(*variables: int) -> float:
        return float(log_sizes[GAMMA[list(variables)].any(axis=0)].sum())

    n = len(GAMMA)
    shared = np.array(
        [[log_count(i) + log_count(j) - log_count(i, j) for j in range(n)] for i in range(n)]
    )
    words = [[f"log {round(np.exp(v))}" if v > 1e-9 else "0" for v in row] for row in shared]
    names = [f"X{i + 1}" for i in range(n)]
    return table(shared, words, names, names)


def joint() -> Figure:
    """P(H) as a table."""
    words = [[f"{share:.2f}" for share in row] for row in JOINT]
    return table(JOINT, words, ["H1 = 0", "H1 = 1"], ["H2 = 0", "H2 = 1", "H2 = 2"])


def written(figure: Figure) -> str:
    """A figure as SVG that does not depend on the day."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return re.sub(r"[ \t]+\n", "\n", text.getvalue())


def pictures() -> dict[str, str]:
    """The text of each picture, by its name."""
    with mpl.rc_context(STYLE):
        return {
            "paper-model.svg": draw(model(), "Two latents, three observed variables"),
            "paper-components.svg": written(components()),
            "paper-common.svg": written(common()),
            "paper-joint.svg": written(joint()),
        }


if __name__ == "__main__":
    for name, text in pictures().items():
        (IMAGES / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text) / 1000:.0f} kB")
