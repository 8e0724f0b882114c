"""Whether the counts of a candidate fit together: what the verdict on ``obs:counting`` says."""

from __future__ import annotations

from math import inf

import numpy as np

from mixoracle import bipartite
from mixoracle.assumptions import Verdict
from mixoracle.oracles.candidate import Candidate
from mixoracle.oracles.counts import ComponentCount


def consistency(candidate: Candidate, trouble: str, residual: float) -> Verdict:
    """The verdict on how the counts of a candidate fit together; ``trouble`` is why they do not."""
    name, label = "consistent counts", "obs:counting"
    if trouble:
        return Verdict(name, label, False, trouble, ((trouble,),))
    if candidate.repairs and candidate.graph is not None and not candidate.graph.n_latent:
        lost = _several_each(candidate, candidate.graph.n_observed)
        if lost:
            return Verdict(name, label, False, lost, ((lost,),))
    if candidate.repairs:
        agreed = (
            f" ({candidate.n_agreed} of {candidate.n_proposals} proposals came to it at once)"
            if candidate.log_evidence > -inf
            else ""
        )
        repairs = "; ".join(candidate.repairs)
        return Verdict(name, label, True, f"consistent after repairs{agreed}: {repairs}")
    if residual > bipartite.EXACT:
        return Verdict(
            name,
            label,
            None,
            f"each count is an estimate of its own; one differs from what Γ says by a factor of "
            f"{np.exp(residual):.3g}",
        )
    return Verdict(
        name, label, True, "all counts are products of the numbers of states, without correction"
    )


def _several_each(candidate: Candidate, n_observed: int) -> str:
    """Say so where most variables have several components and no latent is left to explain them."""
    counts = (candidate.counts.count([i]) for i in range(n_observed))
    seen = [count.seen if isinstance(count, ComponentCount) else None for count in counts]
    several = sum(own is not None and own > 1 for own in seen)
    if several <= n_observed / 2:
        return ""
    return (
        f"{several} of {n_observed} variables have several components each, and no latent explains "
        "them: learn fewer variables at a time, or say how many latents there are"
    )
