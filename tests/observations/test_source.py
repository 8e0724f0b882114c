"""New rows come as they like, and are read as those that were learned from."""

import numpy as np
import pandas as pd
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.observations import Observations
from mixoracle.observations.source import Source

VALUES = np.arange(12.0).reshape(3, 4)
COLUMNS = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(VALUES, columns=COLUMNS)
GROUPS = {"V": ["a", "c"], "W": ["b", "d"]}


def read(source, X):
    found = source.observe(X)
    return {name: found[name].tolist() for name in found.names}


@pytest.mark.parametrize("new", [FRAME, FRAME[COLUMNS[::-1]], FRAME.assign(e=1.0), VALUES])
def test_a_frame_goes_by_name_and_an_array_after_it_by_place(new):
    expected = {"V": VALUES[:, [0, 2]].tolist(), "W": VALUES[:, [1, 3]].tolist()}
    assert read(Source.of(FRAME, GROUPS), new) == expected


def test_arrays_are_grouped_as_before():
    source = Source.of(VALUES, [[0, 3], [1], [2]])
    assert list(read(source, VALUES).values()) == [
        VALUES[:, [0, 3]].tolist(),
        VALUES[:, [1]].tolist(),
        VALUES[:, [2]].tolist(),
    ]


def test_arrays_after_observations_have_their_names_and_widths():
    held = Observations.from_arrays({"V": VALUES[:, :3], "W": VALUES[:, 3]})
    source = Source.of(held, None)
    assert source.observe(held) is held
    assert read(source, VALUES) == {name: held[name].tolist() for name in held.names}


def test_a_frame_after_observations_groups_by_its_names():
    held = Observations.from_arrays({"V": VALUES[:, :3], "W": VALUES[:, 3]})
    frame = pd.DataFrame(VALUES, columns=list(held.column_names))
    assert read(Source.of(held, None), frame) == {name: held[name].tolist() for name in held.names}


def test_words_in_an_array_after_a_frame_are_words():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    found = Source.of(frame, None).observe(np.array([["y", "3"], ["x", "4"]], dtype=object))
    assert found.levels == ((("x", "y"),), (None,))
    assert found["b"].ravel().tolist() == [3.0, 4.0]


def test_observations_cannot_be_grouped_again():
    with pytest.raises(InvalidInputError, match="grouped already; leave groups out"):
        Source.of(Observations.from_array(VALUES), 2)


def test_a_missing_column_is_named():
    with pytest.raises(InvalidInputError, match="'c' is missing"):
        Source.of(FRAME, GROUPS).observe(FRAME[["a", "b", "d"]])


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 5), (1, 2, 4)])
def test_an_array_of_another_shape_is_refused(shape):
    with pytest.raises(InvalidInputError, match=r"the 4 columns .*; got shape"):
        Source.of(FRAME, GROUPS).observe(np.zeros(shape))
