"""The walks under examples/ do what they say."""

import ast
import csv
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def walk(name, folder):
    """Run a walk as its user would, and return what it printed."""
    command = [sys.executable, "-X", "utf8", ROOT / "examples" / f"{name}.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.startswith("$ ")]) <= 6
    return done


def n_lines(name):
    """How many lines the walk of a script in Python has, without its docstring."""
    tree = ast.parse((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8"))
    (steps,) = [node for node in tree.body if getattr(node, "name", "") == "walk"]
    return steps.end_lineno - steps.body[0].end_lineno


def test_the_engineer(tmp_path):
    done = walk("engineer", tmp_path)
    assert "set aside as no measurements: 'Zeit' (dates or times), 'Werk'" in done.stdout
    assert "2 hidden causes found behind 800 cases of 5 measurements" in done.stdout
    assert "1 of 50 cases are unlike everything learned" in done.stdout
    assert "Sichtprüfung = Kratzer" in done.stdout
    with (tmp_path / "new-states.csv").open(encoding="utf-8", newline="") as stream:
        states = list(csv.DictReader(stream))
    assert [row["unlike"] for row in states if row["unlike"]] == ["Druck"]
    assert states[-1]["Teil"] == "T1-00049"
    assert {row["Werkzeug"] for row in states} == {"neu", "stumpf"}
    page = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "Dichtung" in page
    assert "H1" not in page


def test_the_psychometrician(tmp_path):
    done = walk("psychometrician", tmp_path)
    assert "3 hidden causes found behind 1,500 cases of 12 measurements" in done.stdout
    assert "result and without have" in done.stdout
    assert "add of result is H1 of without" in done.stdout
    with (tmp_path / "profiles.csv").open(encoding="utf-8", newline="") as stream:
        profiles = list(csv.DictReader(stream))
    assert len(profiles) == 40
    assert {"person", "add", "carry", "fractions"} <= set(profiles[0])


def test_the_biologist(tmp_path):
    done = walk("biologist", tmp_path)
    assert "kind has 3 states (stem" in done.stdout
    assert "phase has 2 states (resting" in done.stdout
    assert (tmp_path / "result" / "report.html").is_file()
    assert n_lines("biologist") <= 15


def test_the_student(tmp_path):
    done = walk("student", tmp_path)
    assert "SHD 0" in done.stdout
    assert "of 2 DAGs" in done.stdout
    assert (tmp_path / "graph.bif").read_text(encoding="utf-8").count("variable") >= 3
    assert n_lines("student") <= 15
