"""A result as one page that opens from disk: no network, no library, nothing to install.

The page is filled by a template that escapes everything, pictures are SVG drawn by us, and a
content security policy inside the page allows exactly its own style sheet and script, by their
digests. Without scripts everything is there, one thing below the other.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache, partial
from importlib.resources import files
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.model import LatentModel
from mixoracle.model.state_names import joint_state_names
from mixoracle.report import charts, claims, svg, words
from mixoracle.report.components import component_table, level_bars
from mixoracle.report.evidence import Count, Evidence
from mixoracle.report.lettering import page_environment, printable, shortened
from mixoracle.report.resampling import stability

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


def render(result: Result) -> str:
    """Return the page of a result as text."""
    template = _environment().get_template("report.html.j2")
    style, script = _asset("report.css"), _asset("report.js")
    model, evidence = result.model, result.evidence
    return template.render(
        model=model,
        evidence=evidence,
        run=result.run,
        words=words,
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        graph=svg.draw(model, interactive=True),
        joint=charts.joint_picture(model),
        joint_rows=[
            (joint_state_names(model, states), p)
            for states, p in charts.likeliest_states(model, _MAX_STATES)
        ],
        n_joint=model.joint.table.size,
        # Failed assumptions come first: a reader has to know them.
        verdicts=sorted(evidence.verdicts, key=lambda v: _FAILS_FIRST.index(v.holds)),
        panels=[_panel(model, evidence, j) for j in range(model.n_latent)],
        matrix=_pair_matrix(evidence),
        doubtful_pairs=_doubtful_pairs(evidence),
        stability=stability(model, evidence.support),
        kinds=words.by_kind(evidence.columns, evidence.n_samples),
        measurements=[_measurement(model, evidence, i) for i in range(model.n_observed)],
    )


@cache
def _environment() -> Environment:
    from markupsafe import Markup

    environment = page_environment("mixoracle.report")
    environment.filters.update(
        name=partial(shortened, most=48),
        whole=printable,
        share=_share,
        number=_number,
        amount=partial(_number, spec=",.1f"),
        safe_svg=Markup,
    )
    environment.globals.update(bar=lambda share, colour: Markup(charts.bar(share, colour)))
    return environment


@cache
def _asset(name: str) -> Any:
    """A style sheet or script of ours, which must reach the page as it is."""
    from markupsafe import Markup

    folder = files("mixoracle.report") / "templates"
    return Markup((folder / name).read_text(encoding="utf-8"))


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


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


def _number(value: float | None, spec: str = ".4g") -> str:
    return "–" if value is None else format(value, spec)


def _measurement(model: LatentModel, evidence: Evidence, i: int) -> dict[str, Any]:
    """The components of one observed variable as a picture, and their numbers."""
    name, scatter = model.observed_names[i], evidence.scatters[i]
    bars = level_bars(model, evidence.columns, i)
    own = [column.missing for column in evidence.columns if column.observed == i]
    return {
        "parents": [model.latent_names[j] for j in model.parents(i)],
        "picture": charts.levels_picture(bars, name)
        if bars
        else charts.scatter_picture(scatter, name),
        # The share of the variation that a picture of points shows.
        "shown": None if bars else scatter.shown,
        "missing": sum(own) / (evidence.n_samples * len(own)),
        "table": component_table(model, evidence.columns, i),
    }


def _panel(model: LatentModel, evidence: Evidence, j: int) -> dict[str, Any]:
    """All about one latent."""
    graph, names = model.latent_graph, model.latent_names
    parents = [i for i, k in sorted(graph.directed) if k == j]
    loose = sorted(k for pair in graph.undirected if j in pair for k in pair - {j})
    effects = sorted((e for e in evidence.effects if e.latent == j), key=lambda e: -e.share)
    # One table given all neighbours that could be causes, or one for each if it is too long.
    given = sorted([*parents, *loose])
    together = prod(model.domain_sizes[k] for k in given) <= _MAX_CONDITIONS
    tables = [given] if given and together else [[k] for k in given]
    return {
        "number": j,
        "name": names[j],
        "states": model.states_of(j),
        "named": model.state_names[j] is not None,
        "colour": svg.latent_colour(j),
        "marginal": model.joint.marginal([j]).table.tolist(),
        "sizes": evidence.state_sizes[j],
        "relations": claims.relations_of(model, evidence.edges, j) if model.n_latent > 1 else [],
        "conditionals": [_conditional(model, j, conditions) for conditions in tables],
        "effects": effects,
    }


def _conditional(model: LatentModel, j: int, given: list[int]) -> dict[str, Any]:
    """P(H_j | given): the conditions in words, then a line for each of their states."""
    order = sorted([*given, j])
    table = np.moveaxis(model.joint.marginal(order).table, order.index(j), -1)
    rows = []
    for states in product(*(range(model.domain_sizes[k]) for k in given)):
        weights = table[states]
        total = float(weights.sum())
        known = tuple(float(w) / total for w in weights) if total > 0 else None
        called = tuple(model.states_of(k)[state] for k, state in zip(given, states, strict=True))
        rows.append((called, known))
    return {"given": [model.latent_names[k] for k in given], "rows": rows}


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
