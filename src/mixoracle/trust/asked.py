"""The verdict on an answer for which a number of latents or domain sizes were asked."""

from __future__ import annotations

from collections.abc import Sequence

from mixoracle.assumptions import Verdict
from mixoracle.decoding.wanted import Wanted
from mixoracle.solving import Solution, nats

ASKED_LABEL = "asked"


def as_asked(solutions: Sequence[Solution], wanted: Wanted) -> Verdict:
    """Whether the answer is as asked for, and what that costs against the free one."""
    name, best = "number of causes and states", solutions[0]
    if best.n_off:
        return Verdict(
            name,
            ASKED_LABEL,
            False,
            f"{wanted} were asked for, and no such answer was found; this is the nearest one",
            ((name,),),
        )
    # Scores of one kind only: a merit and a BIC do not compare.
    others = [s for s in solutions if s.n_off and (s.merit is None) == (best.merit is None)]
    free = max(others, key=lambda other: other.score, default=best)
    if free.score <= best.score:
        return Verdict(name, ASKED_LABEL, True, f"{wanted}, as asked for, fit best")
    sizes = " × ".join(map(str, free.graph.domain_sizes))
    found = f"has {sizes} states" if sizes else "has no cause at all"
    better = free.refinement.bic - best.refinement.bic
    by = f" and fits better by {nats(better)}" if better > 0 else ""
    return Verdict(
        name,
        ASKED_LABEL,
        True,
        f"{wanted}, as asked for; the best other candidate {found}{by}",
    )
