"""Programs killed at random moments, stopped early, or without room, and what is lost or left.

``learn``, ``learn --bootstrap``, ``experiment`` and ``predict`` get SIGKILL at a random moment of
their usual time; one that had ended before does not count. What then lies under the final name must
be whole or not there, and the same command again must give the same result as an undisturbed run.
These programs are copies of this process, which has loaded everything: no kill is spent on imports.
A study of four runs is killed and continued, and predictions in three chunks are made anew.
Then SIGINT and SIGTERM within the first second (one line, no traceback, nothing left), a disk that
takes no more, a read-only folder, a place that cannot be written to, two runs for one folder, and
whether workers outlive their program.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import MixoracleError

_ROWS = 210
_SMALL = 20_000  # bytes that a file may have on the disk that is nearly full
_SETTLED = 5.5  # seconds after which leftovers of killed runs are cleared
_MOST_OF_A_LEARN = 4.0  # seconds
_PATIENCE = 50  # tenths of a second that workers have to leave
_LOADED = (
    *("mixoracle.cli.learn", "mixoracle.cli.predict", "mixoracle.cli.fitting", "mixoracle.learner"),
    *("mixoracle.experiments.runner", "mixoracle.report.folder", "pandas", "sklearn.mixture"),
)
Moments = NDArray[np.float64]


def _start(
    *arguments: str, limit: int | None = None, before: Sequence[str] = ()
) -> subprocess.Popen[str]:
    def constrain() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [*before, sys.executable, "-m", "mixoracle", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=constrain,  # noqa: PLW1509 (there are no threads here)
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _copy_that_runs(*arguments: str) -> int:
    """A copy of this process, in a group of its own, that runs one command; its number."""
    from mixoracle.cli import main as command

    for module in _LOADED:
        import_module(module)
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        command(arguments)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    finally:
        os._exit(code)


def _finish(*arguments: str) -> float:
    """Run to the end; the seconds it took."""
    begin = time.perf_counter()
    _, status = os.waitpid(_copy_that_runs(*arguments), 0)
    if status:
        raise RuntimeError(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begin


def _is_killed_at(seconds: float, *arguments: str) -> bool:
    """Kill a program with all its workers; whether it was still running."""
    child, end = _copy_that_runs(*arguments), time.perf_counter() + seconds
    while time.perf_counter() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _kills(
    moments: Moments, took: float, command: Callable[[int], Sequence[str]]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Kill as many runs as there are moments; the number and the command of each killed one."""
    rng, number = np.random.default_rng(len(moments)), 0
    shares = list(moments)
    while shares:
        share, arguments = shares.pop(), command(number)
        if _is_killed_at(share * took, *arguments):
            yield number, arguments
        else:
            shares.append(rng.uniform())
        number += 1


def _data(folder: Path, rows: int = _ROWS) -> Path:
    rng = np.random.default_rng(0)
    states = rng.integers(0, 3, (rows, 2))
    values = 5.0 * states[:, [0, 0, 1, 1, 0]] + rng.normal(size=(rows, 5))
    lines = [",".join(f"{value:.4f}" for value in row) for row in values]
    file = folder / f"data{rows}.csv"
    file.write_text("\n".join(["a,b,c,d,e", *lines]) + "\n")
    return file


def _killed_learn(folder: Path, moments: Moments, *choices: str) -> list[str]:
    from mixoracle.report.folder import read_result

    data, whole, found = _data(folder), folder / "whole", []
    said = ("learn", str(data), "--quiet", *choices)
    took = _finish(*said, "--out", str(whole))
    names = ("model.json", "states.csv", "evidence.json")
    answers = {name: (whole / name).read_bytes() for name in names}
    outs = []
    for _, arguments in _kills(moments, took, lambda n: (*said, "--out", str(folder / f"out{n}"))):
        out = Path(arguments[-1])
        outs.append(out)
        if out.exists():
            try:
                read_result(out)
            except MixoracleError as error:
                found.append(f"half a result: {error}")
                continue
        _finish(*arguments, "--force")
        same = all((out / name).read_bytes() == held for name, held in answers.items())
        found.append("same" if same else "another result")
    time.sleep(_SETTLED)
    for out in outs:
        # A folder that is there is refused, but what killed runs left beside it goes first.
        os.waitpid(_copy_that_runs(*said, "--out", str(out)), 0)
    left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return [*found, *(f"left {name}" for name in left)]


def _killed_bootstrap(folder: Path, moments: Moments) -> list[str]:
    return _killed_learn(folder, moments, "--bootstrap", "2")


def _killed_study(folder: Path, moments: Moments) -> list[str]:
    def lines(out: Path) -> list[str]:
        rows = [json.loads(row) for row in (out / "results.jsonl").read_text().splitlines()]
        return sorted(json.dumps({**row, "seconds": None}, sort_keys=True) for row in rows)

    said = ("experiment", "small", "--runs", "4", "--samples", "210", "--seed", "3", "--jobs", "1")
    took = _finish(*said, "--out", str(folder / "study"))
    answers, found = lines(folder / "study"), []
    for _, arguments in _kills(moments, took, lambda n: (*said, "--out", str(folder / f"s{n}"))):
        _finish(*arguments)
        found.append("same" if lines(Path(arguments[-1])) == answers else "another result")
    return found


