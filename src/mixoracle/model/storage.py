"""A model on disk: ``model.json`` and, beside it, one file of plain arrays.

A save never leaves a mixture of an old and a new model behind. The arrays go first, into a file
named after their own digest; ``model.json``, which names that file, is then put in place in one
step. Equal models give equal bytes, so that a repeated run can be compared with ``cmp``.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from numpy.typing import NDArray

from mixoracle._arrays import Bools, frozen_bools, frozen_domain_sizes
from mixoracle._documents import parse_json
from mixoracle._scratch import new_file
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.families import ComponentSet
from mixoracle.families.submixture import SubmixtureComponents
from mixoracle.model.array_file import pack_arrays, unpack_arrays
from mixoracle.model.cpdag import CPDAG
from mixoracle.model.network import joint_from_arrays, room_for_joint
from mixoracle.model.reading import Reading

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

FORMAT = "mixoracle.LatentModel"
# A model whose P(H) is a network says 2, so that what reads only tables refuses it.
TABLE_VERSION, NETWORK_VERSION = 1, 2
MODEL_FILE = "model.json"
_ARRAYS_NAME = re.compile(r"arrays-[0-9a-f]{16}\.npz")
# Room for a number, or for the name of a family where a variable has several.
_LARGEST_ENTRY = 64
# A model without a reading does not say how wide its variables are, nor does any say how many
# sub-components there are: such arrays have room for this much, or for what they are packed to
# times this.
_ROOM, _LARGEST_RATIO = 2**28, 500


def save_model(model: LatentModel, directory: str | PathLike[str]) -> None:
    """Write ``model.json`` and its arrays into a directory, made if need be; atomically."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[Any]] = dict(model.joint.arrays())
    for i, held in enumerate(model.components or ()):
        arrays.update({f"component_{i}_{key}": value for key, value in held.arrays().items()})
    packed = pack_arrays(arrays)
    digest = hashlib.sha256(packed).hexdigest()
    arrays_name = f"arrays-{digest[:16]}.npz"
    text = json.dumps(_model_header(model, arrays_name, digest), indent=2, ensure_ascii=False)
    is_new = not (folder / arrays_name).exists()
    write_atomically(folder / arrays_name, packed)
    try:
        write_atomically(folder / MODEL_FILE, text.encode("utf-8") + b"\n")
    except BaseException:
        if is_new:
            (folder / arrays_name).unlink()
        raise
    for stale in folder.glob("arrays-*.npz"):
        if stale.name != arrays_name and _ARRAYS_NAME.fullmatch(stale.name):
            stale.unlink()


