import numpy as np
import pytest

from mixoracle.model import CPDAG, JointTable, LatentModel
from mixoracle.structure import EdgePosterior
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.trust.edges import Claim, PairSupport, pair_supports, posterior_of


def model_with(graph, m=2, table=None):
    return LatentModel(
        observed_names=[f"X{i + 1}" for i in range(m)],
        latent_names=[f"H{j + 1}" for j in range(m)],
        bipartite=np.eye(m),
        domain_sizes=(2,) * m,
        joint=JointTable(np.full((2,) * m, 0.5**m) if table is None else table),
        latent_graph=graph,
    )


def posterior(forward, backward):
    arrows = np.array([[0.0, forward], [backward, 0.0]])
    return EdgePosterior(arrows + arrows.T, arrows)


@pytest.mark.parametrize(
    ("forward", "claim"),
    [(0.95, Claim.CAUSES), (0.94, Claim.PROBABLY), (0.8, Claim.PROBABLY), (0.79, Claim.MAY)],
)
def test_an_arrow_is_claimed_as_far_as_its_posterior_goes(forward, claim):
    graph = CPDAG(2, frozenset({(0, 1)}))
    (pair,) = pair_supports(model_with(graph), 1000, posterior(forward, 0.01))
    assert pair.claim is claim
    assert (pair.first, pair.second, pair.forward, pair.backward) == (0, 1, forward, 0.01)


def test_the_cause_comes_first():
    graph = CPDAG(2, frozenset({(1, 0)}))
    (pair,) = pair_supports(model_with(graph), 1000, posterior(0.01, 0.97))
    assert (pair.first, pair.second, pair.forward) == (1, 0, 0.97)
    assert pair.claim is Claim.CAUSES


def test_a_declared_arrow_is_no_finding():
    graph = CPDAG(2, frozenset({(0, 1)}))
    found = {"required": Claim.DECLARED, "forbidden": Claim.CAUSES, "nothing": Claim.CAUSES}
    for said, claim in found.items():
        known = ResolvedKnowledge(
            2,
            frozenset({(0, 1)} if said == "required" else ()),
            frozenset({(1, 0)} if said == "forbidden" else ()),
        )
        (pair,) = pair_supports(model_with(graph), 1000, posterior(1.0, 0.0), known)
        assert pair.claim is claim
        assert pair.declared is (said != "nothing")
    known = ResolvedKnowledge(2, forbidden=frozenset({(0, 1), (1, 0)}))
    (pair,) = pair_supports(model_with(CPDAG(2)), 1000, posterior(0.0, 0.0), known)
    assert (pair.claim, pair.declared) == (Claim.ABSENT, True)


def test_what_the_class_leaves_open_stays_open_however_probable():
    graph = CPDAG.from_dag([(0, 1)], 2)
    (pair,) = pair_supports(model_with(graph), 1000, posterior(0.99, 0.01))
    assert pair.claim is Claim.OPEN


def test_a_missing_edge_is_absent_only_if_its_posterior_says_so():
    nothing = CPDAG(2)
    claims = [
        pair_supports(model_with(nothing), 1000, posterior(half, half))[0].claim
        for half in (0.02, 0.03, 0.2)
    ]
    assert claims == [Claim.ABSENT, Claim.NOT_SEEN, Claim.NOT_SEEN]


def test_without_figures_nothing_is_sure():
    graph = CPDAG(3, frozenset({(0, 2), (1, 2)}))
    pairs = pair_supports(model_with(graph, 3), 1000, None)
    assert [pair.claim for pair in pairs] == [Claim.MAY, Claim.MAY, Claim.NOT_SEEN]
    assert all(pair.adjacency is None for pair in pairs)


def test_few_samples_rule_nothing_out():
    table = np.full((3, 3), 1 / 9)
    model = LatentModel(
        observed_names=["X1", "X2"],
        latent_names=["H1", "H2"],
        bipartite=np.eye(2),
        domain_sizes=(3, 3),
        joint=JointTable(table),
        latent_graph=CPDAG(2),
    )
    for n_samples, claim in ((30, Claim.NOT_SEEN), (30_000, Claim.ABSENT)):
        (pair,) = pair_supports(model, n_samples, posterior_of(model, n_samples))
        assert pair.claim is claim
    assert pair.visible < 0.05


def test_too_many_latents_have_no_posterior():
    assert posterior_of(model_with(CPDAG(13), 13), 100) is None


def test_a_claim_read_from_a_file_is_a_claim():
    assert PairSupport(0, 1, "not seen", 0.1, 0.05, 0.05, 0.3).claim is Claim.NOT_SEEN
