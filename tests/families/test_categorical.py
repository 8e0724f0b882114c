import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.families import CategoricalFamily
from mixoracle.mixtures.merging import KnownPieces, merge_pieces
from mixoracle.model import CategoricalComponents
from mixoracle.settings import Priors

SEEDS = range(15)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_evidence_is_the_product_of_the_predictive_probabilities(seed, missing, draw):
    case = draw("categorical", seed)
    family, block = case.family, case.rows(25, missing=missing)
    prior = family.prior(family.features(case.rows(60)).sum(axis=0, keepdims=True))
    counts = prior.concentration.copy()
    starts = np.cumsum(family.n_levels) - family.n_levels
    total = 0.0
    for row in block:
        for start, size, code in zip(starts, family.n_levels, row, strict=True):
            if not np.isnan(code):
                total += np.log(counts[start + int(code)] / counts[start : start + size].sum())
                counts[start + int(code)] += 1.0
    found = family.log_evidence(family.features(block).sum(axis=0, keepdims=True), prior)[0]
    assert found == pytest.approx(total, rel=1e-10)


def test_the_prior_has_the_shares_of_all_rows_and_few_rows_of_weight():
    family = CategoricalFamily([2, 4])
    block = np.array([[0.0, 1.0]] * 30 + [[1.0, 2.0]] * 10)
    prior = family.prior(family.features(block).sum(axis=0, keepdims=True))
    np.testing.assert_allclose(prior.concentration[:2].sum(), 2 * Priors().rows_per_level)
    np.testing.assert_allclose(prior.concentration[2:].sum(), 4 * Priors().rows_per_level)
    np.testing.assert_allclose(prior.concentration[0] / prior.concentration[1], 30.5 / 10.5)
    assert np.all(prior.concentration > 0)


def test_a_level_that_a_component_never_showed_stays_possible():
    family = CategoricalFamily([3])
    statistics = np.stack(
        [family.features(np.full((1000, 1), code)).sum(axis=0) for code in (0.0, 1.0)]
    )
    components = family.components(statistics, family.prior(statistics))
    assert np.all(components.probabilities > 0)
    # The level that occurs nowhere is the rarest of all.
    assert np.all(components.probabilities.argmin(axis=1) == 2)
    assert np.all(np.isfinite(components.log_density(np.array([[2.0]]))))


@pytest.mark.parametrize(("one", "other"), [(0.1, 0.9), (0.3, 0.7), (0.2, 0.2), (0.5, 0.5)])
def test_binary_pieces_coincide_where_their_shares_do(one, other):
    family, right = CategoricalFamily([2]), 0
    expected = [0, 0, 0, 0] if one == other else [0, 0, 1, 1]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pieces = [rng.random((300, 1)) < share for share in (one, one, other, other)]
        statistics = np.stack(
            [family.features(piece.astype(float)).sum(axis=0) for piece in pieces]
        )
        found = merge_pieces(statistics, family, KnownPieces(0.5 * np.log(1200))).groups
        right += np.array_equal(np.unique(found, return_inverse=True)[1], expected)
    assert right >= 19


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_probabilities_reach_more(seed, draw):
    case = draw("categorical", seed, d=1)
    family = case.family
    statistics = (case.rng.random(30) @ family.features(case.rows(30)))[None]
    prior = family.prior(family.features(case.rows(60)).sum(axis=0, keepdims=True))

    def reached(components):
        fit = family.log_density(statistics, components)[0, 0]
        return fit + family.log_penalty(components, prior)

    best = family.components(statistics, prior)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(10):
            moved = best.probabilities * np.exp(
                size * case.rng.normal(size=best.probabilities.shape)
            )
            other = CategoricalComponents(moved / moved.sum(), family.n_levels)
            assert reached(other) <= reached(best) + 1e-9 * abs(reached(best))


def test_each_column_of_the_embedding_has_variance_1_and_constant_ones_0():
    rng = np.random.default_rng(0)
    block = np.column_stack([rng.integers(0, 4, 200), np.zeros(200), rng.integers(0, 2, 200)])
    block = block.astype(float)
    block[:20, 0] = np.nan
    embedded = CategoricalFamily([4, 3, 2]).embedding(block)
    assert embedded.shape == (200, 9)
    np.testing.assert_allclose(embedded.mean(axis=0), 0.0, atol=1e-12)
    variance = embedded.var(axis=0)
    found = [variance[:4].sum(), variance[4:7].sum(), variance[7:].sum()]
    np.testing.assert_allclose(found, [1.0, 0.0, 1.0], atol=1e-12)


def test_parameters_are_the_levels_that_are_free():
    assert CategoricalFamily([2, 4, 1]).n_parameters == 4


def test_what_is_no_level_is_refused():
    with pytest.raises(InvalidInputError, match="column 1 has codes 0 to 2; got 3"):
        CategoricalFamily([2, 3]).features(np.array([[0.0, 1.0], [0.0, 3.0]]))
    with pytest.raises(InvalidInputError, match="at least 1, one for each column"):
        CategoricalFamily([])


def test_computed_components_pass_the_check_of_given_ones():
    """They are made without it, because EM makes thousands."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        family = CategoricalFamily(rng.integers(2, 5, size=int(rng.integers(1, 4))))
        block = np.stack([rng.integers(0, size, 40) for size in family.n_levels], axis=1)
        statistics = family.features(block.astype(float)).reshape(4, 10, -1).sum(axis=1)
        made = family.components(statistics, family.prior(statistics))
        assert made == CategoricalComponents(made.probabilities, made.n_levels)
        assert not made.probabilities.flags.writeable
