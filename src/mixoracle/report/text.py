"""A model and its evidence as text, tables and plain documents for the terminal.

Each function takes records and returns a rich renderable or a JSON document; none prints.
Names are shown as they are, never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from mixoracle.assumptions import Verdict
from mixoracle.families.exposure import EXPOSURE
from mixoracle.mixtures.columns import Column, of_the_table
from mixoracle.model import LatentModel
from mixoracle.observations.columns import spelled_number
from mixoracle.report import words
from mixoracle.report.evidence import Evidence
from mixoracle.report.lettering import full
from mixoracle.report.meanings import meaning_of
from mixoracle.report.resampling import stability
from mixoracle.report.words import by_kind
from mixoracle.trust.edges import PairSupport

if TYPE_CHECKING:
    from mixoracle.metrics import Comparison, StateAgreement

_MARKS = {
    True: Text("holds", style="green"),
    False: Text("fails", style="bold red"),
    None: Text("cannot be checked", style="yellow"),
}
# A terminal has no room for more columns side by side.
_MOST_COLUMNS = 20


def drives_table(model: LatentModel) -> Table:
    """Γ: one row for each latent, one column for each observed variable; a list, if many."""
    table = Table("cause", title="Γ: which measurement each hidden cause drives")
    table.add_column("states", justify="right")
    if model.n_observed > _MOST_COLUMNS:
        table.add_column("measurements")
        for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
            driven = ", ".join(model.observed_names[i] for i in model.children(j))
            table.add_row(Text(name, style="bold"), str(size), Text(driven))
        return table
    for name in model.observed_names:
        table.add_column(Text(name), justify="center")
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        marks = ("●" if drives else "·" for drives in model.bipartite[:, j])
        table.add_row(Text(name, style="bold"), str(size), *marks)
    return table


def latent_edges(model: LatentModel) -> Text:
    """Λ in one line: arrows where P(H) determines the direction, a dash where it does not."""
    none = "no edges: the causes are independent"
    return Text(model.latent_graph.described(model.latent_names, none))


def verdicts_explained(verdicts: Iterable[Verdict]) -> Group:
    """Each assumption in plain words: its meaning, its verdict, and the remedy if it fails."""
    parts: list[Any] = []
    for verdict in verdicts:
        meaning = meaning_of(verdict)
        parts.append(
            Text.assemble(_MARKS[verdict.holds], "  ", (meaning.title, "bold"), f"  {verdict.name}")
        )
        lines = [meaning.meaning, f"Found: {full(verdict.message)}"]
        if verdict.holds is False:
            lines.append(f"What now: {meaning.if_not}")
        parts.append(Padding(Text("\n".join(lines)), (0, 0, 1, 4)))
    return Group(*parts)


def trust_panel(model: LatentModel, evidence: Evidence) -> Panel:
    """The reasons for and against the answer."""
    lines = [Text(f"+ {line}", style="green") for line in words.trust(model, evidence)]
    doubts = words.doubts(model, evidence)
    lines += [Text(f"! {line}", style="yellow") for line in doubts]
    if not doubts:
        lines.append(Text("+ Nothing in the evidence speaks against the answer.", style="green"))
    return Panel(Group(*lines), title="What to trust", title_align="left")


def overall_lines(evidence: Evidence) -> list[Text]:
    """How far to believe the answer, and why not further: the first thing to read."""
    if evidence.verdict is None:
        return []
    style = {"believe": "bold green", "part": "bold yellow", "doubt": "bold red"}
    lines = [Text(words.verdict_line(evidence), style=style[evidence.verdict.level])]
    return lines + [Text(f"  {reason}") for reason in evidence.verdict.reasons]


def summary(model: LatentModel, evidence: Evidence) -> Group:
    """The answer, for somebody who reads nothing else."""
    parts: list[Any] = [*overall_lines(evidence)]
    parts.append(Text(words.headline(model, evidence), style="bold"))
    parts += [Text(f"  {line}") for line in words.findings(model, evidence)]
    parts += [Text(f"  {line}") for line in words.other_kind(model, evidence)]
    edges = words.relations(model, evidence)
    if edges:
        parts += [Text("Among the hidden causes:", style="bold"), *(Text(f"  {e}") for e in edges)]
    stable = stability(model, evidence.support, evidence.edges)
    if stable:
        parts += [Text("Found again:", style="bold"), *(Text(f"  {line}") for line in stable)]
    parts.append(trust_panel(model, evidence))
    return Group(*parts)


def written(out: str) -> Text:
    """Where the result is."""
    return Text(f"Written to {out}; open {out}/report.html in a browser to look at it.")


def comparison_lines(
    found: Comparison, latent_names: Sequence[str], agreement: StateAgreement | None = None
) -> list[str]:
    """Say in words what ``compare`` and ``compare_states`` counted."""
    right = {True: "exact", False: "wrong"}
    off_by = (
        f"P(H) off by {found.joint_tv:.1e} (total variation)"
        if isfinite(found.joint_tv)
        else "P(H) cannot be compared"
    )
    lines = [
        f"Γ {right[found.bipartite_exact]}, domain sizes {right[found.domains_exact]}, {off_by}.",
        f"Structural Hamming distance {found.shd}: {found.extra} extra, {found.missing} missing, "
        f"{found.reversed} reversed edges.",
    ]
    if found.unoriented_correct:
        lines.append(
            f"Edges of Λ that are right but have no direction: {found.unoriented_correct}."
        )
    if agreement is not None:
        shares = ", ".join(
            f"{name} {share:.1%}" if isfinite(share) else f"{name} not found"
            for name, share in zip(latent_names, agreement.accuracy, strict=True)
        )
        lines.append(f"Cases classified correctly: {shares}.")
    return lines


def kinds_line(columns: Sequence[Column], n_samples: int) -> str:
    """How many columns were read as what, in a sentence."""
    kinds = ", ".join(
        f"{len(group.titles)} as {group.described}" for group in by_kind(columns, n_samples)
    )
    return f"{n_samples:,} cases; columns were read: {kinds}."


def kinds_table(columns: Sequence[Column], n_samples: int) -> Table:
    """How the columns were read, a line for each kind."""
    table = Table(title="How the columns were read", title_justify="left")
    table.add_column("as", no_wrap=True)
    table.add_column("columns")
    table.add_column("missing values", justify="right", no_wrap=True)
    for group in by_kind(columns, n_samples):
        missing = f"{group.missing:,} of {group.cells:,}" if group.missing else "none"
        table.add_row(group.described, Text(words.listed(group.headings)), missing)
    return table


def understood_table(columns: Sequence[Column], names: Sequence[str], n_samples: int) -> Table:
    """The variables of a file, as they were read, before anything is learned from it."""
    title = f"{n_samples} cases of {len(names)} variables"
    table = Table("variable", "columns", "read as", title=title)
    for title in ("missing", "from", "to"):
        table.add_column(title, justify="right")
    for row in _understood(columns, names, n_samples):
        values = (str(row["columns"]), row["kind"], f"{row['missing']:.1%}")
        ends = (f"{row[end]} {row['unit']}".strip() for end in ("from", "to"))
        table.add_row(Text(row["name"]), *values, *map(Text, ends))
    return table


def understood_document(
    columns: Sequence[Column], names: Sequence[str], n_samples: int, notes: Sequence[str]
) -> dict[str, Any]:
    """The same for machines."""
    return {
        "rows": n_samples,
        "variables": _understood(columns, names, n_samples),
        "notes": list(notes),
    }


def _understood(
    columns: Sequence[Column], names: Sequence[str], n_samples: int
) -> list[dict[str, Any]]:
    rows = []
    exposures = [column for column in of_the_table(columns) if column.family == EXPOSURE.name]
    owned = [
        [column for column in columns if column.observed == i and column.family != EXPOSURE.name]
        for i in range(len(names))
    ]
    titles = (*names, *(column.title for column in exposures))
    for name, own in zip(titles, [*owned, *([column] for column in exposures)], strict=True):
        numbers = [column for column in own if column.levels is None]
        # Of a mixed variable the numbers have a range, and of levels the first and the last.
        shown = numbers or own
        rows.append(
            {
                "name": name,
                "columns": len(own),
                "kind": ", ".join(dict.fromkeys(column.kind for column in own)),
                "missing": sum(column.missing for column in own) / (n_samples * len(own)),
                "from": min((column.low for column in shown), key=_by_size),
                "to": max((column.high for column in shown), key=_by_size),
                "unit": ", ".join(dict.fromkeys(column.unit for column in shown if column.unit)),
            }
        )
    return rows


def _by_size(shown: str) -> tuple[float, str]:
    """Numbers by their size, labels as text."""
    number = spelled_number(shown)
    return (0.0 if number is None else number, shown)


def model_document(model: LatentModel) -> dict[str, Any]:
    """A model's graph as a JSON document over names."""
    names = model.latent_names
    return {
        "latents": [
            {
                "name": name,
                "states": size,
                "state_names": list(model.states_of(j)),
                "drives": [model.observed_names[i] for i in model.children(j)],
                "is_private": j in model.private_latents,
            }
            for j, (name, size) in enumerate(zip(names, model.domain_sizes, strict=True))
        ],
        "directed": [[names[i], names[j]] for i, j in sorted(model.latent_graph.directed)],
        "undirected": [[names[i], names[j]] for i, j in model.latent_graph.links],
    }


