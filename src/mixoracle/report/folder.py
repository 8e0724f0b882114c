"""A result as a folder: the model, the evidence, the states and the report, all or nothing.

Everything is written into a hidden folder beside the place where it shall be, and moved there in
one step when it is complete; whatever stops the work in between leaves nothing behind. A folder
that is there already is kept, unless the caller says otherwise, and even then only a result of
mixoracle is replaced.
"""

from __future__ import annotations

import csv
import json
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle._documents import finite, parse_json, typed
from mixoracle._scratch import LOCK_FILE, hold, left_folders, remove_folder
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.state_names import state_labels
from mixoracle.report.cells import cell_text, text_cell
from mixoracle.report.consistency import refuse_contradictions
from mixoracle.report.evidence import Evidence

logger = logging.getLogger(__name__)

RUN_FILE = "run.json"
EVIDENCE_FILE = "evidence.json"
STATES_FILE = "states.csv"
STATES_FOLDER = "states"
SET_ASIDE_FILE = "set_aside.csv"
REPORT_FILE = "report.html"
GRAPH_FILE = "graph.svg"
MODEL_FILE = "model.json"
ALTERNATIVES_FOLDER = "alternatives"
FIGURES_FOLDER = "figures"
# Only a folder that holds nothing else was made by us, and only such a one may be replaced.
_OURS = (
    *(RUN_FILE, EVIDENCE_FILE, STATES_FILE, REPORT_FILE, GRAPH_FILE, MODEL_FILE),
    *("arrays-*.npz", "data.csv", "truth", ALTERNATIVES_FOLDER, FIGURES_FOLDER),
    *(STATES_FOLDER, SET_ASIDE_FILE),
)
# Our run.json says one of these: how a result was learned, or how a problem was drawn.
_OUR_RUNS = ("settings", "simulated")
# What a report needs of it: where it stands, its name, and its type.
_RUN_ENTRIES: tuple[tuple[str, str, Any], ...] = (
    ("", "data", dict[str, Any]),
    *(("data", "file", str), ("data", "rows", int), ("data", "missing", float)),
    *(("data", "sha256", str), ("", "settings", dict[str, Any]), ("", "timings", dict[str, float])),
    *(("", "versions", dict[str, str]), ("versions", "mixoracle", str)),
    *(("", "platform", str), ("", "finished", str)),
)
_PROBABILITY_DIGITS = 4
# Where the result that is being replaced waits for a moment.
_REPLACED = "old"


@dataclass(frozen=True)
class Result:
    """The result of ``mixoracle learn``, read back; ``run`` is for people and for scripts."""

    model: LatentModel
    evidence: Evidence
    run: dict[str, Any]


