"""What every family promises: additive statistics, missing values left out, EM that only rises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from mixoracle.families import Patterns

FAMILIES = ["gaussian", "student", "diagonal", "categorical", "counts", "gamma", "product"]
# A Student log density is not linear in the features, so sums over pieces do not give it.
LINEAR = [name for name in FAMILIES if name != "student"]
SEEDS = range(20)


def statistics_of(family, blocks):
    return np.stack([family.features(block).sum(axis=0) for block in blocks])


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 4))))
def test_patterns_tell_which_cells_were_seen(missing):
    block = np.where(missing, np.nan, 1.0)
    patterns = Patterns.of(block)
    if not missing.any():
        assert patterns is None
        return
    np.testing.assert_array_equal(patterns.seen[patterns.which], ~missing)
    columns = np.arange(missing.shape[1])[::-2]
    within = patterns.of_columns(columns)
    np.testing.assert_array_equal(within.seen[within.which], ~missing[:, columns])
    some = patterns.take(slice(0, 5))
    np.testing.assert_array_equal(some.seen[some.which], ~missing[:5])


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_missing_cells_have_no_features(name, seed, draw):
    case = draw(name, seed)
    block = case.rows(30, missing=0.4)
    block[0] = np.nan
    features = case.family.features(block)
    np.testing.assert_array_equal(features[:, 0], ~np.isnan(block).all(axis=1))
    np.testing.assert_array_equal(features[0], 0.0)
    assert np.all(np.isfinite(features))
    whole = ~np.isnan(block).any(axis=1)
    np.testing.assert_array_equal(features[whole], case.family.features(block[whole]))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_log_densities_are_those_of_the_components(name, missing, seed, draw):
    case = draw(name, seed)
    block = case.rows(200, missing=missing)
    found = case.family.log_density(case.family.features(block), case.truth, Patterns.of(block))
    np.testing.assert_allclose(found, case.truth.log_density(block), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("seed", range(5))
def test_log_densities_of_pieces_are_sums_over_their_rows(name, seed, draw):
    case = draw(name, seed)
    pieces = [case.rows(n) for n in (1, 7, 30)]
    by_row = [case.truth.log_density(piece).sum(axis=0) for piece in pieces]
    found = case.family.log_density(statistics_of(case.family, pieces), case.truth)
    np.testing.assert_allclose(found, by_row, rtol=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_evidence_does_not_depend_on_how_rows_were_added_up(name, seed, draw):
    case = draw(name, seed)
    first, second = case.rows(20), case.rows(15)
    family = case.family
    added = statistics_of(family, [first, second]).sum(axis=0, keepdims=True)
    at_once = statistics_of(family, [np.vstack([second, first])])
    prior = family.prior(at_once)
    np.testing.assert_allclose(
        family.log_evidence(added, prior), family.log_evidence(at_once, prior), rtol=1e-9
    )


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_levels_are_judged_together_as_one_by_one(name, seed, draw):
    case = draw(name, seed)
    family = case.family
    pieces = statistics_of(family, np.array_split(case.rows(60), 6))
    nothing = np.zeros_like(pieces[:1])
    levels = [pieces, np.vstack([pieces[:2], nothing]), pieces.sum(axis=0, keepdims=True)]
    for level, (prior, evidence) in zip(levels, family.own_evidence(levels), strict=True):
        alone = family.prior(level)
        assert evidence == pytest.approx(family.log_evidence(level, alone).sum(), rel=1e-10)
        again = family.log_evidence(level, prior)
        np.testing.assert_allclose(again, family.log_evidence(level, alone), rtol=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_a_piece_without_rows_says_nothing(name, seed, draw):
    case = draw(name, seed)
    statistics = statistics_of(case.family, [case.rows(40, label=0), case.rows(40, label=1)])
    padded = np.vstack([statistics, np.zeros_like(statistics[:1])])
    prior = case.family.prior(padded)
    np.testing.assert_allclose(case.family.log_evidence(padded, prior)[2], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        case.family.log_evidence(padded, prior)[:2],
        case.family.log_evidence(statistics, case.family.prior(statistics)),
    )
    components = case.family.components(padded, prior)
    assert np.all(np.isfinite(components.log_density(case.rows(10))))


@pytest.mark.parametrize("name", FAMILIES)
def test_evidence_joins_pieces_of_one_component_and_parts_those_of_two(name, draw):
    joined, parted = 0, 0
    for seed in SEEDS:
        case = draw(name, seed, d=4)
        blocks = [case.rows(150, label) for label in (0, 0, 1, 1)]
        statistics = statistics_of(case.family, blocks)
        # Families that trust some rows less than others know them once they know a component.
        fitted = case.family.components(statistics, case.family.prior(statistics))
        pieces = np.repeat(np.arange(4), 150)
        completed = case.family.completed(case.family.features(np.vstack(blocks)), pieces, fitted)
        statistics = np.stack([completed[pieces == j].sum(axis=0) for j in range(4)])
        prior = case.family.prior(statistics)
        alone = case.family.log_evidence(statistics, prior)
        pairs = np.array([statistics[0] + statistics[1], statistics[1] + statistics[2]])
        same, different = case.family.log_evidence(pairs, prior)
        joined += same > alone[0] + alone[1]
        parted += different < alone[1] + alone[2]
    assert joined == len(SEEDS)
    assert parted == len(SEEDS)


def em_history(case, block, n_components, iterations=25):
    """The penalised log-likelihood before each iteration of a plain mixture's EM."""
    family, patterns = case.family, Patterns.of(block)
    features = family.features(block)
    share = case.rng.dirichlet(np.full(n_components, 0.3), len(block))
    statistics = share.T @ features
    prior = family.prior(statistics)
    history = []
    for _ in range(iterations):
        components = family.components(statistics, prior)
        weights = share.mean(axis=0)
        joint = family.log_density(features, components, patterns) + np.log(weights)
        total = logsumexp(joint, axis=1, keepdims=True)
        history.append(total.sum() + family.log_penalty(components, prior))
        share = np.exp(joint - total)
        statistics = family.statistics(features, share, components, patterns)
    return np.array(history)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_em_only_rises(name, missing, seed, draw):
    case = draw(name, seed)
    history = em_history(case, case.rows(150, missing=missing), n_components=2)
    # Rounding of sums of some hundred terms, nothing more.
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[:-1]))
    assert history[-1] > history[0]


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("seed", SEEDS)
def test_components_of_other_data_reach_less_likelihood_and_penalty(name, seed, draw):
    case = draw(name, seed)
    family = case.family
    pieces = statistics_of(family, [case.rows(12, label=0), case.rows(90)])
    prior, own = family.prior(pieces), pieces[:1]

    def reached(components):
        return family.log_density(own, components)[0, 0] + family.log_penalty(components, prior)

    best = reached(family.components(own, prior))
    for share in (0.01, 0.1, 0.5, 0.9):
        for other in (pieces[1:], statistics_of(family, [case.rows(5)])):
            mixed = (1.0 - share) * own + share * other
            assert reached(family.components(mixed, prior)) <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_the_embedding_has_no_missing_values(name, missing, seed, draw):
    case = draw(name, seed)
    block = case.rows(300, missing=missing)
    block[0] = np.nan
    embedded = case.family.embedding(block)
    assert len(embedded) == len(block)
    assert np.all(np.isfinite(embedded))
    # Rows with nothing in them lie at the mean.
    np.testing.assert_allclose(embedded[0], embedded.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_columns_that_nobody_saw_do_no_harm(name, draw):
    case = draw(name, 0)
    block = case.rows(60)
    block[:, 1] = np.nan
    family, patterns = case.family, Patterns.of(block)
    features = family.features(block)
    statistics = family.statistics(features, np.full((60, 2), 0.5), case.truth, patterns)
    prior = family.prior(statistics)
    components = family.components(statistics, prior)
    assert np.all(np.isfinite(family.log_density(features, components, patterns)))
    assert np.all(np.isfinite(family.log_evidence(statistics, prior)))
    assert np.all(np.isfinite(family.embedding(block)))


@pytest.mark.parametrize("name", ["diagonal", "categorical", "counts", "gamma"])
def test_rows_of_independent_columns_need_no_completion(name, draw):
    case = draw(name, 0)
    block = case.rows(20, missing=0.3)
    features = case.family.features(block)
    labels = np.zeros(20, dtype=np.int64)
    completed = case.family.completed(features, labels, case.truth, Patterns.of(block))
    np.testing.assert_array_equal(completed, features)
