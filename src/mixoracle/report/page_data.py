"""The numbers of all pictures of a page as one JSON document.

The page's own script reads it as text, never as a program: the document is an inert data block,
and the characters that could end it are written as escapes.
"""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from mixoracle._documents import finite
from mixoracle.model import LatentModel
from mixoracle.report.colours import state_colours
from mixoracle.report.evidence import Evidence, Shape
from mixoracle.report.lettering import printable, shortened
from mixoracle.report.profiles import ProfileLine, profile_of
from mixoracle.report.states import CERTAINTY_BINS
from mixoracle.report.svg import latent_colour

# Names in a picture; longer ones are cut there and stand in full in the tables.
_LETTERS = 60
# Pairs of causes for the heat map grow with their square.
MAX_PAIRED = 64
_DIGITS = 6


def page_data(model: LatentModel, evidence: Evidence) -> str:
    """The document, safe to stand between the tags of a script element."""
    sample = evidence.sample
    document = {
        "cases": evidence.n_samples,
        "bins": CERTAINTY_BINS,
        "sample": {
            "rows": sample.rows,
            "names": None if sample.names is None else [shortened(name) for name in sample.names],
            "states": sample.states,
            "probabilities": sample.probabilities,
        },
        "causes": [_cause(model, evidence, j) for j in range(model.n_latent)],
        "measurements": [_measurement(evidence, i) for i in range(model.n_observed)],
        "shapes": {f"{s.observed} {s.latent}": _shape(evidence, s) for s in evidence.shapes},
        "strip": {"step": evidence.strip.step, "counts": evidence.strip.counts},
        "joint": {
            f"{a} {b}": [
                [round(p, _DIGITS) for p in row]
                for row in model.joint.marginal([a, b]).table.tolist()
            ]
            for a, b in combinations(range(min(model.n_latent, MAX_PAIRED)), 2)
        },
        "path": [
            {
                "finest": step.finest,
                "coarsest": step.coarsest,
                "sizes": step.domain_sizes,
                "chosen": step.chosen,
            }
            for step in evidence.path
        ],
    }
    text = json.dumps(finite(document), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cause(model: LatentModel, evidence: Evidence, j: int) -> dict[str, Any]:
    lines = profile_of(evidence.effects, evidence.columns, j)
    return {
        "name": shortened(model.latent_names[j]),
        "colour": latent_colour(j),
        "states": [
            shortened(name) if model.state_names[j] else f"state {name}"
            for name in model.states_of(j)
        ],
        "colours": state_colours(j, model.domain_sizes[j]),
        "sizes": evidence.state_sizes[j],
        "profile": [_line(line) for line in lines],
        "certainty": evidence.certainty[j].counts if evidence.certainty else None,
    }


def _line(line: ProfileLine) -> dict[str, Any]:
    return {
        "title": shortened(line.title, _LETTERS),
        "observed": line.observed,
        "share": line.is_share,
        "units": [line.means, line.low, line.high],
        "scaled": [line.standardised(held) for held in (line.means, line.low, line.high)],
    }


def _measurement(evidence: Evidence, i: int) -> dict[str, Any]:
    scatter = evidence.scatters[i]
    held: dict[str, Any] = {"name": shortened(evidence.observed_names[i], _LETTERS)}
    if scatter.points:
        held["axes"] = [printable(shortened(axis, _LETTERS)) for axis in scatter.axes]
        held["x"] = [_pixel(x) for x, _ in scatter.points]
        if len(scatter.axes) > 1:
            held["y"] = [_pixel(y) for _, y in scatter.points]
        # Where nothing is missing, all cases of the sample are there.
        if len(scatter.places) < len(evidence.sample.rows):
            held["places"] = scatter.places
    return held


def _pixel(value: float) -> float:
    """Four digits are finer than a pixel."""
    return float(f"{value:.4g}")


def _shape(evidence: Evidence, shape: Shape) -> dict[str, Any]:
    held: dict[str, Any] = {"kind": shape.kind, "heights": shape.heights}
    if shape.kind == "density":
        # The points are evenly spaced.
        held["at"] = [shape.at[0], shape.at[-1]]
    else:
        held["at"] = shape.at
    if shape.kind == "levels":
        (column,) = [c for c in evidence.columns if c.observed == shape.observed][:1]
        levels = column.levels or ()
        codes = [int(code) for code in shape.at]
        held["levels"] = [
            shortened(levels[code], 24) if code < len(levels) else str(code) for code in codes
        ]
    return held
