import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mixoracle import LatentGraphLearner
from mixoracle._threads import one_thread
from mixoracle.datasets import paper_problem


def linear_algebra():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_within_and_as_many_as_before_after():
    with threadpool_limits(limits=2, user_api="blas"):
        with one_thread():
            assert linear_algebra() == {1}
        assert linear_algebra() == {2}


@pytest.fixture
def threads_while_sorting(monkeypatch):
    """How many threads there were whenever something was sorted, which every stage does."""
    seen = []
    sort = np.sort

    def told(*args, **named):
        seen.append(linear_algebra())
        return sort(*args, **named)

    monkeypatch.setattr(np, "sort", told)
    return seen


def test_a_fit_and_its_resamples_work_on_one_thread(threads_while_sorting):
    """Small products on all cores of a busy machine took twice as long as all the rest."""
    problem = paper_problem(1, 3, 2, n_samples=120, random_state=0, covariance="code")
    with threadpool_limits(limits=2, user_api="blas"):
        learner = LatentGraphLearner(random_state=0).fit(problem.observations)
        assert threads_while_sorting
        assert set(map(tuple, threads_while_sorting)) == {(1,)}
        threads_while_sorting.clear()
        learner.bootstrap(n_resamples=2)
        learner.held_out()
        assert threads_while_sorting
        assert set(map(tuple, threads_while_sorting)) == {(1,)}
        assert linear_algebra() == {2}