@contextmanager
def new_folder(
    path: str | PathLike[str],
    *,
    replace: bool = False,
    data: Path | None = None,
    how: str = "--force",
) -> Iterator[Path]:
    """Give a folder to fill; it becomes ``path`` when the block ends well, else it vanishes.

    With ``replace`` an earlier folder of ours gives way, unless ``data`` lies in it; ``how`` is
    what the user says for that.
    """
    # The whole path, since "." has no name of its own and a link should stay one.
    target = Path(path).resolve()
    _clear_left(target)
    _refuse_to_overwrite(target, Path(path), replace, how)
    if data is not None and target in data.resolve().parents and any(target.iterdir()):
        raise InvalidInputError(
            f"{path} holds the data themselves ({data.name}) and is not replaced, even with "
            "--force; choose another folder"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        with (scratch / LOCK_FILE).open("ab") as lock:
            hold(lock)
            filled = scratch / "new"
            filled.mkdir()
            yield filled
            # Somebody else may have made the folder in the meantime.
            _refuse_to_overwrite(target, Path(path), replace, how)
            if target.exists():
                target.rename(scratch / _REPLACED)
            filled.rename(target)
    finally:
        remove_folder(scratch)


def _clear_left(target: Path) -> None:
    """Remove what killed runs left beside a folder; an earlier result comes back to its place."""
    for left in left_folders(target.parent, f".{target.name}-"):
        if (left / _REPLACED).is_dir() and not target.exists():
            (left / _REPLACED).rename(target)
        logger.warning("removing %s, which a run that was killed left behind", left)
        remove_folder(left)


def _refuse_to_overwrite(target: Path, shown: Path, replace: bool, how: str) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InvalidInputError(f"{shown} should be a folder for the result; it is a file")
    if not any(target.iterdir()):
        return
    if not replace:
        raise InvalidInputError(
            f"{shown} exists already and would be overwritten; choose another folder, or say {how}"
        )
    if not _is_ours(target):
        raise InvalidInputError(
            f"{shown} holds files that mixoracle did not make and is not replaced, even with "
            f"{how}; choose another folder"
        )


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but what mixoracle leaves, by name and by its own record."""
    if not all(any(entry.match(name) for name in _OURS) for entry in folder.iterdir()):
        return False
    try:
        run = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(run, dict) and any(key in run for key in _OUR_RUNS)


def write_result(
    folder: Path,
    result: Result,
    states: NDArray[np.int64] | None,
    probabilities: Sequence[NDArray[np.float64]],
    ids: Sequence[str] | None = None,
    id_title: str = "row",
    set_aside: NDArray[np.bool_] | None = None,
) -> None:
    """Fill a folder with all files of a result; without ``states`` they are written in parts.

    ``set_aside`` (N, n) are the values that stand alone, listed in a file where there are any.
    """
    result.model.save(folder)
    write_json(folder / RUN_FILE, result.run)
    write_json(folder / EVIDENCE_FILE, result.evidence.to_json(), indent=None)
    if states is not None:
        write_states(folder / STATES_FILE, result.model, states, probabilities, ids, id_title)
    if set_aside is not None and set_aside.any():
        names = result.model.observed_names
        write_set_aside(folder / SET_ASIDE_FILE, names, set_aside, ids, id_title)
    write_report(folder, result)


def write_report(folder: Path, result: Result) -> None:
    """Write what can be made from the rest: ``report.html`` and ``graph.svg``."""
    from mixoracle.model.storage import write_atomically
    from mixoracle.report.claims import sureness
    from mixoracle.report.html import render
    from mixoracle.report.svg import draw

    evidence = result.evidence
    sure = sureness(result.model, evidence.edges, evidence.drive_support)
    pages = {REPORT_FILE: render(result), GRAPH_FILE: draw(result.model, sureness=sure)}
    for name, text in pages.items():
        write_atomically(folder / name, text.encode("utf-8"))


def read_result(path: str | PathLike[str]) -> Result:
    """Read a folder that :func:`write_result` filled."""
    folder = Path(path)
    if not folder.is_dir():
        raise InvalidInputError(
            f"{folder} should be a folder that mixoracle learn made; there is no such folder"
        )
    if not (folder / EVIDENCE_FILE).is_file():
        raise FileFormatError(
            f"{folder} should be a folder that mixoracle learn made; it has no {EVIDENCE_FILE}"
        )
    model = LatentModel.load(folder)
    evidence = Evidence.from_json(read_json(folder / EVIDENCE_FILE))
    if evidence.observed_names != model.observed_names:
        raise FileFormatError(
            f"{folder / EVIDENCE_FILE} speaks of other variables than {MODEL_FILE} beside it; "
            "learn again"
        )
    refuse_contradictions(evidence, model, str(folder / EVIDENCE_FILE))
    run = read_json(folder / RUN_FILE)
    for part, name, held in _RUN_ENTRIES:
        within = run.get(part) if part else run
        if not isinstance(within, dict) or name not in within:
            raise FileFormatError(f"{folder / RUN_FILE} does not say {name!r}; learn again")
        within[name] = typed(within[name], held, f"{name!r} in {folder / RUN_FILE}")
    return Result(model, evidence, run)


def write_json(path: Path, document: dict[str, Any], indent: int | None = 2) -> None:
    """Write one JSON document; not a number is written as null, which every reader knows."""
    text = json.dumps(finite(document), indent=indent, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object."""
    try:
        document = parse_json(path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise FileFormatError(f"{path} is missing; learn again") from error
    if not isinstance(document, dict):
        raise FileFormatError(f"{path} should hold a JSON object; learn again")
    return document


def write_states(
    path: Path,
    model: LatentModel,
    states: NDArray[np.int64],
    probabilities: Sequence[NDArray[np.float64]] | None = None,
    ids: Sequence[str] | None = None,
    id_title: str = "row",
) -> None:
    """Write for each case the state of each latent, and how likely that state is."""
    certain = [f"P({name})" for name in model.latent_names] if probabilities is not None else []
    rows = np.arange(len(states))
    chosen = [held[rows, states[:, j]] for j, held in enumerate(probabilities or ())]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(list(map(text_cell, (id_title, *model.latent_names, *certain))))
        for r, row in enumerate(state_labels(model, states)):
            sure = [f"{held[r]:.{_PROBABILITY_DIGITS}f}" for held in chosen]
            writer.writerow([r if ids is None else text_cell(ids[r]), *map(text_cell, row), *sure])


def write_set_aside(
    path: Path,
    names: Sequence[str],
    set_aside: NDArray[np.bool_],
    ids: Sequence[str] | None = None,
    id_title: str = "row",
) -> None:
    """List the values that were treated as missing because they stand alone, case by case."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([text_cell(id_title), "measurement"])
        for row, i in np.argwhere(set_aside):
            writer.writerow([row if ids is None else text_cell(ids[row]), text_cell(names[i])])


def rewrite_states(path: Path, old: LatentModel, new: LatentModel) -> None:
    """Put the names of ``new``, the same model as ``old``, into a table of states."""
    m = old.n_latent
    states = state_labels(new, read_states(path, old))
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    names = map(text_cell, (*new.latent_names, *(f"P({name})" for name in new.latent_names)))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([header[0], *list(names)[: len(header) - 1]])
        for row, called in zip(rows, states, strict=True):
            writer.writerow([row[0], *map(text_cell, called), *row[1 + m :]])


def read_states(path: Path, model: LatentModel) -> NDArray[np.int64]:
    """Read the states that :func:`write_states` wrote, (N, m)."""
    m = model.n_latent
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            header, *rows = [list(map(cell_text, row)) for row in csv.reader(stream)]
            places = [header.index(name, 1) for name in model.latent_names]
            called = [{name: s for s, name in enumerate(model.states_of(j))} for j in range(m)]
            states = [
                [
                    known[row[place]] if row[place] in known else int(row[place])
                    for place, known in zip(places, called, strict=True)
                ]
                for row in rows
            ]
    except (ValueError, IndexError) as error:
        raise FileFormatError(f"{path} is not a table of states: {error}") from error
    return np.array(states, dtype=np.int64).reshape(len(states), model.n_latent)
