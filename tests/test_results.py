"""What a fitted learner shows: frames, summary, report, features, with the names of the data."""

import pickle

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixoracle import JointTable, LatentGraphLearner, LatentModel, Observations
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.observations.source import Source
from mixoracle.report.folder import read_result
from mixoracle.report.words import verdict_line


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    worn, leaky = rng.random(n) < 0.4, rng.random(n) < 0.3
    return pd.DataFrame(
        {
            "part": [f"T{i:04d}" for i in range(n)],
            "heat": rng.normal(np.where(worn, 60.0, 45.0), 2.0),
            "torque": rng.normal(np.where(worn, 8.5, 5.0), 0.4),
            "pressure": rng.normal(np.where(leaky, 3.1, 4.6), 0.2),
            "flow": rng.normal(np.where(leaky, 900.0, 1200.0) + 500.0 * worn, 30.0),
            "check": np.where(rng.random(n) < 0.1 + 0.8 * worn, "scratch", "good"),
        }
    )


@pytest.fixture(scope="module")
def learner():
    fitted = LatentGraphLearner(random_state=0).fit(Observations.from_frame(table(), id="part"))
    fitted.model_ = fitted.model_.rename(["wear", "seal"], {"wear": ["new", "worn"]})
    return fitted


def test_summary(learner):
    text = str(learner.summary())
    assert text.startswith(verdict_line(learner.summary().evidence))
    assert "\n2 hidden causes found behind 400 cases of 5 measurements.\n" in text
    assert all(f"\n  {reason}\n" in text for reason in learner.summary().evidence.verdict.reasons)
    assert "wear has 2 states (new 5" in text or "wear has 2 states (new 6" in text
    assert "<li>" in learner.summary()._repr_html_()


def test_states_frame(learner):
    frame = learner.states_frame()
    assert list(frame.columns) == ["wear", "seal", "P(wear)", "P(seal)"]
    assert list(frame.index[:2]) == ["T0000", "T0001"]
    assert list(frame["wear"].cat.categories) == ["new", "worn"]
    assert frame["seal"].tolist() == learner.states_[:, 1].tolist()
    assert frame["P(wear)"].between(0.5, 1.0).all()
    new = table(5, seed=1).set_axis(list("abcde"))
    assert list(learner.states_frame(new).index) == list("abcde")


def test_rows_keep_the_labels_of_their_table():
    held = table(150)
    labelled = held.drop(columns="part").set_axis(pd.Index(held["part"], name="part"))
    odd = held.drop(columns="part")[1::2]
    fitted = LatentGraphLearner(random_state=0)
    assert fitted.fit(labelled).states_frame().index.equals(labelled.index)
    assert fitted.learned_rows().ids == tuple(held["part"])
    assert fitted.fit(odd).states_frame().index.equals(odd.index)
    assert fitted.learned_rows().ids is None
    with pytest.warns(DataWarning, match="'part'"):
        assert fitted.fit(held).states_frame().index.equals(held.index)


def test_xarray_keeps_the_labels_of_its_rows():
    xarray = pytest.importorskip("xarray")
    held = table(150)[["part", "heat", "torque", "pressure"]].set_index("part")
    array = xarray.DataArray(held, dims=("part", "quantity"))
    blocks = xarray.Dataset.from_dataframe(held)
    for given in (array, blocks):
        fitted = LatentGraphLearner(random_state=0).fit(given)
        assert list(fitted.states_frame().index) == list(held.index)


def test_state_means(learner):
    means = learner.state_means()
    assert list(means.index.names) == ["latent", "state"]
    assert means.loc[("wear", "new"), "heat"] == pytest.approx(45, abs=1)
    assert means.loc[("wear", "worn"), "check = scratch"] == pytest.approx(0.9, abs=0.1)
    assert np.isnan(means.loc[("seal", "0"), "heat"])


