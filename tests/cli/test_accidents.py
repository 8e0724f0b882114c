"""Places that cannot be written to, two runs for one folder, and what outlives a program."""

import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from mixoracle import LatentGraphLearner
from mixoracle.errors import InvalidInputError
from mixoracle.report.folder import new_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights work otherwise there")


COMMANDS = (
    "import sys\n"
    "from mixoracle.cli import main\n"
    "data, result = sys.argv[1:]\n"
    "for said in (\n"
    "    ('learn', data, '--out', 'closed/result', '--quiet'),\n"
    "    ('predict', result, data, '--out', 'closed/states.csv', '--quiet'),\n"
    "    ('experiment', 'small', '--out', 'closed/study', '--quiet'),\n"
    "):\n"
    "    try:\n"
    "        main(said)\n"
    "    except SystemExit as left:\n"
    "        print(left.code)\n"
)


def test_a_read_only_folder_is_named_before_any_work(problem, learned, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    before = []
    if os.geteuid() == 0:  # who may write everywhere, unless that right is taken away
        if shutil.which("setpriv") is None:
            pytest.skip("the superuser may write everywhere")
        before = ["setpriv", "--bounding-set=-dac_override"]
    command = [*before, sys.executable, "-c", COMMANDS, str(problem / "data.csv"), str(learned)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n2\n2\n"
    lines = done.stderr.splitlines()
    assert len(lines) == 3
    remedy = ": permission denied; choose a place that you may use, or ask for the right to it"
    assert all(line.startswith("Error: ") and line.endswith(remedy) for line in lines)
    assert list(closed.iterdir()) == []


def test_of_two_runs_for_one_folder_the_first_to_end_wins(tmp_path):
    def overtaken():
        with new_folder(tmp_path / "result") as late:
            (late / "file").write_text("late")
            with new_folder(tmp_path / "result") as early:
                (early / "file").write_text("early")

    with pytest.raises(InvalidInputError, match="exists already"):
        overtaken()
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
    assert (tmp_path / "result" / "file").read_text() == "early"


def test_no_process_outlives_its_program(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("a,b\n" + "".join(f"{i % 7}.5,{i * i % 11}\n" for i in range(40)))
    command = [sys.executable, "-m", "mixoracle", "learn", str(data)]
    program = subprocess.Popen(
        [*command, "--jobs", "2", "--out", str(tmp_path / "result"), "--quiet"],
        start_new_session=True,
    )
    assert program.wait(timeout=120) == 0
    end = time.monotonic() + 10.0
    while group_lives(program.pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not group_lives(program.pid)


def group_lives(number):
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_fit_leaves_no_thread():
    rng = np.random.default_rng(0)
    values = 6.0 * rng.integers(0, 2, (210, 1)) + rng.normal(size=(210, 3))
    before = threading.active_count()
    LatentGraphLearner(random_state=0).fit(values)
    assert threading.active_count() == before
