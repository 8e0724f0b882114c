"""All differences between two models under the best matching of their latents."""

from __future__ import annotations

from dataclasses import dataclass

from mixoracle.metrics import edges
from mixoracle.metrics.matching import Matching, align_observed, best_matching, padded_gamma
from mixoracle.model import LatentModel


@dataclass(frozen=True, repr=False)
class Comparison:
    """The differences between a true and an estimated model, after matching.

    Parameters
    ----------
    bipartite_extra, bipartite_missing : int
        Edges of the estimated Γ that are not in the true one, and the reverse.
    latent_extra, latent_missing : int
        The same for the skeleton of Λ.
    reversed : int
        Edges of Λ that point the other way.
    unoriented_correct : int
        Estimated edges of Λ without a direction whose skeleton is right.
    oriented_unknown : int
        Estimated arrows of Λ where the truth, a CPDAG, has an edge without a direction: neither
        right nor wrong, and no part of the SHD.
    bipartite_exact, domains_exact : bool
        Whether Γ, and the domain sizes, are right in all.
    joint_tv : float
        Total variation distance between the two P(H); NaN where their shapes differ. Beyond
        100 000 joint states it is estimated from 100 000 draws (standard error at most 0.0016).
    matching : Matching

    Examples
    --------
    >>> from mixoracle.datasets import independent_latents
    >>> found = compare(independent_latents(), independent_latents())
    >>> found.shd, found.bipartite_exact
    (0, True)
    """

    bipartite_extra: int
    bipartite_missing: int
    latent_extra: int
    latent_missing: int
    reversed: int
    unoriented_correct: int
    oriented_unknown: int
    bipartite_exact: bool
    domains_exact: bool
    joint_tv: float
    matching: Matching

    @property
    def extra(self) -> int:
        """Edges of the estimated skeleton that are not in the true one."""
        return self.bipartite_extra + self.latent_extra

    @property
    def missing(self) -> int:
        """Edges of the true skeleton that are not in the estimated one."""
        return self.bipartite_missing + self.latent_missing

    @property
    def shd(self) -> int:
        """The structural Hamming distance over G: extra + missing + reversed."""
        return self.extra + self.missing + self.reversed

    def __repr__(self) -> str:
        gamma = "exact" if self.bipartite_exact else "wrong"
        domains = "exact" if self.domains_exact else "wrong"
        return (
            f"Comparison(SHD {self.shd}: {self.extra} extra, {self.missing} missing, "
            f"{self.reversed} reversed; {self.unoriented_correct} right but unoriented; "
            f"Γ {gamma}, domain sizes {domains}, P(H) off by {self.joint_tv:.3g})"
        )


def compare(truth: LatentModel, estimate: LatentModel) -> Comparison:
    """Count the differences between two models under the best matching of their latents.

    Examples
    --------
    >>> from mixoracle import datasets, metrics
    >>> truth = datasets.independent_latents()
    >>> compare(truth, metrics.relabel(truth, [1, 0]))
    Comparison(SHD 0: 0 extra, 0 missing, 0 reversed; 0 right but unoriented; Γ exact, domain \
sizes exact, P(H) off by 0)
    """
    estimate = align_observed(truth, estimate)
    order, tv, matching = best_matching(truth, estimate)
    in_truth = padded_gamma(truth, len(order))
    in_estimate = padded_gamma(estimate, len(order))[:, order]
    extra, missing = in_estimate & ~in_truth, in_truth & ~in_estimate
    counted = edges.tally(truth.latent_graph, estimate.latent_graph, order)
    same_number = truth.n_latent == estimate.n_latent
    return Comparison(
        bipartite_extra=int(extra.sum()),
        bipartite_missing=int(missing.sum()),
        latent_extra=int(counted[edges.NONE, 1:].sum()),
        latent_missing=int(counted[1:, edges.NONE].sum()),
        reversed=int(
            counted[edges.FORWARD, edges.BACKWARD] + counted[edges.BACKWARD, edges.FORWARD]
        ),
        unoriented_correct=int(counted[1:, edges.UNDIRECTED].sum()),
        oriented_unknown=int(counted[edges.UNDIRECTED, [edges.FORWARD, edges.BACKWARD]].sum()),
        bipartite_exact=same_number and not extra.any() and not missing.any(),
        domains_exact=matching.states is not None,
        joint_tv=tv,
        matching=matching,
    )
