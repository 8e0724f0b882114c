"""Counts out of different exposures: depth is no state."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.cli import main
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.families.base import ComponentSet
from mixoracle.families.counts import CountComponents
from mixoracle.families.exposure import ExposedCountComponents, ExposedCountFamily

GROUPS = {f"b{b}": [f"b{b}_g{i}" for i in range(4)] for b in range(5)}


def cells(n=800, seed=0, spread=0.2):
    """Three kinds of cells in two phases; the depth of each cell differs by 20 %."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    phase = (rng.random(n) < 0.35 + 0.2 * (kind == 1)).astype(int)
    depth = np.exp(rng.normal(0.0, spread, n))
    columns = {}
    for block, drivers in enumerate(["k", "k", "p", "p", "kp"]):
        for gene in range(4):
            level = rng.uniform(5.0, 45.0, size=(3, 2))
            at = (kind if "k" in drivers else 0, phase if "p" in drivers else 0)
            columns[f"b{block}_g{gene}"] = rng.poisson(level[at] * depth)
    frame = pd.DataFrame(columns)
    frame["depth"] = np.round(10_000 * depth)
    return frame, kind


def fitted(frame, exposure, groups=GROUPS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LatentGraphLearner(exposure=exposure, random_state=0).fit(frame, groups=groups)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_depth_is_no_state(seed):
    frame, kind = cells(seed=seed)
    learner = fitted(frame, "depth", {**GROUPS, "depth": ["depth"]})
    model = learner.model_
    assert model.domain_sizes == (3, 2)
    assert model.observed_names == tuple(GROUPS)
    found = pd.crosstab(learner.states_[:, 0], kind).to_numpy()
    assert found.max(axis=1).sum() > 0.97 * len(frame)


def test_the_total_stands_in_for_a_depth():
    frame, kind = cells(seed=2)
    learner = fitted(frame.drop(columns="depth"), "total")
    found = pd.crosstab(learner.states_[:, 0], kind).to_numpy()
    assert found.max(axis=1).sum() > 0.95 * len(frame)
    assert np.array_equal(learner.model_.predict(frame), learner.states_)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exposure")
    frame, _ = cells(seed=3)
    frame.to_csv(folder / "cells.csv", index=False)
    groups = "\n".join(f"{name} = {json.dumps(held)}" for name, held in GROUPS.items())
    (folder / "groups.toml").write_text(groups)
    arguments = ["learn", "cells.csv", "--groups", "groups.toml", "--exposure", "depth"]
    places = [str(folder / a) if a.endswith((".csv", ".toml")) else a for a in arguments]
    shown = CliRunner().invoke(main, [*places, "--dry-run", "--json"])
    kinds = {held["name"]: held["kind"] for held in json.loads(shown.stdout)["variables"]}
    assert kinds == {**dict.fromkeys(GROUPS, "counts"), "depth": "exposure"}
    done = CliRunner().invoke(main, [*places, "--out", str(folder / "result")])
    assert done.exit_code == 0, done.stderr
    assert "exposure │ depth" in done.stdout
    assert "Note: counts are out of the exposure 'depth'" in done.stdout
    return folder


def test_the_command_line_learns_and_predicts_with_it(learned):
    result = str(learned / "result")
    model = LatentModel.load(result)
    assert model.domain_sizes == (3, 2)
    new = str(learned / "new.csv")
    done = CliRunner().invoke(main, ["predict", result, str(learned / "cells.csv"), "--out", new])
    assert done.exit_code == 0, done.stderr
    assert "ignored" not in done.stdout
    old = pd.read_csv(learned / "result" / "states.csv")
    assert pd.read_csv(new)[["H1", "H2"]].equals(old[["H1", "H2"]])
    frame = pd.read_csv(learned / "cells.csv")
    assert np.array_equal(model.predict(frame[frame.columns[::-1]]), old[["H1", "H2"]])
    assert np.array_equal(model.predict(frame.to_numpy()), old[["H1", "H2"]])
    with pytest.raises(InvalidInputError, match="'depth' is missing"):
        model.predict(frame.drop(columns="depth"))


@pytest.mark.parametrize("command", ["report", "check"])
def test_its_result_is_read_again(learned, command):
    done = CliRunner().invoke(main, [command, str(learned / "result")])
    assert done.exit_code == 0, done.stderr


def test_drawn_rows_are_read_again(learned):
    drawn = str(learned / "drawn.csv")
    done = CliRunner().invoke(
        main, ["sample", str(learned / "result"), "--samples", "50", "--out", drawn]
    )
    assert done.exit_code == 0, done.stderr
    states = str(learned / "drawn-states.csv")
    done = CliRunner().invoke(main, ["predict", str(learned / "result"), drawn, "--out", states])
    assert done.exit_code == 0, done.stderr
    assert len(pd.read_csv(states)) == 50


def test_questions_are_answered_at_the_usual_exposure(learned):
    model = LatentModel.load(learned / "result")
    answer = model.query("b0", given={"H1": 0})
    assert answer.mean_of == tuple(GROUPS["b0"])
    frame = pd.read_csv(learned / "cells.csv")
    assert np.allclose(model.query("b0").mean, frame[GROUPS["b0"]].mean(), rtol=0.05)
    values = [float(round(v)) for v in answer.mean]
    assert model.query("H1", given={"b0": values}).table[0] > 0.9


def test_the_report_does_not_take_it_for_a_measurement(learned):
    evidence = json.loads((learned / "result" / "evidence.json").read_text())
    assert all("depth" not in effect["columns"] for effect in evidence["effects"])


@pytest.mark.parametrize(
    ("exposure", "change", "says"),
    [
        ("dept", {}, "exposure names 'dept', which is no column; did you mean 'depth'"),
        ("depth", {"depth": 0.0}, "the exposure 'depth' should be above 0; it is 0 in row 1"),
        ("depth", {"b0_g0": 0.5, "b0_g1": 0.5}, "needs columns of counts"),
        (3, {}, "should be 'total' or the name of a column"),
    ],
)
def test_what_is_refused(exposure, change, says):
    frame = cells(60)[0][["b0_g0", "b0_g1", "depth"]].astype(float)
    for column, value in change.items():
        frame[column] += 0.5 if column != "depth" else 0.0
        frame.loc[0, column] = value
    with pytest.raises(InvalidInputError, match=says):
        LatentGraphLearner(exposure=exposure).fit(frame)


def test_counts_may_be_declared_as_well():
    frame = cells(200)[0][["b0_g0", "b0_g1", "depth"]]
    frame["depth"] += 0.25
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = LatentGraphLearner(exposure="depth", families={"b0_g0": "counts"})
        learner.fit(frame)
    kinds = [column.family for column in learner.columns_]
    assert kinds == ["counts", "exposure", "counts", "exposure"]


def components():
    sizes = np.array([[np.inf, 4.0, 8.0], [2.0, np.inf, 0.5]])
    return ExposedCountComponents(np.array([[3.0, 4, 5], [6, 7, 8]]), sizes, np.array(2.0))


def test_one_unit_of_exposure_is_a_plain_count():
    held = components()
    rng = np.random.default_rng(0)
    counts = rng.poisson(5.0, size=(30, 3)).astype(float)
    counts[3, 1] = np.nan
    block = np.hstack([counts, np.ones((30, 1))])
    plain = CountComponents(held.means, held.sizes)
    assert np.allclose(held.log_density(block), plain.log_density(counts))
    assert held.averages().values.tolist() == (2.0 * held.means).tolist()


def test_densities_sum_to_one_and_features_give_them():
    held, family = components(), ExposedCountFamily(3)
    x = np.arange(400.0)
    for e in (0.5, 1.7):
        block = np.full((400, 4), np.nan)
        block[:, 0], block[:, 3] = x, e
        assert np.allclose(np.exp(held.log_density(block)).sum(axis=0), 1.0)
    rng = np.random.default_rng(1)
    e = np.exp(rng.normal(0.0, 0.3, size=(40, 1)))
    block = np.hstack([rng.poisson(5.0 * e, size=(40, 3)), e])
    block[3, 1], block[4, 3] = np.nan, np.nan
    assert np.allclose(family.log_density(family.features(block), held), held.log_density(block))
    assert not held.log_density(block)[4].any()


def test_they_are_stored_and_drawn():
    held = components()
    again = ComponentSet.from_arrays(held.family, held.arrays())
    assert np.array_equal(again.means, held.means)
    drawn = held.sample(np.zeros(4000, dtype=int), np.random.default_rng(0))
    assert np.allclose(drawn.mean(axis=0), [6.0, 8.0, 10.0, 2.0], rtol=0.1)
    assert held.take(np.array([1])).n_components == 1
    assert "3 counts" in repr(held)
    with pytest.raises(InvalidInputError, match="above 0"):
        ExposedCountComponents(held.means, held.sizes, np.array(0.0))


@pytest.mark.parametrize("grouped", [False, True])
def test_mixed_blocks_and_missing_values(grouped):
    rng = np.random.default_rng(0)
    state, minutes = rng.integers(3, size=500), 30.0 * np.exp(rng.normal(0.0, 0.25, 500))
    rates = {f"g{i}": (6.0 + 14.0 * ((state + i) % 3)) * minutes / 30.0 for i in range(4)}
    frame = pd.DataFrame({name: rng.poisson(rate).astype(float) for name, rate in rates.items()})
    frame["mood"] = np.where(rng.random(500) < np.where(state == 0, 0.9, 0.2), "a", "b")
    frame["temp"], frame["minutes"] = rng.normal(5.0 * state), minutes
    frame.loc[::17, "g1"], frame.loc[5, "minutes"] = np.nan, np.nan
    groups = {
        "mix": ["g0", "mood", "g1"],
        "b": ["g2", "temp"],
        "g3": ["g3"],
        "minutes": ["minutes"],
    }
    learner = fitted(frame, "minutes", groups if grouped else None)
    assert learner.model_.domain_sizes == (3,)
    assert pd.crosstab(learner.states_[:, 0], state).to_numpy().max(axis=1).sum() == 500
    assert np.array_equal(learner.predict(frame), learner.states_)
    told = r"new cells are missing \(in 'g1', 'minutes'\)"
    with pytest.warns(DataWarning, match=told if not grouped else "new cells are missing"):
        assert np.array_equal(learner.model_.predict(frame), learner.states_)
    assert "minutes" not in learner.state_means().columns
    drawn, states = learner.sample(50, random_state=0)
    assert np.mean(learner.predict(drawn) == states) > 0.9
