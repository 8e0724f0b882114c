"""The arrays of a model as one file: packed so that equal arrays give equal bytes, read with care.

A file from elsewhere may declare arrays of any size in a few bytes. So the header of each array is
read first, and the array itself only if the model needs it and if it can be as large as it says.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError

# Zip entries carry a date; a fixed one keeps equal models equal in bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_PLAIN_KINDS = "biufU"


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The arrays as the content of a file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for key in sorted(arrays):
            entry = io.BytesIO()
            np.lib.format.write_array(
                entry,
                np.ascontiguousarray(arrays[key]).reshape(arrays[key].shape),
                version=(1, 0),
                allow_pickle=False,
            )
            info = zipfile.ZipInfo(f"{key}.npy", date_time=_ZIP_EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.getvalue())
    return buffer.getvalue()


def unpack_arrays(
    packed: bytes, path: Path, most_bytes: Mapping[str, float]
) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with one of ``most_bytes``, none larger than it says there."""
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                most = next((b for start, b in most_bytes.items() if name.startswith(start)), None)
                if most is not None:
                    with archive.open(info) as stream:
                        arrays[name] = _read_array(stream, info, most)
    # A zip of an unknown method or with a password is neither of the first two.
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, RuntimeError) as error:
        raise FileFormatError(f"{path} does not hold plain arrays: {error}") from error
    return arrays


def _read_array(stream: IO[bytes], info: zipfile.ZipInfo, most: float) -> NDArray[Any]:
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"{info.filename} has array format {version}, where (1, 0) is read")
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in _PLAIN_KINDS or dtype.hasobject:
        raise ValueError(f"{info.filename} has entries of type {dtype}")
    size = math.prod(shape) * dtype.itemsize
    if size > most:
        raise ValueError(
            f"{info.filename} declares {size:,} bytes in shape {shape}, where the model has room "
            f"for {most:,.0f}"
        )
    content = stream.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{info.filename} should hold {size} bytes for shape {shape}")
    flat = np.frombuffer(content, dtype=dtype, count=math.prod(shape))
    return flat.reshape(shape, order="F" if in_columns else "C").copy()
