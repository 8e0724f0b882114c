"""Each awkward table is read as it is meant, or refused in one sentence with a remedy."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mixoracle.cli import main

SCRIPT = Path(__file__).parent / "awkward_tables.py"
spec = importlib.util.spec_from_file_location("awkward_tables", SCRIPT)
awkward_tables = importlib.util.module_from_spec(spec)
sys.modules["awkward_tables"] = awkward_tables
spec.loader.exec_module(awkward_tables)
TABLES = awkward_tables.TABLES


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_what_must_happen(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(table.file).write_bytes(table.content())
    arguments = ["learn", table.file, *table.options, "--dry-run", "--json"]
    result = CliRunner().invoke(main, arguments)
    if table.refused:
        assert result.exit_code == 2, result.output
        assert result.stderr == f"Error: {table.refused}\n"
        return
    assert result.exit_code == 0, result.output
    held = json.loads(result.stdout)
    assert {v["name"]: v["kind"] for v in held["variables"]} == table.understood
    assert held["rows"] == table.rows
    assert table.note in " ".join(held["notes"])
    assert result.stderr == ""


def test_there_are_enough_of_them_each_with_its_own_name():
    names = {table.name for table in TABLES}
    assert len(names) == len(TABLES) >= 30
    assert all(bool(table.refused) != bool(table.understood) for table in TABLES)


def test_the_script_writes_them_all(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert len(list(tmp_path.iterdir())) == len(TABLES)
