import numpy as np
import pytest
from scipy.special import logsumexp

from mixoracle.families import CountFamily, GammaFamily
from mixoracle.model import CountComponents, GammaComponents


@pytest.mark.parametrize("name", ["counts", "gamma"])
@pytest.mark.parametrize("seed", range(10))
def test_the_prior_weighs_the_grid_as_a_few_rows_would(name, seed, draw):
    case = draw(name, seed)
    statistics = np.stack([case.family.features(case.rows(200, j)).sum(axis=0) for j in (0, 1)])
    prior = case.family.prior(statistics)
    np.testing.assert_allclose(logsumexp(prior.log_weights, axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(prior.mean, case.family._seen_and_sums(statistics)[1].sum(0) / 400)
    # Twice the data say the same of one row, and so weigh no more.
    again = case.family.prior(np.vstack([statistics, statistics]))
    np.testing.assert_allclose(again.log_weights, prior.log_weights, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", [CountFamily(2), GammaFamily(2)])
def test_without_any_data_the_grid_is_weighed_equally(family):
    nothing = np.zeros_like(family.features(np.full((1, 2), np.nan)))
    prior = family.prior(nothing)
    np.testing.assert_allclose(np.exp(prior.log_weights), 1.0 / len(family.grid))


@pytest.mark.parametrize(
    ("name", "kind"), [("counts", CountComponents), ("gamma", GammaComponents)]
)
@pytest.mark.parametrize("seed", range(20))
def test_no_other_point_of_the_grid_and_no_other_mean_reaches_more(name, kind, seed, draw):
    case = draw(name, seed, d=1)
    family = case.family
    pieces = [case.rows(int(n), missing=0.2) for n in case.rng.integers(1, 60, 2)]
    # Weighted statistics, as EM has them.
    weights = [case.rng.random(len(piece)) for piece in pieces]
    statistics = np.stack(
        [w @ family.features(piece) for w, piece in zip(weights, pieces, strict=True)]
    )
    prior, own = family.prior(statistics), statistics[:1]

    def reached(components):
        return family.log_density(own, components)[0, 0] + family.log_penalty(components, prior)

    best = family.components(own, prior)
    for value in family.grid:
        for factor in (0.5, 0.9, 0.999, 1.0, 1.001, 1.1, 2.0):
            other = kind(factor * best.means, np.full((1, 1), value))
            assert reached(other) <= reached(best) + 1e-9 * abs(reached(best))
