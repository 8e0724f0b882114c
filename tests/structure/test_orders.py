import numpy as np
import pytest

from mixoracle.model import CPDAG, JointNetwork, JointTable
from mixoracle.structure import BIC, Knowledge, StateCounts, learn, search


@pytest.mark.parametrize("seed", range(12))
def test_it_scores_as_the_exact_search_does(seed, draw):
    _, joint = draw(np.random.default_rng(seed), 5, largest=3, density=0.5)
    exact, found = (search(joint, 5000, method, score="bic") for method in ("exact", "orders"))
    assert found.method == "orders"
    assert found.score == pytest.approx(exact.score, rel=1e-9)


def network(seed, n_nodes=25):
    """Many latents with at most two causes each, and 8 000 rows of them."""
    rng = np.random.default_rng(seed)
    edges = {
        (int(i), j)
        for j in range(1, n_nodes)
        for i in rng.choice(j, size=min(j, int(rng.integers(0, 3))), replace=False)
    }
    rows = rng.integers(0, 2, size=(60, n_nodes))
    joint = JointNetwork.from_states(rows, (2,) * n_nodes, edges)
    return edges, joint.draw(8000, rng)


def test_many_latents_are_searched_in_rows_of_states():
    edges, states = network(0)
    counts = StateCounts(states, (2,) * 25)
    score = BIC(counts, len(states))
    found = learn(counts, len(states), "orders")
    truth = CPDAG.from_dag(edges, 25)
    assert len(found.skeleton - truth.skeleton) <= 2
    assert len(truth.skeleton & found.skeleton) >= len(truth.skeleton) / 2

    def total(arrows):
        above = {j: [i for i, k in arrows if k == j] for j in range(25)}
        return sum(score.local(j, held) for j, held in above.items())

    assert total(found.extension()) >= total(edges) - 1e-6


def test_knowledge_is_honoured():
    edges, states = network(1, n_nodes=12)
    counts = StateCounts(states, (2,) * 12)
    first, second = sorted(edges)[0]
    names = [f"H{j + 1}" for j in range(12)]
    against = Knowledge(required=[(names[second], names[first])])
    found = learn(counts, len(states), "orders", against)
    assert (second, first) in found.directed
    without = Knowledge(forbidden=[(names[first], names[second]), (names[second], names[first])])
    found = learn(counts, len(states), "orders", without)
    assert frozenset((first, second)) not in found.skeleton


def test_counted_tables_are_those_of_the_whole_table():
    _, states = network(2, n_nodes=5)
    counts = StateCounts(states, (2,) * 5)
    whole = JointTable(counts.marginal(range(5)).table)
    assert counts.n_joint == 32
    for latents in ([0], [3, 1], [4, 0, 2]):
        np.testing.assert_allclose(
            counts.marginal(latents).table, whole.marginal(latents).table, atol=1e-12
        )


def test_parents_whose_table_no_memory_holds_are_passed_over():
    sizes = (2, 2, 2000, 2000, 2000, 2000)
    states = np.random.default_rng(0).integers(0, sizes, (400, 6))
    states[:, 1] = states[:, 0]
    found = learn(StateCounts(states, sizes), 400, "orders")
    assert found.undirected == {frozenset((0, 1))}
