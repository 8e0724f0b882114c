"""Units are part of the model: found in the cells, kept in files, shown where values are shown."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.cli import main
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations.numerals import read_numerals
from mixoracle.observations.units import are_different_units, is_unit

N = 240


def table():
    rng = np.random.default_rng(0)
    state = rng.integers(2, size=N)
    return pd.DataFrame(
        {
            "part": [f"P{i}" for i in range(N)],
            "weight": [f"{x:.2f} kg" for x in rng.normal(5 + 4 * state, 0.4)],
            "share": [f"{x:.1f}%" for x in rng.normal(40 + 20 * state, 2.0)],
            "dose": [f"{10 * x} mg" for x in 1 + state + (rng.random(N) < 0.1)],
            "speed": rng.normal(3 + 5 * state, 0.5),
        }
    )


COLUMNS = """
[columns]
part = "id"
dose = { as = "gaussian", unit = "mg" }
share = { variable = "motion" }
speed = { variable = "motion", unit = "m/s" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    held = tmp_path_factory.mktemp("units")
    table().to_csv(held / "data.csv", index=False)
    (held / "columns.toml").write_text(COLUMNS)
    return held


@pytest.fixture(scope="module")
def learner(folder):
    learner = LatentGraphLearner(random_state=0, n_init=1)
    return learner.fit(table(), columns=folder / "columns.toml")


def test_a_model_keeps_its_units(learner, tmp_path):
    model = learner.model_
    assert model.reading.units == (("kg",), ("%", "m/s"), ("mg",))
    learner.model_.save(tmp_path / "model")
    again = LatentModel.load(tmp_path / "model")
    assert again.reading == model.reading
    titles = ["weight (kg)", "share (%)", "speed (m/s)", "dose (mg)"]
    assert again.state_means().columns.tolist() == titles
    assert set(again.effects_frame()["of"]) == set(titles)
    assert again.query("weight").mean_of == ("weight (kg)",)
    assert learner.states_frame().index[0] == "P0"


def test_models_of_before_have_none(learner):
    held = learner.model_.reading.to_json()
    del held["units"]
    assert type(learner.model_.reading).from_json(held).units == (("",), ("", ""), ("",))
    with pytest.raises(InvalidInputError, match="for the same variables"):
        type(learner.model_.reading).from_json({**held, "units": [["kg"]]})


def test_values_are_given_with_their_units(learner):
    model = learner.model_
    expected = model.query("H1", given={"weight": 5.0}).table
    for spelled in ("5", "5 kg", "5.0kg", "5,0 kg", "5,0"):
        assert np.array_equal(model.query("H1", given={"weight": spelled}).table, expected)
    with pytest.raises(InvalidInputError, match="with or without its unit kg; got '5 g'"):
        model.query("H1", given={"weight": "5 g"})
    with pytest.raises(InvalidInputError, match="got '1,234 kg': write a decimal point"):
        model.query("H1", given={"weight": "1,234 kg"})
    with pytest.raises(InvalidInputError, match=r"speed should be given as a number, .*'fast'"):
        model.query("H1", given={"speed": "fast"})


def test_new_rows_are_in_the_units_of_the_old_ones(learner):
    few = table().head(3)
    for who in (learner, learner.model_):
        assert np.array_equal(who.predict(few), learner.states_[:3])
        bare = few.assign(weight=[float(cell.split()[0]) for cell in few["weight"]])
        assert np.array_equal(who.predict(bare), learner.states_[:3])
        grams = few.assign(weight=["5000 g", "6000 g", "7000 g"])
        with pytest.raises(InvalidInputError, match=r"should hold numbers in kg; it holds .* in g"):
            who.predict(grams)
        mixed = few.assign(weight=["5 kg", "6000 g", "7 kg"])
        with pytest.raises(InvalidInputError, match="some in g and some in kg"):
            who.predict(mixed)
    other = Observations.from_frame(
        few, columns={"weight": "drop", "part": "id", "dose": "drop"}
    ).columns
    assert other.described["weight"].taken_as == "drop"
    tonnes = Observations.from_frame(
        pd.DataFrame({"weight": [0.005, 0.006], "speed": 1.0, "share": 2.0, "dose": 3.0}),
        columns={
            "weight": {"unit": "t"},
            "speed": {"variable": "motion"},
            "share": {"variable": "motion"},
        },
    )
    with pytest.raises(InvalidInputError, match="weight was learned in kg; new rows hold it in t"):
        learner.predict(tonnes)


def test_missing_cells_of_new_rows_are_told(learner):
    new = table().head(4)
    new.loc[1, ["weight", "speed"]] = None
    with pytest.warns(DataWarning, match=r"^2 of 16 new cells are missing \(in 'weight', 'speed'"):
        states = learner.model_.predict(new)
    assert np.array_equal(states, learner.states_[:4])
    new.loc[2, ["weight", "share", "dose", "speed"]] = None
    for ask in (learner.model_.predict_proba, learner.model_.unlike):
        with pytest.warns(DataWarning, match="1 rows without any value get the most frequent"):
            ask(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.model_.predict(table())


def test_the_command_line_does_the_same(folder):
    def run(*arguments):
        places = [str(folder / a) if a.endswith((".csv", ".toml")) else a for a in arguments]
        return CliRunner().invoke(main, places)

    done = run("learn", "data.csv", "--dry-run", "--id", "part", "--write-columns", "w.toml")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"weight .* [0-9.]+ kg .* [0-9.]+ kg", done.stdout)
    assert 'weight = { as = "gaussian", unit = "kg" }' in (folder / "w.toml").read_text()
    again = run(
        "learn", "data.csv", "--dry-run", "--columns", "w.toml", "--write-columns", "v.toml"
    )
    assert again.exit_code == 0, again.stderr
    assert (folder / "v.toml").read_text() == (folder / "w.toml").read_text()
    refused = run("learn", "data.csv", "--dry-run", "--write-columns", "w.toml")
    assert "w.toml exists already; choose another file, or say --force" in refused.stderr
    result = str(folder / "result")
    done = run("learn", "data.csv", "--columns", "columns.toml", "--seed", "0", "--out", result)
    assert done.exit_code == 0, done.stderr
    assert "weight (kg), share (%), speed (m/s), dose (mg)" in done.stdout
    report = (folder / "result" / "report.html").read_text(encoding="utf-8")
    assert "weight (kg)" in report
    evidence = json.loads((folder / "result" / "evidence.json").read_text())
    assert {"weight (kg)", "dose (mg)"} <= {c for e in evidence["effects"] for c in e["columns"]}
    asked = run("query", result, "H1", "--given", "weight=5 kg", "--json")
    assert max(json.loads(asked.stdout)["probabilities"]) > 0.99
    new = run("predict", result, "data.csv", "--out", "states.csv")
    assert new.exit_code == 0, new.stderr
    assert (folder / "states.csv").read_text().startswith("part,H1,")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--drop", "dose"], "--columns takes it as 'gaussian', and --drop leaves it out"),
        (["--id", "weight"], "--columns says 'part', and --id names 'weight'"),
        (["--groups", "prefix"], "--groups and --columns both say which columns"),
        (["--family", "dose=student"], "--columns says gaussian, --family says student"),
        (["--family", "motion=student", "--exposure", "dose"], "needs columns of counts"),
        (["--categorical", "dose"], "and --categorical makes it levels"),
    ],
)
def test_options_must_not_contradict_the_file(folder, options, says):
    file, columns = str(folder / "data.csv"), str(folder / "columns.toml")
    done = CliRunner().invoke(main, ["learn", file, "--columns", columns, "--dry-run", *options])
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def cells(units):
    return [f"{i + 0.5} {units[i % len(units)]}".strip() for i in range(14)]


