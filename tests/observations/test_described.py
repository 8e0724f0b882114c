"""What each column is, in one place: written, corrected, given back."""

import warnings

import numpy as np
import pandas as pd
import pytest

from mixoracle import Columns, LatentGraphLearner, Observations
from mixoracle.errors import DataWarning, FileFormatError, InvalidInputError
from mixoracle.mixtures.preparation import prepare
from mixoracle.mixtures.understood import understood

RNG = np.random.default_rng(0)
N = 60
TABLE = pd.DataFrame(
    {
        "Part ID": [f"P{i}" for i in range(N)],
        "when": pd.date_range("2024-01-01", periods=N).astype(str),
        "weight": [f"{x:.3f} kg" for x in RNG.normal(5.0, 1.0, N)],
        "share": [f"{x}%" for x in RNG.integers(1, 4, N)],
        "visits": 1 + RNG.poisson(4.0, N),
        "mood": np.where(RNG.random(N) < 0.5, "low", "good"),
        "blood_hb": RNG.normal(size=N),
        "blood visits": RNG.poisson(4.0, N),
        'the "odd" = [name]': RNG.normal(size=N),
        "left\x7fout\n": 1,
    }
)
SAID = {"Part ID": "id", "visits": "gaussian", "blood_hb": {"variable": "blood", "unit": "g/l"}}


