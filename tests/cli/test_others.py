"""``simulate``, ``evaluate``, ``report`` and ``check``."""

import json
import shutil

import pytest

from mixoracle import LatentModel, Observations
from mixoracle.datasets import paper_problem


def test_simulate_leaves_data_and_truth(problem):
    drawn = paper_problem(2, 5, 3, n_samples=400, random_state=3, covariance="code")
    assert Observations.read(problem / "data.csv") == drawn.observations
    assert LatentModel.load(problem / "truth") == drawn.model
    header = (problem / "data.csv").read_text().splitlines()[0]
    assert header.startswith("X1[0],X1[1],")


def test_simulate_needs_a_place(run):
    result = run("simulate")
    assert result.exit_code == 2
    assert "Missing option '--out'" in result.stderr


def test_simulate_does_not_overwrite(run, problem):
    result = run("simulate", "--out", problem)
    assert result.exit_code == 2
    assert "exists already" in result.stderr


def test_simulate_tells_the_truth(run):
    result = run("simulate", "--out", "p", "--json")
    assert len(json.loads(result.stdout)["latents"]) == 3
    assert "the truth in q/truth." in run("simulate", "--out", "q").stdout


def test_evaluate_in_words(run, learned, problem):
    result = run("evaluate", learned, problem)
    assert result.exit_code == 0
    assert "Structural Hamming distance" in result.stdout
    assert "Cases classified correctly: H1 " in result.stdout


def test_evaluate_a_saved_model_against_itself(run, problem):
    result = run("evaluate", problem / "truth", problem / "truth", "--json")
    told = json.loads(result.stdout)
    assert told["shd"] == 0
    assert told["joint_tv"] == 0
    assert told["states_right"] == [1.0, 1.0]


def test_evaluate_with_another_number_of_latents(run, learned, tmp_path):
    run("simulate", "--latents", 3, "--observed", 5, "--samples", 50, "--out", "other", "--quiet")
    result = run("evaluate", learned, "other", "--json")
    assert json.loads(result.stdout)["joint_tv"] is None
    assert json.loads(result.stdout)["states_right"] is None


@pytest.mark.parametrize("command", [("evaluate", "nothing", "nothing"), ("report", "nothing"),
                                     ("check", "nothing")])  # fmt: skip
def test_a_result_that_is_not_there(run, command):
    result = run(*command)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: nothing")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["report", "check"])
def test_a_model_without_evidence_is_no_result(run, problem, command):
    result = run(command, problem / "truth")
    assert result.exit_code == 2
    assert "should be a folder that mixoracle learn made; it has no evidence.json" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("evidence.json", "{", "evidence.json is cut off or not JSON"),
        ("evidence.json", "{}", "this is JSON, but not the evidence of a mixoracle result"),
        ("evidence.json", '{"format": "mixoracle.Evidence", "version": 9}', "format version 9"),
        (
            "evidence.json",
            '{"format": "mixoracle.Evidence", "version": 3}',
            "the evidence of this result is not complete",
        ),
        ("run.json", "[]", "run.json should hold a JSON object"),
        ("run.json", "{}", "run.json does not say 'data'"),
    ],
)
def test_a_damaged_result(run, learned, tmp_path, name, content, sentence):
    shutil.copytree(learned, tmp_path / "result")
    (tmp_path / "result" / name).write_text(content)
    result = run("report", "result")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_report_rebuilds_the_same_page_without_the_data(run, learned, tmp_path):
    shutil.copytree(learned, tmp_path / "result")
    for name in ("report.html", "graph.svg"):
        (tmp_path / "result" / name).unlink()
    result = run("report", "result")
    assert result.exit_code == 0
    for name in ("report.html", "graph.svg"):
        assert (tmp_path / "result" / name).read_bytes() == (learned / name).read_bytes()
        assert name in result.stdout


def test_report_draws_figures(run, learned, tmp_path):
    shutil.copytree(learned, tmp_path / "result")
    result = run("report", "result", "--figures", "--json")
    assert result.exit_code == 0, result.output
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF"}
    figures = list((tmp_path / "result" / "figures").iterdir())
    stems = {path.stem for path in figures}
    assert {"graph", "joint", "states", "profile-1", "distributions-1", "certainty-1"} <= stems
    assert len(figures) == 2 * len(stems)
    for path in figures:
        assert path.read_bytes().startswith(starts[path.suffix])
    written = json.loads(result.stdout)["written"]
    assert "result/figures/graph.pdf" in written


def test_check_explains_every_assumption(run, learned):
    result = run("check", learned)
    assert result.exit_code == 0
    evidence = json.loads((learned / "evidence.json").read_text())
    assert evidence["verdicts"]
    for verdict in evidence["verdicts"]:
        assert verdict["name"] in result.stdout
    assert "Each joint state of the hidden causes happens now and then" in result.stdout
    assert "What to trust" in result.stdout


def test_check_for_machines(run, learned):
    verdicts = json.loads(run("check", learned, "--json").stdout)["verdicts"]
    assert len(verdicts) == len(json.loads((learned / "evidence.json").read_text())["verdicts"])
    assert all(verdict["meaning"] and verdict["if_not"] for verdict in verdicts)


def test_thirty_causes_are_simulated_asked_and_exported(run):
    drawn = "simulate --sparse --latents 30 --observed 80 --samples 9 --max-domain 2 --out problem"
    assert run(*drawn.split()).exit_code == 0
    asked = run("query", "problem/truth", "H3", "--given", "H1=0", "--json")
    assert sum(json.loads(asked.stdout)["probabilities"]) == pytest.approx(1)
    assert run("effect", "problem/truth", "H1", "H9").exit_code == 0
    assert run("do", "problem/truth", "H2=1", "--of", "X7").exit_code == 0
    assert run("export", "problem/truth", "--format", "bif", "--out", "m.bif").exit_code == 0
    sampled = run("sample", "problem/truth", "--samples", 5, "--out", "drawn.csv")
    assert sampled.exit_code == 0, sampled.stderr
    all_of_them = run("query", "problem/truth", *(f"H{j + 1}" for j in range(30)))
    assert all_of_them.exit_code == 2
    assert "ask about fewer latents at a time" in all_of_them.stderr
