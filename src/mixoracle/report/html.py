"""A result as one page that opens from disk: no network, no library, nothing to install.

The page is filled by a template that escapes everything, pictures are SVG drawn by us, and a
content security policy inside the page allows exactly its own style sheet and script, by their
digests. Without scripts everything is there, one thing below the other.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.model import LatentModel
from mixoracle.report import charts, svg, words
from mixoracle.report.columns import by_kind
from mixoracle.report.components import ComponentTable, component_table, level_bars
from mixoracle.report.evidence import Count, Effect, Evidence
from mixoracle.report.lettering import printable, shortened

if TYPE_CHECKING:
    from jinja2 import Environment

    from mixoracle.report.folder import Result

# A table of more joint states is for a file, not for a page.
_MAX_STATES = 200
# A matrix of more variables does not fit on a screen; then the least certain pairs are listed.
_MAX_MATRIX = 14
_MAX_PAIRS_LISTED = 40
# A conditional table with more lines than this is taken apart, one condition at a time.
_MAX_CONDITIONS = 16

_FAILS_FIRST = (False, None, True)


@dataclass(frozen=True)
class _Conditional:
    """P(H_j | given): the conditions in words, then a line for each of their states."""

    given: tuple[str, ...]
    rows: tuple[tuple[tuple[int, ...], tuple[float, ...] | None], ...]


@dataclass(frozen=True)
class _Panel:
    """All about one latent."""

    number: int
    name: str
    colour: str
    marginal: tuple[float, ...]
    sizes: tuple[int, ...]
    causes: tuple[str, ...]
    caused_by: tuple[str, ...]
    depends_on: tuple[str, ...]
    conditionals: tuple[_Conditional, ...]
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class _Measurement:
    """All about one observed variable: a picture of its components, and their numbers."""

    name: str
    parents: tuple[str, ...]
    picture: str
    n_components: int
    separation: float | None
    # The share of the variation that a picture of points shows; None where there are no points.
    shown: float | None
    missing: float
    table: ComponentTable | None


def render(result: Result) -> str:
    """Return the page of a result as text."""
    template = _environment().get_template("report.html.j2")
    style, script = _asset("report.css"), _asset("report.js")
    return template.render(
        model=result.model,
        evidence=result.evidence,
        run=result.run,
        words=words,
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        graph=svg.draw(result.model, interactive=True),
        joint=charts.joint_picture(result.model),
        joint_rows=_joint_rows(result.model),
        n_joint=result.model.joint.table.size,
        # Failed assumptions come first: a reader has to know them.
        verdicts=sorted(result.evidence.verdicts, key=lambda v: _FAILS_FIRST.index(v.holds)),
        panels=[_panel(result.model, result.evidence, j) for j in range(result.model.n_latent)],
        matrix=_pair_matrix(result.evidence),
        doubtful_pairs=_doubtful_pairs(result.evidence),
        kinds=by_kind(result.evidence.columns, result.evidence.n_samples),
        measurements=_measurements(result.model, result.evidence),
    )


def write(result: Result, path: str | PathLike[str]) -> None:
    """Write the page of a result to a file."""
    Path(path).write_text(render(result), encoding="utf-8")


def page_environment(package: str) -> Environment:
    """The templates of a package; everything is escaped, and a missing value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _environment() -> Environment:
    from markupsafe import Markup

    environment = page_environment("mixoracle.report")

    def bar(share: float, colour: str = svg.PALETTE[0]) -> Markup:
        return Markup(charts.bar(share, colour))

    environment.filters.update(
        name=_named,
        whole=printable,
        share=_share,
        number=_number,
        amount=_amount,
        safe_svg=Markup,
    )
    environment.globals.update(bar=bar)
    return environment


@cache
def _asset(name: str) -> Any:
    """A style sheet or script of ours, which must reach the page as it is."""
    from markupsafe import Markup

    folder = files("mixoracle.report") / "templates"
    return Markup((folder / name).read_text(encoding="utf-8"))


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _named(name: str) -> str:
    return shortened(name, 48)


