import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import BIC, BDeu, Knowledge, learn, search
from mixoracle.structure.exact import best_scores, search_exact
from mixoracle.structure.knowledge import named_nodes
from mixoracle.structure.scores import PRIOR_WEIGHTS, bdeu_scores, total


class CountingScore:
    """A user's own score: it rewards a wanted set of parents, and is not score-equivalent."""

    def __init__(self, wanted):
        self._wanted = wanted

    @property
    def n_nodes(self):
        return len(self._wanted)

    def local(self, node, parents):
        return -float(len(set(parents) ^ self._wanted[node]))


def ranked_classes(score, dags, class_of):
    """The best score of every class, over all DAGs, the best class first."""
    best = {}
    for edges in dags:
        graph = class_of[edges]
        best[graph] = max(best.get(graph, -np.inf), total(score, edges))
    return sorted(best.items(), key=lambda item: -item[1])


@pytest.fixture(scope="module")
def class_of(dags_by_size):
    return {
        m: {edges: CPDAG.from_dag(edges, m) for edges in dags} for m, dags in dags_by_size.items()
    }


def test_exact_equals_brute_force_over_all_dags(draw, dags_by_size, class_of):
    rng = np.random.default_rng(1)
    for trial in range(200):
        m = 2 + trial % 3
        n_samples = int(rng.choice([5, 40, 300, 5000]))
        _, joint = draw(rng, m, n_samples=n_samples)
        kind = (BIC, BDeu)[trial // 3 % 2]
        score = kind(joint, n_samples)
        ranked = ranked_classes(score, dags_by_size[m], class_of[m])
        found = search(joint, n_samples, "exact", score=kind.__name__.lower())
        assert found.score == pytest.approx(ranked[0][1], abs=1e-7)
        assert found.gap == pytest.approx(ranked[0][1] - ranked[1][1], abs=1e-7)
        assert found.runner_up != found.graph
        second = total(score, found.runner_up.extension())
        assert second == pytest.approx(ranked[1][1], abs=1e-7)
        if not found.is_tied:
            assert found.graph == ranked[0][0]


def test_the_best_score_is_that_of_the_best_dag(draw):
    rng = np.random.default_rng(3)
    for trial in range(30):
        m = 1 + trial % 4
        _, joint = draw(rng, m, n_samples=200)
        known = Knowledge(required=[("H2", "H1")] if m > 1 else []).resolved(named_nodes(None, m))
        scores = [BDeu(joint, 200, weight) for weight in PRIOR_WEIGHTS]
        best = [total(score, search_exact(score, known)[0]) for score in scores]
        assert best_scores(bdeu_scores(joint, 200), known) == pytest.approx(best, abs=1e-6)


def test_knowledge_restricts_the_search_exactly(draw, dags_by_size, class_of):
    rng = np.random.default_rng(2)
    for trial in range(40):
        m = 3 + trial % 2
        _, joint = draw(rng, m, n_samples=200)
        pairs = [(i, j) for i in range(m) for j in range(m) if i != j]
        picks = rng.permutation(len(pairs))[:4]
        required = {pairs[picks[0]]}
        forbidden = {pairs[k] for k in picks[1:]} - required
        score = BIC(joint, 200)
        honouring = [e for e in dags_by_size[m] if required <= e and not forbidden & e]
        ranked = ranked_classes(score, honouring, class_of[m])
        found = search(joint, 200, "exact", Knowledge(required, forbidden), "bic")
        assert found.score == pytest.approx(ranked[0][1], abs=1e-7)
        assert found.gap == pytest.approx(ranked[0][1] - ranked[1][1], abs=1e-7)
        for member in found.graph.members():
            assert required <= member
            assert not forbidden & member


def test_a_score_of_ones_own_is_maximised():
    wanted = [set(), {0}, {0, 1}, set()]
    joint = JointTable(np.full((2, 2, 2, 2), 1 / 16))
    found = search(joint, 10, "exact", score=CountingScore(wanted))
    assert found.score == 0.0
    assert found.graph == CPDAG.from_dag([(0, 1), (0, 2), (1, 2)], 4)
    assert found.gap == 1.0


def test_a_copy_of_a_latent_is_a_tie():
    # H3 depends on H1, and H2 is H1 again: H1 and H2 explain H3 equally well.
    table = np.zeros((2, 2, 2))
    table[0, 0] = [0.4, 0.1]
    table[1, 1] = [0.1, 0.4]
    found = search(JointTable(table), 1000, "exact")
    assert found.is_tied
    assert {found.graph, found.runner_up} == {
        CPDAG.from_dag([(0, 1), (1, 2)], 3),
        CPDAG.from_dag([(1, 0), (0, 2)], 3),
    }


def test_population_tables_give_the_true_class(draw):
    rng = np.random.default_rng(4)
    for _ in range(30):
        edges, joint = draw(rng, 5, density=0.5, faithful=True)
        assert learn(joint, 1e9, "exact") == CPDAG.from_dag(edges, 5)


def test_the_order_of_the_latents_does_not_matter(draw):
    rng = np.random.default_rng(5)
    for _ in range(20):
        _, joint = draw(rng, 5, n_samples=500)
        order = rng.permutation(5)
        place = np.argsort(order)
        first = search(joint, 500)
        second = search(JointTable(joint.table.transpose(order)), 500)
        moved = CPDAG(
            5,
            frozenset((place[i], place[j]) for i, j in first.graph.directed),
            frozenset(frozenset(place[list(pair)]) for pair in first.graph.undirected),
        )
        assert second.graph == moved
        assert second.gap == pytest.approx(first.gap, abs=1e-8)


@pytest.mark.parametrize("n_samples", [0, 1e-3, 1])
def test_next_to_no_data_gives_no_edges(draw, rng, n_samples):
    _, joint = draw(rng, 4)
    assert learn(joint, n_samples, "exact") == CPDAG(4)


def test_no_latents_and_one_latent():
    assert learn(JointTable(np.array(1.0)), 100) == CPDAG(0)
    assert learn(JointTable(np.array([0.3, 0.7])), 100) == CPDAG(1)


def test_a_table_with_a_single_seen_cell_has_no_edges():
    table = np.zeros((3, 2, 4))
    table[1, 0, 2] = 1.0
    assert learn(JointTable(table), 1000) == CPDAG(3)


def test_too_large_a_problem_is_refused():
    with pytest.raises(InvalidInputError, match="at most 16 latents; got 17"):
        learn(JointTable(np.full((2,) * 17, 2.0**-17)), 100, "exact")


def test_too_many_cells_are_refused(monkeypatch, draw, rng):
    _, joint = draw(rng, 3, largest=2)
    monkeypatch.setattr("mixoracle.structure.exact.MAX_CELLS", 26)
    with pytest.raises(InvalidInputError, match=r"got 27 \(use method='orders'\)"):
        learn(joint, 100, "exact")
    assert search(joint, 100).method == "orders"
