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


def test_nothing_is_loaded_before_ctrl_c_is_answered():
    """Half of the time until then went to modules that only name signals."""
    code = (
        "import sys; before = {*sys.modules}; import mixoracle.__main__;"
        "print(sorted({*sys.modules} - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "['mixoracle', 'mixoracle.__main__']\n"


def test_a_stop_that_a_package_swallows_is_not_forgotten():
    def loading():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt as error:
            raise ImportError("cannot load") from error

    with pytest.raises(Stopped), stoppable():
        loading()


class StoppedWhileRemoved:
    """Asked to stop in its finaliser, as may happen to any object while a package is loaded."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)


@pytest.mark.filterwarnings("error")
def test_a_stop_that_python_drops_is_asked_for_again(capsys):
    def working():
        StoppedWhileRemoved()
        time.sleep(10)

    with pytest.raises(Stopped), stoppable():
        working()
    assert capsys.readouterr().err == ""


def test_an_error_of_a_finaliser_is_shown_as_ever(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError("broken")

    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    with stoppable():
        Broken()
    assert [str(each.exc_value) for each in shown] == ["broken"]
    assert sys.unraisablehook == shown.append


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with stoppable():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