def test_effects_frame(learner):
    effects = learner.effects_frame()
    chosen = effects.query("cause == 'wear' and effect == 'check' and of == 'check = scratch'")
    assert chosen["set_to"].tolist() == ["new", "worn"]
    assert chosen["lower"].tolist() == pytest.approx([0.1, 0.9], abs=0.1)
    assert chosen["identified"].all()
    among = effects.query("cause == 'wear' and effect == 'seal'")
    assert among.groupby("set_to")["lower"].sum().max() <= 1 + 1e-9


def test_joint_tables():
    joint = JointTable([[0.4, 0.1], [0.2, 0.3]])
    frame = joint.to_frame()
    assert list(frame.columns) == ["H1", "H2", "probability"]
    assert frame.to_numpy().tolist() == [[0, 0, 0.4], [0, 1, 0.1], [1, 0, 0.2], [1, 1, 0.3]]
    named = joint.to_frame(["a", "b"], [["low", "high"], "xy"])
    assert named.iloc[2].tolist() == ["high", "x", 0.2]
    with pytest.raises(InvalidInputError, match="as many names"):
        joint.to_frame(["a"])
    with pytest.raises(InvalidInputError, match="rename it"):
        joint.to_frame(["a", "probability"])
    xarray = pytest.importorskip("xarray")
    held = joint.to_xarray(["a", "b"], [["low", "high"], ["x", "y"]])
    assert isinstance(held, xarray.DataArray)
    assert float(held.sel(a="high", b="x")) == 0.2


def test_the_joint_frame_of_a_model_has_its_names(learner):
    frame = learner.model_.joint_frame()
    assert set(frame["wear"]) == {"new", "worn"}
    assert frame["probability"].sum() == pytest.approx(1)


def test_report_writes_what_the_command_line_writes(learner, tmp_path):
    folder = learner.report(tmp_path / "result")
    names = {path.name.split("-")[0] for path in folder.iterdir()}
    assert names >= {"report.html", "model.json", "states.csv", "graph.svg", "run.json"}
    result = read_result(folder)
    assert result.model.latent_names == ("wear", "seal")
    assert result.run["seed"] == 0
    assert (folder / "states.csv").read_text().startswith("part,wear,seal,P(wear),P(seal)\nT0000,")
    with pytest.raises(InvalidInputError, match="or say replace=True"):
        learner.report(folder)
    learner.report(folder, replace=True)
    assert np.array_equal(LatentModel.load(folder).predict(table()), learner.states_)


def test_a_pickle_holds_no_rows(learner):
    again = pickle.loads(pickle.dumps(learner))
    with pytest.raises(InvalidInputError, match="give them as X"):
        again.summary()
    assert np.array_equal(again.predict(table()), learner.states_)
    assert len(again.states_frame(table())) == 400


def test_transform_has_names():
    frame = table(200).drop(columns="part")
    learner = LatentGraphLearner(random_state=0).set_output(transform="pandas")
    found = learner.fit_transform(frame)
    assert list(found.columns) == ["H1=0", "H1=1", "H2=0", "H2=1"]
    assert list(learner.get_feature_names_out()) == list(found.columns)
    assert np.allclose(found.to_numpy(), np.hstack(learner.predict_proba(frame)))
    assert list(learner.feature_names_in_) == list(frame.columns)
    learner.fit(frame[["heat", "torque", "pressure"]].to_numpy())
    assert not hasattr(learner, "feature_names_in_")


def test_in_a_pipeline_names_and_groups_are_kept_where_they_can():
    frame = table(200).drop(columns=["part", "check"])
    groups = {"tool": ["heat", "torque"], "seal": ["pressure", "flow"]}
    named = make_pipeline(StandardScaler(), LatentGraphLearner(random_state=0))
    named.set_output(transform="pandas").fit(frame, latentgraphlearner__groups=groups)
    assert named[-1].model_.observed_names == ("tool", "seal")
    assert named[-1].model_.reading.columns[0] == ("heat", "torque")
    bare = make_pipeline(StandardScaler(), LatentGraphLearner(random_state=0))
    with pytest.raises(InvalidInputError, match=r"set_output\(transform=\"pandas\"\)"):
        bare.fit(frame, latentgraphlearner__groups=groups)
    with pytest.raises(InvalidInputError, match=r"set_output\(transform=\"pandas\"\)"):
        bare.fit(frame, latentgraphlearner__groups="prefix")


