"""States are counted from low to high where their children agree, else by frequency."""

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.inference.state_order import low_to_high


def fitted(frame):
    return LatentGraphLearner(random_state=0).fit(frame)


def test_states_rise_with_their_children():
    rng = np.random.default_rng(0)
    # The rarest state is the lowest, and one of three columns falls.
    state = rng.choice(3, size=600, p=[0.1, 0.6, 0.3])
    columns = {"a": 6.0 * state, "b": 9.0 * state, "c": -6.0 * state}
    learner = fitted(pd.DataFrame({name: rng.normal(at) for name, at in columns.items()}))
    assert learner.model_.domain_sizes == (3,)
    means = [learner.model_.query("a", given={"H1": s}).mean[0] for s in range(3)]
    assert means == sorted(means)
    assert np.mean(learner.states_[:, 0] == state) > 0.98


def test_without_an_order_the_most_frequent_state_comes_first():
    rng = np.random.default_rng(1)
    state = rng.choice(3, size=600, p=[0.2, 0.5, 0.3])
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [4.0, 9.0]])
    blocks = {name: rng.normal(corners[state]) for name in "abc"}
    model = fitted(blocks).model_
    assert model.domain_sizes == (3,)
    assert model.joint.table.tolist() == sorted(model.joint.table.tolist(), reverse=True)


def test_marks_take_part_and_words_do_not():
    rng = np.random.default_rng(2)
    able = rng.random(600) < 0.7
    marks = {q: (rng.random(600) < np.where(able, 0.9, 0.1)).astype(int) for q in "abcde"}
    model = fitted(pd.DataFrame(marks)).model_
    right = [model.query("a", given={"H1": s}).mean[1] for s in range(2)]
    assert right[0] < 0.5 < right[1]
    words = pd.DataFrame(marks).replace({0: "no", 1: "yes"})
    model = fitted(words).model_
    assert model.joint.table[0] > model.joint.table[1]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_the_order_does_not_depend_on_how_states_came(order):
    means = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [3.0, 2.0]])
    found = low_to_high(means[order])
    assert np.array_equal(means[order][found], means)


def test_states_that_are_all_alike_have_no_order():
    assert low_to_high(np.ones((3, 2))) is None
