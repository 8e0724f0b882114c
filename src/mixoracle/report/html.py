"""A result as one page that opens from disk: no network, nothing to install.

The page is filled by a template that escapes everything. The graph is SVG drawn by us; other
pictures are drawn in the browser, when they come into view, by a charting library inside the page.
A content security policy allows exactly the page's own style sheet and script, by their digests.
Without scripts all numbers are there as tables, one thing below the other.
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

from mixoracle.model import CPDAG, JointNetwork, LatentModel
from mixoracle.model.state_names import joint_state_names
from mixoracle.report import claims, svg, words
from mixoracle.report.charts import bar, count_of, likeliest_states, symbol_path
from mixoracle.report.colours import state_colours
from mixoracle.report.components import component_table, item_tables
from mixoracle.report.evidence import Count, Evidence, Step
from mixoracle.report.lettering import full, page_environment, printable, shortened
from mixoracle.report.meanings import meaning_of
from mixoracle.report.next_steps import next_steps
from mixoracle.report.page_data import MAX_PAIRED, page_data
from mixoracle.report.profiles import MAX_PROFILE_LINES, ProfileLine, is_item, profile_of
from mixoracle.report.resampling import stability
from mixoracle.report.states import SURE, UNSURE

if TYPE_CHECKING:
    from jinja2 import Environment

    from mixoracle.report.folder import Result

# A table of more joint states is for a file, not for a page.
_MAX_STATES = 200
# A matrix of more variables does not fit on a screen; then the least certain pairs are listed.
_MAX_MATRIX = 14
_MAX_PAIRS_LISTED = 40
# A conditional table with more lines than this is taken apart, one condition at a time.
# With more than the second number it is for a file.
_MAX_CONDITIONS, _MOST_CONDITIONS = 16, 1000
# Distributions that are not folded.
_MAX_TILES = 24
# Effects on measurements that are not folded.
_MAX_EFFECTS = 20
# Measurements that a small graph has room for.
_MAX_DRAWN = 40
# Alternatives that are drawn; the others are a line each.
_MAX_ALTERNATIVES = 12

_FAILS_FIRST = (False, None, True)


def render(result: Result) -> str:
    """Return the page of a result as text."""
    template = _environment().get_template("report.html.j2")
    style, script = _asset("templates/report.css"), _scripts()
    model, evidence = result.model, result.evidence
    sure = claims.sureness(model, evidence.edges, evidence.drive_support)
    return template.render(
        model=model,
        evidence=evidence,
        run=result.run,
        words=words,
        shown=claims.shown,
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        graph=svg.draw(model, interactive=True, sureness=sure),
        numbers_text=_as_it_is(page_data(model, evidence)),
        most_lines=MAX_PROFILE_LINES,
        most_tiles=_MAX_TILES,
        most_effects=_MAX_EFFECTS,
        most_paired=MAX_PAIRED,
        next_steps=next_steps(model, evidence),
        unsure=UNSURE,
        sure=SURE,
        joint_rows=[
            (joint_state_names(model, states), p, _interval(model, evidence, states))
            for states, p in likeliest_states(model, _MAX_STATES)
        ],
        n_joint=model.joint.n_joint,
        joint_count=count_of(model.joint),
        # Failed assumptions come first: a reader has to know them.
        verdicts=sorted(evidence.verdicts, key=lambda v: _FAILS_FIRST.index(v.holds)),
        panels=[_panel(model, evidence, j) for j in range(model.n_latent)],
        matrix=_pair_matrix(evidence),
        doubtful_pairs=_doubtful_pairs(evidence),
        stability=stability(model, evidence.support, evidence.edges),
        kinds=words.by_kind(evidence.columns, evidence.n_samples),
        measurements=[_measurement(model, evidence, i) for i in range(model.n_observed)],
        untouched=[
            i for i in range(model.n_observed) if not model.parents(i) and _tile(evidence, i)
        ],
        item_tables=item_tables(model, evidence.columns),
        most_drawn=_MAX_DRAWN,
        most_alternatives=_MAX_ALTERNATIVES,
        small_graph=svg.draw(model, "The graph of this answer", sureness=sure, number=1),
        driven=[
            [model.observed_names[i] for i in model.children(j)] for j in range(model.n_latent)
        ],
        alternatives=[_alternative(evidence, k) for k in range(len(evidence.alternatives))],
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
        probability=_probability,
        amount=partial(_number, spec=",.1f"),
        safe_svg=Markup,
    )
    environment.globals.update(
        bar=lambda share, colour: Markup(bar(share, colour)),
        symbol=symbol_path,
        average=_average,
        span=_span,
        rows_of=_rows_of,
        meaning_of=meaning_of,
        full=full,
    )
    return environment


@cache
def _scripts() -> Any:
    """The charting library and our own scripts, in one piece."""
    parts = ("vendor/plot.js", "templates/report.js", "templates/pictures.js")
    return _as_it_is("".join(_asset(part) for part in parts))


@cache
def _asset(name: str) -> Any:
    """A style sheet or script of ours, which must reach the page as it is."""
    return _as_it_is((files("mixoracle.report") / name).read_text(encoding="utf-8"))


def _as_it_is(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


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


def _probability(value: float) -> str:
    """Three digits; never 1 or 0 for what is only nearly so."""
    if 0 < value < 0.0005:
        return "< 0.001"
    return "> 0.999" if 0.9995 <= value < 1 else f"{value:.3f}"


def _span(low: float, high: float) -> str:
    """A range of probabilities; one number where its ends look the same."""
    ends = dict.fromkeys(map(_probability, (low, high)))
    return " to ".join(ends)


def _average(line: ProfileLine, state: int) -> str:
    """A mean or share with its interval."""
    shown = _share if line.is_share else _number
    low, high = line.low[state], line.high[state]
    interval = "" if low is None or high is None else f" ({shown(low)} to {shown(high)})"
    return f"{shown(line.means[state])}{interval}"


def _rows_of(step: Step) -> str:
    ends = [
        "all rows" if rows is None else f"{rows:,.0f} rows" for rows in (step.coarsest, step.finest)
    ]
    return " to ".join(dict.fromkeys(ends))


def _tile(evidence: Evidence, i: int) -> bool:
    """Whether a measurement has a picture of its own; the profile shows an item whole."""
    if is_item(evidence.columns, i):
        return False
    return bool(evidence.scatters[i].points) or any(s.observed == i for s in evidence.shapes)


def _alternative(evidence: Evidence, k: int) -> dict[str, Any]:
    """Another candidate with its graph, where that is small enough to stand beside others."""
    other, n = evidence.alternatives[k], len(evidence.observed_names)
    picture = None
    if other.domain_sizes and n <= _MAX_DRAWN and k < _MAX_ALTERNATIVES:
        model = LatentModel(
            observed_names=evidence.observed_names,
            latent_names=other.latent_names,
            bipartite=np.array([[i in own for own in other.drives] for i in range(n)]),
            domain_sizes=other.domain_sizes,
            joint=JointNetwork(
                ((),) * len(other.domain_sizes),
                tuple(np.full(size, 1 / size) for size in other.domain_sizes),
            ),
            latent_graph=CPDAG(
                len(other.domain_sizes),
                frozenset(other.directed),
                frozenset(map(frozenset, other.undirected)),
            ),
        )
        picture = svg.draw(model, "The graph of another candidate", number=k + 2)
    drives = [[evidence.observed_names[i] for i in own] for own in other.drives]
    return {"held": other, "picture": picture, "drives": drives}


def _interval(
    model: LatentModel, evidence: Evidence, states: tuple[int, ...]
) -> tuple[float, float] | None:
    """Where the probability of a joint state lies in 95 % of the resamples; None without any."""
    held = evidence.support
    if held is None or held.joint_low is None or held.joint_high is None:
        return None
    place = int(np.ravel_multi_index(states, model.domain_sizes))
    return held.joint_low[place], held.joint_high[place]


def _measurement(model: LatentModel, evidence: Evidence, i: int) -> dict[str, Any]:
    """What there is to say of one observed variable, and its components in numbers."""
    own = [column.missing for column in evidence.columns if column.observed == i]
    in_profile = is_item(evidence.columns, i)
    return {
        "name": model.observed_names[i],
        "heading": _heading(model, evidence, i),
        "parents": [model.latent_names[j] for j in model.parents(i)],
        "doubts": [words.parent_doubt(model, evidence, i, j) for j in model.parents(i)],
        # The share of the variation that a picture of points shows.
        "shown": evidence.scatters[i].shown if evidence.scatters[i].points else None,
        "missing": sum(own) / (evidence.n_samples * len(own)),
        "table": None if in_profile else component_table(model, evidence.columns, i),
    }


def _heading(model: LatentModel, evidence: Evidence, i: int) -> str:
    """The name of a measurement, with its unit where it is one column."""
    own = [column for column in evidence.columns if column.observed == i]
    return own[0].heading if len(own) == 1 else model.observed_names[i]


def _panel(model: LatentModel, evidence: Evidence, j: int) -> dict[str, Any]:
    """All about one latent."""
    graph, names = model.latent_graph, model.latent_names
    parents = [i for i, k in sorted(graph.directed) if k == j]
    loose = sorted(k for pair in graph.undirected if j in pair for k in pair - {j})
    effects = sorted((e for e in evidence.effects if e.latent == j), key=lambda e: -e.share)
    # One table given all neighbours that could be causes, or one for each if it is too long.
    given = sorted([*parents, *loose])
    n_conditions = prod(model.domain_sizes[k] for k in given)
    together = n_conditions <= _MAX_CONDITIONS
    tables = [given] if given and together else [[k] for k in given]
    conditionals = [_conditional(model, j, conditions) for conditions in tables]
    if len(given) > 1 and _MAX_CONDITIONS < n_conditions <= _MOST_CONDITIONS:
        conditionals.append(_conditional(model, j, given, full=True))
    profile = profile_of(evidence.effects, evidence.columns, j)
    return {
        "number": j,
        "name": names[j],
        "states": model.states_of(j),
        "named": model.state_names[j] is not None,
        "colour": svg.latent_colour(j),
        "marginal": model.joint.marginal([j]).table.tolist(),
        "sizes": evidence.state_sizes[j],
        "relations": claims.relations_of(model, evidence.edges, j) if model.n_latent > 1 else [],
        "conditionals": conditionals,
        "colours": state_colours(j, model.domain_sizes[j]),
        "profile": profile,
        "any_share": any(line.is_share for line in profile),
        "all_shares": all(line.is_share for line in profile),
        "pictured": [i for i in model.children(j) if _tile(evidence, i)],
        "n_items": sum(is_item(evidence.columns, i) for i in model.children(j)),
        "certainty": evidence.certainty[j] if evidence.certainty else None,
        "effects": effects,
    }


def _conditional(
    model: LatentModel, j: int, given: list[int], *, full: bool = False
) -> dict[str, Any]:
    """P(H_j | given): the conditions in words, then a line for each of their states.

    A ``full`` one is long, and folded until somebody asks for it.
    """
    order = sorted([*given, j])
    table = np.moveaxis(model.joint.marginal(order).table, order.index(j), -1)
    rows = []
    for states in product(*(range(model.domain_sizes[k]) for k in given)):
        weights = table[states]
        total = float(weights.sum())
        known = tuple(float(w) / total for w in weights) if total > 0 else None
        called = tuple(model.states_of(k)[state] for k, state in zip(given, states, strict=True))
        rows.append((called, known))
    return {"given": [model.latent_names[k] for k in given], "rows": rows, "full": full}


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
