"""Which failed verdicts put the answer itself in doubt, and not only how it was found."""

from __future__ import annotations

from collections.abc import Iterable

from mixoracle.assumptions import Verdict
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.inference import rival

# Without these the graph or P(H) is not identifiable; the others only decide which method works.
# A model that contradicts what the user knows is not the model that was asked for.
ESSENTIAL = (
    "obs:counting",
    "assm:twins",
    "assum:ssc",
    "assump:strong:NZ",
    "assump:strong:SDC",
    BACKGROUND_LABEL,
    rival.LABEL,
)


def essential_failure(verdicts: Iterable[Verdict]) -> str:
    """What failed that matters, in one sentence; empty where nothing did."""
    failed = [v for v in verdicts if v.holds is False and v.label in ESSENTIAL]
    return "; ".join(f"{verdict.name}: {verdict.message}" for verdict in failed)
