"""What a learned model needs to read new rows, from the solution that it was built of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixoracle.inference.outlying import density_limits, unlikely_rows
from mixoracle.mixtures.columns import repeated_numbers
from mixoracle.model import LatentModel

if TYPE_CHECKING:
    from mixoracle.model.exposure import Exposure
    from mixoracle.observations.source import Source
    from mixoracle.settings import Settings
    from mixoracle.solving import Solution


def readable(
    model: LatentModel,
    solution: Solution,
    source: Source,
    exposure: Exposure | None,
    settings: Settings,
) -> LatentModel:
    """The model of a solution with all that reading new rows needs."""
    prepared = solution.prepared
    rows = unlikely_rows(prepared, solution.graph, solution.refinement, settings)
    return source.kept_with(
        model,
        prepared.observations.take(rows),
        prepared.set_aside[rows],
        density_limits(model.components or (), prepared),
        exposure,
        repeated_numbers(prepared.columns),
    )
