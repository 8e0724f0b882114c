"""The file that keeps resamples which are done, so that an interrupted run goes on with them.

Its first line is a fingerprint, 64 hexadecimal digits, of the answer and the seed; each further
line is one resample as JSON. A file of another answer is begun anew. A file that is not of this
kind is somebody's: it is refused, never overwritten.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.trust.aligning import Sighting

_FINGERPRINT = re.compile("[0-9a-f]{64}")


def read(keep: Path | None, fingerprint: str) -> dict[int, Sighting]:
    """The resamples that a file holds; it is begun anew if they are of another answer."""
    if keep is None:
        return {}
    try:
        text = _own_text(keep)
        lines = text.splitlines()
        if not lines or lines[0] != fingerprint:
            keep.write_text(f"{fingerprint}\n", encoding="utf-8")
            return {}
        if not text.endswith("\n"):
            with keep.open("a", encoding="utf-8") as stream:
                stream.write("\n")
    except OSError as error:
        raise InvalidInputError(
            f"keep should be a file that can be read and written; got {keep}: {error.strerror}; "
            "choose another file"
        ) from error
    done: dict[int, Sighting] = {}
    for line in lines[1:]:
        held = _parsed(line)
        if held is not None:  # None: a line that was being written when the run was killed.
            done[int(held.pop("number"))] = _from_plain(held)
    return done


def append(keep: Path | None, number: int, sighting: Sighting) -> None:
    """Add a resample that is done."""
    if keep is None:
        return
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(sighting).items()
    }
    with keep.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"number": number, **plain}) + "\n")


def _own_text(keep: Path) -> str:
    """What the file holds, empty if there is none; anything that is not ours is refused."""
    if keep.is_dir():
        raise InvalidInputError(
            f"keep should be a file; got the folder {keep}: name a file in it, such as "
            f"{keep / 'resamples.jsonl'}"
        )
    if not keep.parent.is_dir():
        raise InvalidInputError(
            f"keep should be a file in a folder that exists; there is no folder {keep.parent}: "
            "make it first, or choose another file"
        )
    text = keep.read_bytes().decode("utf-8", errors="replace") if keep.exists() else ""
    if not _is_ours(text):
        raise InvalidInputError(
            f"keep should be a new file, or one that an earlier bootstrap left; {keep} holds "
            "something else and was not touched: choose another file"
        )
    return text


def _is_ours(text: str) -> bool:
    """Whether a bootstrap wrote this: nothing, or a fingerprint and lines that begin as ours do."""
    if not text:
        return True
    first, *rest = text.splitlines()
    return _FINGERPRINT.fullmatch(first) is not None and all(
        line.startswith('{"number"'[: max(len(line), 1)]) for line in rest
    )


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        held: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return held


def _from_plain(held: dict[str, Any]) -> Sighting:
    n, m = len(held["bipartite"]), len(held["agreement"])
    return Sighting(
        n_latents=int(held["n_latents"]),
        agreement=np.array(held["agreement"], dtype=np.float64),
        domain_sizes=np.array(held["domain_sizes"], dtype=np.int64),
        bipartite=np.array(held["bipartite"], dtype=bool).reshape(n, m),
        adjacency=np.array(held["adjacency"], dtype=bool).reshape(m, m),
        arrows=np.array(held["arrows"], dtype=bool).reshape(m, m),
        joint=None if held["joint"] is None else np.array(held["joint"], dtype=np.float64),
    )
