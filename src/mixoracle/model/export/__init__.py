"""A model in the formats of other tools, from BIF to pyAgrum.

Each writer returns text, each reader takes text and returns as much as the format holds.
:func:`write` and :func:`read` choose by the ending of a file's name.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model.export.agrum import to_pyagrum
from mixoracle.model.export.bif import LatentNetwork, read_bif, read_xmlbif, to_bif, to_xmlbif
from mixoracle.model.export.graph import (
    CausalGraph,
    from_networkx,
    read_dagitty,
    read_graphml,
    to_dagitty,
    to_dot,
    to_graphml,
)
from mixoracle.model.export.jsonfile import read_json, to_json
from mixoracle.model.export.others import to_dowhy, to_pgmpy
from mixoracle.model.storage import write_atomically

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

__all__ = [
    "CausalGraph",
    "LatentNetwork",
    "as_text",
    "from_networkx",
    "read",
    "read_bif",
    "read_dagitty",
    "read_graphml",
    "read_json",
    "read_xmlbif",
    "to_bif",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_graphml",
    "to_json",
    "to_pgmpy",
    "to_pyagrum",
    "to_xmlbif",
    "write",
]

Readable: TypeAlias = "LatentModel | LatentNetwork | CausalGraph"

_WRITERS: dict[str, Callable[[LatentModel], str]] = {
    ".bif": to_bif,
    ".bifxml": to_xmlbif,
    ".dagitty": to_dagitty,
    ".dot": to_dot,
    ".graphml": to_graphml,
    ".json": to_json,
}
_READERS: dict[str, Callable[[str], Readable]] = {
    ".bif": read_bif,
    ".bifxml": read_xmlbif,
    ".dagitty": read_dagitty,
    ".graphml": read_graphml,
    ".json": read_json,
}


def write(model: LatentModel, path: str | PathLike[str]) -> None:
    """Write a model in the format that the ending names, atomically.

    ``.bif``, ``.bifxml``, ``.dagitty``, ``.dot``, ``.graphml`` or ``.json``.
    """
    target = Path(path)
    if target.suffix not in _WRITERS:
        raise InvalidInputError(
            f"the name of an export should end in one of {', '.join(_WRITERS)}; got {target.name!r}"
        )
    write_atomically(target, _WRITERS[target.suffix](model).encode("utf-8"))


def as_text(model: LatentModel, ending: str) -> str:
    """A model in the format that an ending names."""
    return _WRITERS[ending](model)


def read(path: str | PathLike[str]) -> Readable:
    """Read an export back, as much of a model as its format holds."""
    source = Path(path)
    if source.suffix not in _READERS:
        raise InvalidInputError(f"exports are read from {', '.join(_READERS)}; got {source.name!r}")
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise FileFormatError(f"{source} is not there") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{source} is not UTF-8 text: {error}") from error
    return _READERS[source.suffix](text)
