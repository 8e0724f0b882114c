"""Rounded numbers are spread within their step, all others stay as they are."""

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import paper_problem
from mixoracle.errors import DataWarning
from mixoracle.metrics import compare
from mixoracle.mixtures.ties import (
    repeated_values,
    rounding_step,
    rounding_steps,
    spread_by,
    ties_and_quantiles,
    without_copies,
)


def _spread(block):
    return spread_by(block, rounding_steps(block))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("step", [1e-3, 0.1, 0.25, 2.0, 1e6])
def test_the_step_of_rounded_numbers_is_found(seed, step):
    rng = np.random.default_rng(seed)
    column = np.round(rng.normal(size=2_000) * 20) * step + 37.0
    column[::50] = np.nan
    assert rounding_step(column) == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_values_stay_within_half_a_step_and_missing_ones_missing(seed):
    rng = np.random.default_rng(seed)
    block = np.round(rng.normal(size=(1_000, 3)), 1)
    block[3, 1] = np.nan
    spread = _spread(block)
    np.testing.assert_array_equal(np.isnan(spread), np.isnan(block))
    assert np.nanmax(np.abs(spread - block)) <= 0.05 + 1e-12
    assert len(np.unique(spread[:, 0])) == 1_000
    np.testing.assert_array_equal(spread, _spread(block))


def test_no_two_variables_are_spread_alike():
    one, other = np.round(np.random.default_rng(0).normal(size=(2, 2_000, 2)), 1)
    noise = [_spread(block) - block for block in (one, other, 10.0 * one + 3.0)]
    assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.05
    np.testing.assert_allclose(noise[2], 10.0 * noise[0], atol=1e-9)


@pytest.mark.parametrize(
    "block",
    [
        np.random.default_rng(0).normal(size=(500, 2)),
        np.repeat(np.random.default_rng(1).normal(size=(100, 2)), 5, axis=0),
        np.full((50, 1), 3.0),
        np.full((50, 1), np.nan),
    ],
    ids=["not rounded", "rows repeated", "constant", "missing"],
)
def test_other_numbers_are_left_as_they_are(block):
    assert _spread(block) is block


def test_only_the_rounded_columns_are_spread():
    rng = np.random.default_rng(2)
    block = np.column_stack([rng.normal(size=800), np.round(rng.normal(size=800), 1)])
    spread = _spread(block)
    np.testing.assert_array_equal(spread[:, 0], block[:, 0])
    assert (spread[:, 1] != block[:, 1]).mean() > 0.99


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("digits", "centre", "spread"), [(1, 37.0, 0.4), (0, 500.0, 2.0)])
def test_rounded_noise_is_no_cause(seed, digits, centre, spread):
    noise = np.random.default_rng(seed).normal(size=(1_000, 5))
    learner = LatentGraphLearner(random_state=0).fit(np.round(centre + spread * noise, digits))
    assert learner.model_.n_latent == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.filterwarnings("ignore::mixoracle.errors.AssumptionWarning")
def test_rounding_does_not_hide_what_is_there(seed, share):
    """Columns rounded to a quarter of, and to the whole, standard deviation of the noise."""
    problem = paper_problem(2, 5, 3, 1_500, random_state=seed, covariance="code")
    residual = [held.covariances for held in problem.model.components]
    values = problem.observations.values
    step = share * np.concatenate(
        [np.sqrt(np.diagonal(c, axis1=1, axis2=2)).mean(0) for c in residual]
    )
    learner = LatentGraphLearner(random_state=0).fit(np.round(values / step) * step, groups=5)
    found = compare(problem.model, learner.model_)
    assert found.domains_exact
    assert found.bipartite_exact


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_counted_once(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(200, 4))
    values[7, 2] = np.nan
    order = rng.integers(200, size=500)
    observations = Observations.from_array(values[order], groups=2)
    with pytest.warns(DataWarning, match="of 500 rows are exact copies"):
        distinct, member = without_copies(observations)
    assert distinct.n_samples == len(np.unique(order))
    np.testing.assert_array_equal(distinct.values[member], observations.values)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).integers(2, size=(300, 6)).astype(float),
        np.round(np.random.default_rng(1).normal(size=(300, 2)), 1),
        np.random.default_rng(2).normal(size=(300, 3)),
    ],
    ids=["answers", "rounded", "all different"],
)
def test_rows_that_agree_by_chance_are_no_copies(values):
    observations = Observations.from_array(values)
    distinct, member = without_copies(observations)
    assert distinct is observations
    np.testing.assert_array_equal(member, np.arange(len(values)))


