"""Numbers as people write them are numbers, or a question, never one level a row."""

import numpy as np
import pytest

from mixoracle.errors import InvalidInputError
from mixoracle.observations.columns import Spelling, encode_cells
from mixoracle.observations.numerals import may_mean_thousands, read_numerals, settled_decimal

NAN = float("nan")


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,000.50", "999.5", "12"], [1000.5, 999.5, 12]),
        (["1.000,50", "999,5", "12"], [1000.5, 999.5, 12]),
        (["12,5", "-3,25", None], [12.5, -3.25, NAN]),
        (["1,234,567", "1,000"], [1234567, 1000]),
        (["1.234.567", "1.000"], [1234567, 1000]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["950", "1,020"], [950, 1020]),
        (["12%", "3.5 %", "-1%"], [12, 3.5, -1]),
        (["$3", "-$4.50", "$1,000"], [3, -4.5, 1000]),
        (["3 €", "4,50 €"], [3, 4.5]),
        (["(3)", "4"], [-3, 4]),
        (["1 234,5", "12\u00a0345,0", "7"], [1234.5, 12345, 7]),
        (["1'234.5", "1’000"], [1234.5, 1000]),
        (["\u22125", "5"], [-5, 5]),
        (["1,5e3", "2"], [1500, 2]),
        ([f"{i},5 kg" for i in range(12)], [i + 0.5 for i in range(12)]),
    ],
)
def test_numbers_as_people_write_them(cells, numbers):
    np.testing.assert_array_equal(read_numerals(cells, "c").values, numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["A12", "A13"],
        ["2D", "3D"],
        ["10 mg", "20 mg"],
        ["12%", "$3"],
        ["1st", "2nd"],
        ["12.05.2024"],
        ["10.0.0.1"],
        ["030 123 45"],
        ["1,2,3"],
        ["(3", "4"],
        ["--3"],
        ["x"],
        ["1,000", "1000.5"],
        [None],
    ],
)
def test_text_that_is_no_number(cells):
    assert read_numerals(cells, "c") is None


def test_two_readings_are_a_question():
    with pytest.raises(
        InvalidInputError,
        match=r"column 'x' holds '1,234', which may be 1234 or 1.234: say which with decimal='.'",
    ):
        read_numerals(["1,234", "5,678"], "column 'x'")
    assert read_numerals(["1,234"], "c", decimal=",").values.tolist() == [1.234]
    assert read_numerals(["1,234"], "c", decimal=".").values.tolist() == [1234]
    assert read_numerals(["1,234"], "c", hint=",").values.tolist() == [1.234]


def test_what_settles_the_decimal_mark():
    assert settled_decimal(["1,5"]) == ","
    assert settled_decimal(["1,000.5"]) == "."
    assert settled_decimal(["1,234"]) is None
    assert settled_decimal(["x"]) is None
    assert may_mean_thousands(["1.234", "12", "2.000.000"]) == "1.234"
    assert may_mean_thousands(["1.234", "1.5"]) is None


def test_a_declared_decimal_comma_holds_for_points_too():
    comma = Spelling(",")
    assert encode_cells(["1.234", "5"], "c", spelling=comma)[0].tolist() == [1234, 5]
    assert encode_cells(["1.234", "5"], "c")[0].tolist() == [1.234, 5]
    with pytest.raises(InvalidInputError, match="decimal should be"):
        Spelling(";")


def test_words_and_numbers_for_missing():
    spelling = Spelling.of(None, ["n.d.", -999])
    same = [1.5, NAN, NAN, NAN]
    cells = ["1.5", "n.d.", "-999", ""]
    np.testing.assert_array_equal(encode_cells(cells, "c", spelling=spelling)[0], same)
    cells = [1.5, -999, -999.0, None]
    np.testing.assert_array_equal(encode_cells(cells, "c", spelling=spelling)[0], same)


def test_numbers_among_words_are_still_refused():
    with pytest.raises(InvalidInputError, match="numbers or labels, not both"):
        encode_cells(["1.5", "<0.5", "2"], "c")
