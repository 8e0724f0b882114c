"""How a result came about: data, settings, versions and time, for ``run.json``."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from mixoracle._version import __version__
from mixoracle.observations import Observations
from mixoracle.report.evidence import Evidence

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "networkx", "ges", "joblib")


def run_record(
    observations: Observations,
    evidence: Evidence,
    source: Mapping[str, Any],
    settings: Mapping[str, Any],
    timings: Mapping[str, float],
) -> dict[str, Any]:
    """All that is needed to run it again; ``source`` says which data: ``file``, ``sha256``, …."""
    return {
        "data": {
            **source,
            "rows": observations.n_samples,
            "variables": list(observations.names),
            "widths": list(observations.widths),
            "read_as": {column.title: column.family for column in evidence.columns},
            "missing": observations.missing_fraction,
            "notes": list(evidence.notes),
        },
        "settings": dict(settings),
        "seed": settings.get("seed"),
        "versions": {
            "mixoracle": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
        "platform": platform.platform(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "timings": dict(timings),
    }