def _share(value: float | None) -> str:
    """A share in percent; never 100 % or 0 % for what is only nearly so."""
    if value is None:
        return "–"
    percent = 100 * value
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    return f"{percent:.1f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _amount(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"


def _joint_rows(model: LatentModel) -> list[tuple[tuple[int, ...], float]]:
    table = model.joint.table
    order = np.argsort(-table, axis=None, kind="stable")[:_MAX_STATES]
    return [
        (
            tuple(int(s) for s in np.unravel_index(int(flat), table.shape)),
            float(table.ravel()[flat]),
        )
        for flat in order
    ]


def _measurements(model: LatentModel, evidence: Evidence) -> list[_Measurement]:
    measurements = []
    for i, name in enumerate(model.observed_names):
        scatter, bars = evidence.scatters[i], level_bars(model, evidence.columns, i)
        own = [column for column in evidence.columns if column.observed == i]
        measurements.append(
            _Measurement(
                name=name,
                parents=tuple(model.latent_names[j] for j in model.parents(i)),
                picture=charts.scatter_picture(scatter, name)
                if bars is None
                else charts.levels_picture(bars, name),
                n_components=evidence.singles[i].components,
                separation=scatter.separation,
                shown=scatter.shown if bars is None else None,
                missing=sum(column.missing for column in own) / (evidence.n_samples * len(own)),
                table=component_table(model, evidence.columns, i),
            )
        )
    return measurements


def _panel(model: LatentModel, evidence: Evidence, j: int) -> _Panel:
    graph, names = model.latent_graph, model.latent_names
    parents = [i for i, k in sorted(graph.directed) if k == j]
    children = [k for i, k in sorted(graph.directed) if i == j]
    loose = sorted(k for pair in graph.undirected if j in pair for k in pair - {j})
    effects = sorted((e for e in evidence.effects if e.latent == j), key=lambda e: -e.share)
    return _Panel(
        number=j,
        name=names[j],
        colour=svg.latent_colour(j),
        marginal=tuple(float(p) for p in model.joint.marginal([j]).table),
        sizes=evidence.state_sizes[j],
        causes=tuple(names[k] for k in children),
        caused_by=tuple(names[k] for k in parents),
        depends_on=tuple(names[k] for k in loose),
        conditionals=tuple(_conditionals(model, j, sorted([*parents, *loose]))),
        effects=tuple(effects),
    )


def _conditionals(model: LatentModel, j: int, given: list[int]) -> Iterator[_Conditional]:
    """One table given all neighbours that could be causes, or one for each if it is too long."""
    if not given:
        return
    if prod(model.domain_sizes[k] for k in given) <= _MAX_CONDITIONS:
        yield _conditional(model, j, given)
        return
    for k in given:
        yield _conditional(model, j, [k])


def _conditional(model: LatentModel, j: int, given: list[int]) -> _Conditional:
    order = sorted([*given, j])
    table = np.moveaxis(model.joint.marginal(order).table, order.index(j), -1)
    rows = []
    for states in product(*(range(model.domain_sizes[k]) for k in given)):
        weights = table[states]
        total = float(weights.sum())
        known = tuple(float(w) / total for w in weights) if total > 0 else None
        rows.append((states, known))
    return _Conditional(tuple(model.latent_names[k] for k in given), tuple(rows))


def _pair_matrix(evidence: Evidence) -> list[list[Count | None]] | None:
    """k(S) of all pairs as a square, singles on the diagonal; None where it would not fit."""
    n = len(evidence.observed_names)
    if n > _MAX_MATRIX:
        return None
    held = {count.members: count for count in (*evidence.singles, *evidence.pairs)}
    return [
        [held.get((i,) if i == k else (min(i, k), max(i, k))) for k in range(n)] for i in range(n)
    ]


def _doubtful_pairs(evidence: Evidence) -> list[Count]:
    def doubt(count: Count) -> tuple[bool, float]:
        repaired = count.seen is not None and count.seen != count.components
        return not repaired, 1.0 if count.confidence is None else count.confidence

    return sorted(evidence.pairs, key=doubt)[:_MAX_PAIRS_LISTED]