def read(columns=None, table=TABLE, **choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Observations.from_frame(table, columns=columns, **choices)


def as_learned(observations, families=None):
    """All that learning sees: names, levels, families, units, values."""
    prepared = prepare(observations, families)
    return prepared.columns, prepared.observations, np.hstack(prepared.blocks)


@pytest.mark.parametrize(
    ("choices", "families"),
    [
        ({}, None),
        ({"id": "Part ID", "drop": ["weight"], "keep": ["when"]}, None),
        (
            {"groups": "prefix", "id": "Part ID", "drop": ["left\x7fout\n"]},
            {"share": "gaussian"},
        ),
        ({"categorical": ["visits"], "decimal": ".", "na": ["4", "low"]}, "student"),
        ({"columns": SAID}, {"blood visits": "gaussian"}),
    ],
)
def test_what_was_read_gives_the_same_again(tmp_path, choices, families):
    first = read(**choices)
    described = understood(first, families)
    described.write(tmp_path / "columns.toml")
    again = Columns.read(tmp_path / "columns.toml")
    assert again == described
    second = read(again)
    assert second.ids == first.ids
    assert understood(second) == described
    columns, observations, blocks = as_learned(first, families)
    said, same, values = as_learned(second)
    assert same == observations
    assert np.array_equal(values, blocks, equal_nan=True)
    kept = ("title", "family", "levels", "unit", "missing")
    assert [[getattr(c, k) for k in kept] for c in said] == [
        [getattr(c, k) for k in kept] for c in columns
    ]


def test_files_are_read_like_frames_and_dialects_come_back(tmp_path):
    table = TABLE.iloc[:, :7].assign(blood_hb=TABLE["blood_hb"].map(lambda x: f"{x:.3f}"))
    text = table.to_csv(index=False, sep=";").replace(".", ",")
    (tmp_path / "data.csv").write_text(text, encoding="latin-1")
    options = {"sep": ";", "decimal": ",", "encoding": "latin-1"}
    with pytest.warns(DataWarning, match="'when'"):
        first = Observations.read(tmp_path / "data.csv", id="Part ID", **options)
    understood(first).write(tmp_path / "columns.toml")
    second = Observations.read(tmp_path / "data.csv", columns=tmp_path / "columns.toml")
    assert second == first
    assert second.ids == first.ids
    assert dict(second.columns.table) == options
    assert second.units[:2] == ("kg", "%")


def test_the_columns_of_a_variable_keep_their_order():
    groups = {"b": ["blood visits", "blood_hb"], "w": ["weight"]}
    others = [c for c in TABLE.columns if c not in ("blood visits", "blood_hb", "weight")]
    first = read(groups=groups, drop=others)
    second = read(first.columns)
    assert second["b"].tolist() == first["b"].tolist()
    assert set(second.names) == {"b", "w"}


def test_a_learner_takes_it_and_says_it():
    learner = LatentGraphLearner(families={"mood": "categorical"})
    with pytest.warns(DataWarning):
        found = learner.understood(TABLE)
    assert found.described["when"].taken_as == "drop"
    assert found.described["when"].remark == "dates or times"
    assert found.described["visits"].taken_as == "counts"
    assert found.described["share"].remark == "categorical, by its values"
    assert "mood" in found.families
    with pytest.warns(DataWarning):
        found = LatentGraphLearner().understood(TABLE, columns={"visits": "exposure"})
    assert found.exposure == "visits"
    with pytest.warns(DataWarning):
        total = LatentGraphLearner(exposure="total").understood(TABLE)
    assert total.exposure == "total"
    assert total.table == {"exposure": "total"}


@pytest.mark.parametrize(
    ("columns", "choices", "says"),
    [
        (
            {"visit": "counts"},
            {},
            "columns describes 'visit', which is not there; did you mean 'vi",
        ),
        ({"visits": "count"}, {}, "'visits' may be taken as measurement, .*; got 'count'; did you"),
        ({"visits": 3}, {}, "'visits' should be described by a word or by .*; got 3"),
        ({"visits": {"kind": "counts"}}, {}, "may say as, variable, unit; it says 'kind'"),
        ({"visits": {"unit": ""}}, {}, "'unit' of 'visits' should be text that is not empty"),
        ({"visits": {"as": "drop", "unit": "h"}}, {}, "so it has no variable and no unit"),
        ({"visits": "id", "mood": "id"}, {}, "one column may be taken as 'id'; got 'visits' and"),
        ({"visits": "counts"}, {"drop": "visits"}, "takes it as 'counts', and drop= leaves it out"),
        ({"visits": "drop"}, {"keep": ["visits"]}, "'drop', and keep= makes it a measurement"),
        ({"visits": "counts"}, {"categorical": ["visits"]}, "and categorical= makes it levels"),
        ({"Part ID": "id"}, {"id": "mood"}, "columns says 'Part ID', and id= names 'mood'"),
        ({"visits": {"variable": "x"}}, {"groups": "prefix"}, "groups= and columns both say"),
        ({"visits": {"variable": "mood"}}, {}, "'mood' stands beside columns of the variable"),
        ({"weight": {"unit": "g"}}, {}, "should hold numbers in g; it holds numbers in kg"),
        (3, {}, "columns should be a mapping from names of columns, or the name of a .toml file"),
        ("columns.csv", {}, "a file that ends in .toml; got columns.csv"),
        ("nowhere.toml", {}, "there is no such file"),
    ],
)
def test_what_is_refused(columns, choices, says):
    with pytest.raises(InvalidInputError, match=says):
        read(columns, **choices)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[columns", "should be TOML, as its ending says"),
        ('[columns]\nx = "id"\nx = "drop"', "should be TOML"),
        ('[column]\nx = "id"', "has the tables .columns. and .table.; it has 'column'"),
        ("columns = 3", "should be tables"),
        ("[table]\ndecimals = ','", "it says 'decimals'; did you mean 'decimal'"),
        ("[table]\nna = 'x'", r"should say na = \[\"n.d.\"\]; got 'x'"),
        ("[table]\nna = [['x']]", "should say na ="),
        ("[table]\nna = 3", "should say na ="),
        ("[table]\nexposure = 'visits'", "is taken as 'exposure' in .columns."),
        ("[table]\nexposure = 'total'\n[columns]\nv = 'exposure'", "both name an exposure"),
        ("[columns]\nv = 'gausian'", "columns.toml: 'v' may be taken as .*did you mean 'gaussian'"),
        ("\xff", "should be TOML"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, says):
    (tmp_path / "columns.toml").write_text(text, encoding="latin-1")
    with pytest.raises((InvalidInputError, FileFormatError), match=says):
        Columns.read(tmp_path / "columns.toml")


def test_where_it_cannot_be_written(tmp_path):
    with pytest.raises(InvalidInputError, match=r"ends in \.toml"):
        Columns().write(tmp_path / "columns.txt")
    with pytest.raises(InvalidInputError, match="make it first"):
        Columns().write(tmp_path / "none" / "columns.toml")


def test_arrays_have_no_names_to_describe():
    with pytest.raises(InvalidInputError, match="such as a frame; got ndarray"):
        LatentGraphLearner().fit(np.zeros((40, 2)), columns={"X1": "drop"})
    with pytest.raises(InvalidInputError, match=r"by Observations.read or from_frame"):
        LatentGraphLearner().fit(read(), columns={"visits": "drop"})


def test_text_is_no_number():
    with pytest.raises(InvalidInputError, match="takes 'mood' as counts, but it holds text"):
        understood(read({"mood": "counts"}))


def test_families_are_declared_once():
    held = read({"visits": "counts", "blood_hb": {"variable": "b"}, "mood": {"variable": "b"}})
    assert understood(held, "student").families["visits"] == "counts"
    for name, family in (("visits", "gaussian"), ("blood_hb", "student")):
        said = read({"visits": "counts", "blood_hb": {"as": "gamma", "variable": "b"}})
        with pytest.raises(InvalidInputError, match=f"family of '{name}' is declared twice"):
            understood(said, {name: family})


def test_an_exposure_is_named_once():
    held = read({"visits": "exposure"})
    with pytest.raises(
        InvalidInputError, match="columns says 'visits', and exposure= names 'total'"
    ):
        understood(held, None, "total")
