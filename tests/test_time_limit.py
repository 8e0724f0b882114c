"""When the time is up, an answer comes all the same, and says what was left out."""

import time
import warnings

import pytest

from mixoracle import LatentGraphLearner
from mixoracle.datasets import item_problem, paper_problem
from mixoracle.errors import InvalidInputError


@pytest.fixture(scope="module")
def items():
    return item_problem(2, 12, n_samples=400, random_state=0).observations


def fitted(observations, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentGraphLearner(random_state=0, **settings).fit(observations)


def test_an_answer_comes_and_says_what_was_left_out(items):
    begin = time.process_time()
    hurried = fitted(items, time_limit=1e-6)
    seconds_hurried = time.process_time() - begin
    assert hurried.model_.n_observed == 12
    assert "one mixture over all measurements" in hurried.left_out_
    assert hurried.verdict_.level != "believe"
    (reason,) = [text for text in hurried.verdict_.reasons if "time limit" in text]
    assert all(what in reason for what in hurried.left_out_)
    begin = time.process_time()
    assert fitted(items).left_out_ == ()
    assert seconds_hurried < (time.process_time() - begin) / 2


def test_a_limit_that_is_not_reached_changes_nothing():
    problem = paper_problem(1, 3, 3, 300, random_state=0, covariance="code")
    free, limited = fitted(problem.observations), fitted(problem.observations, time_limit=1e6)
    assert limited.model_ == free.model_
    assert limited.left_out_ == ()
    assert limited.verdict_ == free.verdict_


def test_the_limit_is_that_of_the_fit_alone():
    problem = paper_problem(1, 3, 2, 300, random_state=0, covariance="code")
    free, hurried = fitted(problem.observations), fitted(problem.observations, time_limit=1e-6)
    assert hurried.bootstrap(2, random_state=0).latents == free.bootstrap(2, random_state=0).latents


@pytest.mark.parametrize("limit", [0, -1.0, "soon", True, float("nan")])
def test_what_is_no_time_is_refused(items, limit):
    with pytest.raises(InvalidInputError, match="time_limit should be seconds above 0"):
        fitted(items, time_limit=limit)
