"""What a fit may take is said before it begins, and kept."""

import json
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mixoracle import ChunkedObservations, LatentGraphLearner, cli
from mixoracle._cost import Cost, cost_of
from mixoracle.errors import InvalidInputError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, (300, 2))
    return 6.0 * states[:, [0, 0, 1, 1]] + rng.normal(size=(300, 4))


def test_the_bound_is_that_of_the_table(table):
    learner = LatentGraphLearner()
    assert learner.cost(table) == cost_of(300, 4)
    assert learner.cost(table, groups=2) == cost_of(300, 4)
    assert not hasattr(learner, "model_")


@pytest.mark.parametrize("which", ["seconds", "memory"])
def test_it_grows_with_rows_times_columns(which):
    def bound(*shape):
        return getattr(cost_of(*shape), which)

    assert bound(100, 5) < bound(200, 5) < bound(10**6, 5) < bound(10**6, 50)
    # Structure is searched in a bounded number of rows; beyond, each row adds little.
    per_row = (bound(2_000_000, 5) - bound(1_000_000, 5)) / 1_000_000
    assert per_row <= bound(1_000, 5) / 1_000


@pytest.mark.parametrize("family", ["noise", "clusters", "counts", "heavy tails"])
def test_fits_take_less(family):
    rng = np.random.default_rng(1)
    drawn = {
        "noise": rng.normal(size=(24, 8)),
        "clusters": 8.0 * rng.integers(0, 2, (24, 8)) + rng.normal(size=(24, 8)),
        "counts": rng.poisson(3.0, (24, 8)).astype(float),
        "heavy tails": rng.standard_cauchy((24, 8)),
    }[family]
    learner = LatentGraphLearner(random_state=0)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(drawn)
    assert time.process_time() - begin < learner.cost(drawn).seconds
    assert learner.left_out_ == ()


def test_the_bound_is_kept(table, monkeypatch):
    monkeypatch.setattr("mixoracle.foresight.cost_of", lambda *_: Cost(1e-6, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hurried = LatentGraphLearner(random_state=0).fit(table)
        free = LatentGraphLearner(random_state=0, time_limit=float("inf")).fit(table)
    assert hurried.left_out_
    assert "time limit" in " ".join(hurried.verdict_.reasons)
    assert free.left_out_ == ()


def test_too_much_memory_is_refused_before_any_work(table):
    stages = []
    learner = LatentGraphLearner(memory_limit=1e6, progress=stages.append)
    with pytest.raises(InvalidInputError, match=r"may need up to 0.5 GB, more than .* 0.001 GB"):
        learner.fit(table)
    assert stages == []
    LatentGraphLearner(memory_limit=2e9, random_state=0).fit(table)


@pytest.mark.parametrize("limit", [0, -1.0, "much", True, float("nan")])
def test_what_is_no_memory_is_refused(table, limit):
    with pytest.raises(InvalidInputError, match="memory_limit should be bytes above 0"):
        LatentGraphLearner(memory_limit=limit).fit(table)


def test_the_command_line_says_it_first(table, tmp_path):
    data = str(tmp_path / "data.csv")
    pd.DataFrame(table, columns=list("abcd")).to_csv(data, index=False)
    shown = CliRunner().invoke(cli.main, ["learn", data, "--dry-run"])
    assert f"Learning takes {cost_of(300, 4)}." in shown.stdout
    machine = CliRunner().invoke(cli.main, ["learn", data, "--dry-run", "--json"])
    assert json.loads(machine.stdout)["most"]["seconds"] == cost_of(300, 4).seconds
    small = ["learn", data, "--memory-limit", "0.01", "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(cli.main, small)
    assert refused.exit_code == 2
    assert "memory_limit of 0.01 GB" in refused.stderr


@pytest.mark.parametrize(
    ("seconds", "words"), [(45.0, "45 s"), (90.0, "1.5 min"), (9000.0, "2.5 h"), (0.5, "0.5 s")]
)
def test_it_is_said_in_the_unit_that_fits(seconds, words):
    assert str(Cost(seconds, 1.2e9)) == f"at most {words} and 1.2 GB"


def test_workers_need_memory_too(table, tmp_path):
    one, two = (LatentGraphLearner(n_jobs=jobs).cost(table) for jobs in (1, 2))
    assert two.memory == one.memory + 1e9
    assert two.seconds == one.seconds
    # No more than there are variables.
    assert LatentGraphLearner(n_jobs=1000).cost(table).memory == one.memory + 4 * 0.5e9
    data = str(tmp_path / "data.csv")
    pd.DataFrame(table, columns=list("abcd")).to_csv(data, index=False)
    shown = CliRunner().invoke(cli.main, ["learn", data, "--dry-run", "--json", "--jobs", "2"])
    assert json.loads(shown.stdout)["most"]["memory"] == two.memory


def test_chunks_that_may_need_too_much_are_refused_before_they_are_read(table):
    frames = [pd.DataFrame(table, columns=list("abcd"))]
    chunked = ChunkedObservations.from_frames(frames)
    with pytest.raises(InvalidInputError, match="more than the memory_limit"):
        LatentGraphLearner(memory_limit=1e6).fit(chunked)
