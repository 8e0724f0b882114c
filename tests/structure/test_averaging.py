import numpy as np
import pytest
from scipy.special import softmax

from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import BIC, BDeu, Knowledge, edge_posterior, learn
from mixoracle.structure.scores import PRIOR_WEIGHTS, total


def by_enumeration(score, dags, n_nodes, honoured=lambda _edges: True):
    """Each arrow's share of the weight of all DAGs, one DAG at a time."""
    kept = [edges for edges in dags if honoured(edges)]
    scores = np.array([total(score, edges) for edges in kept])
    weights = np.exp(scores - scores.max())
    arrows = np.zeros((n_nodes, n_nodes))
    for edges, weight in zip(kept, weights, strict=True):
        for i, j in edges:
            arrows[i, j] += weight
    return arrows / weights.sum()


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
@pytest.mark.parametrize("name", ["bic", "bdeu"])
@pytest.mark.parametrize("n_samples", [30, 3_000])
def test_shares_are_those_of_all_graphs_one_by_one(draw, dags_by_size, n_nodes, name, n_samples):
    for seed in range(2):
        rng = np.random.default_rng([seed, n_nodes])
        _, joint = draw(rng, n_nodes, n_samples=n_samples)
        adjacency, arrows = edge_posterior(joint, n_samples, score=name)
        score = {"bic": BIC, "bdeu": BDeu}[name](joint, n_samples)
        expected = by_enumeration(score, dags_by_size[n_nodes], n_nodes)
        assert arrows == pytest.approx(expected, abs=1e-9)
        assert adjacency == pytest.approx(expected + expected.T, abs=1e-9)


def test_knowledge_leaves_only_the_graphs_that_honour_it(draw, dags_by_size, rng):
    _, joint = draw(rng, 4, n_samples=200)
    knowledge = Knowledge(required=[(0, 1)], forbidden=[(2, 3), (3, 0)])
    _, arrows = edge_posterior(joint, 200, knowledge, "bic")
    expected = by_enumeration(
        BIC(joint, 200),
        dags_by_size[4],
        4,
        lambda edges: (0, 1) in edges and not edges & {(2, 3), (3, 0)},
    )
    assert arrows == pytest.approx(expected, abs=1e-9)
    assert arrows[0, 1] == pytest.approx(1.0)
    assert arrows[2, 3] == arrows[3, 0] == 0.0


def test_without_data_every_graph_counts_alike(dags_by_size):
    joint = JointTable(np.full((2, 2, 2), 1 / 8))
    _, arrows = edge_posterior(joint, 0, score="bdeu")
    dags = dags_by_size[3]
    share = sum((0, 1) in edges for edges in dags) / len(dags)
    assert arrows[~np.eye(3, dtype=bool)] == pytest.approx(share)


def test_weights_far_apart_cost_no_precision(draw, dags_by_size):
    # Log scores differ by thousands; the alternating sum must neither overflow nor cancel.
    for seed in range(4):
        _, joint = draw(np.random.default_rng(seed), 4, density=0.9, faithful=True)
        _, arrows = edge_posterior(joint, 1_000_000, score="bic")
        expected = by_enumeration(BIC(joint, 1_000_000), dags_by_size[4], 4)
        assert arrows == pytest.approx(expected, abs=1e-9)


def test_with_many_samples_the_true_class_has_all_the_weight(draw):
    for seed in range(4):
        edges, joint = draw(np.random.default_rng(seed), 5, faithful=True)
        truth = CPDAG.from_dag(edges, 5)
        adjacency, arrows = edge_posterior(joint, 10**9)
        assert learn(joint, 10**9) == truth
        for i, j in truth.directed:
            assert arrows[i, j] > 0.999
        for pair in truth.undirected:
            i, j = sorted(pair)
            assert adjacency[i, j] > 0.999
            assert 0.01 < arrows[i, j] < 0.99


def test_ten_latents_are_within_reach(draw):
    _, joint = draw(np.random.default_rng(1), 10, largest=2, density=0.3, n_samples=5_000)
    adjacency, arrows = edge_posterior(joint, 5_000)
    assert np.all(adjacency <= 1.0)
    assert adjacency == pytest.approx(arrows + arrows.T)


def test_the_default_weighs_priors_by_their_evidence_which_counts_for_a_little_less(
    draw, dags_by_size
):
    dags = dags_by_size[3]
    for seed in range(3):
        _, joint = draw(np.random.default_rng(seed), 3, n_samples=300)
        priors = [BDeu(joint, 300, weight) for weight in PRIOR_WEIGHTS]
        weights = softmax([[0.8 * total(prior, edges) for edges in dags] for prior in priors])
        expected = np.zeros((3, 3))
        for edges, weight in zip(dags, weights.sum(axis=0), strict=True):
            for i, j in edges:
                expected[i, j] += weight
        assert edge_posterior(joint, 300).arrows == pytest.approx(expected, abs=1e-9)


def test_trifles_and_refusals():
    for sizes in [(), (3,)]:
        adjacency, _ = edge_posterior(JointTable(np.full(sizes, 1 / np.prod(sizes, initial=1))), 10)
        assert adjacency.shape == (len(sizes), len(sizes))
    many = JointTable(np.full((2,) * 13, 0.5**13))
    with pytest.raises(InvalidInputError, match="at most 12 latents"):
        edge_posterior(many, 100)
