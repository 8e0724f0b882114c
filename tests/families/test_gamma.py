import numpy as np
import pytest
from scipy import integrate, stats

from mixoracle.errors import InvalidInputError
from mixoracle.families import GammaFamily
from mixoracle.families.gamma import SHAPES
from mixoracle.families.grid import GridPrior
from mixoracle.model import GammaComponents

SEEDS = range(5)


def evidence_by_integration(values, mean, shape):
    """The likelihood of amounts, averaged over the prior of their mean by quadrature."""
    prior = stats.invgamma(2.0, scale=mean)

    def integrand(level):
        law = stats.gamma(shape, scale=level / shape)
        return np.exp(law.logpdf(values).sum()) * prior.pdf(level)

    return integrate.quad(integrand, 0.0, np.inf, epsabs=0.0, epsrel=1e-9, limit=200)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_is_the_average_over_means_and_shapes(seed):
    rng = np.random.default_rng(seed)
    block = rng.gamma(3.0, 0.4, (5, 1))
    family, mean = GammaFamily(1), float(rng.uniform(0.5, 2.0))
    # Weight on six shapes only: quadrature is slow.
    places = rng.choice(20, 6, replace=False)
    weights = np.full(len(SHAPES), 1e-300)
    weights[places] = rng.dirichlet(np.ones(6))
    prior = GridPrior(np.array([mean]), np.log(weights)[None])
    expected = sum(
        weights[g] * evidence_by_integration(block[:, 0], mean, SHAPES[g]) for g in places
    )
    found = family.log_evidence(family.features(block).sum(axis=0, keepdims=True), prior)[0]
    assert found == pytest.approx(np.log(expected), rel=1e-6)


@pytest.mark.parametrize("shape", [0.5, 3.0, 50.0, 2000.0])
def test_the_scatter_is_learned(shape):
    family = GammaFamily(1)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        block = rng.gamma(shape, 1.0 / shape, (2000, 1))
        statistics = family.features(block).sum(axis=0, keepdims=True)
        found = family.components(statistics, family.prior(statistics))
        assert found.means[0, 0] == pytest.approx(block.mean(), rel=0.01)
        assert 1 / 1.45 < found.shapes[0, 0] / shape < 1.45


def test_one_row_borrows_the_scatter_of_the_others():
    family, rng = GammaFamily(1), np.random.default_rng(0)
    blocks = [rng.gamma(4.0, 0.25, (400, 1)), np.array([[3.0]])]
    statistics = np.stack([family.features(block).sum(axis=0) for block in blocks])
    found = family.components(statistics, family.prior(statistics))
    assert 1.0 < found.shapes[1, 0] < 16.0
    assert 2.0 < found.means[1, 0] < 3.5


@pytest.mark.parametrize("factor", [0.01, 30.0])
def test_the_unit_does_not_matter(factor, draw):
    case = draw("gamma", 0)
    family = case.family
    blocks = [case.rows(40, 0), case.rows(30, 0), case.rows(40, 1)]
    gains = []
    for unit in (1.0, factor):
        statistics = np.stack([family.features(unit * block).sum(axis=0) for block in blocks])
        prior = family.prior(statistics)
        alone = family.log_evidence(statistics, prior)
        both = family.log_evidence(statistics[[0, 0]] + statistics[[1, 2]], prior)
        gains.append(both - alone[0] - alone[[1, 2]])
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-6)


def test_the_embedding_is_the_standardised_logarithm():
    block = np.array([[1.0], [np.e**2], [np.nan]])
    np.testing.assert_allclose(
        GammaFamily(1).embedding(block), np.sqrt(1.5) * np.array([[-1.0], [1.0], [0.0]])
    )


def test_parameters_are_a_mean_and_a_shape_a_column():
    assert GammaFamily(3).n_parameters == 6


@pytest.mark.parametrize("value", [0.0, -2.0])
def test_amounts_of_0_and_below_are_refused(value):
    with pytest.raises(InvalidInputError, match="need amounts above 0; got"):
        GammaFamily(1).features(np.array([[1.0], [value]]))


def test_components_with_shapes_off_the_grid_are_refused():
    family = GammaFamily(1)
    prior = family.prior(family.features(np.array([[1.0], [2.0]])).sum(axis=0, keepdims=True))
    with pytest.raises(InvalidInputError, match="not made by this family: 3 is not among"):
        family.log_penalty(GammaComponents([[1.0]], [[3.0]]), prior)
