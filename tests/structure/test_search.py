import logging

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError, KnowledgeConflictError
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import BDeu, Knowledge, learn, search
from mixoracle.structure.scores import PRIOR_WEIGHTS, local_scores, total


@pytest.fixture
def chain(draw):
    """H1—H2—H3, strongly."""
    strong = np.array([[0.8, 0.2], [0.2, 0.8]])
    return JointTable(0.5 * strong[:, :, None] * strong[None, :, :])


def test_auto_is_exact_for_few_latents(chain):
    found = search(chain, 1000)
    assert found.method == "exact"
    assert found.graph == CPDAG.from_dag([(0, 1), (1, 2)], 3)
    assert learn(chain, 1000) == found.graph


@pytest.mark.parametrize("method", ["exact", "ges", "pc"])
def test_every_method_takes_names_and_orients_by_knowledge(chain, method):
    known = Knowledge(tiers=[["late"], ["mid", "early"]])
    graph = learn(chain, 1000, method, known, names=["late", "mid", "early"])
    assert graph == CPDAG(3, frozenset({(0, 1), (1, 2)}))


@pytest.mark.parametrize("method", ["exact", "ges", "pc"])
def test_every_method_refuses_contradicting_knowledge(chain, method):
    with pytest.raises(KnowledgeConflictError, match="H1→H2 is both required and forbidden"):
        learn(chain, 1000, method, Knowledge([(0, 1)], [("H1", "H2")]))


@pytest.mark.parametrize("method", ["exact", "ges", "pc"])
def test_every_method_reports_the_score_of_its_answer(chain, method):
    found = search(chain, 1000, method, score="bic")
    assert found.score == pytest.approx(search(chain, 1000, score="bic").score)


def test_the_runner_up_can_be_left_out(chain):
    found = search(chain, 1000, runner_up=False)
    assert (found.runner_up, found.gap, found.is_tied) == (None, None, False)


def test_a_tie_is_logged(caplog):
    copied = JointTable(np.array([[[0.4, 0.1], [0, 0]], [[0, 0], [0.1, 0.4]]]))
    with caplog.at_level(logging.WARNING, logger="mixoracle.structure"):
        search(copied, 1000)
    assert "score alike" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "guess"}, "'auto', 'exact', 'orders', 'ges', 'pc'; got 'guess'"),
        ({"score": "aic"}, "'bic', 'bdeu', 'adaptive' or an object"),
        ({"score": object()}, "type object"),
        ({"alpha": 0.0}, "alpha"),
        ({"names": ["a", "b"]}, "3 distinct strings"),
        ({"names": ["a", "b", "a"]}, "3 distinct strings"),
        ({"n_samples": -5}, "n_samples"),
    ],
)
def test_bad_arguments_are_refused(chain, arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        search(chain, **{"n_samples": 100, **arguments})


def test_a_score_over_other_nodes_is_refused(chain):
    from mixoracle.structure import BIC

    with pytest.raises(InvalidInputError, match=r"over 1 nodes, P\(H\) over 3 latents"):
        search(chain, 100, score=BIC(chain.marginal([0]), 100))


def test_a_prior_that_the_data_choose_misses_fewer_weak_edges(draw):
    missed = {"bic": 0, "adaptive": 0}
    for seed in range(20):
        edges, joint = draw(np.random.default_rng(seed), 3, largest=5, n_samples=1_000)
        truth = CPDAG.from_dag(edges, 3).skeleton
        for score in missed:
            missed[score] += len(truth - learn(joint, 1_000, score=score).skeleton)
    assert missed["adaptive"] < 0.8 * missed["bic"]


def test_the_chosen_prior_has_the_most_evidence(draw, rng):
    _, joint = draw(rng, 3, n_samples=500)
    found = search(joint, 500, score="adaptive")
    scores = [search(joint, 500, score=BDeu(joint, 500, w, 1.5)).score for w in PRIOR_WEIGHTS]
    assert found.score == max(scores)


def test_each_edge_costs_the_same(draw, rng):
    edges, joint = draw(rng, 4, density=0.7, n_samples=500)
    free, charged = (BDeu(joint, 500, 4.0, cost) for cost in (0.0, 2.5))
    assert total(free, edges) - total(charged, edges) == pytest.approx(2.5 * len(edges))
    assert local_scores(charged) == pytest.approx(
        np.array(
            [
                [
                    -np.inf if s >> i & 1 else charged.local(i, [j for j in range(4) if s >> j & 1])
                    for s in range(16)
                ]
                for i in range(4)
            ]
        )
    )


def test_states_that_never_occur_make_nothing_dependent():
    table = np.zeros((2, 3, 2))
    table[1, 2, 0] = 1.0
    assert learn(JointTable(table), 1_000) == CPDAG(3)


@pytest.mark.parametrize("method", ["ges", "pc"])
def test_searches_that_cannot_adapt_take_bic(draw, rng, method):
    from mixoracle.structure import BIC

    _, joint = draw(rng, 3, n_samples=500)
    assert search(joint, 500, method) == search(joint, 500, method, score=BIC(joint, 500))
