import numpy as np
import pytest

from mixoracle.metrics import structural_distance
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import Knowledge, search
from mixoracle.structure.ges import climb
from mixoracle.structure.knowledge import ResolvedKnowledge
from mixoracle.structure.scores import BIC, total


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_ges_agrees_with_exact_where_it_is_optimal(draw, score):
    rng = np.random.default_rng(6)
    optimal = 0
    for trial in range(15):
        _, joint = draw(rng, 3 + trial % 3, n_samples=2000)
        exact = search(joint, 2000, "exact", score=score)
        greedy = search(joint, 2000, "ges", score=score)
        assert greedy.score <= exact.score + 1e-6
        if greedy.score >= exact.score - 1e-6 and not exact.is_tied:
            assert greedy.graph == exact.graph
            optimal += 1
    assert optimal  # how often is in benchmarks/bench_structure.py


def test_ges_honours_knowledge_and_never_beats_exact(draw):
    rng = np.random.default_rng(7)
    unhindered = 0
    for _ in range(12):
        _, joint = draw(rng, 5, n_samples=1000)
        pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
        picks = rng.permutation(len(pairs))[:6]
        required = {pairs[picks[0]]}
        forbidden = {pairs[k] for k in picks[1:]} - required
        known = Knowledge(required, forbidden)
        greedy = search(joint, 1000, "ges", known)
        for member in greedy.graph.members():
            assert required <= member
            assert not forbidden & member
        best = search(joint, 1000, "exact", known, "bic").score
        assert greedy.score <= best + 1e-6
        unhindered += greedy.score >= best - 1e-6
    assert unhindered


def test_knowledge_that_a_member_honours_only_orients_the_class(draw):
    rng = np.random.default_rng(8)
    for _ in range(15):
        _, joint = draw(rng, 4, n_samples=3000)
        free = search(joint, 3000, "ges")
        arrow = min(free.graph.extension(), default=None)
        if arrow is None:
            continue
        known = search(joint, 3000, "ges", Knowledge(required=[arrow]))
        assert known.graph == free.graph.with_knowledge(required=[arrow])


def test_climbing_ends_where_no_single_change_gains(draw, rng):
    _, joint = draw(rng, 4, n_samples=500)
    score, known = BIC(joint, 500), ResolvedKnowledge(4, frozenset({(3, 0)}))
    found = climb(score, known, frozenset({(3, 0)}))
    assert known.required <= found
    assert total(score, found) >= total(score, {(3, 0)})
    for dropped in found - known.required:
        assert total(score, found - {dropped}) <= total(score, found) + 1e-6


def test_no_latents_and_one_latent():
    assert search(JointTable(np.array(1.0)), 100, "ges").graph == CPDAG(0)
    assert search(JointTable(np.array([0.3, 0.7])), 100, "ges").graph == CPDAG(1)


def test_more_latents_than_exact_can_take(draw):
    rng = np.random.default_rng(9)
    edges, joint = draw(rng, 14, largest=2, density=0.1)
    found = search(joint, 50_000, "ges")
    assert found.method == "ges"
    assert found.gap is None
    assert structural_distance(CPDAG.from_dag(edges, 14), found.graph) <= 2
