"""The walks under examples/ do what they say."""

import ast
import csv
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def walk(tmp_path, monkeypatch, capsys):
    """Run a walk as a program, in this process, and return what it printed."""

    def run(name):
        script = ROOT / "examples" / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
        monkeypatch.syspath_prepend(script.parent)
        runpy.run_path(str(script), run_name="__main__")
        printed = capsys.readouterr().out
        assert len([line for line in printed.splitlines() if line.startswith("$ ")]) <= 6
        return printed

    return run


def n_lines(name):
    """How many lines the walk of a script in Python has, without its docstring."""
    tree = ast.parse((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8"))
    (steps,) = [node for node in tree.body if getattr(node, "name", "") == "walk"]
    return steps.end_lineno - steps.body[0].end_lineno


def test_the_engineer(tmp_path, walk):
    printed = walk("engineer")
    assert "set aside as no measurements: 'Zeit' (dates or times), 'Werk'" in printed
    assert "2 hidden causes found behind 800 cases of 5 measurements" in printed
    assert "1 of 50 cases are unlike everything learned" in printed
    assert "Sichtprüfung = Kratzer" in printed
    with (tmp_path / "new-states.csv").open(encoding="utf-8", newline="") as stream:
        states = list(csv.DictReader(stream))
    assert [row["unlike"] for row in states if row["unlike"]] == ["Druck"]
    assert states[-1]["Teil"] == "T1-00049"
    assert {row["Werkzeug"] for row in states} == {"neu", "stumpf"}
    page = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "Dichtung" in page
    # The code of the charts names its own variables so.
    assert "H1" not in re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)


def test_the_psychometrician(tmp_path, walk):
    printed = walk("psychometrician")
    assert "3 hidden causes found behind 1,500 cases of 12 measurements" in printed
    assert "result and without have" in printed
    assert "add of result is H1 of without" in printed
    with (tmp_path / "profiles.csv").open(encoding="utf-8", newline="") as stream:
        profiles = list(csv.DictReader(stream))
    assert len(profiles) == 40
    assert {"person", "add", "carry", "fractions"} <= set(profiles[0])


def test_the_biologist(tmp_path, walk):
    printed = walk("biologist")
    assert "kind has 3 states (stem" in printed
    assert "phase has 2 states (resting" in printed
    assert (tmp_path / "result" / "report.html").is_file()
    assert n_lines("biologist") <= 15


def test_the_student(tmp_path, walk):
    printed = walk("student")
    assert "SHD 0" in printed
    assert "of 2 DAGs" in printed
    assert (tmp_path / "graph.bif").read_text(encoding="utf-8").count("variable") >= 3
    assert n_lines("student") <= 15
