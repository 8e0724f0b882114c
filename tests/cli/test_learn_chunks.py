"""``mixoracle learn`` of tables in many files, in memory and in chunks."""

import json
from pathlib import Path

import pandas as pd
import pytest

from mixoracle import LatentGraphLearner, LatentModel
from mixoracle.cli import large
from mixoracle.settings import Budget, Settings

pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")


@pytest.fixture(scope="module")
def parts(problem, tmp_path_factory):
    """The problem in three parquet files."""
    folder = tmp_path_factory.mktemp("parts")
    table = pd.read_csv(problem / "data.csv")
    for number in range(3):
        part = table.iloc[number * 150 : (number + 1) * 150]
        part.to_parquet(folder / f"{number}.parquet", index=False)
    return folder


@pytest.fixture
def small_samples(monkeypatch):
    """Structure from 300 rows, as otherwise from 200 000."""
    budget = Budget(search_rows=300, sample_rows=300)
    monkeypatch.setattr(LatentGraphLearner, "_settings", Settings(budget))


def test_files_that_fit_into_memory_are_one_table(run, parts, learned):
    result = run("learn", parts / "*.parquet", "--out", "result", "--quiet")
    assert result.exit_code == 0, result.output
    assert LatentModel.load("result").joint == LatentModel.load(learned).joint
    states = [pd.read_csv(folder / "states.csv") for folder in (Path("result"), learned)]
    pd.testing.assert_frame_equal(*states)
    assert not Path("result/states").exists()


def test_large_tables_are_learned_in_chunks_by_themselves(
    run, parts, problem, small_samples, monkeypatch
):
    monkeypatch.setattr(large, "memory", lambda: 100_000.0)
    result = run("learn", parts, "--out", "result")
    assert result.exit_code == 0, result.output
    assert "random sample of 300 of 400 cases" in " ".join(result.stdout.split())
    assert "passes over all rows: pass 1, 3 of 3 chunks" in result.stderr
    assert "writing the states of all rows: 3 of 3 chunks" in result.stderr
    record = json.loads(Path("result/run.json").read_text())
    assert record["data"]["rows"] == 400
    assert record["data"]["sample"] == 300
    assert record["passes"]["n_rows"] == 400
    assert "passes over all rows" in record["timings"]
    states = pd.read_parquet("result/states")
    assert len(states) == 400
    told = json.loads(run("evaluate", "result", problem, "--json").stdout)
    assert told["bipartite_exact"]
    assert told["domains_exact"]
    # A result in parts can be renamed, replaced and reported like any other.
    renamed = run("rename", "result", "--latent", "H1=wear")
    assert renamed.exit_code == 0, renamed.output
    assert "wear" in pd.read_parquet("result/states").columns
    assert run("report", "result").exit_code == 0


def test_an_interrupted_run_leaves_nothing(run, parts, small_samples, monkeypatch, tmp_path):
    def interrupted(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("mixoracle.report.parts._columns", interrupted)
    result = run("learn", parts, "--chunks", "--out", "result", "--quiet")
    assert result.exit_code == 130
    assert list(tmp_path.iterdir()) == []


def test_text_in_chunks(run, problem, small_samples):
    result = run("learn", problem / "data.csv", "--chunks", "--out", "result", "--quiet")
    assert result.exit_code == 0, result.output
    assert len(pd.read_parquet("result/states")) == 400


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nothing/*.parquet",), "no file matches 'nothing/*.parquet'"),
        (("-", "a.csv"), "- reads a table from standard input; give it alone"),
        (("0.parquet", "other.parquet"), "other.parquet should have the columns of 0.parquet"),
        (("missing.parquet", "0.parquet"), "missing.parquet should be a file of observations"),
    ],
)
def test_bad_input_is_one_sentence(run, parts, arguments, complaint):
    (pd.read_parquet(parts / "0.parquet")).to_parquet("0.parquet", index=False)
    pd.DataFrame({"other": [1.0, 2.0]}).to_parquet("other.parquet", index=False)
    result = run("learn", *arguments, "--out", "result")
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert "Traceback" not in result.output


def test_no_scheduler_at_that_address(run, parts, monkeypatch):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    monkeypatch.setattr("mixoracle.experiments.runner._CONNECT_TIMEOUT", 1)
    result = run("learn", parts, "--dask", "tcp://127.0.0.1:1", "--out", "result")
    assert result.exit_code == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:1'" in result.stderr
