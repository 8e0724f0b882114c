import numpy as np
import pytest
from scipy import integrate, stats

from mixoracle.errors import InvalidInputError
from mixoracle.families import CountFamily
from mixoracle.families.counts import SIZES
from mixoracle.families.grid import GridPrior
from mixoracle.model import CountComponents

SEEDS = range(5)


def evidence_by_integration(values, mean, size):
    """The likelihood of counts, averaged over the prior of their mean by quadrature."""
    if np.isinf(size):
        prior = stats.expon(scale=mean)
        return integrate.quad(
            lambda rate: np.exp(stats.poisson.logpmf(values, rate).sum()) * prior.pdf(rate),
            0.0,
            np.inf,
            epsabs=0.0,
        )[0]
    prior = stats.beta(1.0 + size / mean, 1.0)
    return integrate.quad(
        lambda p: np.exp(stats.nbinom.logpmf(values, size, p).sum()) * prior.pdf(p),
        0.0,
        1.0,
        epsabs=0.0,
    )[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_is_the_average_over_means_and_sizes(seed):
    rng = np.random.default_rng(seed)
    block = rng.poisson(rng.uniform(0.5, 6.0), (6, 1)).astype(float)
    family, mean = CountFamily(1), float(rng.uniform(0.5, 5.0))
    weights = rng.dirichlet(np.ones(len(SIZES)))
    prior = GridPrior(np.array([mean]), np.log(weights)[None])
    expected = sum(
        weight * evidence_by_integration(block[:, 0], mean, size)
        for weight, size in zip(weights, SIZES, strict=True)
    )
    found = family.log_evidence(family.features(block).sum(axis=0, keepdims=True), prior)[0]
    assert found == pytest.approx(np.log(expected), rel=1e-6)


@pytest.mark.parametrize("size", [np.inf, 8.0, 1.0])
def test_the_scatter_is_learned(size):
    family, right = CountFamily(1), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = CountComponents([[20.0]], [[size]])
        block = truth.sample(np.zeros(1000, dtype=int), rng)
        statistics = family.features(block).sum(axis=0, keepdims=True)
        found = family.components(statistics, family.prior(statistics))
        assert abs(found.means[0, 0] - block.mean()) < 0.05
        # The neighbour on the grid may fit a sample better; that of Poisson is 512.
        near = [512.0, np.inf] if np.isinf(size) else [0.5 * size, size, 2.0 * size]
        right += found.sizes[0, 0] in near
    assert right == 20


def test_a_component_without_events_keeps_a_mean_above_0():
    family = CountFamily(1)
    statistics = np.stack(
        [family.features(np.full((50, 1), value)).sum(axis=0) for value in (0.0, 4.0)]
    )
    found = family.components(statistics, family.prior(statistics))
    assert 0 < found.means[0, 0] < 0.02
    nothing = family.features(np.zeros((5, 1))).sum(axis=0, keepdims=True)
    assert family.components(nothing, family.prior(nothing)).means[0, 0] > 0


def test_large_counts_are_as_good_as_small_ones():
    rng = np.random.default_rng(0)
    family, truth = CountFamily(1), CountComponents([[1e5]], [[16.0]])
    block = truth.sample(np.zeros(500, dtype=int), rng)
    found = family.log_density(family.features(block), truth)
    np.testing.assert_allclose(found, truth.log_density(block), rtol=1e-7)


def test_the_embedding_spreads_small_counts_as_far_as_large_ones():
    rng = np.random.default_rng(0)
    block = rng.poisson(np.repeat([4.0, 100.0], 5_000))[:, None].astype(float)
    embedded = CountFamily(1).embedding(block)
    np.testing.assert_allclose([embedded.mean(), embedded.std()], [0.0, 1.0], atol=1e-9)
    assert embedded[:5_000].std() == pytest.approx(embedded[5_000:].std(), rel=0.1)


def test_parameters_are_a_mean_and_a_size_a_column():
    assert CountFamily(3).n_parameters == 6


@pytest.mark.parametrize("value", [-1.0, 0.5, np.inf])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(InvalidInputError, match="whole numbers of at least 0; got"):
        CountFamily(1).features(np.array([[1.0], [value]]))


def test_components_with_sizes_off_the_grid_are_refused():
    with pytest.raises(InvalidInputError, match="not made by this family: 3 is not among"):
        CountFamily(1).natural(CountComponents([[1.0]], [[3.0]]))
