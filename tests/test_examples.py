"""The walks under examples/ do what they say."""

import csv
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_engineer(tmp_path):
    script = ROOT / "examples" / "engineer.py"
    command = [sys.executable, "-X", "utf8", script, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "set aside as no measurements: 'Zeit' (dates or times), 'Werk'" in done.stdout
    assert "2 hidden causes found behind 800 cases of 5 measurements" in done.stdout
    assert "1 of 50 cases are unlike everything learned" in done.stdout
    assert "Sichtprüfung = Kratzer" in done.stdout
    assert len([line for line in done.stdout.splitlines() if line.startswith("$ ")]) <= 6
    with (tmp_path / "new-states.csv").open(encoding="utf-8", newline="") as stream:
        states = list(csv.DictReader(stream))
    assert [row["unlike"] for row in states if row["unlike"]] == ["Druck"]
    assert states[-1]["Teil"] == "T1-00049"
