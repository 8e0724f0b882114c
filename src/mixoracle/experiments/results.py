"""The record of one run, and the folder that holds a study's runs.

A folder has ``study.json``, what was asked and with which versions, and ``results.jsonl``, one
line for each finished run in the order in which they finished. A line is written whole, flushed
and synced by one process that holds a lock, so that a killed study leaves at most one torn last
line; opening the folder again cuts it off, and the run it belonged to is simply not yet done.

Assumption: the folder lies on a file system whose locks work, so a local disk.
"""

from __future__ import annotations

import json
import logging
import math
import os
import platform
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import IO, Literal, Self

from mixoracle._documents import parse_json, record, typed
from mixoracle._scratch import hold
from mixoracle._version import __version__
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.experiments.studies import Study
from mixoracle.model.storage import write_atomically

logger = logging.getLogger(__name__)

HEADER_NAME = "study.json"
RESULTS_NAME = "results.jsonl"
_FORMAT, _FORMAT_VERSION = "mixoracle-study", 1
# These decide the results; a study continues only with the same.
_DECISIVE = ("numpy", "scipy", "scikit-learn")
# With this a line stays below 600 bytes when all else is as long as it gets.
_REASON_LENGTH = 100
# Probabilities to six digits: more would be noise, and lines stay short.
_DIGITS = 6

Status = Literal["answered", "fallback", "failed"]
STAGES = ("draw", "oracle", "graph", "search", "compare")
"""Where a run can fail, in order; ``"graph"`` is steps (b) to (d) of ``app:pipeline``."""


@dataclass(frozen=True)
class Score:
    """How far one estimated model is from the truth."""

    shd: int  # structural Hamming distance to the true DAG, as the paper has it
    uce: int  # edges right but unoriented, likewise
    exact: bool  # Γ, domain sizes and the equivalence class of Λ are all right
    # Total variation between the two P(H); None where the domain sizes differ.
    tv: float | None = None

    def __post_init__(self) -> None:
        if self.tv is not None:
            rounded = None if math.isnan(self.tv) else round(float(self.tv), _DIGITS)
            object.__setattr__(self, "tv", rounded)
        if self.exact and self.shd:
            raise InvalidInputError(f"an exact graph has SHD 0; got {self.shd}")


@dataclass(frozen=True)
class Result:
    """The result of one run; a failed run is a result too."""

    run: int
    arm: str
    m: int
    n: int
    samples: int
    domains: tuple[int, ...] = ()  # the true domain sizes; empty if not even the draw worked
    edges: int | None = None  # |E(G)| of the truth
    # "fallback": steps (b) to (d) met a contradiction, and the learner gave what it falls back on;
    # the paper counts such a run as failed. "failed": an error, and no answer.
    status: Status = "answered"
    stage: str = ""  # where it went wrong, unless answered
    reason: str = ""  # and why
    found: int | None = None  # the number of latents in the answer
    gamma: bool | None = None  # whether Γ is right
    sizes: bool | None = None  # whether the domain sizes are
    score: Score | None = None  # of the answer
    limit: Score | None = None  # of the same search on the true states of the same rows
    accuracy: float | None = None  # the share of rows whose hidden states are all right
    broken: tuple[str, ...] = ()  # labels of the assumptions that the learner found broken
    warned: tuple[str, ...] = ()  # categories of all other warnings
    seconds: float | None = None  # how long the learner took

    def __post_init__(self) -> None:
        if self.status not in ("answered", "fallback", "failed"):
            raise InvalidInputError(f"a run is answered, fallback or failed; got {self.status!r}")
        if (self.status == "answered") != (self.stage == "" and self.reason == ""):
            raise InvalidInputError(
                "a run that was not plainly answered names its stage and reason, and no other; "
                f"got {self.status!r} with {self.stage!r} and {self.reason!r}"
            )
        if self.stage and self.stage not in STAGES:
            raise InvalidInputError(f"a stage is one of {', '.join(STAGES)}; got {self.stage!r}")
        if (self.status == "failed") != (self.score is None):
            raise InvalidInputError("a run has a score unless it failed")
        if len(self.reason) > _REASON_LENGTH:
            object.__setattr__(self, "reason", self.reason[: _REASON_LENGTH - 1] + "…")

    def to_line(self) -> str:
        """The run as one line of JSON; empty entries are left out."""
        held = {key: value for key, value in asdict(self).items() if value not in (None, (), "")}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The run that a line holds."""
        return record(cls, parse_json(line, "the line"), "the run")


@dataclass(frozen=True)
class StudyRecord:
    """A study with its results, in the order of their numbers."""

    study: Study
    versions: dict[str, str]
    results: tuple[Result, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every run has its result."""
        return len(self.results) == self.study.n_runs


def current_versions() -> dict[str, str]:
    """The versions that decide the numbers."""
    return {
        "mixoracle": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _DECISIVE},
    }


def load(folder: Path) -> StudyRecord:
    """Read a study, finished or not, without changing anything."""
    study, versions = _read_header(folder / HEADER_NAME)
    results, _ = _read_results(folder / RESULTS_NAME, study)
    return StudyRecord(study, versions, tuple(sorted(results, key=lambda result: result.run)))


