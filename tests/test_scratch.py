import os
import stat
import subprocess
import sys

import pytest

from mixoracle._scratch import LOCK_FILE, left_folders
from mixoracle.model.storage import write_atomically
from mixoracle.report.folder import new_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks work otherwise there")
LONG_AGO = (0, 0)


@pytest.fixture
def left(tmp_path):
    """What a run leaves behind that is killed while it fills a folder in place of another."""
    left = tmp_path / ".result-killed"
    (left / "new").mkdir(parents=True)
    (left / LOCK_FILE).touch()
    os.utime(left / LOCK_FILE, LONG_AGO)
    return left


def test_the_next_run_clears_what_a_killed_one_left(tmp_path, left, caplog):
    with new_folder(tmp_path / "result") as folder:
        (folder / "file").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
    assert "which a run that was killed left behind" in caplog.text


def test_a_replaced_result_comes_back(tmp_path, left):
    (left / "old").mkdir()
    (left / "old" / "run.json").write_text('{"settings": {}}')
    with new_folder(tmp_path / "result", replace=True) as folder:
        assert (tmp_path / "result" / "run.json").is_file()
        (folder / "file").touch()
    assert [path.name for path in (tmp_path / "result").iterdir()] == ["file"]


def test_a_folder_that_is_being_filled_is_left_alone(tmp_path):
    with new_folder(tmp_path / "result") as first:
        os.utime(first.parent / LOCK_FILE, LONG_AGO)
        with new_folder(tmp_path / "result") as second:
            (second / "file").touch()
        assert first.is_dir()
        (tmp_path / "result" / "file").unlink()
        (tmp_path / "result").rmdir()


def test_other_hidden_folders_are_none_of_ours(tmp_path):
    (tmp_path / ".result-of-mine").mkdir()
    assert not left_folders(tmp_path, ".result-")


def test_files_of_killed_runs_are_cleared(tmp_path):
    left = tmp_path / ".mixoracle-killed"
    left.write_bytes(b"half")
    os.utime(left, LONG_AGO)
    write_atomically(tmp_path / "file", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(("mask", "rights"), [("077", 0o600), ("022", 0o644), ("002", 0o664)])
def test_files_have_the_rights_that_the_user_wants(tmp_path, mask, rights):
    script = (
        "import os, pathlib, sys\n"
        "from mixoracle.model.storage import write_atomically\n"
        f"os.umask(0o{mask})\n"
        "write_atomically(pathlib.Path(sys.argv[1]), b'x')\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "file")], check=True)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == rights
