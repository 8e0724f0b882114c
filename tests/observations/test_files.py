import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixoracle.errors import FileFormatError, InvalidInputError, MissingDependencyError
from mixoracle.observations import ColumnKind, Observations
from mixoracle.observations.columns import MISSING_WORDS

ENDINGS = [".csv", ".tsv", ".npz", ".parquet"]
EXACT_LEVELS = [".npz", ".parquet"]

TEXT = st.text(
    st.one_of(
        st.sampled_from("[]0123\"',;:|\\ /.äX€é"),
        st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"),
    ),
    min_size=1,
    max_size=12,
)
NAMES = st.one_of(
    TEXT,
    st.sampled_from(
        [
            "a,b",
            'quo"te',
            "x[0]",
            "x[0][1]",
            "x",
            "[0]",
            "y:categorical",
            "y:continuous",
            "a.npy",
            "levels.json",
            "../up",
            "name;semi",
            " padded ",
            "=1+1",
            "變數",
            "N" * 300,
        ]
    ),
)
LABELS = st.one_of(TEXT, st.sampled_from(["1", "01", "1.0", "inf", "NAN", "True", "1_0"])).filter(
    lambda label: label not in MISSING_WORDS
)
NUMBERS = st.one_of(st.floats(allow_infinity=False), st.just(float("nan")))


@st.composite
def columns(draw, n_rows):
    """One column and its levels: every level occurs and they stand in the order of reading."""
    if draw(st.booleans()):
        return draw(st.lists(NUMBERS, min_size=n_rows, max_size=n_rows)), False
    cells = st.one_of(st.none(), LABELS)
    return draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), True


@st.composite
def observations(draw):
    n_rows = draw(st.integers(1, 4))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    blocks = {name: draw(st.lists(columns(n_rows), min_size=1, max_size=3)) for name in names}
    flat = [column for block in blocks.values() for column in block]
    array = np.empty((n_rows, len(flat)), dtype=object)
    for j, (cells, _) in enumerate(flat):
        array[:, j] = cells
    numbered = iter(range(len(flat)))
    return Observations.from_array(
        array,
        groups={name: [next(numbered) for _ in block] for name, block in blocks.items()},
        categorical=[j for j, (_, categorical) in enumerate(flat) if categorical],
    )


def written_and_read(obs, ending):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        obs.write(path)
        return Observations.read(path)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=60, deadline=None)
@given(obs=observations())
@example(obs=Observations.from_arrays({"a;b": ["p;q", "r;s"]}))
@example(obs=Observations.from_arrays({"a": [np.nan, np.nan]}))
@example(obs=Observations.from_arrays({"a": np.array([None, None])}, categorical=True))
@example(obs=Observations.from_arrays({"y:categorical": [1.0]}))
@example(obs=Observations.from_arrays({"a": [5e-324, 1.7976931348623157e308], "b": [0.1, -0.0]}))
def test_round_trip_keeps_names_kinds_and_values(ending, obs):
    assert written_and_read(obs, ending) == obs


@pytest.mark.parametrize("ending", EXACT_LEVELS)
def test_unused_and_unsorted_levels_are_kept(ending):
    obs = Observations(np.array([[1.0], [np.nan]]), ("a",), levels=((("high", "low", "never"),),))
    assert written_and_read(obs, ending) == obs


@pytest.mark.parametrize("ending", EXACT_LEVELS)
def test_a_column_without_any_level(ending):
    obs = Observations(np.array([[np.nan]]), ("a",), levels=(((),),))
    assert written_and_read(obs, ending) == obs


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_observations_give_equal_bytes(tmp_path, ending):
    for name in ("one", "two"):
        obs = Observations.from_arrays(
            {"a": np.random.default_rng(3).random((20, 2)), "b": ["x", "y"] * 10}
        )
        obs.write(tmp_path / f"{name}{ending}")
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_more_rows_than_one_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr("mixoracle.observations.text_files._CHUNK", 7)
    rng = np.random.default_rng(0)
    obs = Observations.from_arrays(
        {"a": rng.standard_normal((50, 2)), "b": rng.choice(["x", "y"], 50)}
    )
    obs.write(tmp_path / "d.csv")
    assert Observations.read(tmp_path / "d.csv") == obs


