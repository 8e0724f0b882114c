"""Result folders of other versions open as far as they can, and otherwise say what to do."""

import json
import shutil

import pytest


@pytest.fixture
def result(learned, tmp_path):
    return shutil.copytree(learned, tmp_path / "result")


def set_version(path, version):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "version": version}))


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "result", "H1"),
        ("sample", "result", "--samples", "5", "--out", "rows.csv"),
        ("export", "result", "--out", "model.bif"),
    ],
)
def test_the_model_of_an_older_result_still_answers(run, result, arguments):
    set_version(result / "evidence.json", 1)
    assert run(*arguments).exit_code == 0


@pytest.mark.parametrize("command", ["report", "check"])
def test_evidence_of_an_older_version_has_to_be_gathered_again(run, result, command):
    set_version(result / "evidence.json", 1)
    done = run(command, "result")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert "has format version 1; this mixoracle reads version" in done.stderr
    assert "learn again" in done.stderr


def test_a_model_of_a_newer_version_says_what_to_do(run, result):
    set_version(result / "model.json", 99)
    done = run("query", "result", "H1")
    assert done.exit_code == 2
    assert "has format version 99" in done.stderr
    assert "learn again, or use the mixoracle that wrote it" in " ".join(done.stderr.split())
