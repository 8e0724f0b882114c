"""A model that was saved finds the same states as the learner, in every row."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.cli import main

GROUPS = {"pump": ["flow", "alarms"], **{n: [n] for n in ("heat", "torque", "sound", "stops")}}


def table(seed, n):
    """Numbers with exact zeros, outliers and missing cells; counts out of minutes; an answer."""
    rng = np.random.default_rng(seed)
    worn, leak = rng.integers(2, size=n), rng.integers(3, size=n)
    minutes = rng.uniform(20.0, 60.0, n).round(1)
    frame = pd.DataFrame(
        {
            "heat": rng.normal(8.0 * worn + 3.0, 1.0),
            "torque": rng.normal(9.0 * worn - 4.0, 1.0),
            "sound": rng.normal(8.0 * leak + 4.0, 1.0),
            "flow": rng.normal(8.0 * leak + 4.0, 1.0),
            "check": np.where(rng.random(n) < 0.1 + 0.8 * worn, "scratch", "good"),
            "stops": rng.poisson(minutes * np.array([0.1, 0.9])[worn]).astype(float),
            "alarms": rng.poisson(minutes * np.array([0.1, 0.6, 2.0])[leak]).astype(float),
        }
    )
    for column in ("heat", "flow"):  # sensors that read 0 now and then
        frame.loc[rng.random(n) < 0.06, column] = 0.0
    for column in ("torque", "sound"):
        frame.loc[rng.integers(n, size=2), column] = [900.0, -1e6]
    return frame.mask(rng.random(frame.shape) < 0.04).assign(minutes=minutes)


def same(learner, model, rows):
    np.testing.assert_array_equal(model.predict(rows), learner.predict(rows))
    for ours, theirs in zip(model.predict_proba(rows), learner.predict_proba(rows), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:.* new cells are missing")
@pytest.mark.parametrize(
    ("seed", "exposure", "groups"),
    [(0, None, None), (1, None, None), (5, "minutes", None), (3, "minutes", GROUPS)],
)
def test_a_saved_model_finds_the_states_of_the_learner(seed, exposure, groups, tmp_path):
    rows, new = table(seed, 250), table(seed + 100, 300)
    if exposure is None:
        rows, new = rows.drop(columns="minutes"), new.drop(columns="minutes")
    if groups is not None:
        rows, new = rows.drop(columns="check"), new.drop(columns="check")
    learner = LatentGraphLearner(exposure=exposure, random_state=0, resolution=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(rows, groups=groups)
    assert {column.title for column in learner.columns_ if column.repeated} == {"heat", "flow"}
    learner.report(tmp_path / "result")
    model = LatentModel.load(tmp_path / "result")
    assert model == learner.model_
    np.testing.assert_array_equal(model.predict(rows), learner.states_)
    zeros = new.assign(heat=0.0)  # learned as no measurement: nothing is unlike in it
    for given in (rows, new, new[new.columns[::-1]], zeros):
        same(learner, model, given)
    np.testing.assert_array_equal(model.unlike(zeros), model.unlike(new.assign(heat=np.nan)))
    new.to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / name) for name in ("result", "new.csv", "states.csv")]
    done = CliRunner().invoke(main, ["predict", *files[:2], "--out", files[2]])
    assert done.exit_code == 0, done.stderr
    found = pd.read_csv(files[2])[list(model.latent_names)].to_numpy()
    np.testing.assert_array_equal(found, learner.predict(new))
