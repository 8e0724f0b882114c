import os
import signal
import subprocess
import sys
import time

import pytest

from mixoracle.cli.stopping import Stopped, stoppable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise there")


def started(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "mixoracle", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [0.15, 0.4, 0.8])
def test_an_early_stop_is_one_line(tmp_path, number, after):
    program = started("simulate", "--samples", "200000", "--out", str(tmp_path / "a"))
    time.sleep(after)
    program.send_signal(number)
    _, said = program.communicate(timeout=60)
    # Before Python has come to our first line, it ends in its own way.
    if "__main__.py" in said or program.returncode not in (-number, 1):
        assert said in ("Stopped; no result was written.\n", "")
        assert program.returncode in (0, 128 + number)
    if program.returncode:
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_nothing_behind(tmp_path, number):
    data = tmp_path / "data.csv"
    data.write_text("a,b,c\n" + "".join(f"{i % 7},{i * i % 11},{i % 5}.5\n" for i in range(20_000)))
    program = started("learn", str(data), "--out", str(tmp_path / "result"))
    while len(list(tmp_path.iterdir())) < 2 and program.poll() is None:
        time.sleep(0.02)
    program.send_signal(number)
    _, said = program.communicate(timeout=60)
    assert program.returncode == 128 + number
    assert said.endswith("Stopped; no result was written.\n")
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_a_stop_that_a_package_swallows_is_not_forgotten():
    def loading():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise ImportError("cannot load") from error

    with pytest.raises(Stopped), stoppable():
        loading()


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with stoppable():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
