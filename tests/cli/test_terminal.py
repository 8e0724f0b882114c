import os
import re
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from mixoracle.cli.terminal import Stages, staged

PLAN = (("first", 0.5), ("second", 0.3), ("third", 0.2))


def test_stages_tell_the_step_and_what_remains(monkeypatch):
    shown = []
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    stages = Stages(PLAN, lambda text, share: shown.append((text, share)))
    for name in ("first", "second", "something else", "first", "third"):
        stages(name)
        now += 20
    texts = [text for text, _ in shown]
    assert texts == [
        "step 1 of 3: first",
        "step 2 of 3: second (about 20 s left)",
        # What nobody planned, or comes again, neither has a number nor says what remains.
        "something else",
        "first",
        "step 3 of 3: third (about 15 s left)",
    ]
    assert [round(share, 2) for _, share in shown] == [0, 0.5, 0.5, 0.5, 0.8]


def test_steps_within_a_stage_and_stages_passed_over_count(monkeypatch):
    shown = []
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    stages = Stages(PLAN, lambda text, share: shown.append((text, share)))
    stages("first")
    now = 10.0
    stages("first: 1 of 2")
    now = 20.0
    stages("third")  # the second is passed over
    assert shown == [
        ("step 1 of 3: first", 0.0),
        ("step 1 of 3: first: 1 of 2 (about 30 s left)", 0.25),
        ("step 3 of 3: third (about 8 s left)", 0.8),
    ]
    assert stages.timings == {"first": 20.0}


def test_timings_hold_every_stage_and_add_up():
    stages = Stages(PLAN, lambda _text, _share: None)
    begin = time.perf_counter()
    for name in ("first", "second", "first", "third"):
        stages(name)
    # The last stage has no end yet.
    assert list(stages.timings) == ["first", "second"]
    assert 0 <= sum(stages.timings.values()) <= time.perf_counter() - begin + 0.002


def test_a_pipe_gets_one_line_for_each_stage(capsys):
    with staged(PLAN, quiet=False) as tell:
        tell("first")
        tell("second")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r"\[ +\d+\.\d s\] step 1 of 3: first", lines[0])


def test_a_terminal_gets_a_moving_line(tmp_path):
    """A real terminal on stderr, and a real run."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    script = "from mixoracle.cli import main; main()"
    arguments = ["demo", "--latents", "1", "--observed", "2", "--samples", "100"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    # A terminal that nobody holds open any more answers with an error, not with an end.
    with suppress(OSError):
        while chunk := os.read(ours, 4096):
            shown += chunk
    os.close(ours)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert re.search(r"0:00:0\d", text)
    assert "step 10 of 10: writing the result" in text
    assert "\n[" not in text


def test_quiet_is_quiet(capsys):
    with staged(PLAN, quiet=True) as tell:
        tell("first")
    assert capsys.readouterr() == ("", "")
