"""Text files as they come: separators, decimal marks, encodings, compression, no names."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from mixoracle.errors import DataWarning, FileFormatError, InvalidInputError
from mixoracle.observations import Observations

PLAIN = "größe,b,mode\n1.5,2,on\n2.5,3,off\n3.5,4,on\n"
HELD = Observations.from_arrays(
    {"größe": [1.5, 2.5, 3.5], "b": [2.0, 3.0, 4.0], "mode": ["on", "off", "on"]}
)


def write(folder, content, name="data.csv"):
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


@pytest.mark.parametrize("sep", [";", "\t", "|", ","])
@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.txt"])
def test_separators_are_found(tmp_path, sep, name):
    assert Observations.read(write(tmp_path, PLAIN.replace(",", sep), name)) == HELD


@pytest.mark.parametrize("sep", [";", "\t"])
def test_decimal_commas_are_found(tmp_path, sep):
    text = PLAIN.replace(",", sep).replace(".", ",")
    assert Observations.read(write(tmp_path, text)) == HELD


def test_blanks_separate_numbers(tmp_path):
    held = Observations.read(write(tmp_path, "a  b\n 1   2\n3 4\n", "data.txt"))
    assert held["b"].ravel().tolist() == [2, 4]
    path = write(tmp_path, "some words\nlow mood\ngood mood\n")
    assert Observations.read(path).names == ("some words",)
    assert Observations.read(path, sep=" ").names == ("some", "words")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_are_found(tmp_path, encoding):
    assert Observations.read(write(tmp_path, PLAIN.encode(encoding))) == HELD


def test_latin_letters_are_read_with_a_note(tmp_path):
    path = write(tmp_path, PLAIN.encode("latin-1"))
    with pytest.warns(DataWarning, match="not UTF-8 and was read as Latin-1; give encoding="):
        assert Observations.read(path) == HELD
    assert Observations.read(path, encoding="latin-1") == HELD
    with pytest.raises(FileFormatError, match=r"should be utf-8 text: .* or say encoding="):
        Observations.read(path, encoding="utf-8")


@pytest.mark.parametrize(
    ("pack", "ending"), [(gzip.compress, "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")]
)
def test_compressed_files(tmp_path, pack, ending):
    packed = pack(PLAIN.encode())
    assert Observations.read(write(tmp_path, packed, f"data.csv.{ending}")) == HELD
    assert Observations.read(write(tmp_path, packed)) == HELD
    with pytest.raises(FileFormatError, match="cut off or not well compressed"):
        Observations.read(write(tmp_path, packed[:-12]))


def test_two_separators_that_fit_are_a_question(tmp_path):
    text = "Temp, C;Druck, bar\n" + "1,5;2,3\n2,5;3,3\n" * 3
    path = write(tmp_path, text)
    with pytest.raises(
        InvalidInputError, match="with ',' or with ';' between its cells: say which"
    ):
        Observations.read(path)
    held = Observations.read(path, sep=";")
    assert held["Druck, bar"][0, 0] == 2.3


def test_a_comma_that_other_columns_settle(tmp_path):
    path = write(tmp_path, "a;b\n1,5;1,234\n2,5;5,678\n")
    assert Observations.read(path)["b"].ravel().tolist() == [1.234, 5.678]
    path = write(tmp_path, "a;b\n1,5;1.234\n2,5;5.678\n")
    with pytest.raises(
        InvalidInputError, match=r"holds '1.234', which may be 1234 or 1.234, since"
    ):
        Observations.read(path)
    assert Observations.read(path, decimal=",")["b"].ravel().tolist() == [1234, 5678]


@pytest.mark.parametrize(
    "text",
    ["5.1,3.5\n4.9,3.0\n4.7,3.2\n", "5.1,on\n4.9,on\n4.7,off\n", "yes,on\nno,on\nyes,off\n"],
)
def test_a_first_case_is_not_lost_to_names(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.warns(DataWarning, match="holds no names and was read as a case; the columns are"):
        held = Observations.read(path)
    assert (held.n_samples, held.names) == (3, ("X1", "X2"))
    assert Observations.read(path, header=False) == held
    assert Observations.read(path, header=True).n_samples == 2


def test_dates_may_stand_in_the_first_case(tmp_path):
    path = write(tmp_path, "2024-01-01,5.1\n2024-01-02,4.9\n2024-01-03,4.7\n")
    with pytest.warns(DataWarning, match="holds no names"):
        assert Observations.read(path).n_samples == 3


@pytest.mark.parametrize("names", ["0,1", "1,2", "2019,2020", "a,2020"])
def test_numbers_that_count_up_are_names(tmp_path, names):
    held = Observations.read(write(tmp_path, f"{names}\n5.1,3.5\n4.9,3.0\n"))
    assert held.names == tuple(names.split(","))


def test_a_number_among_names_is_a_question(tmp_path):
    path = write(tmp_path, "A0,5.1\nA1,4.9\nA2,4.7\n")
    with pytest.raises(
        FileFormatError, match=r"should name the columns; it holds the number '5\.1'"
    ):
        Observations.read(path)


def test_names_of_rows_as_r_writes_them(tmp_path):
    path = write(tmp_path, 'a b\n"1" 5 6\n"2" 7 8\n'.replace(" ", ","))
    with pytest.warns(DataWarning, match=r"'Unnamed: 0' .an index without a name"):
        assert Observations.read(path).names == ("a", "b")


@pytest.mark.parametrize("names", ["a,b,", "a,b"])
def test_a_separator_at_the_end_of_lines(tmp_path, names):
    with pytest.warns(DataWarning, match=r"'Unnamed: 2' \(empty\)"):
        held = Observations.read(write(tmp_path, f"{names}\n1,2,\n3,4,\n"))
    assert held.names == ("a", "b")


def test_the_index_that_pandas_writes(tmp_path):
    with pytest.warns(DataWarning, match=r"'Unnamed: 0' .an index without a name"):
        assert Observations.read(write(tmp_path, ",a\n0,2\n1,3\n")).names == ("a",)
    held = Observations.read(tmp_path / "data.csv", id="Unnamed: 0")
    assert held.ids == ("0", "1")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"sep": ";;"}, "sep should be one character, such as ';'"),
        ({"decimal": "'"}, "decimal should be '.' or ','"),
        ({"encoding": "klingon"}, "encoding should be one that Python knows"),
    ],
)
def test_options_without_sense(tmp_path, said, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.read(write(tmp_path, PLAIN), **said)


def test_identifiers_as_they_are_spelled(tmp_path):
    held = Observations.read(write(tmp_path, "id,a\n007,1\n07,2\n"), id="id")
    assert held.ids == ("007", "07")
    np.testing.assert_array_equal(held["a"].ravel(), [1, 2])