def summary_document(model: LatentModel, evidence: Evidence, out: str) -> dict[str, Any]:
    """The answer, for machines."""
    return {
        "out": out,
        "rows": evidence.n_samples,
        "read_as": {
            group.kind: list(group.titles)
            for group in by_kind(evidence.columns, evidence.n_samples)
        },
        "missing_cells": sum(column.missing for column in of_the_table(evidence.columns)),
        "notes": list(evidence.notes),
        "verdict": None if evidence.verdict is None else asdict(evidence.verdict),
        **model_document(model),
        "edges": edge_documents(model, evidence.edges),
        "drives_support": [list(own) for own in evidence.drives],
        "support": None if evidence.support is None else asdict(evidence.support),
        "verdicts": verdict_documents(evidence.verdicts),
        "doubts": words.doubts(model, evidence),
        "failure": evidence.failure or None,
        "log_likelihood": evidence.log_likelihood,
        "bic": evidence.bic,
    }


def edge_documents(model: LatentModel, pairs: Iterable[PairSupport]) -> list[dict[str, Any]]:
    """What is claimed of each pair of hidden causes, and its support, for machines."""
    names = model.latent_names
    return [
        {**asdict(pair), "first": names[pair.first], "second": names[pair.second]} for pair in pairs
    ]


def verdict_documents(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Verdicts with their plain words, for machines."""
    return [
        {
            "name": verdict.name,
            "label": verdict.label,
            "verdict": _MARKS[verdict.holds].plain,
            "message": verdict.message,
            "meaning": meaning_of(verdict).meaning,
            "if_not": meaning_of(verdict).if_not,
        }
        for verdict in verdicts
    ]
