"""Random hostile input through everything: what holds, and what breaks out.

Four parts: ``tables`` through the estimator (fit, predict, save, load, report, sample), ``files``
through every command that reads one, ``damage`` of the files of a result through every command that
opens one, and ``exports`` of models with hostile names through every format and a parser of
somebody else. A case is its number: the same part, seed and number give the same case. With
``--log`` every case leaves a line, and the same command continues where it was stopped.

An outcome is good if the input was used or refused by an error of ours. Everything else is a bug:
another exception, a warning that is not ours, a prediction that differs from the fit, a fit that
takes more CPU time than was said before it or is cut short, a case of any part that takes longer
than the least that is ever said. The peak of memory is that of the whole program.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hostile_documents import damaged
from hostile_files import hostile_file
from hostile_tables import NAMES, table
from mixoracle import LatentGraphLearner, LatentModel, Observations
from mixoracle._cost import cost_of
from mixoracle.errors import AssumptionWarning, DataWarning, MixoracleError

OURS = (AssumptionWarning, DataWarning)
GOOD = ("used", "refused")
_LEAST = cost_of(1, 1)  # of all that is ever said before a fit
_PER_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, in which the peak is counted
_RUN: dict[str, Any] = {
    "data": {"file": "data.csv", "rows": 400, "missing": 0.0, "sha256": "0" * 64},
    "settings": {"oracle": "signature", "seed": 0},
    "timings": {"all": 1.0},
    "versions": {"mixoracle": "0"},
    **{"platform": "here", "finished": "2026-01-01"},
}


class BrokenError(AssertionError):
    """Something that should hold does not."""


def fuzz_tables(rng: np.random.Generator, folder: Path) -> str:
    """Fit, and check that all that follows from a fit agrees with it."""
    from mixoracle.report.folder import Result, read_result, write_result
    from mixoracle.report.gathering import gather

    drawn = table(rng)
    is_array = isinstance(drawn, np.ndarray)
    read = Observations.from_array(drawn) if is_array else Observations.from_frame(drawn)
    data = drawn if rng.random() < 0.5 else read
    choices: dict[str, Any] = {"random_state": 0}
    if rng.random() < 0.2:
        choices["oracle"] = str(rng.choice(["projection", "kmeans"]))
    elif rng.random() < 0.3:
        choices["families"] = str(rng.choice(["student", "counts", "gamma", "diagonal"]))
    learner = LatentGraphLearner(**choices)
    told, begin = learner.cost(data), time.process_time()
    model = learner.fit(data).model_
    took = time.process_time() - begin
    if took > told.seconds or learner.left_out_:
        raise BrokenError(f"{took:.0f} s, told were {told}; left out: {learner.left_out_}")
    if not np.array_equal(learner.predict(data), learner.states_):
        raise BrokenError("predict differs from states_")
    shares = learner.predict_proba(data)
    if not all(np.allclose(share.sum(axis=1), 1.0) for share in shares):
        raise BrokenError("probabilities do not sum to 1")
    if not np.isfinite(learner.score(data)):
        raise BrokenError("the score is not finite")
    model.save(folder / "model")
    if LatentModel.load(folder / "model") != model:
        raise BrokenError("a saved model differs")
    learner.sample(5)
    evidence = gather(learner, read)
    (folder / "result").mkdir()
    write_result(folder / "result", Result(model, evidence, _RUN), learner.states_, shares)
    held = read_result(folder / "result").evidence
    # Numbers that are none equal nothing, not even themselves.
    if repr(held) != repr(evidence):
        raise BrokenError("the evidence of a result differs")
    return "used"


def _command(*arguments: str) -> str:
    """Run a command in this process."""
    from mixoracle.cli import main

    said, answered = io.StringIO(), io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(answered):
            main(arguments)
    except SystemExit as left:
        if left.code not in (None, 0, 2, 3):
            raise BrokenError(f"exit code {left.code}: {said.getvalue()[-200:]}") from left
        if left.code == 2 and not _is_one_sentence(said.getvalue()):
            raise BrokenError(f"not one sentence: {said.getvalue()[-300:]}") from left
        return "refused" if left.code == 2 else "used"
    return "used"


def _is_one_sentence(said: str) -> bool:
    lines = [line for line in said.splitlines() if line.startswith("Error:")]
    return len(lines) == 1 and "Traceback" not in said


def fuzz_files(rng: np.random.Generator, folder: Path) -> str:
    """A hostile file where a command expects a table."""
    ending, content = hostile_file(rng)
    file = folder / f"data{ending}"
    file.write_bytes(content)
    command = str(rng.choice(["dry run", "learn", "predict", "groups", "types"], p=_SHARES))
    if command == "dry run":
        return _command("learn", str(file), "--dry-run", "--quiet")
    if command == "learn":
        return _command("learn", str(file), "--out", str(folder / "out"), "--quiet")
    if command == "predict":
        return _command("predict", str(result_folder()), str(file), "--out", str(folder / "o.csv"))
    plain = folder / "plain.csv"
    plain.write_text("a,b,c\n" + "".join(f"{i % 3},{i % 5},{i % 7}\n" for i in range(40)))
    return _command("learn", str(plain), f"--{command}", str(file), "--dry-run", "--quiet")


_SHARES = (0.4, 0.2, 0.2, 0.1, 0.1)
_COMMANDS = (
    *(("report",), ("check",), ("query", "H1"), ("do", "H1=0", "--of", "H2")),
    *(("effect", "H1", "H2"), ("sample", "--samples", "5", "--out", "OUT/s.csv")),
    *(("export", "--format", "bif", "--out", "OUT/m.bif"), ("evaluate", "RESULT")),
    ("predict", "OUT/new.csv", "--out", "OUT/p.csv"),
)


def fuzz_damage(rng: np.random.Generator, folder: Path) -> str:
    """A command that opens a result of which one file is damaged."""
    result = folder / "result"
    result.mkdir()
    for file in result_folder().iterdir():
        (result / file.name).write_bytes(file.read_bytes())
    victims = sorted(path for path in result.iterdir() if path.suffix != ".html")
    victim = victims[rng.integers(len(victims))]
    if victim.suffix == ".json":
        text = damaged(json.loads(victim.read_text()), rng)
        victim.write_text(text, encoding="utf-8", errors="surrogatepass")
    else:
        content = bytearray(victim.read_bytes())
        for _ in range(int(rng.integers(1, 5))):
            content[rng.integers(len(content))] = rng.integers(256)
        victim.write_bytes(content[: rng.integers(len(content))] if rng.random() < 0.3 else content)
    (folder / "new.csv").write_text("X1,X2,X3,X4\n1,2,3,4\n")
    name, *rest = _COMMANDS[rng.integers(len(_COMMANDS))]
    arguments = [one.replace("OUT", str(folder)).replace("RESULT", str(result)) for one in rest]
    return _command(name, str(result), *arguments)


def fuzz_exports(rng: np.random.Generator, folder: Path) -> str:
    """A model with hostile names through every format, each read by somebody else."""
    import networkx as nx

    from mixoracle.datasets import random_model
    from mixoracle.model.export import as_text, read, write
    from mixoracle.model.export.agrum import load_pyagrum

    plain = random_model(int(rng.integers(1, 4)), 6, 3, random_state=int(rng.integers(2**31)))
    words = [
        *filter(None, NAMES),
        "default",
        "table",
        "network",
        "\0",
        "\x85",
        "😀",
        "</svg>",
        "]]>",
        "#",
    ]
    drawn = [words[place] for place in rng.permutation(len(words))]
    m, n = plain.n_latent, plain.n_observed
    model = replace(plain, latent_names=drawn[:m], observed_names=drawn[m : m + n])
    ending = str(rng.choice([".json", ".bif", ".bifxml", ".graphml", ".dagitty", ".dot"]))
    file = folder / f"model{ending}"
    write(model, file)
    text = as_text(model, ending)
    if ending != ".dot" and read(file) is None:
        raise BrokenError("nothing was read back")
    # pyAgrum is an extra, and not there with the oldest scikit-learn.
    is_for_pyagrum = ending in (".bif", ".bifxml") and find_spec("pyagrum") is not None
    if is_for_pyagrum and load_pyagrum().loadBN(str(file)).size() != model.n_latent:
        raise BrokenError("pyAgrum reads another network")
    if ending == ".graphml":
        nodes = nx.read_graphml(io.BytesIO(text.encode())).number_of_nodes()
        if nodes != model.n_latent + model.n_observed:
            raise BrokenError("networkx reads another graph")
    if ending == ".json" and read(file) != model:
        raise BrokenError("JSON gives another model back")
    return "used"


_RESULT: list[Path] = []


def result_folder() -> Path:
    """A result that was learned once, for commands that open one."""
    if not _RESULT:
        folder = Path(tempfile.mkdtemp(prefix="mixoracle-fuzz-"))
        rng = np.random.default_rng(0)
        states = rng.integers(0, 2, (300, 2))
        values = 6.0 * states[:, [0, 0, 1, 1]] + rng.normal(size=(300, 4))
        lines = [",".join(f"{value:.4f}" for value in row) for row in values]
        (folder / "data.csv").write_text("\n".join(["X1,X2,X3,X4", *lines]))
        _command("learn", str(folder / "data.csv"), "--out", str(folder / "result"), "--quiet")
        _RESULT.append(folder / "result")
    return _RESULT[0]


PARTS: dict[str, Callable[[np.random.Generator, Path], str]] = {
    "tables": fuzz_tables,
    "files": fuzz_files,
    "damage": fuzz_damage,
    "exports": fuzz_exports,
}


def outcome(part: str, seed: int, number: int) -> tuple[str, str]:
    """The class of a case's outcome, and where it came from if it is a bug."""
    rng = np.random.default_rng([seed, list(PARTS).index(part), number])
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, where = PARTS[part](rng, Path(folder)), ""
        except MixoracleError as error:
            found, where = "refused", "" if str(error) else "an empty message"
        except BrokenError as error:
            found, where = "broken", str(error)
        except Exception as error:  # noqa: BLE001 (finding these is what it is for)
            last = traceback.extract_tb(error.__traceback__)[-1]
            found, where = type(error).__name__, f"{Path(last.filename).name}:{last.lineno} {error}"
    foreign = [one for one in caught if not issubclass(one.category, OURS)]
    if foreign and found in GOOD:
        found, where = "leaked warning", f"{foreign[0].category.__name__}: {foreign[0].message}"
    took = time.process_time() - begin
    if took > _LEAST.seconds and found in GOOD:
        found, where = "slow", f"{took:.0f} s"
    return found, where[:200]