def test_text_that_starts_late_in_a_column_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("mixoracle.observations.text_files._CHUNK", 2)
    path = write(tmp_path, "a,b\n1,2\n,3\n,4\nlate,5\n")
    with pytest.raises(InvalidInputError, match="row 0 is '1' and row 3 is 'late'"):
        Observations.read(path)
    assert Observations.read(path, categorical="a").levels[0] == (("1", "late"),)


def test_columns_are_named_as_simulate_promises(tmp_path):
    Observations.from_arrays({"X1": [[0.5, 1.0]], "X2": [2.0]}).write(tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_text() == "X1[0],X1[1],X2\n0.5,1.0,2.0\n"


def write(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_foreign_text_files(tmp_path):
    path = write(
        tmp_path,
        "\ufeffid,x[1],x[0],mode,level:categorical\r\n7,1,2,on,1\r\n\r\n8,NA,,off,2\r\n",
    )
    obs = Observations.read(path, drop="id")
    assert obs.names == ("x", "mode", "level")
    np.testing.assert_array_equal(obs["x"], [[2, 1], [np.nan, np.nan]])
    assert obs.levels == ((None, None), (("off", "on"),), (("1", "2"),))


def test_groups_and_names_of_text_files(tmp_path):
    path = write(tmp_path, "p,q,r\n1,2,3\n")
    assert Observations.read(path, groups={"A": ["r", "p"], "B": ["q"]})["A"].tolist() == [[3, 1]]
    assert Observations.read(path, groups=3, names=["all"]).names == ("all",)
    with pytest.raises(InvalidInputError, match="'q' is in none"):
        Observations.read(path, groups={"A": ["r", "p"]})


def test_declared_labels_are_kept_as_they_are_spelled(tmp_path):
    path = write(tmp_path, "code\n007\n07\n")
    assert Observations.read(path, categorical="code").levels == ((("007", "07"),),)
    assert Observations.read(path)["code"].ravel().tolist() == [7.0, 7.0]


def test_endings_in_capitals(tmp_path):
    path = write(tmp_path, "a\n1\n", "DATA.CSV")
    assert Observations.read(str(path)).names == ("a",)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "it has 0 lines that are not blank"),
        (b"a,b\n", "at least one case; it has 1 lines"),
        (b"a,b\n1,2\n3\n", "line 3, should have 2 cells like the header; it has 1"),
        (b"a,b\n1,2,3\n", "line 2, should have 2 cells like the header; it has 3"),
        (b'a,b\n1,"2', "cut off or not well formed"),
        (b'a,b\n1,"2"x\n', "cut off or not well formed"),
        (b"PK\x03\x04rest", "should be text, as its ending says; it is a zip archive"),
        (b"PAR1rest", "it is a .parquet file"),
        (b"\x1f\x8brest", "cut off or not well compressed"),
        (b"\x93NUMPYrest", "it is an .npy array"),
        (b"a,a\n1,2\n", "distinct names; 'a' occurs more than once"),
        (b"a,b\n1,x\n2,3\n", "column 'b' should hold numbers or labels, not both"),
        (b"a,b\n1,inf\n", "column 'b' should hold finite numbers; row 0 is inf"),
        (b"a:continuous\nx\n", "column 'a' should hold numbers, as its name says"),
        (b"a,b\0\n1,2\n", "no control characters"),
    ],
)
def test_text_files_that_cannot_be_read(tmp_path, content, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.read(write(tmp_path, content))


@pytest.mark.parametrize("name", ["data.pkl", "data", "data.ods", "data.npz.gz"])
def test_unknown_endings(tmp_path, name):
    sentence = r"should end in one of \.csv, .*\.tsv, \.txt, \.xlsx \(text also in \.gz\); got"
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.read(tmp_path / name)
    with pytest.raises(InvalidInputError, match=sentence):
        Observations.from_array([[1.0]]).write(tmp_path / name)


@pytest.mark.parametrize("name", ["d.xlsx", "d.feather", "d.csv.gz", "d.txt"])
def test_kinds_that_are_only_read(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"read only; write a file that ends in one of \.c"):
        Observations.from_array([[1.0]]).write(tmp_path / name)


def test_feather(tmp_path):
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    frame.to_feather(tmp_path / "d.feather")
    assert Observations.read(tmp_path / "d.feather") == Observations.from_frame(frame)
    with pytest.raises(FileFormatError, match=r"cut off or not a \.feather file"):
        Observations.read(write(tmp_path, "text", "e.feather"))


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    frame.to_excel(tmp_path / "d.xlsx", index=False)
    assert Observations.read(tmp_path / "d.xlsx") == Observations.from_frame(frame)
    with pytest.raises(FileFormatError, match=r"cut off or not an \.xlsx file"):
        Observations.read(write(tmp_path, "text", "e.xlsx"))


def test_excel_without_its_reader(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"install mixoracle\[excel\], or save the"):
        Observations.read(write(tmp_path, "PK", "d.xlsx"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_that_look_like_no_measurements_come_back_from_our_own_files(ending):
    obs = Observations.from_arrays(
        {
            "count": np.arange(40.0),
            "same": np.ones(40),
            "label": [f"P{i}" for i in range(40)],
            "one": ["x"] * 40,
            "day": ["2024-01-05", "2024-01-06"] * 20,
            "written": ["1,5", "12%"] * 20,
            "12": np.random.default_rng(0).random(40),
            "yes": ["yes", "no"] * 20,
        }
    )
    assert written_and_read(obs, ending) == obs


def test_no_such_file_or_folder(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no such file"):
        Observations.read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInputError, match="there is no such file"):
        Observations.read(tmp_path / "folder.csv")
    with pytest.raises(InvalidInputError, match="should be a folder to write to"):
        Observations.from_array([[1.0]]).write(tmp_path / "none" / "data.csv")


def test_npz_of_numpy(tmp_path):
    np.savez_compressed(tmp_path / "d.npz", X1=np.ones((3, 2)), mode=np.array(["a", "b", "a"]))
    obs = Observations.read(tmp_path / "d.npz")
    assert obs.widths == (2, 1)
    assert obs.kinds[1] == (ColumnKind.CATEGORICAL,)
    regrouped = Observations.read(
        tmp_path / "d.npz", groups={"P": ["X1[1]"]}, drop=["X1[0]", "mode"]
    )
    assert regrouped.names == ("P",)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_column_of_any_file_names_the_rows(tmp_path, ending):
    Observations.from_arrays({"who": ["p", "q", "p"], "a": np.zeros(3)}).write(
        tmp_path / f"d{ending}"
    )
    held = Observations.read(tmp_path / f"d{ending}", id="who")
    assert (held.names, held.ids) == (("a",), ("p", "q", "p"))
    numbered = Observations.read(tmp_path / f"d{ending}", id="a")
    assert [float(name) for name in numbered.ids] == [0, 0, 0]


def test_numpy_reads_our_npz(tmp_path):
    Observations.from_arrays({"X1": np.ones((3, 2)), "X2": np.zeros(3)}).write(tmp_path / "d.npz")
    with np.load(tmp_path / "d.npz", allow_pickle=False) as archive:
        assert {key: archive[key].shape for key in archive} == {"X1": (3, 2), "X2": (3, 1)}


def test_npz_with_objects_is_refused(tmp_path):
    np.savez(tmp_path / "d.npz", a=np.array([{"k": 1}], dtype=object))
    with pytest.raises(FileFormatError, match=r"'a\.npy' in .* is cut off or pickled"):
        Observations.read(tmp_path / "d.npz")


def test_npz_with_unequal_or_no_arrays(tmp_path):
    np.savez(tmp_path / "d.npz", a=np.ones(2), b=np.ones(3))
    with pytest.raises(FileFormatError, match="same number of rows; got 'a': 2, 'b': 3"):
        Observations.read(tmp_path / "d.npz")
    np.savez(tmp_path / "d.npz")
    with pytest.raises(FileFormatError, match="got no array"):
        Observations.read(tmp_path / "d.npz")
    np.savez(tmp_path / "d.npz", a=np.ones((2, 2, 2)))
    with pytest.raises(InvalidInputError, match="block of 'a' should have shape"):
        Observations.read(tmp_path / "d.npz")


def test_npz_with_foreign_or_repeated_entries(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FileFormatError, match=r"should hold arrays only; it holds 'readme\.txt'"):
        Observations.read(tmp_path / "d.npz")
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.writestr("a.npy", "x")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.npy", "y")
    with pytest.raises(FileFormatError, match=r"each array once; it repeats 'a\.npy'"):
        Observations.read(tmp_path / "d.npz")


@pytest.mark.parametrize("levels", ["[", "3", '{"a": 3}', '{"a": [["x"], ["y"]]}', '{"a": ["xy"]}'])
def test_npz_with_broken_levels(tmp_path, levels):
    np.savez(tmp_path / "d.npz", a=np.zeros(2))
    with zipfile.ZipFile(tmp_path / "d.npz", "a") as archive:
        archive.writestr("levels.json", levels)
    with pytest.raises(FileFormatError, match=r"levels\.json"):
        Observations.read(tmp_path / "d.npz")


def test_npz_whose_codes_have_no_level(tmp_path):
    np.savez(tmp_path / "d.npz", a=np.array([0.0, 2.0]))
    with zipfile.ZipFile(tmp_path / "d.npz", "a") as archive:
        archive.writestr("levels.json", '{"a": [["x", "y"]]}')
    with pytest.raises(InvalidInputError, match="'a' should hold codes 0 to 1 of its 2 levels"):
        Observations.read(tmp_path / "d.npz")


@pytest.mark.parametrize("ending", EXACT_LEVELS)
def test_a_file_cut_off_anywhere_is_refused(tmp_path, ending):
    path = tmp_path / f"d{ending}"
    Observations.from_arrays({"a": np.arange(30.0), "b": ["x", "y"] * 15}).write(path)
    whole = path.read_bytes()
    for kept in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:kept])
        with pytest.raises(FileFormatError, match=r"is (empty|cut off)"):
            Observations.read(path)


@pytest.mark.parametrize("ending", EXACT_LEVELS)
def test_a_text_file_with_another_ending_is_refused(tmp_path, ending):
    with pytest.raises(FileFormatError, match="cut off or not"):
        Observations.read(write(tmp_path, "a,b\n1,2\n", f"d{ending}"))


def test_parquet_of_pandas(tmp_path):
    frame = pd.DataFrame(
        {"a[0]": [1, 2], "a[1]": [None, 0.5], "t": [True, False], "c": pd.Categorical(["u", None])},
        index=pd.Index(["r", "s"], name="case"),
    )
    frame.to_parquet(tmp_path / "d.parquet")
    obs = Observations.read(tmp_path / "d.parquet")
    assert obs == Observations.from_frame(frame)
    assert obs.names == ("a", "t", "c")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path, "PAR1", "d.parquet")
    with pytest.raises(MissingDependencyError, match=r"install mixoracle\[parquet\]"):
        Observations.read(path)
    with pytest.raises(MissingDependencyError, match=r"install mixoracle\[parquet\]"):
        Observations.from_array([[1.0]]).write(tmp_path / "e.parquet")
    assert sorted(held.name for held in tmp_path.iterdir()) == ["d.parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, ending, step):
    path = tmp_path / f"d{ending}"
    old = Observations.from_array([[1.0]])
    old.write(path)

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(OSError, match="disk full"):
            Observations.from_array([[2.0]]).write(path)
    assert Observations.read(path) == old
    assert list(tmp_path.iterdir()) == [path]
