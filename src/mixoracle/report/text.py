"""A model as tables for the terminal.

Each function takes records and returns a rich renderable; none of them prints. Names are shown
as they are, never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from rich.table import Table
from rich.text import Text

from mixoracle.assumptions import Verdict
from mixoracle.model import LatentModel

# More joint states than this say less than the likeliest few.
DEFAULT_MAX_STATES = 12
_BAR_WIDTH = 24
_MARKS = {
    True: Text("holds", style="green"),
    False: Text("fails", style="bold red"),
    None: Text("undecided", style="yellow"),
}


def drives_table(model: LatentModel) -> Table:
    """Who drives what: one row for each latent, one column for each observed variable."""
    table = Table(title="Γ: which measurement each hidden cause drives")
    table.add_column("cause")
    table.add_column("states", justify="right")
    for name in model.observed_names:
        table.add_column(Text(name), justify="center")
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        marks = ("●" if drives else "·" for drives in model.bipartite[:, j])
        table.add_row(Text(name, style="bold"), str(size), *marks)
    return table


def joint_states_table(model: LatentModel, max_states: int = DEFAULT_MAX_STATES) -> Table:
    """P(H): the likeliest joint states, most likely first."""
    probabilities = model.joint.table
    order = np.argsort(-probabilities, axis=None, kind="stable")[:max_states]
    rest = probabilities.size - len(order)
    table = Table(title="P(H): how likely each joint hidden state is")
    for name in model.latent_names:
        table.add_column(Text(name), justify="center")
    table.add_column("P", justify="right")
    table.add_column("")
    likeliest = float(probabilities.max())
    for flat in order:
        cell = np.unravel_index(int(flat), probabilities.shape)
        value = float(probabilities[cell])
        bar = "█" * round(_BAR_WIDTH * value / likeliest)
        table.add_row(*(str(int(state)) for state in cell), f"{value:.4f}", Text(bar, style="blue"))
    if rest:
        held = float(probabilities.sum() - probabilities.ravel()[order].sum())
        table.caption = f"{rest} rarer states not shown, together {held:.3f}"
    return table


def latent_edges(model: LatentModel) -> Text:
    """Λ in one line: arrows where P(H) tells the direction, a dash where it cannot."""
    names = model.latent_names
    arrows = [f"{names[i]} → {names[j]}" for i, j in sorted(model.latent_graph.directed)]
    pairs = sorted(tuple(sorted(pair)) for pair in model.latent_graph.undirected)
    edges = arrows + [f"{names[i]} — {names[j]}" for i, j in pairs]
    return Text(", ".join(edges) or "no edges: the causes are independent")


def verdicts_table(verdicts: Iterable[Verdict]) -> Table:
    """Which of the paper's assumptions hold, and who breaks those that do not."""
    table = Table(title="The assumptions of the paper")
    table.add_column("assumption")
    table.add_column("")
    table.add_column("in words")
    for verdict in verdicts:
        table.add_row(Text(verdict.name), _MARKS[verdict.holds], Text(verdict.message))
    return table
