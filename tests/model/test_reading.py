"""A model keeps how its table is read, and marks rows that it cannot explain."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.errors import DataWarning, FileFormatError, InvalidInputError
from mixoracle.model import export
from mixoracle.model.reading import Reading


def frame(seed, n=250):
    rng = np.random.default_rng(seed)
    state = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            "b_x": rng.normal(6.0 * state, 1.0),
            "a": rng.normal(-6.0 * state, 1.0),
            "b_y": rng.normal(6.0 * state, 1.0),
            "mark": np.where(rng.random(n) < 0.1 + 0.8 * state, 2, 1),
        }
    )


@pytest.fixture(scope="module")
def learner():
    return LatentGraphLearner(random_state=0).fit(frame(0), groups="prefix")


def test_columns_and_levels_of_the_table(learner):
    reading = learner.model_.reading
    assert learner.model_.observed_names == ("b", "a", "mark")
    assert reading.columns == (("b_x", "b_y"), ("a",), ("mark",))
    assert reading.levels == ((None, None), (None,), (("1", "2"),))


def test_it_is_saved_with_the_model(learner, tmp_path):
    model = learner.model_
    model.save(tmp_path)
    assert LatentModel.load(tmp_path) == model
    assert export.read_json(model.to_json()) == model
    old = json.loads((tmp_path / "model.json").read_text())
    del old["reading"]
    (tmp_path / "model.json").write_text(json.dumps(old))
    assert LatentModel.load(tmp_path) == replace(model, reading=None)


@pytest.mark.parametrize(
    "reading",
    [
        3,
        {},
        {"columns": "ab"},
        {"columns": [["a"]], "levels": [], "set_aside": [], "usual": [], "together": None},
        {"columns": [[1]], "levels": [[None]], "set_aside": [], "usual": [], "together": None},
        {"columns": [["a"]], "levels": [[None]], "set_aside": ["x"], "usual": [], "together": 0},
        {"columns": [["a"]], "levels": [[None]], "set_aside": [], "usual": [], "together": None},
    ],
)
def test_a_damaged_reading_is_refused(learner, tmp_path, reading):
    learner.model_.save(tmp_path)
    header = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**header, "reading": reading}))
    with pytest.raises(FileFormatError):
        LatentModel.load(tmp_path)


def test_new_tables_of_every_kind(learner):
    model, new = learner.model_, frame(1)
    expected = learner.predict(new)
    assert (model.predict(frame(0)) == learner.states_).all()
    blocks = {"b": new[["b_x", "b_y"]].to_numpy(), "a": new["a"], "mark": new["mark"]}
    array = new[["b_x", "b_y", "a", "mark"]].to_numpy()
    for table in (new[new.columns[::-1]], new.assign(more="x"), blocks, array, new.astype(str)):
        np.testing.assert_array_equal(model.predict(table), expected)
    with pytest.raises(InvalidInputError, match="the 4 columns that were learned from; got shape"):
        model.predict(np.hstack([array, array]))
    with pytest.raises(InvalidInputError, match="'a' is missing"):
        model.predict({"b": blocks["b"], "mark": blocks["mark"]})
    with pytest.warns(DataWarning, match="mark: 250 of 250 new cells hold a level"):
        model.predict(new.assign(mark=3))


@pytest.mark.filterwarnings("ignore:.* new cells are missing")
def test_rows_that_no_state_explains(learner):
    model, usual = learner.model_, frame(2)
    assert not model.unlike(usual).any()
    assert model.unlike(usual.assign(a=50.0)).all()
    never_together = pd.DataFrame({"b_x": [6.0], "b_y": [6.0], "a": [0.0], "mark": [1]})
    assert model.unlike(never_together).tolist() == [True]
    assert not model.unlike(never_together.assign(a=np.nan)).any()
    assert not model.unlike(never_together.assign(b_x=np.nan, b_y=np.nan)).any()


def test_a_model_that_was_not_learned_goes_by_its_own_names(learner):
    bare = replace(learner.model_, reading=None)
    table = frame(3).rename(columns={"b_x": "b[0]", "b_y": "b[1]"})
    coded = table.assign(mark=table["mark"] - 1)
    np.testing.assert_array_equal(bare.predict(coded), learner.predict(frame(3)))
    assert not bare.unlike(coded).any()
    without = replace(bare, components=None)
    with pytest.raises(InvalidInputError, match="new rows need a model with components"):
        without.predict(coded)


def test_a_reading_without_components_is_refused(learner, tmp_path):
    with pytest.raises(InvalidInputError, match="without components"):
        replace(learner.model_, components=None)
    learner.model_.save(tmp_path)
    header = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps({**header, "components": None}))
    with pytest.raises(FileFormatError, match="without components"):
        LatentModel.load(tmp_path)


def test_a_reading_of_other_variables_is_refused(learner):
    with pytest.raises(InvalidInputError, match="columns of each observed variable"):
        replace(learner.model_, reading=Reading((("a",),), ((None,),)))
    with pytest.raises(InvalidInputError, match="for the same variables"):
        Reading((("a",),), ())


def test_levels_go_by_their_names_in_questions(learner):
    model = learner.model_
    by_label = model.query("H1", given={"mark": "2"}).table
    np.testing.assert_array_equal(by_label, model.query("H1", given={"mark": 1}).table)
    assert model.query("mark").mean_of == ("mark = 1", "mark = 2")
    assert model.query("b").mean_of == ("b_x", "b_y")
    assert model.effect("H1", "a").mean_of == ("a",)
    with pytest.raises(InvalidInputError, match="mark has the levels 1, 2; got '7'"):
        model.query("H1", given={"mark": "7"})
