"""Which failed verdicts put the answer itself in doubt, and not only how it was found."""

from __future__ import annotations

from collections.abc import Iterable

from mixoracle.assumptions import Verdict
from mixoracle.background import LABEL as BACKGROUND_LABEL
from mixoracle.inference import rival
from mixoracle.trust.asked import ASKED_LABEL

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
    ASKED_LABEL,
)
# A mean correlation within states above which something else is behind two measurements; less is
# left by states that are blurred or by components of another shape.
STRONG_DEPENDENCE = 0.3


def is_essential(verdict: Verdict) -> bool:
    """Whether the answer itself is in doubt if this verdict fails."""
    if verdict.label == "sec:bg":
        return verdict.strength is not None and verdict.strength > STRONG_DEPENDENCE
    return verdict.label in ESSENTIAL


def essential_failure(verdicts: Iterable[Verdict]) -> str:
    """What failed that matters, in one sentence; empty where nothing did."""
    failed = [verdict for verdict in verdicts if verdict.holds is False and is_essential(verdict)]
    return "; ".join(f"{verdict.name}: {verdict.message}" for verdict in failed)
