"""Background knowledge from files: statements in TOML, and Q-matrices.

A TOML file has a table for each known latent, and the arrows among them::

    complete = false

    [latents.wear]
    children = ["sound", "heat"]
    not_children = ["power"]
    exactly = false
    states = ["new", "worn"]

    [latents.load]
    children = ["power", "speed"]
    size = 3

    [arrows]
    required = [["wear", "load"]]

A Q-matrix is a table of 0 and 1 with a row for each item and a column for each skill. Skills have
two states, mastered or not, and there are no others: all of Γ is known.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from mixoracle.background.statements import Background, KnownLatent, Variable
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.observations.input_columns import did_you_mean
from mixoracle.structure import Knowledge

_SEPARATORS = (",", ";", "\t")
_SKILL_STATES = 2
_ABOUT = ("latents", "arrows", "complete")
_OF_LATENT = ("children", "not_children", "exactly", "states", "size")
_OF_ARROWS = ("required", "forbidden", "tiers")


def read_background(path: str | PathLike[str]) -> Background:
    """Statements about the latents from a TOML file."""
    file = _checked(path, ".toml", "knowledge")
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{file} should be TOML, as its ending says: {error}") from error
    try:
        return _background(document)
    except InvalidInputError as error:
        raise type(error)(f"{file}: {error}") from error


def read_qmatrix(path: str | PathLike[str]) -> Background:
    """Skills with exactly the items that a table of 0 and 1 says.

    The first line names the skills. A first column of names says which item a row is about;
    without it, row i is about observed variable i.
    """
    file = _checked(path, ".csv", "a Q-matrix")
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file} should be UTF-8 text: {error}") from error
    header = lines[0] if lines else ""
    separator = max(_SEPARATORS, key=header.count)
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator) if row]
    if len(rows) < 2:
        raise FileFormatError(
            f"{file} should name the skills in its first line and hold a line of 0 and 1 for each "
            f"item; it has {len(rows)} lines"
        )
    short = [number for number, row in enumerate(rows, 1) if len(row) != len(rows[0])]
    if short:
        raise FileFormatError(
            f"{file} should have {len(rows[0])} cells in each line, as in the first; line "
            f"{short[0]} has {len(rows[short[0] - 1])}"
        )
    return _from_cells(file, rows[0], rows[1:])


def _from_cells(file: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Background:
    named = any(row[0] not in ("0", "1") for row in rows)
    items: list[Variable] = [row[0] if named else place for place, row in enumerate(rows)]
    needs: dict[str, list[Variable]] = {skill: [] for skill in header[named:]}
    if len(needs) != len(header[named:]):
        raise FileFormatError(f"{file} should name each skill once; one is named twice")
    for item, row in zip(items, rows, strict=True):
        for skill, cell in zip(needs, row[named:], strict=True):
            if cell not in ("0", "1"):
                raise FileFormatError(
                    f"{file} should hold 0 or 1 for each item and skill; {item!r} and {skill!r} "
                    f"have {cell!r}"
                )
            if cell == "1":
                needs[skill].append(item)
    return Background(
        [
            KnownLatent(skill, children, exactly=True, domain_size=_SKILL_STATES)
            for skill, children in needs.items()
        ],
        complete=True,
    )


def _checked(path: str | PathLike[str], ending: str, what: str) -> Path:
    file = Path(path)
    if file.suffix.lower() != ending:
        raise InvalidInputError(f"{what} should be in a file that ends in {ending}; got {file}")
    if not file.is_file():
        raise InvalidInputError(f"{what} should be in {file}; there is no such file")
    return file


def _background(document: Mapping[str, Any]) -> Background:
    _refuse_others(document, _ABOUT, "knowledge")
    latents = _table(document, "latents", "knowledge")
    arrows = _table(document, "arrows", "knowledge")
    _refuse_others(arrows, _OF_ARROWS, "arrows")
    known = [_latent(name, _table(latents, name, "latents")) for name in latents]
    required, forbidden = (
        [(cause, effect) for cause, effect in _lists(arrows, kind, 2)]
        for kind in ("required", "forbidden")
    )
    edges = Knowledge(required, forbidden, _lists(arrows, "tiers"))
    return Background(known, edges, complete=_flag(document, "complete", "knowledge"))


def _latent(name: str, said: Mapping[str, Any]) -> KnownLatent:
    where = f"[latents.{name}]"
    _refuse_others(said, _OF_LATENT, where)
    states = said.get("states")
    if states is not None and not _is_texts(states):
        raise InvalidInputError(
            f"states of {where} should be a list of names, from low to high; got {states!r}: the "
            "number of states alone is called size"
        )
    return KnownLatent(
        name,
        children=said.get("children", ()),
        not_children=said.get("not_children", ()),
        exactly=_flag(said, "exactly", where),
        domain_size=said.get("size"),
        states=states,
    )


def _refuse_others(said: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in said:
        if key not in known:
            raise InvalidInputError(
                f"{where} may say {', '.join(known)}; it says {key!r}" + did_you_mean(key, known)
            )


def _table(said: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    held = said.get(key, {})
    if not isinstance(held, Mapping):
        raise InvalidInputError(f"{key} of {where} should be a table, as in [{key}]; got {held!r}")
    return held


def _flag(said: Mapping[str, Any], key: str, where: str) -> bool:
    held = said.get(key, False)
    if not isinstance(held, bool):
        raise InvalidInputError(f"{key} of {where} should be true or false; got {held!r}")
    return held


def _lists(arrows: Mapping[str, Any], key: str, length: int | None = None) -> list[list[str]]:
    held = arrows.get(key, [])
    if not isinstance(held, list) or not all(
        _is_texts(entry) and length in (None, len(entry)) for entry in held
    ):
        shape = '[["cause", "effect"]]' if length else '[["first"], ["second", "third"]]'
        raise InvalidInputError(
            f"{key} of arrows should be lists of names of latents, as in {shape}; got {held!r}"
        )
    return held


def _is_texts(held: Any) -> bool:
    return isinstance(held, list) and all(isinstance(entry, str) for entry in held)
