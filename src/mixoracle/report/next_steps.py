"""What a reader can do next, in sentences: what mends doubts first, then what else is possible.

Nothing is computed here that is not in the model or in the evidence.
"""

from __future__ import annotations

from mixoracle.model import LatentModel
from mixoracle.report.evidence import Evidence
from mixoracle.report.lettering import sentence, shortened
from mixoracle.report.words import listed
from mixoracle.trust.edges import Claim

# The reasons of a verdict end with their remedy after these words.
_REMEDY = "What to do: "


def next_steps(model: LatentModel, evidence: Evidence) -> list[str]:
    """The steps, those that matter most first."""
    steps = [*_remedies(evidence)]
    if not model.n_latent:
        return [*steps, "Add measurements that share a cause, or more cases."]
    names = [shortened(name) for name in model.latent_names]
    unsure = [
        f"{own.n_unsure:,} for {names[j]}"
        for j, own in enumerate(evidence.certainty)
        if own.n_unsure
    ]
    if unsure:
        steps.append(
            f"Do not rely on the states of uncertain cases ({', '.join(unsure)}); states.csv has "
            "their probabilities."
        )
    loose = [
        f"{names[pair.first]} and {names[pair.second]}"
        for pair in evidence.edges
        if pair.claim in (Claim.OPEN, Claim.MAY, Claim.PROBABLY)
    ]
    if loose:
        steps.append(
            f"To settle the direction between {listed(loose)}, change one of them in an "
            "experiment, or declare what you know about it (--knowledge)."
        )
    if any(names is None for names in model.state_names):
        steps.append(
            "Name the causes and states once you know from their profiles what they are (mixoracle "
            "rename)."
        )
    if evidence.support is None:
        steps.append("Check how stable the answer is (mixoracle learn --bootstrap 100).")
    steps.append("Classify new cases with this model (mixoracle predict).")
    return steps


def _remedies(evidence: Evidence) -> list[str]:
    """What the reasons of the verdict advise, each once."""
    reasons = () if evidence.verdict is None else evidence.verdict.reasons
    remedies = [reason.split(_REMEDY, 1)[1] for reason in reasons if _REMEDY in reason]
    return list(dict.fromkeys(sentence(remedy) for remedy in remedies))