def load_model(directory: str | PathLike[str]) -> LatentModel:
    """Read what :func:`save_model` wrote, checking all that can be checked."""
    folder = Path(directory)
    header = _read_header(folder / MODEL_FILE)
    try:
        packed, path = _read_packed(folder, header["arrays"])
        arrays = unpack_arrays(packed, path, _most_bytes(header, len(packed)))
        return _build_model(header, arrays)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise FileFormatError(
            f"{folder / MODEL_FILE} is not a complete model: {type(error).__name__} {error}; "
            "save the model again"
        ) from error
    except InvalidInputError as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{folder / MODEL_FILE} contradicts itself: {error}; save the model again"
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path`` in one step; on failure nothing changes there."""
    with open_atomically(path) as stream:
        stream.write(content)


@contextmanager
def open_atomically(path: Path) -> Iterator[BinaryIO]:
    """Collect what is written and put it at ``path`` in one step; on failure nothing changes."""
    held, temporary = new_file(path.parent, ".mixoracle-")
    try:
        with held as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _model_header(model: LatentModel, arrays_name: str, digest: str) -> dict[str, Any]:
    components, joint = model.components, model.joint.header()
    return {
        "format": FORMAT,
        "version": NETWORK_VERSION if joint else TABLE_VERSION,
        "observed_names": list(model.observed_names),
        "latent_names": list(model.latent_names),
        "domain_sizes": list(model.domain_sizes),
        "bipartite": model.bipartite.astype(int).tolist(),
        "latent_graph": {
            "directed": sorted(map(list, model.latent_graph.directed)),
            "undirected": sorted(sorted(pair) for pair in model.latent_graph.undirected),
        },
        **({"joint": joint} if joint else {}),
        "components": None if components is None else [held.family for held in components],
        "reading": None if model.reading is None else model.reading.to_json(),
        "state_names": [None if held is None else list(held) for held in model.state_names],
        "arrays": {"file": arrays_name, "sha256": digest},
    }


def _read_header(path: Path) -> dict[str, Any]:
    try:
        header = parse_json(path.read_bytes(), str(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileFormatError(
            f"{path} is not there; expected a folder that LatentModel.save wrote"
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileFormatError(f"{path} is JSON, but not a mixoracle model")
    if header.get("version") not in (TABLE_VERSION, NETWORK_VERSION):
        raise FileFormatError(
            f"{path} has format version {header.get('version')!r}; this mixoracle reads "
            f"versions {TABLE_VERSION} and {NETWORK_VERSION}: learn again, or use the mixoracle "
            "that wrote it"
        )
    return header


def _read_packed(folder: Path, entry: dict[str, str]) -> tuple[bytes, Path]:
    name = entry["file"]
    # Never a path: a model file from elsewhere must not choose what is opened.
    if not _ARRAYS_NAME.fullmatch(name):
        raise FileFormatError(
            f"the arrays of a model lie beside it as arrays-….npz; got the path {name!r}"
        )
    path = folder / name
    try:
        packed = path.read_bytes()
    except FileNotFoundError as error:
        raise FileFormatError(f"{path} is missing; the model cannot be read without it") from error
    if hashlib.sha256(packed).hexdigest() != entry["sha256"]:
        raise FileFormatError(f"{path} is cut off or was changed: its checksum does not match")
    return packed, path


def _most_bytes(header: dict[str, Any], packed: int) -> dict[str, float]:
    """How large the arrays of each part of a model can be, by the beginning of their names."""
    n_latent = len(_texts(header["latent_names"], "latent_names"))
    sizes = frozen_domain_sizes(header["domain_sizes"], n_latent, "domain_sizes")
    families: list[str] = header["components"] or []
    rows = _read_bipartite(header["bipartite"], len(sizes))
    reading = Reading.from_json(header.get("reading"))
    room_for = room_for_joint(header.get("joint", {}), sizes)
    most: dict[str, float] = {name: _LARGEST_ENTRY * n for name, n in room_for.items()}
    for i, (row, family) in enumerate(zip(rows, families, strict=False)):
        n_components = math.prod(size for size, drives in zip(sizes, row, strict=True) if drives)
        room = float(max(_ROOM, _LARGEST_RATIO * packed))
        is_known = reading is not None and family != SubmixtureComponents.family
        if reading is not None and is_known and i < len(reading.columns):
            width = len(reading.columns[i])
            # Of each column and component a number, or one for each other column or level.
            longest = max([width, *(len(levels or ()) for levels in reading.levels[i])])
            room = _LARGEST_ENTRY * n_components * width * longest
        most[f"component_{i}_"] = room
    return most


def _build_model(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LatentModel:
    from mixoracle.model.latent_model import LatentModel

    graph = header["latent_graph"]
    families: list[str] | None = header["components"]
    components = None
    if families is not None:
        components = tuple(
            ComponentSet.from_arrays(family, arrays, prefix=f"component_{i}_")
            for i, family in enumerate(families)
        )
    observed = _texts(header["observed_names"], "observed_names")
    latent = _texts(header["latent_names"], "latent_names")
    return LatentModel(
        observed_names=observed,
        latent_names=latent,
        bipartite=_read_bipartite(header["bipartite"], len(latent)),
        domain_sizes=tuple(header["domain_sizes"]),
        joint=joint_from_arrays(header.get("joint", {}), arrays),
        latent_graph=CPDAG(
            len(latent),
            frozenset(_pairs(graph["directed"])),
            frozenset(frozenset(pair) for pair in _pairs(graph["undirected"])),
        ),
        components=components,
        # Models that were saved before there were readings have none.
        reading=Reading.from_json(header.get("reading")),
        state_names=tuple(header.get("state_names", ())),
    )


def _texts(held: Any, key: str) -> tuple[str, ...]:
    """A list of names; a single string would otherwise pass as a list of letters."""
    if not isinstance(held, list):
        raise FileFormatError(f"{key} of a model should be a list; got {type(held).__name__}")
    return tuple(held)


def _pairs(held: Any) -> list[tuple[int, int]]:
    """Edges as pairs of whole numbers; fractions would otherwise be cut off."""
    if not isinstance(held, list) or not all(
        isinstance(pair, list) and list(map(type, pair)) == [int, int] for pair in held
    ):
        raise FileFormatError("the edges of Λ should be pairs of whole numbers")
    return [(first, second) for first, second in held]


def _read_bipartite(rows: list[list[int]], n_latent: int) -> Bools:
    """Γ as an array, its second axis kept where there are no latents."""
    if any(len(row) != n_latent for row in rows):
        raise InvalidInputError(f"each row of Γ should have {n_latent} entries")
    matrix = frozen_bools(rows, "Γ")
    return matrix.reshape(len(rows), n_latent)
