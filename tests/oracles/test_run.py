"""What the learner hands to an oracle besides the data."""

import logging
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.oracles.run import Run, Stage, to_log
from mixoracle.settings import Budget, Priors, Settings


def made(**choices):
    return Run(np.random.default_rng(0), **choices)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "two", None])
def test_a_wrong_number_of_jobs_is_refused(n_jobs):
    with pytest.raises(InvalidInputError, match="n_jobs should be a number of jobs, or -1"):
        made(n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 4, -1, -2])
def test_jobs_are_counted_as_joblib_counts_them(n_jobs):
    assert made(n_jobs=n_jobs).n_jobs == n_jobs


@pytest.mark.parametrize("limit", [0, -3, 1.5, True])
def test_a_wrong_limit_on_components_is_refused(limit):
    with pytest.raises(InvalidInputError, match=f"max_components.*at least 1; got {limit}"):
        made(max_components=limit)


def test_a_run_is_never_changed():
    with pytest.raises(FrozenInstanceError):
        made().n_jobs = 2


class TestWithOwn:
    def test_what_an_object_leaves_open_the_learner_decides(self):
        stages = []
        run = made(
            max_components=7, n_jobs=2, report=stages.append, settings=Settings(Budget(tuples=9))
        )
        same = run.with_own(None, None, None)
        assert same == run
        assert same.rng is run.rng

    @pytest.mark.parametrize(
        ("own", "expected"),
        [
            ((3, None, None), (3, 2)),
            ((None, 5, None), (7, 5)),
            ((3, 5, None), (3, 5)),
        ],
    )
    def test_what_it_was_given_takes_precedence(self, own, expected):
        run = made(max_components=7, n_jobs=2)
        changed = run.with_own(*own)
        assert (changed.max_components, changed.n_jobs) == expected
        assert changed.rng is run.rng
        assert (run.max_components, run.n_jobs) == (7, 2)

    def test_its_own_seed_makes_its_own_generator(self):
        run = made()
        changed = run.with_own(None, None, 5)
        assert changed.rng is not run.rng
        assert changed.rng.integers(10**9) == np.random.default_rng(5).integers(10**9)
        own = np.random.default_rng(1)
        assert run.with_own(None, None, own).rng is own

    def test_zero_is_a_seed(self):
        run = Run(np.random.default_rng(9))
        drawn = run.with_own(None, None, 0).rng.integers(10**9)
        assert drawn == np.random.default_rng(0).integers(10**9)

    @pytest.mark.parametrize("own", [(0, None, None), (None, 0, None), (None, None, -1)])
    def test_wrong_settings_of_an_object_are_refused_as_well(self, own):
        with pytest.raises(InvalidInputError):
            made().with_own(*own)

    def test_settings_and_report_stay(self):
        run = made(settings=Settings(Budget(tuples=9), Priors(isolation=0.5)), report=print)
        changed = run.with_own(3, 2, 1)
        assert changed.settings == run.settings
        assert changed.report is print


class TestLimit:
    def test_it_follows_the_rows(self):
        assert made().components_of_one_variable(10**6) == Budget().components
        assert made().components_of_one_variable(2) == 1
        assert made(max_components=5).components_of_one_variable(40) == 5

    def test_it_follows_budget_and_priors(self):
        assert made(settings=Settings(Budget(components=9))).components_of_one_variable(10**6) == 9
        # Eight rows to a component, unless components need more.
        assert made().components_of_one_variable(80) == 10
        more = Settings(priors=Priors(rows_per_component=20))
        assert made(settings=more).components_of_one_variable(80) == 4

    def test_what_was_asked_for_may_exceed_the_budget_but_not_the_rows(self):
        run = made(max_components=200)
        assert run.components_of_one_variable(1600) == 200
        with pytest.raises(
            InvalidInputError, match=r"needs at least 48 rows .* got 40: use at most 5"
        ):
            made(max_components=6).components_of_one_variable(40)


def test_stages_are_words_that_a_user_sees(caplog):
    with caplog.at_level(logging.INFO, logger="mixoracle.oracles.run"):
        to_log(Stage.DECODING)
    assert caplog.messages == ["decoding the latents"]
    assert len({str(stage) for stage in Stage}) == len(Stage)
    assert all(str(stage)[0].islower() for stage in Stage)
