"""Rows with missing values in families with dependence, against row-by-row regressions."""

import numpy as np
import pytest

from mixoracle.families import Patterns

SEEDS = range(10)


def regression(row, mean, matrix):
    """The expected whole row given the seen cells, and the covariance of what was not seen."""
    seen = ~np.isnan(row)
    slope = matrix[np.ix_(~seen, seen)] @ np.linalg.inv(matrix[np.ix_(seen, seen)])
    whole = row.copy()
    whole[~seen] = mean[~seen] + slope @ (row[seen] - mean[seen])
    leftover = np.zeros_like(matrix)
    inside = np.ix_(~seen, ~seen)
    leftover[inside] = matrix[inside] - slope @ matrix[np.ix_(seen, ~seen)]
    return whole, leftover


def row_weight(row, mean, matrix, degrees):
    seen = ~np.isnan(row)
    away = row[seen] - mean[seen]
    squared = away @ np.linalg.inv(matrix[np.ix_(seen, seen)]) @ away
    return 1.0 if degrees is None else (degrees + seen.sum()) / (degrees + squared)


def expected_features(case, row, j):
    """Count, weighted sums, weighted products (upper triangle) and weight of one row."""
    degrees = getattr(case.family, "degrees", None)
    truth = case.truth
    matrix = truth.covariances[j] if degrees is None else truth.scales[j]
    if np.isnan(row).all():
        return np.zeros_like(case.family.features(row[None])[0])
    whole, leftover = regression(row, truth.means[j], matrix)
    weight = row_weight(row, truth.means[j], matrix, degrees)
    products = (weight * np.outer(whole, whole) + leftover)[np.triu_indices(len(row))]
    tail = [] if degrees is None else [weight]
    return np.concatenate([[1.0], weight * whole, products, tail])


@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("missing", [0.0, 0.35])
@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_are_expected_statistics(name, missing, seed, draw):
    case = draw(name, seed)
    block = case.rows(25, missing=missing)
    share = case.rng.dirichlet([1.0, 1.0], 25)
    expected = np.stack(
        [
            sum(share[r, j] * expected_features(case, row, j) for r, row in enumerate(block))
            for j in range(2)
        ]
    )
    found = case.family.statistics(
        case.family.features(block), share, case.truth, Patterns.of(block)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("missing", [0.0, 0.35])
@pytest.mark.parametrize("seed", SEEDS)
def test_completed_rows_are_worth_what_was_seen_of_them(name, missing, seed, draw):
    case = draw(name, seed)
    block = case.rows(25, missing=missing)
    if missing:
        block[3] = np.nan
    labels = case.rng.integers(0, 2, 25)
    expected = np.stack(
        [
            (~np.isnan(row)).mean() * expected_features(case, row, j)
            for row, j in zip(block, labels, strict=True)
        ]
    )
    found = case.family.completed(
        case.family.features(block), labels, case.truth, Patterns.of(block)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_labels_may_leave_components_without_rows_of_a_pattern(name, draw):
    case = draw(name, 0, k=3)
    block = case.rows(10)
    block[4, 1] = np.nan
    labels = np.full(10, 2)
    found = case.family.completed(
        case.family.features(block), labels, case.truth, Patterns.of(block)
    )
    np.testing.assert_allclose(found[4, 0], 2.0 / 3.0)
    np.testing.assert_allclose(np.delete(found[:, 0], 4), 1.0)


def test_half_seen_rows_do_not_raise_the_evidence_of_a_wrong_split(draw):
    """Completing rows from two halves of one component must not make them two components."""
    kept = 0
    for seed in range(20):
        case = draw("gaussian", seed)
        block = case.rows(300, label=0, missing=0.3)
        family, patterns = case.family, Patterns.of(block)
        labels = case.rng.integers(0, 2, 300)
        start = np.stack([family.features(case.rows(150, label=0)).sum(axis=0)] * 2)
        components = family.components(start, family.prior(start))
        rows = family.completed(family.features(block), labels, components, patterns)
        pieces = np.stack([rows[labels == j].sum(axis=0) for j in (0, 1)])
        prior = family.prior(pieces)
        together = family.log_evidence(pieces.sum(axis=0, keepdims=True), prior)[0]
        kept += together > family.log_evidence(pieces, prior).sum()
    assert kept == 20


@pytest.mark.parametrize("name", ["gaussian", "student", "product"])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_completed_by_those_with_the_same_label_where_no_component_is_known(
    name, seed, draw
):
    """The means that EM then starts from are those of the seen cells, label by label."""
    case = draw(name, seed)
    labels = case.rng.integers(0, 2, 200)
    block = case.truth.sample(labels, case.rng)
    block[case.rng.random(block.shape) < 0.3] = np.nan
    family, patterns = case.family, Patterns.of(block)
    found = family.completed(family.features(block), labels, None, patterns)
    start = 1 if name == "product" else 0
    columns = family.columns[0] if name == "product" else np.arange(3)
    inside = found[:, start : start + 1 + len(columns)]
    share = (~np.isnan(block[:, columns])).mean(axis=1)
    np.testing.assert_allclose(inside[:, 0], share)
    if name == "student":
        return  # its sums are weighted, each row by its own distance
    for j in (0, 1):
        means = np.nanmean(block[labels == j][:, columns], axis=0)
        rows = (labels == j) & (share > 0)
        whole = inside[rows, 1:] / share[rows, None]
        missing = np.isnan(block[rows][:, columns])
        np.testing.assert_allclose(whole[missing], np.broadcast_to(means, missing.shape)[missing])
        np.testing.assert_allclose(whole[~missing], block[rows][:, columns][~missing])
