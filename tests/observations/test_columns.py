from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import (
    MISSING_WORDS,
    check_text,
    encode_cells,
    encode_column,
    encode_series,
    sorted_levels,
    spelled_number,
)

NAN = float("nan")


def same(encoded, values, levels):
    np.testing.assert_array_equal(encoded[0], np.array(values, dtype=float))
    assert encoded[0].dtype == np.float64
    assert encoded[1] == levels


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64, int])
def test_numeric_arrays_are_continuous(dtype):
    same(encode_column(np.array([3, 1, 2], dtype=dtype), "c"), [3, 1, 2], None)


def test_truth_values_are_categorical():
    same(encode_column(np.array([True, False, True]), "c"), [1, 0, 1], ("False", "True"))


def test_text_that_spells_numbers_is_continuous():
    same(
        encode_column(np.array(["1", "-2.5", " 3e2 ", "NA", ""]), "c"),
        [1, -2.5, 300, NAN, NAN],
        None,
    )


def test_other_text_is_categorical_with_levels_in_order():
    same(encode_column(np.array(["low", "high", "low"]), "c"), [1, 0, 1], ("high", "low"))


def test_digits_joined_by_underscores_are_labels():
    assert spelled_number("1_000") is None
    same(encode_cells(["1_0", "2_0"], "c"), [0, 1], ("1_0", "2_0"))


@pytest.mark.parametrize(
    "missing",
    [None, NAN, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.ma.masked, *sorted(MISSING_WORDS)],
)
def test_every_way_to_say_missing(missing):
    same(encode_cells([1.5, missing, 2], "c"), [1.5, NAN, 2], None)
    same(encode_cells(["b", missing, "a"], "c"), [1, NAN, 0], ("a", "b"))
    same(encode_cells([7, missing], "c", categorical=True), [0, NAN], ("7",))


def test_none_as_a_word_is_an_answer():
    same(encode_cells(["None", "Some"], "c"), [0, 1], ("None", "Some"))


def test_a_wholly_missing_column_is_continuous_unless_declared():
    same(encode_cells([None, None], "c"), [NAN, NAN], None)
    same(encode_cells([None, None], "c", categorical=True), [NAN, NAN], ())


def test_declared_numbers_become_labels_in_numeric_order():
    same(encode_column(np.array([10, 9, 10]), "c", categorical=True), [1, 0, 1], ("9", "10"))
    floats = np.array([1.0, np.nan, 0.5])
    same(encode_column(floats, "c", categorical=True), [1, NAN, 0], ("0.5", "1"))


def test_large_whole_labels_are_exact():
    large = 2**53 + 1
    assert encode_column(np.array([large]), "c", categorical=True)[1] == (str(large),)


def test_python_numbers_of_any_sort():
    same(
        encode_cells([Fraction(1, 2), Decimal("1.5"), 2, np.float32(3)], "c"),
        [0.5, 1.5, 2, 3],
        None,
    )


def test_masked_cells_are_missing():
    numbers = np.ma.MaskedArray([1, 2], mask=[False, True])
    same(encode_column(numbers, "c"), [1, NAN], None)
    same(encode_column(numbers, "c", categorical=True), [0, NAN], ("1",))
    truths = np.ma.MaskedArray([True, False], mask=[False, True])
    same(encode_column(truths, "c"), [0, NAN], ("True",))


@pytest.mark.parametrize(
    ("series", "values", "levels"),
    [
        (pd.Series([1, None], dtype="Int64"), [1, NAN], None),
        (pd.Series([1.5, None], dtype="Float64"), [1.5, NAN], None),
        (pd.Series([True, None], dtype="boolean"), [0, NAN], ("True",)),
        (pd.Series(["a", None], dtype="string"), [0, NAN], ("a",)),
        (pd.Series(["a", None], dtype=object), [0, NAN], ("a",)),
        (pd.Series(["1", "2.5"]), [1, 2.5], None),
        (pd.Series([1, 2], dtype="int64[pyarrow]"), [1, 2], None),
        (pd.Series(["x", None], dtype="string[pyarrow]"), [0, NAN], ("x",)),
        (pd.Series([0.0, 2.0], dtype=pd.SparseDtype(float, 0.0)), [0, 2], None),
    ],
)
def test_pandas_dtypes(series, values, levels):
    same(encode_series(series, "c"), values, levels)