def test_a_pipeline_that_loses_names_says_so(tmp_path):
    frame = table(210).drop(columns=["part", "check"])
    bare = make_pipeline(StandardScaler(), LatentGraphLearner(random_state=0))
    lost = r"the 4 columns came without names.*set_output\(transform=\"pandas\"\)"
    with pytest.warns(DataWarning, match=lost):
        bare.fit(frame)
    assert bare[-1].model_.observed_names == ("X1", "X2", "X3", "X4")
    assert "The 4 columns came without names" in str(bare[-1].summary())
    page = bare[-1].report(tmp_path / "bare") / "report.html"
    assert "The 4 columns came without names" in page.read_text("utf-8")


def test_a_note_on_names_only_where_there_are_none():
    frame = table(200).drop(columns=["part", "check"])
    bare, learner = frame.to_numpy(), LatentGraphLearner()
    assert "columns came without names" in Source.read(bare, None)[0].note
    assert "columns came without names" in Source.read(bare, 2)[0].note
    assert not Source.read(bare, {"tool": [0, 1], "seal": [2, 3]})[0].note
    assert not Source.read(frame, None)[0].note
    assert not Source.read(Observations.from_array(bare), None)[0].note
    # Said at once where a scaler is likely to have lost the names, in a note elsewhere.
    learner.cost(bare)
    with pytest.warns(DataWarning, match="without names"):
        learner.cost(StandardScaler().fit_transform(bare))


def test_a_graph_for_dowhy(learner):
    graph = learner.model_.to_dowhy()
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["wear"]["observed"] == "no"
    assert graph.nodes["heat"]["observed"] == "yes"
    assert graph.has_edge("wear", "heat")


@pytest.fixture
def no_window():
    from matplotlib import pyplot

    with mpl.rc_context({"backend": "agg"}):
        yield
        pyplot.close("all")


def test_pictures_return_their_axes(learner, no_window):
    for axes in (
        learner.plot_graph(),
        learner.plot(),
        learner.plot_profiles("seal", standardised=False),
        learner.plot_certainty(1),
        learner.plot_states(),
        learner.plot_joint("seal", "wear"),
        learner.plot_path(),
    ):
        assert axes.figure.axes == [axes]
        axes.figure.canvas.draw()
    own = learner.plot_profiles().figure.add_subplot()
    assert learner.plot_states(own) is own


def test_a_profile_shows_the_means_of_the_states(learner, no_window):
    axes = learner.plot_profiles("wear")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["new", "worn"]
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert "heat" in names
    assert any(name.startswith("check = ") for name in names)
    values = learner.observations_["heat"][:, 0]
    wanted = (values[learner.states_[:, 0] == 1].mean() - values.mean()) / values.std()
    points = next(line for line in axes.lines if line.get_label() == "worn")
    assert points.get_xdata()[names.index("heat")] == pytest.approx(wanted, abs=1e-3)


def test_distributions_are_those_that_a_latent_drives(learner, no_window):
    titles = [axes.get_title() for axes in learner.plot_distributions("wear")]
    # Of two levels the profile says everything.
    assert "heat" in titles
    assert "check" not in titles
    (only,) = learner.plot_distributions("wear", ["torque"])
    assert only.get_ylabel() == "density"


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda learner: learner.plot_profiles("tool"), r"one of the latents \(wear, seal\)"),
        (lambda learner: learner.plot_certainty(7), r"one of the latents \(wear, seal\)"),
        (lambda learner: learner.plot_joint("wear", 0), "two different latents; got wear twice"),
        (lambda learner: learner.plot_distributions("wear", ["check"]), "see plot_profiles"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_refused(learner, draw, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        draw(learner)
