import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.observations import ColumnKind, Observations

CONTINUOUS, CATEGORICAL = ColumnKind.CONTINUOUS, ColumnKind.CATEGORICAL


@pytest.fixture
def mixed():
    """Two variables, one of them part text, with a gap in each."""
    frame = pd.DataFrame({"a[0]": [1.0, np.nan, 3.0], "a[1]": ["x", "y", None], "b": [4, 5, 6]})
    return Observations.from_frame(frame)


def test_from_array_keeps_values_and_makes_names():
    X = np.arange(12.0).reshape(3, 4)
    obs = Observations.from_array(X, groups=2)
    assert (obs.n_samples, obs.n_observed, len(obs)) == (3, 2, 3)
    assert (obs.names, obs.widths) == (("X1", "X2"), (2, 2))
    np.testing.assert_array_equal(obs["X2"], X[:, 2:])
    np.testing.assert_array_equal(obs[-1], X[:, 2:])
    np.testing.assert_array_equal(obs.to_array(), X)
    np.testing.assert_array_equal(np.asarray(obs), X)


def test_from_array_reorders_columns_by_groups():
    X = np.arange(6.0).reshape(2, 3)
    obs = Observations.from_array(X, groups={"P": [2, 0], "Q": [1]})
    np.testing.assert_array_equal(obs["P"], X[:, [2, 0]])
    assert obs.column_names == ("P[0]", "P[1]", "Q")


def test_from_array_of_lists_that_mix_text_and_numbers():
    obs = Observations.from_array([["a", 1.5], ["b", None]])
    assert obs.kinds == ((CATEGORICAL,), (CONTINUOUS,))
    assert obs.has_missing


def test_from_array_masked():
    X = np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    obs = Observations.from_array(X)
    assert obs.missing_fraction == 0.25
    assert np.isnan(obs["X2"][0, 0])


def test_from_arrays_of_unequal_widths():
    obs = Observations.from_arrays({"u": [1, 2], "v": np.ones((2, 3)), "w": np.array(["p", "q"])})
    assert obs.widths == (1, 3, 1)
    assert obs.kinds[2] == (CATEGORICAL,)
    assert obs.column_names == ("u", "v[0]", "v[1]", "v[2]", "w")


def test_declared_categorical_columns():
    X = np.array([[3, 1], [7, 1]])
    assert Observations.from_array(X, categorical=[0]).levels == ((("3", "7"),), (None,))
    assert Observations.from_array(X, categorical="X1").levels == ((("3", "7"),), (None,))
    assert Observations.from_arrays({"v": X}, categorical="v[1]").levels == ((None, ("1",)),)
    frame = pd.DataFrame(X, columns=["p", "q"])
    assert Observations.from_frame(frame, categorical=True).levels == ((("3", "7"),), (("1",),))


def test_frames_group_by_name(mixed):
    assert mixed.names == ("a", "b")
    assert mixed.kinds == ((CONTINUOUS, CATEGORICAL), (CONTINUOUS,))
    assert mixed.levels == ((None, ("x", "y")), (None,))
    np.testing.assert_array_equal(mixed["a"], [[1, 0], [np.nan, 1], [3, np.nan]])


def test_frames_with_integer_labels():
    frame = pd.DataFrame(np.arange(6).reshape(2, 3))
    assert Observations.from_frame(frame).names == ("0", "1", "2")
    assert Observations.from_frame(frame, groups=[[0, 2]], drop=1).widths == (2,)


def test_frames_round_trip(mixed):
    assert Observations.from_frame(mixed.to_frame()) == mixed
    assert mixed.to_frame()["a[1]"].cat.categories.tolist() == ["x", "y"]


@pytest.mark.parametrize("frame", [np.ones((2, 2)), [1.0], None])
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(InvalidInputError, match="from_frame needs a table with named columns"):
        Observations.from_frame(frame)


def test_ids_name_the_rows_and_are_no_data():
    frame = pd.DataFrame({"case": ["p", "q", None], "a": [1.0, 2.0, 3.0]})
    held = Observations.from_frame(frame, id="case")
    assert held.names == ("a",)
    assert held.ids == ("p", "q", "")
    assert held.take([1]).ids == ("q",)
    assert held.take(slice(0, 2)).select(["a"]).ids == ("p", "q")
    assert held == Observations.from_frame(frame, drop="case")
    with pytest.raises(InvalidInputError, match="ids should name each of the 3 rows; got 1"):
        Observations(held.values, held.names, ids=("p",))


