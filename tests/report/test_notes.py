from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mixoracle import LatentGraphLearner, Observations
from mixoracle.datasets import paper_problem
from mixoracle.errors import DataWarning
from mixoracle.report import notes


@pytest.fixture(scope="module")
def learner():
    problem = paper_problem(2, 5, 2, n_samples=400, random_state=1, covariance="code")
    return LatentGraphLearner(random_state=0).fit(problem.observations)


def test_the_same_of_many_columns_is_one_note(learner):
    column = replace(learner.columns_[0], repeated=(0.0,), n_repeated=40)
    columns = [replace(column, title=f"X{i}") for i in range(1, 31)]
    assert list(notes.repeated_notes(columns, 400)) == [
        "exactly 0 occurs far more often than the numbers next to it (up to 40 of 400 values), and "
        "was treated as missing, in 30 columns: X1, X2, X3, X4 and 26 more"
    ]
    other = replace(column, title="Y", repeated=(1.0, 2.5))
    assert list(notes.repeated_notes([other], 400)) == [
        "exactly 1 and 2.5 occur far more often than the numbers next to them (40 of 400 values), "
        "and were treated as missing, in Y"
    ]
    state = replace(column, repeated=(), agreed=(0.0,), title="Z")
    assert list(notes.repeated_notes([state], 400)) == [
        "exactly 0 occurs far more often than the numbers next to it (40 of 400 values), and "
        "counts as a state, because other measurements show the same cases, in Z"
    ]


def test_cases_that_were_set_aside_are_called_as_in_the_table_of_states():
    aside = np.zeros((30, 6), dtype=bool)
    aside[[24, 7]] = True
    (note,) = notes.set_aside_notes([f"X{i}" for i in range(6)], aside, 0.2)
    assert note == (
        "12 of 180 values of 6 measurements (X0, X1, X2, X3 and 2 more) were treated as missing, "
        "because no other value is near (cases 7, 24); at most 20% of a measurement may be"
    )
    (note,) = notes.set_aside_notes(list("abcdef"), aside, 0.2, [f"P{i}" for i in range(30)])
    assert "(cases P7, P24)" in note


def resolved(resolution, taken, n_answers=1):
    answer = SimpleNamespace(finest=np.inf, coarsest=100.0, domain_sizes=(2, 2))
    return SimpleNamespace(
        resolution=resolution, resolution_=taken, resolutions_=(answer,) * n_answers
    )


def test_a_resolution_is_explained():
    (note,) = notes.resolution_notes(resolved(200, 200.0))
    assert "as asked for (resolution: 200 rows)" in note
    assert "shape" not in note
    first, answers = notes.resolution_notes(resolved("auto", 200.0, 2))
    assert "do not have the assumed shape" in first
    assert "explains best the dependence among measurements" in first
    assert answers.startswith("answers from the finest")
    first, _ = notes.resolution_notes(resolved("auto", np.inf, 2))
    assert (
        "explains best the dependence among measurements was taken, and it is the finest" in first
    )
    assert not list(notes.resolution_notes(resolved("auto", np.inf)))
    assert not list(notes.resolution_notes(resolved(None, np.inf)))


def test_a_summary_says_that_copies_were_counted_once():
    problem = paper_problem(2, 5, 2, n_samples=300, random_state=1, covariance="code")
    rows = np.vstack([problem.observations.values, problem.observations.values[:60]])
    learner = LatentGraphLearner(random_state=0)
    with pytest.warns(DataWarning, match="60 of 360 rows are exact copies"):
        learner.fit(Observations.from_array(rows))
    said = str(learner.summary())
    assert said.count("60 of 360 rows are exact copies of others; each is counted once") == 1


def test_a_summary_says_that_names_of_states_were_chosen(learner):
    chosen = (
        "H1: what it drives is driven by H2 too, so no data tell which of its states are the same "
        "in different states of H2; those that change the means most alike were given one name"
    )
    learner.repairs_, before = (chosen, "X1: 3 components were seen"), learner.repairs_
    try:
        assert learner.summary().evidence.notes == (chosen,)
    finally:
        learner.repairs_ = before
