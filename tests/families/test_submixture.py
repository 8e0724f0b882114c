"""Components that are mixtures of the same normal ones."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from mixoracle.errors import InvalidInputError
from mixoracle.families import GaussianComponents, GaussianFamily, SubmixtureComponents
from mixoracle.families.base import ComponentSet
from mixoracle.families.gaussian import GaussianPart
from mixoracle.families.submixture import Subcomponents, SubmixtureFamily, SubmixturePart

SHARES = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])


def inner(seed):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, 2, 2))
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.3 * np.eye(2)
    return GaussianComponents(4.0 * rng.normal(size=(3, 2)), covariances)


def components(seed, shares=SHARES):
    held = inner(seed)
    return SubmixtureComponents(shares, held.means, held.covariances)


def family(seed, weights=(20.0, 30.0, 50.0)):
    return SubmixtureFamily(GaussianFamily(2), Subcomponents(inner(seed), np.array(weights)))


@pytest.mark.parametrize("seed", range(3))
def test_the_density_is_that_of_the_mixture_and_of_what_was_seen(seed):
    held, rng = components(seed), np.random.default_rng(seed)
    block = 3.0 * rng.normal(size=(6, 2))
    block[1, 0] = block[2, 1] = np.nan
    block[3] = np.nan
    found = held.log_density(block)
    for row, own in zip(block, found, strict=True):
        seen = np.flatnonzero(~np.isnan(row))
        each = [
            stats.multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).pdf(row[seen])
            if len(seen)
            else 1.0
            for mean, cov in zip(held.means, held.covariances, strict=True)
        ]
        np.testing.assert_allclose(own, np.log(SHARES @ each))


@pytest.mark.parametrize("seed", range(3))
def test_the_family_gives_the_density_of_its_components(seed):
    own, rng = family(seed), np.random.default_rng(seed)
    block = 3.0 * rng.normal(size=(20, 2))
    block[1, 0] = np.nan
    block[3] = np.nan
    # No share is 0 in what is learned: the prior sees to it.
    held = components(seed, np.array([[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]]))
    np.testing.assert_allclose(
        own.log_density(own.features(block), held), held.log_density(block), atol=1e-9
    )


def test_em_finds_the_shares_that_rows_were_drawn_with():
    own, truth, rng = family(1), components(1), np.random.default_rng(5)
    labels = rng.integers(2, size=4_000)
    features, share = own.features(truth.sample(labels, rng)), np.eye(2)[labels]
    statistics = share.T @ features
    prior = own.prior(statistics)
    before = -np.inf
    for _ in range(30):
        found = own.components(statistics, prior)
        reached = (share * own.log_density(features, found)).sum() + own.log_penalty(found, prior)
        assert reached >= before - 1e-6
        before, statistics = reached, own.statistics(features, share, found)
    np.testing.assert_allclose(found.shares, SHARES, atol=0.03)
    np.testing.assert_allclose(found.averages().values, found.shares @ truth.means)


def test_rows_without_a_value_say_nothing():
    own = family(0)
    features = own.features(np.array([[np.nan, np.nan], [1.0, 2.0]]))
    assert features[0, :-1].sum() == 0.0
    held = components(0, np.full((1, 3), 1 / 3))
    counted = own.statistics(features, np.ones((2, 1)), held)
    assert counted[0, 0] == pytest.approx(1.0)
    assert counted[0, 1:-1].sum() == pytest.approx(1.0)
    assert own.log_density(features, held)[0, 0] == pytest.approx(0.0)


def test_in_own_units_the_density_is_the_same():
    rng = np.random.default_rng(2)
    block = np.array([50.0, -3.0]) + np.array([10.0, 0.1]) * rng.normal(size=(200, 2))
    part = GaussianPart.fit(block, np.arange(2), [0, 0], GaussianFamily(2).priors)
    assert isinstance(part, GaussianPart)
    mixed = SubmixturePart.of(part, Subcomponents(inner(2), np.ones(3)))
    coded = mixed.encode(block)
    over_coordinates = components(2)
    volume = mixed.log_units(block, coded) / len(block)
    np.testing.assert_allclose(
        mixed.decode(over_coordinates).log_density(block),
        over_coordinates.log_density(coded) + volume,
    )
    assert type(mixed.for_search()) is GaussianPart


def test_components_are_rebuilt_from_their_arrays_and_taken_in_any_order():
    held = components(3)
    again = ComponentSet.from_arrays("submixture", held.arrays())
    assert again == held
    taken = held.take(np.array([1, 0]))
    np.testing.assert_array_equal(taken.shares, SHARES[::-1])
    assert taken.n_components == 2
    assert taken.width == 2
    assert repr(held) == "SubmixtureComponents(2 components of 3 normal ones in R^2)"


@pytest.mark.parametrize(
    "shares",
    [
        np.ones((2, 2)) / 2,
        np.ones((2, 3)),
        np.array([[1.5, -0.5, 0.0]]),
        np.array([[np.nan, 0.5, 0.5]]),
        np.ones(3) / 3,
        np.empty((0, 3)),
    ],
)
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(InvalidInputError, match="shares"):
        components(0, shares)


def test_evidence_prefers_components_that_share_sub_components():
    own, rng = family(4), np.random.default_rng(4)
    first, second = (components(4).sample(np.full(100, j), rng) for j in (0, 1))
    pieces = np.stack(
        [own.features(block).sum(axis=0) for block in (first[:50], first[50:], second)]
    )
    prior = own.prior(pieces)

    def evidence(*groups):
        sums = np.stack([pieces[list(group)].sum(axis=0) for group in groups])
        return float(own.log_evidence(sums, prior).sum())

    assert evidence((0, 1), (2,)) > max(evidence((0,), (1,), (2,)), evidence((0, 1, 2)))
    assert own.n_parameters == 2
    assert np.isfinite(logsumexp(own.features(first)[:, -1]))


@pytest.mark.parametrize("distance", [30.0, 37.9, 38.2, 60.0])
def test_a_row_that_a_component_hardly_allows_leaves_statistics_finite(distance):
    """Other variables may put it there all the same; 1 over its density is beyond all numbers."""
    two = GaussianComponents(np.array([[0.0], [distance]]), np.ones((2, 1, 1)))
    held = SubmixtureFamily(GaussianFamily(1), Subcomponents(two, np.array([50.0, 50.0])))
    apart = SubmixtureComponents(np.eye(2), two.means, two.covariances)
    features = held.features(np.array([[0.0], [distance], [distance / 2]]))
    share = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    sums = held.statistics(features, share, apart)
    assert np.isfinite(sums).all()
    np.testing.assert_allclose(sums[1, 1:-1], [0.0, 0.5])
    found = held.components(sums, held.prior(sums))
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
