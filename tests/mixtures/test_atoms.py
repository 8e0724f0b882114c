"""Numbers that repeat are a state where the other variables agree, and missing values elsewhere."""

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner

N = 1_200


def _off(seed, share):
    rng = np.random.default_rng(seed)
    return rng, rng.random(N) < share


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_zeros_together_are_a_state(seed, share):
    rng, off = _off(seed, share)
    table = pd.DataFrame({name: np.where(off, 0.0, rng.normal(5.0, 1.0, N)) for name in "abc"})
    table["d"] = rng.normal(size=N)
    learner = LatentGraphLearner(random_state=0).fit(table)
    assert learner.model_.domain_sizes == (2,)
    assert learner.model_.bipartite[:, 0].tolist() == [True, True, True, False]
    assert len(set(map(tuple, np.unique(np.c_[learner.states_[:, 0], off], axis=0)))) == 2
    assert [column.agreed for column in learner.columns_] == [(0.0,)] * 3 + [()]
    assert "counts as a state" in str(learner.summary())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("centre", [0.0, 5.0, 50.0], ids=["inside", "beside", "far"])
def test_one_variable_at_zero_in_a_state_that_others_show(seed, centre):
    rng, off = _off(seed, 0.2)
    table = pd.DataFrame(
        {
            "a": np.where(off, 0.0, rng.normal(centre, 1.0, N)),
            "b": rng.normal(np.where(off, 0.0, 6.0)),
            "c": rng.normal(np.where(off, 3.0, -3.0)),
        }
    )
    learner = LatentGraphLearner(random_state=0).fit(table)
    assert learner.model_.domain_sizes == (2,)
    assert learner.model_.bipartite.all()
    assert not learner.set_aside_.any()
    new = learner.model_.predict(table[:200])[:, 0]
    assert (new == learner.states_[:200, 0]).all()


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_share_only_repeated_numbers_are_no_copies(seed, recwarn):
    rng, off = _off(seed, 0.3)
    table = pd.DataFrame({name: np.where(off, 0.0, rng.normal(5.0, 1.0, N)) for name in "abc"})
    learner = LatentGraphLearner(random_state=0).fit(table)
    assert learner.model_.domain_sizes == (2,)
    assert not any("copies" in str(warning.message) for warning in recwarn)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("follows", [False, True], ids=["at random", "more often in a state"])
def test_other_zeros_stay_missing(seed, follows):
    rng, state = _off(seed, 0.4)
    share = np.where(state, 0.4, 0.1) if follows else np.full(N, 0.3)
    table = pd.DataFrame(
        {
            name: np.where(rng.random(N) < share, 0.0, rng.normal(np.where(state, 4.0, 10.0)))
            for name in "abcd"
        }
    )
    learner = LatentGraphLearner(random_state=0).fit(table)
    assert learner.model_.domain_sizes == (2,)
    assert learner.model_.bipartite.all()
    assert [column.repeated for column in learner.columns_] == [(0.0,)] * 4


@pytest.mark.parametrize("seed", range(3))
def test_units_and_order_do_not_matter(seed):
    rng, off = _off(seed, 0.3)
    table = pd.DataFrame({name: np.where(off, 0.0, rng.normal(5.0, 1.0, N)) for name in "abc"})
    states = LatentGraphLearner(random_state=0).fit(table).states_[:, 0]
    order = rng.permutation(N)
    moved = (4.0 * table + 8.0).iloc[order, ::-1]
    again = LatentGraphLearner(random_state=0).fit(moved).states_[:, 0]
    assert (again == states[order]).all() or (again != states[order]).all()


@pytest.mark.parametrize("seed", range(4))
def test_zeros_that_are_only_more_frequent_together_are_doubted(seed):
    rng, state = _off(seed, 0.3)
    share = np.where(state, 0.6, 0.1)
    table = pd.DataFrame(
        {name: np.where(rng.random(N) < share, 0.0, rng.normal(5.0, 1.0, N)) for name in "abcd"}
    )
    verdict = LatentGraphLearner(random_state=0).fit(table).verdict_
    assert verdict.level != "believe"
    assert any("depend on which cases have it" in reason for reason in verdict.reasons)
