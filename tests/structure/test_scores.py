import numpy as np
import pytest
from scipy.special import gammaln

from mixoracle.errors import InvalidInputError
from mixoracle.model import CPDAG, JointTable
from mixoracle.structure import BIC, BDeu
from mixoracle.structure.scores import PRIOR_WEIGHTS, bdeu_scores, local_scores, total


def family_counts(joint, n_samples, node, parents):
    table = joint.marginal([*parents, node]).table * n_samples
    return table.reshape(-1, joint.domain_sizes[node])


def bic_by_definition(joint, n_samples, node, parents):
    counts = family_counts(joint, n_samples, node, parents)
    score = 0.0
    for row in counts:
        for cell in row:
            if cell > 0:
                score += cell * np.log(cell / row.sum())
    q, r = counts.shape
    return score - 0.5 * np.log(n_samples) * q * (r - 1)


def bdeu_by_definition(joint, n_samples, node, parents, ess):
    counts = family_counts(joint, n_samples, node, parents)
    q, r = counts.shape
    rows = gammaln(ess / q) - gammaln(counts.sum(axis=1) + ess / q)
    cells = gammaln(counts + ess / (q * r)) - gammaln(ess / (q * r))
    return rows.sum() + cells.sum()


@pytest.mark.parametrize("seed", range(10))
def test_local_scores_equal_their_definitions(draw, seed):
    rng = np.random.default_rng(seed)
    _, joint = draw(rng, 4, largest=4, n_samples=60)
    bic, bdeu = BIC(joint, 60), BDeu(joint, 60, equivalent_sample_size=2.5)
    for node, parents in [(0, []), (1, [0]), (2, [3, 0]), (3, [0, 1, 2])]:
        expected = bic_by_definition(joint, 60, node, parents)
        assert bic.local(node, parents) == pytest.approx(expected, abs=1e-9)
        expected = bdeu_by_definition(joint, 60, node, parents, 2.5)
        assert bdeu.local(node, parents) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", [BIC, BDeu])
def test_all_terms_at_once_equal_those_on_demand(draw, rng, kind):
    _, joint = draw(rng, 5, n_samples=100)
    everything, score = local_scores(kind(joint, 100)), kind(joint, 100)
    for node in range(5):
        for subset in range(32):
            parents = [j for j in range(5) if subset >> j & 1]
            expected = -np.inf if node in parents else score.local(node, parents)
            assert everything[node, subset] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("edge_cost", [0.0, 1.5])
def test_all_priors_at_once_equal_one_after_the_other(draw, rng, edge_cost):
    _, joint = draw(rng, 4, largest=4, n_samples=50)
    together = bdeu_scores(joint, 50, edge_cost)
    for scores, weight in zip(together, PRIOR_WEIGHTS, strict=True):
        apart = local_scores(BDeu(joint, 50, weight, edge_cost))
        np.testing.assert_allclose(scores, apart, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("kind", [BIC, BDeu])
def test_equivalent_dags_score_alike(draw, kind):
    rng = np.random.default_rng(3)
    for _ in range(30):
        edges, joint = draw(rng, 4, n_samples=50)
        score = kind(joint, 50)
        totals = [total(score, member) for member in CPDAG.from_dag(edges, 4).members()]
        assert np.ptp(totals) < 1e-9


def test_unseen_states_cost_parameters_and_add_no_likelihood():
    seen = np.array([[0.4, 0.1], [0.1, 0.4]])
    padded = np.zeros((3, 4))
    padded[:2, :2] = seen
    small, large = BIC(JointTable(seen), 100), BIC(JointTable(padded), 100)
    extra = 0.5 * np.log(100)
    assert small.local(1, [0]) - large.local(1, [0]) == pytest.approx(extra * (3 * 3 - 2 * 1))
    assert np.isfinite(BDeu(JointTable(padded), 100).local(1, [0]))


@pytest.mark.parametrize("n_samples", [0, 1e-9, 1, 1e12])
@pytest.mark.parametrize("kind", [BIC, BDeu])
def test_any_sample_size_gives_finite_scores(draw, rng, kind, n_samples):
    _, joint = draw(rng, 3)
    scores = local_scores(kind(joint, n_samples))
    assert np.isfinite(scores[np.isfinite(scores)]).all()
    assert np.isfinite(scores).sum() == 3 * 4


def test_bad_arguments_are_refused(draw, rng):
    _, joint = draw(rng, 2)
    for n_samples in (-1, np.nan, np.inf):
        with pytest.raises(InvalidInputError, match="n_samples"):
            BIC(joint, n_samples)
    for ess in (0, -1, np.inf):
        with pytest.raises(InvalidInputError, match="equivalent sample size"):
            BDeu(joint, 10, equivalent_sample_size=ess)
    with pytest.raises(InvalidInputError, match="own parent"):
        BIC(joint, 10).local(1, [0, 1])