class ResultsFile:
    """An open results file: knows which runs are done, and appends one line at a time."""

    def __init__(self, stream: IO[bytes], study: Study, done: frozenset[int]) -> None:
        self._stream = stream
        self._study = study
        self._done = set(done)

    @property
    def missing(self) -> list[int]:
        """Numbers of the runs that are still to do."""
        return [number for number in range(self._study.n_runs) if number not in self._done]

    def append(self, result: Result) -> None:
        """Write one whole line and wait until it is on the disk."""
        if result.run in self._done:
            raise InvalidInputError(f"run {result.run} has its result already")
        self._stream.write((result.to_line() + "\n").encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._done.add(result.run)


@contextmanager
def open_results(folder: Path, study: Study) -> Iterator[ResultsFile]:
    """Begin a study in a folder, or continue the one that is there.

    Raises
    ------
    InvalidInputError
        The folder holds another study, or another process is running it.
    FileFormatError
        The folder's files were damaged in another way than by an interruption.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_NAME
    with path.open("ab") as stream:
        _lock(stream, folder)
        _settle_header(folder, study)
        results, intact = _read_results(path, study)
        if intact < path.stat().st_size:
            logger.warning("cutting off a torn last line of %s", path)
            os.truncate(path, intact)
        yield ResultsFile(stream, study, frozenset(result.run for result in results))


def _settle_header(folder: Path, study: Study) -> None:
    """Write the header of a new study; refuse to continue what is not the same study.

    More runs than before are fine: the first ones are the same. The header is replaced in one
    step, so that it is whole at any moment.
    """
    path = folder / HEADER_NAME
    if path.exists():
        held, versions = _read_header(path)
        if replace(held, runs=study.runs) != study or held.runs > study.runs:
            raise InvalidInputError(
                f"{folder} holds the study {_brief(held)} and cannot be continued as "
                f"{_brief(study)}; ask for the same again, or give another --out"
            )
        changed = [
            f"{name} {versions.get(name, 'unknown')} (now {now})"
            for name, now in current_versions().items()
            if versions.get(name) != now
        ]
        if changed:
            raise InvalidInputError(
                f"{folder} was begun with {', '.join(changed)}; continue with the same versions, "
                "or give another --out"
            )
        if held == study:
            return
    elif (folder / RESULTS_NAME).stat().st_size:
        raise InvalidInputError(
            f"{folder} has results but no {HEADER_NAME} that says what they are; give another --out"
        )
    header = {
        "format": _FORMAT,
        "version": _FORMAT_VERSION,
        "versions": current_versions(),
        "study": asdict(study),
    }
    write_atomically(path, (json.dumps(header, indent=1) + "\n").encode())


def _read_header(path: Path) -> tuple[Study, dict[str, str]]:
    try:
        header = parse_json(path.read_bytes(), str(path))
        if (header["format"], header["version"]) != (_FORMAT, _FORMAT_VERSION):
            raise FileFormatError(
                f"it should be a {_FORMAT} of version {_FORMAT_VERSION}; "
                f"got {header['format']!r} of version {header['version']!r}"
            )
        study = record(Study, header["study"], "the study")
        return study, typed(header["versions"], dict[str, str], "versions")
    except FileNotFoundError as error:
        raise InvalidInputError(
            f"{path.parent} holds no study: there is no {path.name}; "
            "name a folder that 'mixoracle experiment' made"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{path} is not the header of a study ({error}); restore it, or give another --out"
        ) from error


def _read_results(path: Path, study: Study) -> tuple[list[Result], int]:
    """All results, and how many bytes of the file they fill; a torn last line is left out."""
    data = path.read_bytes() if path.exists() else b""
    lines = data.splitlines(keepends=True)
    results: list[Result] = []
    intact = 0
    for place, line in enumerate(lines):
        try:
            if not line.endswith(b"\n"):
                raise ValueError("the line does not end")  # noqa: TRY301 (torn like a bad one)
            result = Result.from_line(line.decode())
        except (ValueError, KeyError, TypeError) as error:
            if place == len(lines) - 1:
                break
            raise FileFormatError(
                f"line {place + 1} of {path} is damaged ({error}); restore the file, or delete "
                "that line to have its run repeated"
            ) from error
        results.append(result)
        intact += len(line)
    numbers = Counter(result.run for result in results)
    twice = [number for number, lines_of_it in sorted(numbers.items()) if lines_of_it > 1]
    if twice:
        raise FileFormatError(f"{path} has more than one result for run {twice[0]}")
    if any(not 0 <= number < study.n_runs for number in numbers):
        raise FileFormatError(f"{path} has results for runs beyond the {study.n_runs} of its study")
    return results, intact


def _lock(stream: IO[bytes], folder: Path) -> None:
    """Hold the file until it is closed or the process dies, so that no two append to it."""
    if not hold(stream):
        raise InvalidInputError(
            f"another process is running the study in {folder}; wait for it, or give another --out"
        )


def _brief(study: Study) -> str:
    """The study in a few words that tell it apart from others of its kind."""
    oracles = ", ".join(sorted({arm.conditions.oracle for arm in study.arms}))
    covariances = ", ".join(sorted({arm.conditions.covariance for arm in study.arms}))
    arms = ", ".join(arm.label for arm in study.arms)
    return (
        f"{study.name!r} (oracle {oracles}, covariance {covariances}, {arms}, {study.runs} runs "
        f"each, seed {study.seed})"
    )