def _killed_predict(folder: Path, moments: Moments) -> list[str]:
    data, model = _data(folder), folder / "model"
    _finish("learn", str(data), "--out", str(model), "--quiet")
    said = ("predict", str(model), str(_data(folder, 45_000)), "--quiet")
    took = _finish(*said, "--out", str(folder / "whole.csv"))
    answer, found = (folder / "whole.csv").read_bytes(), []
    for _, arguments in _kills(moments, took, lambda n: (*said, "--out", f"{folder}/s{n}.csv")):
        out = Path(arguments[-1])
        if out.exists() and out.read_bytes() != answer:
            found.append("half a file")
            continue
        _finish(*arguments, "--force")
        found.append("same" if out.read_bytes() == answer else "another result")
    return found


def _stopped_early(folder: Path, moments: Moments) -> list[str]:
    data, found = _data(folder), []
    for number, share in enumerate(moments):
        program = _start("learn", str(data), "--out", str(folder / f"stop{number}"), "--quiet")
        time.sleep(share)
        program.send_signal(signal.SIGINT if number % 2 else signal.SIGTERM)
        _, said = program.communicate()
        left = [path.name for path in folder.iterdir() if path.name.startswith(".stop")]
        # Until its first line of ours, Python itself answers to Ctrl-C: no file of ours is named.
        quiet = "Traceback" not in said or "mixoracle/" not in said
        found.append("clean" if quiet and not left else f"left {left}: {said[-200:]}")
    return found


def _no_room(folder: Path, _moments: Moments) -> list[str]:
    """A file that may not grow, a folder that is read-only, and no folder at all."""
    data, full, closed = _data(folder), folder / "full", folder / "closed"
    closed.mkdir(mode=0o555)
    _finish("learn", str(data), "--out", str(folder / "model"), "--quiet")
    # The superuser may write everywhere, unless this right is taken away.
    bound = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
    programs = (
        _start("learn", str(data), "--out", str(full), "--quiet", limit=_SMALL),
        _start("learn", str(data), "--out", str(closed / "r"), "--quiet", before=bound),
        _start("predict", f"{folder}/model", str(data), "--out", f"{closed}/r.csv", before=bound),
        _start("experiment", "small", "--quiet", "--out", str(closed / "s"), before=bound),
        _start("learn", str(data), "--out", "/proc/result", "--quiet"),
    )
    found = []
    for program in programs:
        _, said = program.communicate()
        is_clean = program.returncode == 2 and said.count("\n") == 1
        found.append("clean" if is_clean else said[-200:])
    left = [path.name for path in (*folder.iterdir(), *closed.iterdir())]
    return [*found, "clean" if sorted(left) == ["closed", data.name, "model"] else f"left {left}"]


def _two_runs(folder: Path, moments: Moments) -> list[str]:
    from mixoracle.report.folder import read_result

    data, found = _data(folder), []
    for number in range(max(1, len(moments) // 5)):
        out = folder / f"two{number}"
        both = [_start("learn", str(data), "--out", str(out), "--quiet") for _ in range(2)]
        for program in both:
            program.communicate()
        codes = sorted(program.returncode for program in both)
        whole = read_result(out).evidence.n_samples == _ROWS
        found.append("one won" if codes == [0, 2] and whole else f"exit codes {codes}")
    return found


def _left_over(folder: Path, moments: Moments) -> list[str]:
    """Whether workers outlive a program that ended, or was told to end half-way."""
    data, found = _data(folder), []
    for number in range(max(3, len(moments) // 10)):
        out, end = str(folder / f"jobs{number}"), (None, signal.SIGTERM, signal.SIGINT)[number % 3]
        program = _start("learn", str(data), "--out", out, "--jobs", "2", "--quiet")
        if end is not None:
            time.sleep(_MOST_OF_A_LEARN * moments[number])
            program.send_signal(end)
        program.communicate()
        found.append("none" if _is_gone(program.pid) else "a worker lives on")
    return found


def _is_gone(group: int) -> bool:
    """Whether no process of a group is left, after a moment to leave."""
    for _ in range(_PATIENCE):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


_ACCIDENTS = {
    "learn, SIGKILL": (_killed_learn, "same"),
    "learn --bootstrap, SIGKILL": (_killed_bootstrap, "same"),
    "experiment, SIGKILL": (_killed_study, "same"),
    "predict, SIGKILL": (_killed_predict, "same"),
    "learn, SIGINT or SIGTERM within 1 s": (_stopped_early, "clean"),
    "full disk, read-only folder": (_no_room, "clean"),
    "two runs, one folder": (_two_runs, "one won"),
    "processes left over": (_left_over, "none"),
}


def main() -> None:
    """Print a table: each accident, how often, and how often all was well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=5, help="moments of each accident")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="those whose name begins so")
    asked = parser.parse_args()
    print(f"{'accident':38s}{'times':>6s}{'well':>6s}  otherwise")
    for name, (cause, well) in _ACCIDENTS.items():
        if not name.startswith(asked.only):
            continue
        moments = np.random.default_rng(asked.seed).uniform(0, 1, asked.count)
        with tempfile.TemporaryDirectory() as folder:
            found = cause(Path(folder), moments)
        others = sorted({one for one in found if one != well})
        row = f"{name:38s}{len(found):6d}{found.count(well):6d}"
        print(f"{row}  {'; '.join(others) or '-'}", flush=True)


if __name__ == "__main__":
    main()