def run(part: str, count: int, seconds: float, seed: int, log: Path | None) -> Counter[str]:
    """All cases of a part, or as many as the time allows; those in the log are not repeated."""
    held = log.read_text(encoding="utf-8").splitlines() if log and log.exists() else []
    lines = [json.loads(line) for line in held]
    done = {row["number"]: row for row in lines if (row["part"], row["seed"]) == (part, seed)}
    counts = Counter(str(row["found"]) for row in done.values() if row["number"] < count)
    begin = time.perf_counter()
    for number in range(count):
        if number in done:
            continue
        if time.perf_counter() - begin > seconds:
            break
        found, where = outcome(part, seed, number)
        counts[found] += 1
        if where:
            print(f"{part} {number}: {found}: {where}", file=sys.stderr)
        if log:
            row = {"part": part, "seed": seed, "number": number, "found": found, "where": where}
            with log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
    return counts


def main() -> None:
    """Print a table of outcomes, a line for each part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--count", type=int, default=50, help="cases of each part")
    parser.add_argument("--seconds", type=float, default=60.0, help="at most, for each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="a line for each case; continues what is there")
    asked = parser.parse_args()
    print(f"{'part':10s}{'cases':>8s}{'used':>8s}{'refused':>9s}  everything else")
    for part in asked.parts:
        counts = run(part, asked.count, asked.seconds, asked.seed, asked.log)
        bugs = ", ".join(f"{n} {found}" for found, n in counts.items() if found not in GOOD)
        row = f"{part:10s}{counts.total():8d}{counts['used']:8d}{counts['refused']:9d}"
        print(f"{row}  {bugs or '0'}", flush=True)
    peak = _PER_UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"peak memory {peak / 1e9:.2f} GB; the least that is said is {_LEAST.memory / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
