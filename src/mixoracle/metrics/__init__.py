"""How far an estimated model is from the truth, up to the names of latents and states.

Latents and their states have no names of their own, so two models are compared after the best
matching: latents are paired to minimise the structural Hamming distance over G = Γ ∪ Λ, and the
states of paired latents to minimise the total variation distance between the two P(H). Edges are
then counted as the paper counts them (``sec:expts``): an estimated edge without a direction is
right where its skeleton is right, and listed apart.

Observed variables are matched by name, so both models must name the same ones.
"""

from mixoracle.metrics.comparison import Comparison, compare
from mixoracle.metrics.differences import Differences, differences
from mixoracle.metrics.edges import structural_distance
from mixoracle.metrics.matching import Matching, match_latents
from mixoracle.metrics.relabelling import relabel
from mixoracle.metrics.states import StateAgreement, compare_states

__all__ = [
    "Comparison",
    "Differences",
    "Matching",
    "StateAgreement",
    "compare",
    "compare_states",
    "differences",
    "match_latents",
    "relabel",
    "structural_distance",
]
