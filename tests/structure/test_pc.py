import numpy as np
import pytest
from scipy.stats import chi2_contingency

from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import Knowledge, search
from mixoracle.structure.pc import g_squared


@pytest.mark.parametrize("seed", range(8))
def test_g_squared_sums_the_tests_of_the_strata(draw, seed):
    rng = np.random.default_rng(seed)
    _, joint = draw(rng, 4, n_samples=400)
    for given in [(), (2,), (2, 3)]:
        found, found_freedom, _ = g_squared(joint, 400, 0, 1, given)
        strata = joint.marginal([*given, 0, 1]).table * 400
        strata = strata.reshape(-1, *joint.domain_sizes[:2])
        statistic, freedom = 0.0, 0
        for stratum in strata:
            kept = stratum[stratum.sum(axis=1) > 0][:, stratum.sum(axis=0) > 0]
            if min(kept.shape) > 1:
                part = chi2_contingency(kept, correction=False, lambda_="log-likelihood")
                statistic, freedom = statistic + part.statistic, freedom + part.dof
        assert found == pytest.approx(statistic, abs=1e-8)
        assert found_freedom == freedom


def test_without_freedom_nothing_speaks_against_independence():
    table = np.zeros((2, 2))
    table[0] = [0.5, 0.5]
    assert g_squared(JointTable(table), 100, 0, 1, ())[1:] == (0, 1.0)


def test_the_level_is_right_under_independence():
    rng = np.random.default_rng(10)
    truth = np.outer([0.2, 0.3, 0.5], [0.4, 0.6]).ravel()
    tests = [
        g_squared(JointTable(rng.multinomial(2000, truth).reshape(3, 2) / 2000), 2000, 0, 1, ())
        for _ in range(1000)
    ]
    rejected = np.mean([p_value < 0.05 for _, _, p_value in tests])
    assert 0.03 < rejected < 0.07


def test_population_tables_give_the_true_class(draw):
    rng = np.random.default_rng(11)
    for _ in range(40):
        edges, joint = draw(rng, 5, density=0.5, faithful=True)
        found = search(joint, 1e9, "pc")
        assert found.graph == CPDAG.from_dag(edges, 5)
        assert found.overruled == 0


def test_the_order_of_the_latents_does_not_matter(draw):
    rng = np.random.default_rng(12)
    compared = 0
    for _ in range(40):
        _, joint = draw(rng, 5, n_samples=1000)
        first = search(joint, 1000, "pc")
        order = rng.permutation(5)
        place = np.argsort(order)
        second = search(JointTable(joint.table.transpose(order)), 1000, "pc")
        moved_skeleton = {frozenset(place[list(pair)]) for pair in first.graph.skeleton}
        assert second.graph.skeleton == moved_skeleton
        assert (second.overruled == 0) == (first.overruled == 0)
        if first.overruled == 0:
            moved = {(place[i], place[j]) for i, j in first.graph.directed}
            assert second.graph.directed == moved
            compared += 1
    assert compared >= 20


def test_contradicting_tests_still_give_a_class_and_say_so(draw):
    rng = np.random.default_rng(13)
    overruled = 0
    for _ in range(60):
        _, joint = draw(rng, 6, n_samples=150)
        found = search(joint, 150, "pc", alpha=0.3)
        assert found.graph == CPDAG.from_dag(found.graph.extension(), 6)
        overruled += found.overruled > 0
    assert overruled > 0


def test_pc_honours_knowledge(draw):
    rng = np.random.default_rng(14)
    for _ in range(60):
        _, joint = draw(rng, 5, n_samples=1000)
        pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
        picks = rng.permutation(len(pairs))[:8]
        required = {pairs[picks[0]]}
        forbidden = {pairs[k] for k in picks[1:]} - required
        graph = search(joint, 1000, "pc", Knowledge(required, forbidden)).graph
        for member in graph.members():
            assert required <= member
            assert not forbidden & member


def test_a_triangle_that_knowledge_would_make_a_cycle_loses_an_edge(rng):
    # All three dependent; each direction that closes the circle one way is forbidden.
    table = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    known = Knowledge(forbidden=[(0, 1), (1, 2), (2, 0)])
    graph = search(JointTable(table), 1e6, "pc", known).graph
    assert len(graph.skeleton) == 2


@pytest.mark.parametrize("shape", [(), (3,)])
def test_no_latents_and_one_latent(shape):
    joint = JointTable(np.full(shape, 1 / max(1, np.prod(shape, dtype=int))))
    assert search(joint, 100, "pc").graph == CPDAG(len(shape))


def test_no_data_gives_no_edges(draw, rng):
    _, joint = draw(rng, 4)
    assert search(joint, 0, "pc").graph == CPDAG(4)