def test_frames_with_repeated_names_are_refused():
    with pytest.raises(InvalidInputError, match="distinct names; 'a'"):
        Observations.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.ones((2, 2, 2)), r"2-d array, one row for each case; got shape \(2, 2, 2\)"),
        (np.ones(3), r"got shape \(3,\)"),
        (1.0, r"a row for each case; got 1.0, a float: .* a list of such values is one column"),
        (None, "a row for each case; got None, a NoneType"),
        ("data.csv", r"got 'data.csv', a str: Observations.read\(path\) reads a file"),
        ([[1, 2], [3]], "rows of equal length"),
        (np.ones((0, 2)), "at least one row; got none"),
        (np.ones((2, 0)), "at least one observed variable"),
        (np.array([[1j]]), "column 0 should hold numbers, text or truth values"),
        (np.array([[0.0, np.inf]]), "column 1 should hold finite numbers; row 0 is inf"),
        (np.array([[1.0], ["a"]], dtype=object), "column 0 should hold numbers or labels"),
    ],
)
def test_arrays_that_cannot_be_used_are_refused(X, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.from_array(X)


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ({}, "at least one observed variable"),
        ({"a": [1, 2], "b": [1]}, "same number of rows; got 'a': 2, 'b': 1"),
        ({"a": np.ones((2, 2, 2))}, r"block of 'a' should have shape \(N,\) or \(N, d\)"),
        ({"a": np.ones((2, 0))}, "d at least 1"),
        ({"a": 1.0}, "block of .a. should have a row for each case; got 1.0, a float"),
        ({"a": [[1], [1, 2]]}, "the block of 'a' should have rows of equal length"),
        ({"a": []}, "at least one row"),
        ({"a": [0.0, np.inf]}, "column 'a' should hold finite"),
        ({"a": [[0.0, np.inf]]}, r"column 'a\[1\]' should hold finite"),
        ({"": [1.0]}, "should be text that is not empty"),
    ],
)
def test_blocks_that_cannot_be_used_are_refused(blocks, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.from_arrays(blocks)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"widths": (1,)}, "widths should hold a number"),
        ({"widths": (2, 0)}, "widths should hold a number"),
        ({"widths": (1, 2)}, "values should have 3 columns, the sum of the widths; got 2"),
        ({"names": ()}, "widths should hold a number of at least 1 for each of the 0"),
        ({"levels": ((None,),)}, r"levels should hold an entry for each column .* got \(1,\)"),
        ({"levels": (("ab",), (None, None))}, r"got \(1, 2\)"),
        ({"levels": ((["p"],), (None,))}, "'a' should hold codes 0 to 0 of its 1 levels"),
        ({"levels": ((["p", "p"],), (None,))}, "levels of 'a' should be distinct"),
        ({"levels": ((["p", "NA"],), (None,))}, "none a word for a missing value"),
        ({"levels": ((["p", 3],), (None,))}, "a label of 'a' should be text"),
        ({"values": np.array([["x", "y"]])}, "values should be a 2-d array of numbers"),
        ({"values": np.ones(2)}, "values should be a 2-d array of numbers"),
        ({"values": np.array([[np.inf, 1.0]])}, "column 'a' should hold finite numbers"),
        ({"values": np.array([[0.5, 1.0]]), "levels": ((["p"],), (None,))}, "hold codes 0 to 0"),
    ],
)
def test_the_constructor_checks_itself(arguments, sentence):
    whole = {"values": np.array([[0.0, 1.0], [1.0, 2.0]]), "names": ("a", "b")} | arguments
    with pytest.raises(InvalidInputError, match=sentence):
        Observations(**whole)


def test_wholly_missing_rows_and_columns_and_constants_are_legal():
    X = np.array([[np.nan, 1.0, np.nan], [np.nan, 1.0, 2.0], [np.nan, np.nan, np.nan]])
    obs = Observations.from_array(X)
    assert obs.missing_fraction == pytest.approx(6 / 9)
    assert obs.has_missing


def test_nothing_can_be_changed(mixed):
    with pytest.raises(dataclasses.FrozenInstanceError):
        mixed.names = ("p", "q")
    for block in (mixed["a"], mixed[1], mixed.to_array(), np.asarray(mixed)):
        with pytest.raises(ValueError, match="read-only"):
            block[0, 0] = 9.0
    for view in (mixed["a"], mixed.to_array()):
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            view.setflags(write=True)


def test_the_input_may_change_afterwards():
    X = np.zeros((2, 2))
    for obs in (Observations.from_array(X), Observations(X, ("a", "b"))):
        X[:] = 1.0
        assert obs.to_array().max() == 0.0
        X[:] = 0.0


