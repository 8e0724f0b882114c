"""The numbers behind pictures of measurements."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from mixoracle.datasets import item_problem, kind_problem
from mixoracle.report import measurements as numbers
from mixoracle.report.evidence import Effect
from mixoracle.report.profiles import MAX_PROFILE_LINES, is_item, profile_of


def numeric(block, kind="density", titles=None, is_share=None):
    block = np.asarray(block, dtype=float).reshape(len(block), -1)
    titles = titles or tuple(f"c{k}" for k in range(block.shape[1]))
    return numbers.Numeric(titles, is_share or (False,) * block.shape[1], block, kind)


def test_intervals_of_means_are_those_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(5.0, 2.0, 60)
    mean, low, high = numbers._mean(values, is_share=False)
    error = stats.sem(values)
    assert mean == pytest.approx(values.mean(), rel=1e-5)
    assert (low, high) == pytest.approx(stats.norm.interval(0.95, values.mean(), error), rel=1e-5)


@pytest.mark.parametrize("hits", [0, 3, 30])
def test_intervals_of_shares_are_wilsons(hits):
    values = np.r_[np.ones(hits), np.zeros(30 - hits), np.nan]
    mean, low, high = numbers._mean(values, is_share=True)
    wanted = stats.binomtest(hits, 30).proportion_ci(method="wilson")
    assert mean == pytest.approx(hits / 30, rel=1e-5)
    assert (low, high) == pytest.approx((wanted.low, wanted.high), rel=1e-4, abs=1e-9)


def test_few_values_have_no_interval():
    assert numbers._mean(np.array([np.nan, 2.0]), is_share=False) == (2.0, None, None)
    assert numbers._mean(np.array([np.nan]), is_share=True) == (None, None, None)


@pytest.mark.parametrize("seed", range(4))
def test_a_density_is_that_of_the_values(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(3.0, 2.0, 4000)[:, None]
    at = numbers._grid(values)
    heights = numbers._curve(values, at)
    assert trapezoid(heights, at) == pytest.approx(1, abs=0.02)
    assert np.abs(heights - stats.norm.pdf(at, 3.0, 2.0)).max() < 0.02


def test_odd_columns_have_a_shape_too():
    for block in (np.full((9, 1), np.nan), np.full((9, 1), 4.0)):
        at = numbers._grid(block)
        assert np.isfinite(numbers._curve(block, at)).all()
        assert (np.diff(at) > 0).all()
        assert len(numbers._steps(block)) >= 2


@pytest.mark.parametrize(("most", "bars"), [(4, 5), (29, 30), (900, 30)])
def test_bars_of_counts_hold_all_cases(most, bars):
    block = np.arange(most + 1.0)[:, None]
    at = numbers._steps(block)
    assert len(at) - 1 <= bars
    assert numbers._bars(block, at).sum() == pytest.approx(1)


def test_a_direction_is_named_by_its_columns():
    titles = ("heat", "flow", "speed")
    assert numbers._axis(titles, np.array([0.9, -0.4, 0.1])) == "heat − flow …"
    assert numbers._axis(titles[:2], np.array([0.2, 0.8])) == "flow + heat"


@pytest.mark.parametrize("kind", ["categorical", "counts", "mixed", "gamma"])
def test_every_kind_has_effects_that_a_profile_shows(make_result, kind):
    problem = kind_problem(2, 4, 3, 300, random_state=1, kind=kind, width=2)
    result = make_result(model=problem.model, levels=problem.observations.levels, n_samples=300)
    columns = result.evidence.columns
    for j in range(2):
        lines = profile_of(result.evidence.effects, columns, j)
        assert {line.observed for line in lines} == set(problem.model.children(j))
        for line in lines:
            means = [m for m in line.means if m is not None]
            # Weighted by the sizes of the states, they are the mean of all cases.
            assert min(means) - 1e-6 <= line.centre <= max(means) + 1e-6
            for low, mean, high in zip(line.low, line.means, line.high, strict=True):
                assert low is None or low <= mean <= high


def test_a_test_is_one_profile_with_a_line_for_each_item(make_result):
    problem = item_problem(2, 10, 300, random_state=0)
    levels = [(("wrong", "right"),)] * 10
    evidence = make_result(model=problem.model, levels=levels, n_samples=300).evidence
    for j in range(2):
        lines = profile_of(evidence.effects, evidence.columns, j)
        assert [line.observed for line in lines] == list(problem.model.children(j))
        assert all(line.title.endswith("= right") for line in lines)
    assert all(is_item(evidence.columns, i) for i in range(10))


def test_standardised_means_are_in_units_of_the_spread(make_result):
    evidence = make_result(2, 5).evidence
    line = profile_of(evidence.effects, evidence.columns, 0)[0]
    scaled = line.standardised(line.means)
    assert scaled[0] == pytest.approx((line.means[0] - line.centre) / line.spread, abs=1e-3)
    assert line.standardised((None, line.centre)) == (None, 0.0)


def test_of_many_lines_the_strongest_come_first():
    def effect(i):
        one, share = ((0.0,), (1.0,)), (7 * i % 50) / 50
        return Effect(i, 0, (f"X{i}",), (False,), one, one, one, (0.5,), (1.0,), share)

    effects = [effect(i) for i in range(MAX_PROFILE_LINES + 5)]
    assert [line.observed for line in profile_of(effects[:5], (), 0)] == list(range(5))
    held = [effects[line.observed].share for line in profile_of(effects, (), 0)]
    assert held == sorted(held, reverse=True)