def test_pandas_categories_keep_their_order_and_unused_levels():
    held = pd.Series(pd.Categorical(["mid", None, "low"], categories=["low", "mid", "high"]))
    same(encode_series(held, "c"), [1, NAN, 0], ("low", "mid", "high"))


def test_pandas_categories_of_numbers_are_labels():
    held = pd.Series(pd.Categorical([2, 1, 2], categories=[2, 1]))
    same(encode_series(held, "c"), [0, 1, 0], ("2", "1"))


def test_a_pandas_category_that_spells_missing_is_missing():
    held = pd.Series(pd.Categorical(["x", "NA", "y"], categories=["NA", "y", "x"]))
    same(encode_series(held, "c"), [1, NAN, 0], ("y", "x"))


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.array([1j]), "split it into real and imaginary parts"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "days since a date"),
        (np.array([3], dtype="timedelta64[s]"), "such as seconds"),
        (np.array([b"x"]), "decode it to text"),
        (np.zeros(1, dtype=[("a", int)]), "convert it to numbers or text"),
        (np.ma.MaskedArray([1j], mask=[True]), "split it into real"),
    ],
)
def test_foreign_dtypes_are_refused_with_the_column(array, sentence):
    with pytest.raises(InvalidInputError, match="column 'c' should hold") as caught:
        encode_column(array, "column 'c'")
    assert sentence in str(caught.value)


def test_foreign_series_are_refused():
    with pytest.raises(InvalidInputError, match="days since a date"):
        encode_series(pd.Series(pd.to_datetime(["2020-01-01"])), "c")
    with pytest.raises(InvalidInputError, match="Period objects"):
        encode_series(pd.Series(pd.period_range("2020", periods=1, freq="D")), "c")


@pytest.mark.parametrize("cells", [[1.5, "abc"], ["1", "abc"], [True, 2.5], [True, "x1", 1]])
def test_mixing_numbers_and_labels_is_refused_but_may_be_declared(cells):
    with pytest.raises(
        InvalidInputError, match="column 'c' should hold numbers or labels, not both"
    ):
        encode_cells(cells, "column 'c'")
    assert encode_cells(cells, "column 'c'", categorical=True)[1] is not None


def test_mixing_names_the_rows():
    with pytest.raises(InvalidInputError, match=r"row 1 is '2' and row 3 is 'many'"):
        encode_cells([None, "2", "3", "many"], "c")


def test_objects_are_refused():
    with pytest.raises(InvalidInputError, match=r"c should hold .* it holds list objects"):
        encode_cells([[1], [2]], "c")


@pytest.mark.parametrize("infinite", [np.inf, -np.inf, "inf", "1e999", 10**400])
def test_infinite_is_refused_with_column_and_row(infinite):
    with pytest.raises(InvalidInputError, match="column 'c' should hold finite numbers; row 1 is"):
        encode_cells([0, infinite], "column 'c'")


@pytest.mark.parametrize("text", ["", None, 3, "a\x00", "a\n", "\ud800", "\ufeffa", "\x7f"])
def test_text_that_files_cannot_hold_is_refused(text):
    with pytest.raises(InvalidInputError, match="a name should"):
        check_text(text, "a name")


def test_labels_that_files_cannot_hold_are_refused():
    with pytest.raises(InvalidInputError, match="a label of c should hold no control characters"):
        encode_cells(["two\nlines"], "c")


def test_levels_that_spell_numbers_are_in_numeric_order():
    assert sorted_levels(["10", "9", "2"]) == ("2", "9", "10")
    assert sorted_levels(["10", "9", "x"]) == ("10", "9", "x")


@given(st.lists(st.sampled_from(["1", "01", "1.0", "NAN", "-NaN", "inf", "0x1"])), st.randoms())
def test_the_order_of_levels_ignores_the_order_of_cells(labels, random):
    mixed = list(labels)
    random.shuffle(mixed)
    assert sorted_levels(labels) == sorted_levels(mixed)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "ö", "c c"])), min_size=1))
def test_codes_point_at_the_labels(cells):
    values, levels, _ = encode_cells(cells, "c", categorical=True)
    back = [None if np.isnan(code) else levels[int(code)] for code in values]
    assert back == cells