@pytest.mark.parametrize(
    ("units", "named"),
    [
        (["kg", "g"], "some in g and some in kg"),
        (["kg", ""], "some without a unit and some in kg"),
        (["%", "‰", "kg"], "some in % and some in kg and some in ‰"),
        (["kg", "KG"], "some in KG and some in kg"),
        (["mg/dl", "g/l"], "some in g/l and some in mg/dl"),
    ],
)
def test_several_units_are_a_question(units, named):
    with pytest.raises(InvalidInputError, match=f"one unit; it holds {named}: convert them"):
        read_numerals(cells(units), "c")
    frame = pd.DataFrame({"x": np.arange(42.0) % 5, "w": cells(units) * 3})
    with pytest.raises(InvalidInputError, match=r"'w' should hold numbers in one unit|not both"):
        Observations.from_frame(frame)


def test_letters_behind_numbers_are_no_units():
    assert read_numerals([f"{i}{'ABCDEFGH'[i % 8]}" for i in range(40)], "c") is None
    assert read_numerals([f"{i}{'AV'[i % 2]}" for i in range(40)], "c") is None
    assert not are_different_units({"x", "kg"})
    assert all(map(is_unit, ("µm", "m/s²", "kW·h")))
    assert not is_unit("st")


def test_lists_of_numbers_are_no_numbers():
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "w": [f"{i},12,3" for i in range(60)]})
    with pytest.warns(DataWarning, match="'w' .different in every row."):
        assert Observations.from_frame(frame).names == ("x",)


@pytest.mark.parametrize("number", ["{}%", "{} kg", "{},5", "{} m/s"])
def test_words_among_numbers_are_a_question(number):
    column = [number.format(i) for i in range(30)]
    column[7] = "n.d."
    frame = pd.DataFrame({"x": np.arange(60.0) % 7, "w": column * 2})
    with pytest.raises(InvalidInputError, match=r"row 7 is 'n.d.': mark missing .* with na="):
        Observations.from_frame(frame)
    assert Observations.from_frame(frame, na=["n.d."]).levels == ((None,), (None,))
