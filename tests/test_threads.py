import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mixoracle._threads import one_thread
from mixoracle.trust import climbing


def linear_algebra():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_within_and_as_many_as_before_after():
    with threadpool_limits(limits=2, user_api="blas"):
        with one_thread():
            assert linear_algebra() == {1}
        assert linear_algebra() == {2}


def test_changes_of_an_answer_are_looked_for_on_one_thread(monkeypatch):
    """Small decompositions on all cores of a busy machine took longer than all the rest."""
    seen = []
    monkeypatch.setattr(climbing._Climb, "run", lambda self: seen.append(linear_algebra()))
    monkeypatch.setattr(climbing, "replace", lambda solver, **_: solver)

    class Start:
        prepared = np.zeros(0)

    with threadpool_limits(limits=2, user_api="blas"):
        climbing.climbed(None, Start())
    assert seen == [{1}]
