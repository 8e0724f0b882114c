"""Columns keep the names of their table in groups: in tables, messages, report and questions."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle.cli import main
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.report.gathering import gather

GROUPS = {"genes": ["gene5", "gene7"], "blood": ["hb", "grade"]}


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "gene5": rng.normal(6.0 * ill),
            "hb": rng.normal(9.0 * ill),
            "gene7": rng.normal(-6.0 * ill),
            "grade": np.where(rng.random(n) < np.where(ill, 0.9, 0.1), "high", "low"),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    return LatentGraphLearner(random_state=0).fit(table(), groups=GROUPS)


def test_titles_are_the_names_of_the_table():
    held = Observations.from_frame(table(), groups=GROUPS)
    assert held.titles == ("gene5", "gene7", "hb", "grade")
    assert held.column_names == ("genes[0]", "genes[1]", "blood[0]", "blood[1]")
    assert Observations.from_array(np.ones((3, 2)), groups=2).titles == ("X1[0]", "X1[1]")


def test_they_reach_the_report_and_questions(fitted, tmp_path):
    assert [column.title for column in fitted.columns_] == ["gene5", "gene7", "hb", "grade"]
    evidence = gather(fitted, Observations.from_frame(table(), groups=GROUPS))
    assert evidence.effects[0].columns == ("gene5", "gene7")
    assert evidence.effects[1].columns == ("hb", "grade = high", "grade = low")
    fitted.model_.save(tmp_path)
    answer = LatentModel.load(tmp_path).query("blood", given={"H1": 0})
    assert answer.mean_of == ("hb", "grade = high", "grade = low")


def test_they_are_in_messages(fitted):
    odd = table()
    odd.loc[0, "grade"] = "medium"
    with pytest.warns(DataWarning, match="grade: 1 of 200 new cells"):
        fitted.predict(odd)
    with pytest.warns(DataWarning, match="grade: 1 of 200 new cells"):
        fitted.model_.predict(odd)
    empty = table()
    empty["gene7"] = np.nan
    with pytest.raises(InvalidInputError, match=r"^gene7 has no value in any row"):
        LatentGraphLearner().fit(empty, groups=GROUPS)


def test_columns_are_evidence_by_their_own_names(fitted):
    model = fitted.model_
    whole = model.query("H1", given={"blood": [4.0, "high"]}).table
    assert np.allclose(model.query("H1", given={"hb": 4.0, "grade": "high"}).table, whole)
    part = model.query("H1", given={"blood": [np.nan, "high"]}).table
    assert np.allclose(model.query("H1", given={"grade": "high"}).table, part)
    for both in ({"blood": [4.0, "high"], "hb": 4.0}, {"hb": 4.0, "blood": [4.0, "high"]}):
        with pytest.raises(InvalidInputError, match="'blood' or its columns, not both"):
            model.query("H1", given=both)
    with pytest.raises(InvalidInputError, match="grade has the levels high, low; got 'medium'"):
        model.query("H1", given={"grade": "medium"})


def test_columns_are_evidence_on_the_command_line(fitted, tmp_path):
    fitted.model_.save(tmp_path)
    arguments = ["query", str(tmp_path), "H1", "--given", "grade=high", "--given", "hb=4", "--json"]
    done = CliRunner().invoke(main, arguments)
    expected = fitted.model_.query("H1", given={"blood": [4.0, "high"]}).table
    assert np.allclose(json.loads(done.stdout)["probabilities"], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["query", "H2", "--given", "H1=1", "--given", "H1=0"], "--given should name H1 once"),
        (["query", "H1", "--given", "hb=4", "--given", "hb=4"], "--given should name hb once"),
        (["query", "H1", "--given", "hb=4", "--given", "blood=4,low"], "'blood' or its columns"),
        (["do", "H1=0", "H1=1", "--of", "blood"], "a target should name H1 once"),
        (["do", "H1=0", "--of", "blood", "--given", "H1=1"], "'H1' is set by do"),
    ],
)
def test_evidence_is_given_once(fitted, tmp_path, arguments, says):
    fitted.model_.save(tmp_path)
    done = CliRunner().invoke(main, [arguments[0], str(tmp_path), *arguments[1:]])
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_drawn_rows_have_them_too(fitted):
    drawn, _ = fitted.sample(5, random_state=0)
    assert drawn.titles == ("gene5", "gene7", "hb", "grade")


def test_two_levels_of_names_keep_the_inner_one():
    frame = table().set_axis(
        pd.MultiIndex.from_tuples(
            [("genes", "g5"), ("blood", "hb"), ("genes", "g7"), ("blood", "grade")]
        ),
        axis=1,
    )
    held = Observations.from_frame(frame)
    assert (held.names, held.titles) == (("genes", "blood"), ("g5", "g7", "hb", "grade"))
    learner = LatentGraphLearner(random_state=0).fit(frame)
    turned = frame[frame.columns[::-1]]
    assert np.array_equal(learner.predict(frame), learner.predict(turned))
    assert np.array_equal(learner.model_.predict(frame), learner.model_.predict(turned))
    same = frame.set_axis(pd.MultiIndex.from_product([["a", "b"], ["x", "y"]]), axis=1)
    assert Observations.from_frame(same).titles == ("a.x", "a.y", "b.x", "b.y")
