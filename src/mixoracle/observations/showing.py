"""Observations as others want to see them: in a line, as a table in HTML, as a pandas frame."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.observations.columns import ColumnKind

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.observations.record import Observations

_VARIABLES_SHOWN = 8


def in_a_line(observations: Observations) -> str:
    """The size, the first variables with their kinds, and how much is missing."""
    shown = list(zip(observations.names, observations.kinds, strict=True))[:_VARIABLES_SHOWN]
    described = [f"{name}{_describe_block(block)}" for name, block in shown]
    if observations.n_observed > _VARIABLES_SHOWN:
        described.append("…")
    missing = f"; {observations.missing_fraction:.2%} missing" if observations.has_missing else ""
    return (
        f"Observations({observations.n_samples} samples of {observations.n_observed} variables: "
        f"{', '.join(described)}{missing})"
    )


def as_table(observations: Observations) -> str:
    """A table in HTML with a row for each variable."""
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{width}</td>"
        f"<td>{', '.join(sorted({kind.value for kind in kinds}))}</td>"
        f"<td>{float(np.isnan(observations[name]).mean()):.2%}</td></tr>"
        for name, width, kinds in zip(
            observations.names, observations.widths, observations.kinds, strict=True
        )
    )
    return (
        f"<table><caption>{observations.n_samples} samples of {observations.n_observed} observed "
        "variables</caption><tr><th>variable</th><th>columns</th><th>kind</th><th>missing</th>"
        f"</tr>{rows}</table>"
    )


def as_frame(observations: Observations) -> pd.DataFrame:
    """All columns; categorical ones as categoricals of their labels."""
    import pandas as pd

    flat_levels = [held for block in observations.levels for held in block]
    held: dict[str, Any] = {}
    columns = zip(observations.column_names, observations.values.T, flat_levels, strict=True)
    for name, column, labels in columns:
        if labels is None:
            held[name] = column
        else:
            codes = np.where(np.isnan(column), -1, column).astype(np.int64)
            dtype = pd.CategoricalDtype(list(labels))
            held[name] = pd.Categorical.from_codes(codes, dtype=dtype)
    return pd.DataFrame(held)


def _describe_block(kinds: Sequence[ColumnKind]) -> str:
    categorical = sum(kind is ColumnKind.CATEGORICAL for kind in kinds)
    width = f"{len(kinds)} columns" if len(kinds) > 1 else ""
    kind = "categorical" if categorical == len(kinds) else f"{categorical} categorical"
    notes = ", ".join(filter(None, [width, kind if categorical else ""]))
    return f" ({notes})" if notes else ""