def test_frozen_values_are_not_copied():
    X = np.zeros((2, 2))
    X.setflags(write=False)
    assert Observations(X, ("a", "b")).values is X
    assert np.shares_memory(Observations(X, ("a", "b"))["b"], X)
    assert Observations(X[:1], ("a", "b")).values.base is None


def test_copies_and_pickles_are_equal_and_frozen(mixed):
    for twin in (copy.deepcopy(mixed), pickle.loads(pickle.dumps(mixed))):
        assert twin == mixed
        assert not twin["a"].flags.writeable


def test_an_explicit_array_copy_is_writable(mixed):
    twin = np.array(mixed, copy=True)
    twin[0, 0] = 9.0
    assert mixed["a"][0, 0] == 1.0


def test_equality_is_by_value(mixed):
    assert mixed == Observations.from_frame(mixed.to_frame())
    assert mixed != mixed.take([0, 1])
    assert mixed != mixed.select(["b", "a"])
    assert mixed != "mixed"
    assert Observations.from_array([[1.0]]) != Observations.from_array([[1.0]], names=["Y"])
    assert Observations.from_array([[0]]) != Observations.from_array([[0]], categorical=True)


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, np.nan, -np.nan]), min_size=1, max_size=5))
def test_equal_observations_hash_alike(column):
    first = Observations.from_arrays({"a": np.array(column)})
    second = Observations.from_arrays({"a": -np.array(column)})
    if first == second:
        assert hash(first) == hash(second)
    assert hash(first) == hash(Observations.from_arrays({"a": np.array(column)}))


def test_select_and_reorder(mixed):
    assert mixed.select(["b"]).names == ("b",)
    assert mixed.select("b") == mixed.select(["b"])
    turned = mixed.select(["b", "a"])
    assert turned.levels == ((None,), (None, ("x", "y")))
    np.testing.assert_array_equal(turned["a"], mixed["a"])
    assert turned.select(mixed.names) == mixed
    assert not turned["a"].flags.writeable


def test_select_refuses_what_is_not_there(mixed):
    with pytest.raises(InvalidInputError, match="no observed variable is called 'c'"):
        mixed.select(["c"])
    with pytest.raises(InvalidInputError, match="'b' occurs more than once"):
        mixed.select(["b", "b"])
    with pytest.raises(InvalidInputError, match="widths should hold"):
        mixed.select([])


@pytest.mark.parametrize(
    "rows", [[0, 2], slice(0, 3, 2), np.array([True, False, True]), [0, -1], (0, 2)]
)
def test_take(mixed, rows):
    taken = mixed.take(rows)
    np.testing.assert_array_equal(taken.to_array(), mixed.to_array()[[0, 2]])
    assert taken.levels == mixed.levels


@pytest.mark.parametrize(
    "rows", [[3], [-4], [], [True, False], [0.5], [[0]], 1, np.array([], dtype=int)]
)
def test_take_refuses(mixed, rows):
    with pytest.raises(InvalidInputError, match="rows should be numbers from 0 to 2"):
        mixed.take(rows)


def test_take_refuses_nothing(mixed):
    for rows in (slice(0, 0), np.zeros(3, dtype=bool)):
        with pytest.raises(InvalidInputError, match="at least one row"):
            mixed.take(rows)


def test_names_iterate_and_are_contained(mixed):
    assert list(mixed) == ["a", "b"]
    assert "a" in mixed
    assert "a[0]" not in mixed
    assert mixed.index("b") == 1
    with pytest.raises(InvalidInputError, match="no observed variable is called 'A'"):
        mixed["A"]
    with pytest.raises(IndexError):
        mixed[2]
    with pytest.raises(TypeError):
        mixed[0.5]


def test_close_names_are_suggested():
    obs = Observations.from_arrays({"pressure": [1.0]})
    with pytest.raises(InvalidInputError, match=r"did you mean 'pressure'\?"):
        obs["presure"]


def test_repr(mixed):
    assert repr(mixed) == (
        "Observations(3 samples of 2 variables: a (2 columns, 1 categorical), b; 22.22% missing)"
    )
    many = Observations.from_array(np.ones((1, 9)))
    assert repr(many).endswith("X8, …)")


def test_html_escapes_names():
    obs = Observations.from_arrays({"<b>": [1.0, np.nan], "c": ["x", "y"]})
    shown = obs._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
    assert "50.00%" in shown
    assert "categorical" in shown


def test_importing_does_not_import_pandas():
    code = (
        "import sys; from mixoracle.observations import Observations; "
        "Observations.from_array([[1.0, None], ['2', 3]]); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
