"""New cases on the command line: read as those that were learned from, judged, told about."""

import csv
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import LatentModel, Observations, cli

N = 300


def table(seed, n=N, shift=0.0):
    """Two hidden states behind three numbers, an answer and a count."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "Part ID": [f"P{seed}-{i:04d}" for i in range(n)],
            "temp": rng.normal(np.where(ill, 8.0, 0.0), 1.0) + shift,
            "flow": rng.normal(np.where(ill, -6.0, 3.0), 1.0),
            "press": rng.normal(np.where(ill, 5.0, -5.0), 1.0),
            "look": np.where(rng.random(n) < np.where(ill, 0.9, 0.1), "scratch", "fine"),
        }
    )


@pytest.fixture(scope="module")
def learned_once(tmp_path_factory):
    """Data and what was learned from them; not to be changed."""
    folder = tmp_path_factory.mktemp("parts")
    data, out = str(folder / "data.csv"), str(folder / "result")
    table(0).to_csv(data, index=False)
    done = CliRunner().invoke(cli.main, ["learn", data, "--id", "Part ID", "--out", out])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def result(learned_once, tmp_path):
    shutil.copytree(learned_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "result"


def read(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def told(run, *arguments):
    outcome = run("predict", "result", *arguments, "--json")
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def test_the_rows_that_were_learned_from_get_their_states(run, tmp_path, result, monkeypatch):
    monkeypatch.setattr("mixoracle.cli.predict._ROWS_AT_ONCE", 7)
    held = told(run, "data.csv", "--out", "new.csv")
    learned, new = read(result / "states.csv"), read(tmp_path / "new.csv")
    names = LatentModel.load(result).latent_names
    assert [[row[name] for name in names] for row in new] == [
        [row[name] for name in names] for row in learned
    ]
    assert [row["Part ID"] for row in new] == [row["Part ID"] for row in learned]
    assert held["rows"] == N
    assert held["notes"] == []


@pytest.mark.parametrize("name", ["new.csv", "new.tsv", "new.csv.gz", "new.parquet", "new.feather"])
def test_columns_in_any_order_from_any_file(run, tmp_path, result, name):
    frame = table(1)[["look", "press", "Part ID", "flow", "temp"]].assign(extra=1.0)
    writers = {".parquet": frame.to_parquet, ".feather": frame.to_feather}
    write = writers.get((tmp_path / name).suffix)
    sep = "\t" if "tsv" in name else ","
    write(tmp_path / name) if write else frame.to_csv(tmp_path / name, index=False, sep=sep)
    held = told(run, name, "--out", "states.csv")
    assert held["ignored"] == ["extra"]
    expected = LatentModel.load(result).predict(table(1))
    got = [int(row["H1"]) for row in read(tmp_path / "states.csv")]
    assert got == expected[:, 0].tolist()


def test_unseen_levels_missing_cells_and_strange_rows_are_told(run, tmp_path, result):
    frame = table(2)
    frame.loc[0, "look"] = "burnt"
    frame.loc[1, "temp"] = np.nan
    frame.loc[2, "flow"] = 900.0
    frame.loc[3, ["temp", "flow", "press"]] = [8.0, 3.0, -5.0]
    frame.to_csv(tmp_path / "new.csv", index=False)
    held = told(run, "new.csv", "--out", "states.csv")
    assert held["unlike"] == 2
    assert held["missing"] == 2
    assert held["notes"] == [
        "2 of 300 cases are unlike everything learned, and their states mean little; the column "
        "'unlike' names the measurements",
        "look: 1 cells hold a level that was not learned from (such as 'burnt'); they count as "
        "missing",
        "2 cells are missing; the others of their case decide",
    ]
    unlike = [row["unlike"] for row in read(tmp_path / "states.csv")]
    assert unlike[2:4] == ["flow", "all together"]
    assert set(unlike[4:]) == {""}
    text = run("predict", "result", "new.csv", "--out", "states.csv", "--force").output
    assert "Note: 2 of 300 cases are unlike" in text


def test_dialects_of_new_files(run, tmp_path, result):
    frame = table(3)
    frame.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    told(run, "new.csv", "--out", "states.csv")
    expected = LatentModel.load(result).predict(frame)[:, 0].tolist()
    assert [int(row["H1"]) for row in read(tmp_path / "states.csv")] == expected
    piped = (tmp_path / "new.csv").read_bytes()
    assert run("predict", "result", "-", "--out", "piped.csv", input=piped).exit_code == 0
    assert (tmp_path / "piped.csv").read_bytes() == (tmp_path / "states.csv").read_bytes()


def test_a_decimal_comma_that_other_columns_settle(run, tmp_path, result):
    frame = table(3, n=2)
    frame["temp"], frame["flow"] = ["1,234", "1,678"], ["2,5", "3,5"]
    frame["press"] = ["-5,1", "-5,2"]
    frame.to_csv(tmp_path / "new.csv", index=False, sep=";")
    assert told(run, "new.csv", "--out", "states.csv")["unlike"] == 0


@pytest.mark.parametrize(
    ("change", "arguments", "sentence"),
    [
        (lambda f: f.drop(columns="flow"), (), "new rows should have the columns that were learned "
         "from; 'flow' is missing; there are 'Part ID', 'temp', 'press', 'look'"),
        (lambda f: f.rename(columns={"flow": "flew"}), (), "new rows should have the columns that "
         "were learned from; 'flow' is missing; did you mean 'flew'?"),
        (lambda f: f.assign(flow="high"), (), "flow held numbers in the rows that were learned "
         "from; new rows hold 'high': give numbers"),
        (lambda f: f, ("--id", "nobody"), "--id names the column 'nobody', which is not there; "
         "there are 'Part ID', 'temp', 'flow', 'press', 'look'"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(run, tmp_path, result, change, arguments, sentence):
    change(table(4)).to_csv(tmp_path / "new.csv", index=False)
    outcome = run("predict", "result", "new.csv", "--out", "states.csv", *arguments)
    assert outcome.exit_code == 2
    assert outcome.stderr == f"Error: {sentence}\n"
    assert not (tmp_path / "states.csv").exists()


def test_places_to_write(run, tmp_path, result):
    (tmp_path / "states.csv").write_text("mine")
    outcome = run("predict", "result", "data.csv", "--out", "states.csv")
    assert "states.csv exists already; choose another file, or say --force" in outcome.stderr
    outcome = run("predict", "result", "data.csv", "--out", "none/states.csv")
    assert "none should be a folder to write to; make it first" in outcome.stderr
    assert run("predict", "result", "data.csv", "--out", "states.csv", "--force").exit_code == 0


def test_groups_keep_the_names_of_their_columns(run, tmp_path):
    table(0).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "g.toml").write_text(
        'state = ["flow", "temp"]\nrest = ["press"]\nseen = ["look"]\n'
    )
    assert run("learn", "data.csv", "--groups", "g.toml", "--out", "result").exit_code == 0
    told(run, "data.csv", "--out", "states.csv")
    learned = read(tmp_path / "result" / "states.csv")
    assert [row["H1"] for row in read(tmp_path / "states.csv")] == [row["H1"] for row in learned]


# --- the model in Python ---


def test_a_saved_model_predicts_what_the_learner_predicts(result):
    from mixoracle import LatentGraphLearner

    frame, new = table(0).drop(columns="Part ID"), table(5, shift=0.3)
    learner = LatentGraphLearner(random_state=0).fit(frame)
    model = LatentModel.load(result)
    np.testing.assert_array_equal(learner.model_.predict(frame), learner.states_)
    named = Observations.from_frame(new, id="Part ID")
    for other in (new, new[new.columns[::-1]], new.iloc[:1], named):
        np.testing.assert_array_equal(model.predict(other), learner.predict(other))
        for own, theirs in zip(
            model.predict_proba(other), learner.predict_proba(other), strict=True
        ):
            np.testing.assert_allclose(own, theirs, atol=1e-9)
    assert not model.unlike(new).any()
    assert model.unlike(new.assign(temp=1e6)).all()


# --- questions, exports, samples ---


def answered(run, *arguments):
    outcome = run(*arguments, "--json")
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def test_questions(run, result):
    held = answered(run, "query", "result", "H1", "--given", "look=scratch", "--given", "temp=8")
    assert held["variables"] == ["H1"]
    assert max(held["probabilities"]) > 0.99
    held = answered(run, "query", "result", "look")
    assert set(held["mean"]) == {"look = fine", "look = scratch"}
    held = answered(run, "do", "result", "H1=0", "--of", "temp")
    assert held["identified"]
    held = answered(run, "effect", "result", "H1", "temp")
    assert abs(held["mean_lower"][0][0] - held["mean_lower"][1][0]) > 6
    assert "probability" in run("query", "result", "H1").output
    shown = run("effect", "result", "H1", "look").output
    assert all(word in shown for word in ("do(H1) = 0", "do(H1) = 1", "look = scratch"))
    assert "expected" in run("query", "result", "temp").output
    assert "expected" in run("do", "result", "H1=1", "--of", "temp").output
    assert "probability" in run("do", "result", "H1=1", "--of", "H1", "--given", "temp=8").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["query", "result", "H9"], "the model has no variable 'H9'; it has H1, temp, flow, press, "
         "look"),
        (["query", "result", "H1", "--given", "look"], "--given should be written NAME=VALUE, as "
         "in H1=0; got 'look'"),
        (["query", "result", "H1", "--given", "look=burnt"], "look has the levels fine, scratch; "
         "got 'burnt'"),
        (["do", "result", "H1=7", "--of", "temp"], "H1 has states 0 to 1; got 7"),
        (["effect", "result", "temp", "H1"], "'temp' is observed and causes nothing in this model; "
         "only latents can be set"),
    ],
)  # fmt: skip
def test_questions_without_sense(run, result, arguments, sentence):
    outcome = run(*arguments)
    assert outcome.exit_code == 2
    assert outcome.stderr == f"Error: {sentence}\n"


@pytest.mark.parametrize("kind", ["bif", "xmlbif", "dagitty", "dot", "graphml", "json"])
def test_exports(run, tmp_path, result, kind):
    assert answered(run, "export", "result", "--format", kind, "--out", "model.out")
    assert (tmp_path / "model.out").stat().st_size > 0
    outcome = run("export", "result", "--format", kind, "--out", "model.out")
    assert "model.out exists already" in outcome.stderr


def test_an_export_by_its_ending(run, tmp_path, result):
    from mixoracle.model import export

    assert run("export", "result", "--out", "model.json").exit_code == 0
    assert export.read(tmp_path / "model.json") == LatentModel.load(result)
    assert "should end in one of" in run("export", "result", "--out", "model.x").stderr


def test_samples_can_be_predicted(run, tmp_path, result):
    assert answered(run, "sample", "result", "--samples", 50, "--out", "drawn.csv")["rows"] == 50
    frame = pd.read_csv(tmp_path / "drawn.csv")
    assert set(frame.columns) == {"temp", "flow", "press", "look"}
    assert told(run, "drawn.csv", "--out", "states.csv")["unlike"] == 0
    again = run("sample", "result", "--samples", 50, "--out", "again.csv")
    assert again.exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "drawn.csv").read_bytes()