def test_rows_without_a_telling_value_are_no_copies():
    values = np.column_stack([np.random.default_rng(0).normal(size=50), np.tile([0.0, 1.0], 25)])
    values[[3, 5, 7], 0] = np.nan
    values[[8, 9]] = np.nan
    values[20] = values[10]
    with pytest.warns(DataWarning, match="1 of 50 rows are"):
        distinct, member = without_copies(Observations.from_array(values))
    assert distinct.n_samples == 49
    assert member[20] == member[10]


@pytest.mark.parametrize("seed", range(3))
def test_rows_entered_several_times_teach_nothing_new(seed):
    problem = paper_problem(2, 5, 3, 600, random_state=seed, covariance="code")
    once = LatentGraphLearner(random_state=0).fit(problem.observations)
    repeated = problem.observations.take(np.repeat(np.arange(600), 5))
    with pytest.warns(DataWarning, match="2400 of 3000 rows are exact copies"):
        learner = LatentGraphLearner(random_state=0).fit(repeated)
    assert learner.bic_ == once.bic_
    np.testing.assert_array_equal(learner.states_, np.repeat(once.states_, 5, axis=0))
    assert learner.set_aside_.shape == (3000, 5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_value_that_sticks_out_is_seen(seed, share):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=1_000) + 5.0
    column[rng.random(1_000) < share] = 0.0
    assert repeated_values(column) == (0.0,)
    assert repeated_values(np.minimum(column, 6.5)) == (0.0, 6.5)


@pytest.mark.parametrize("seed", range(5))
def test_rounded_numbers_levels_and_what_a_column_mostly_is_do_not_stick_out(seed):
    rng = np.random.default_rng(seed)
    assert repeated_values(np.round(rng.normal(size=5_000), 1)) == ()
    assert repeated_values(np.round(3.0 * rng.normal(size=500))) == ()
    assert repeated_values(rng.integers(5, size=300).astype(float)) == ()
    assert repeated_values(np.concatenate([np.zeros(700), rng.normal(size=300)])) == ()
    assert repeated_values(np.full(50, np.nan)) == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_sensor_that_reads_zero_now_and_then_makes_no_cause(seed):
    problem = paper_problem(2, 6, 3, n_samples=1_500, random_state=seed)
    rng = np.random.default_rng(seed)
    blocks = {name: problem.observations[name].copy() for name in problem.observations.names}
    for block in blocks.values():
        block[rng.random(len(block)) < 0.1] = 0.0
    learner = LatentGraphLearner(random_state=0).fit(Observations.from_arrays(blocks))
    found = compare(problem.model, learner.model_)
    assert found.bipartite_exact
    assert found.domains_exact
    assert all(column.repeated == (0.0,) for column in learner.columns_)
    # New rows are read as those that were learned from.
    np.testing.assert_array_equal(
        learner.predict(Observations.from_arrays(blocks)), learner.states_
    )


def test_columns_with_a_number_twice_are_known():
    values = np.array([[1.0, np.nan, 0.1], [2.0, np.nan, 0.2], [1.0, 3.0, 0.3]])
    tied, quantiles = ties_and_quantiles(values, (0.0, 0.5, 1.0))
    assert tied.tolist() == [True, False, False]
    np.testing.assert_array_equal(quantiles, [[1.0, 1.0, 2.0], [3.0, 3.0, 3.0], [0.1, 0.2, 0.3]])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("digits", "preferred"), [(1, 5.0), (1, 1.0), (2, 0.5)])
def test_preferred_digits_are_measurements(seed, digits, preferred):
    rng = np.random.default_rng(seed)
    column = np.round(rng.normal(np.where(rng.random(300) < 0.4, 90.0, 60.0), 6.0), digits)
    chosen = rng.random(300) < 0.35
    column[chosen] = np.round(column[chosen] / preferred) * preferred
    assert repeated_values(column) == ()
    # A limit is none.
    limited = np.minimum(rng.normal(size=500), 1.0)
    assert repeated_values(limited) == (1.0,)


def test_no_value_of_the_wine_data_is_dropped():
    from sklearn.datasets import load_wine

    assert [repeated_values(column) for column in load_wine().data.T] == [()] * 13


@pytest.mark.parametrize("seed", range(3))
def test_a_zero_inside_and_limits_at_both_ends_are_recognised(seed):
    rng = np.random.default_rng(seed)
    column = np.clip(rng.normal(size=2_000), -1.0, 1.5)
    column[rng.random(2_000) < 0.05] = 0.0
    assert repeated_values(column) == (-1.0, 0.0, 1.5)
