import subprocess
import sys

import pytest
from click.testing import CliRunner

from mixoracle.errors import InvalidInputError
from mixoracle.experiments import runner
from mixoracle.experiments.cli import experiment
from mixoracle.experiments.results import load
from mixoracle.experiments.studies import STUDY_NAMES, define


@pytest.fixture
def quick_runs(monkeypatch, make_result):
    """Runs of any study, right in everything and made in no time."""
    lookup = {}

    def perform(task):
        return make_result(lookup["study"], task.number)

    def remember(*args, **kwargs):
        lookup["study"] = define(*args, **kwargs)
        return lookup["study"]

    monkeypatch.setattr(runner, "perform", perform)
    monkeypatch.setattr("mixoracle.experiments.studies.define", remember)


def call(*args):
    return CliRunner().invoke(experiment, [str(arg) for arg in args])


@pytest.mark.parametrize("name", STUDY_NAMES)
def test_every_study_is_a_command(quick_runs, tmp_path, name):
    done = call(name, "--runs", 2, "--seed", 4, "--covariance", "text", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    record = load(tmp_path)
    assert record.is_complete
    assert record.study == define(name, runs=2, seed=4, covariance="text")
    assert f"all {record.study.n_runs} are in" in done.output


def test_a_study_is_told_its_oracle_and_samples(quick_runs, tmp_path):
    command = ("paper", "--oracle", "kmeans", "--samples", "500,700", "--runs", 3)
    done = call(*command, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert load(tmp_path).study == define("paper", oracle="kmeans", samples=[500, 700], runs=3)
    again = call(*command, "--out", tmp_path)
    assert "0 runs made, all 6" in again.output


def test_ctrl_c_says_how_to_go_on(monkeypatch, tmp_path):
    def interrupted(_task):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "perform", interrupted)
    done = call("small", "--out", tmp_path)
    assert done.exit_code == 130
    assert "the same command continues the study" in done.output


def test_bad_samples_are_explained(tmp_path):
    done = call("paper", "--samples", "many", "--out", tmp_path)
    assert done.exit_code == 2
    assert "'many' is not a list of whole numbers such as 10000,15000" in done.output


def test_errors_reach_the_main_command(tmp_path):
    done = call("paper", "--oracle", "delphi", "--out", tmp_path)
    assert isinstance(done.exception, InvalidInputError)


def test_a_report_is_written_where_asked_and_beside_the_study_otherwise(quick_runs, tmp_path):
    call("small", "--runs", 6, "--out", tmp_path / "small")
    done = call("report", tmp_path / "small")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "small" / "report" / "report.html").exists()
    done = call("report", tmp_path / "small", "--out", tmp_path / "elsewhere")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "elsewhere" / "report.html").exists()


def test_the_command_loads_nothing_heavy():
    script = (
        "import sys, mixoracle.experiments.cli\n"
        "print(*{'numpy', 'sklearn', 'pandas', 'matplotlib', 'rich', 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
