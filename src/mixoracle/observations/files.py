"""Observations in files: text, ``.parquet``, ``.feather``, ``.xlsx`` and ``.npz``; never a pickle.

A file is trusted in nothing: one that is cut off, foreign, or needs unpickling is refused, with
the place of the fault. Writing replaces a file in one step, and it reads back with the same names,
kinds and values.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import FileFormatError, InvalidInputError, MissingDependencyError
from mixoracle.observations.columns import Levels, Spelling
from mixoracle.observations.dialects import COMPRESSED_ENDINGS, TextOptions
from mixoracle.observations.gathering import as_block, gathered_blocks, gathered_frame
from mixoracle.observations.grouping import Choices
from mixoracle.observations.record import Observations
from mixoracle.observations.text_files import FOUND, read_text, text_chunks, write_text

if TYPE_CHECKING:
    import pandas as pd

# The levels of the categorical columns of an .npz. Every variable's entry ends in ".npy", so no
# variable can be called this.
_LEVELS_ENTRY = "levels.json"
# Text files, and the separator that their ending promises.
TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
# Marks a .parquet file as ours.
OUR_METADATA = {b"mixoracle": b"observations"}
# Zip entries carry a date; a fixed one keeps equal observations equal in bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)

_Reader = Callable[[Path, Choices, TextOptions], Observations]
_Writer = Callable[[Observations, BinaryIO], None]


def read_file(
    path: str | PathLike[str], choices: Choices, options: TextOptions = FOUND
) -> Observations:
    """Read a file by its ending."""
    file = checked_file(path)
    reader, _ = _by_ending(file)
    return reader(file, choices, options)


def checked_file(path: str | PathLike[str]) -> Path:
    """A file that is there and not empty, of a kind that can be read."""
    file = Path(path)
    _by_ending(file)
    if not file.is_file():
        raise InvalidInputError(f"{file} should be a file of observations; there is no such file")
    if file.stat().st_size == 0:
        raise FileFormatError(f"{file} is empty; expected the names of columns and their values")
    return file


def write_file(observations: Observations, path: str | PathLike[str]) -> None:
    """Write a file by its ending, in one step."""
    from mixoracle.model.storage import open_atomically

    file = Path(path)
    _, writer = _by_ending(file)
    if writer is None:
        raise InvalidInputError(
            f"{file} is of a kind that is read only; write a file that ends in one of "
            f"{', '.join(ending for ending, (_, held) in _kinds().items() if held)}"
        )
    if not file.parent.is_dir():
        raise InvalidInputError(f"{file.parent} should be a folder to write to; make it first")
    with open_atomically(file) as stream:
        writer(observations, stream)


def _kinds() -> dict[str, tuple[_Reader, _Writer | None]]:
    return {
        ".csv": (partial(read_text, delimiter=TEXT[".csv"]), partial(write_text, delimiter=",")),
        ".feather": (_read_feather, None),
        ".npz": (_read_npz, _write_npz),
        ".parquet": (_read_parquet, _write_parquet),
        ".tsv": (partial(read_text, delimiter=TEXT[".tsv"]), partial(write_text, delimiter="\t")),
        ".txt": (partial(read_text, delimiter=TEXT[".txt"]), None),
        ".xlsx": (_read_excel, None),
    }


def _by_ending(file: Path) -> tuple[_Reader, _Writer | None]:
    known = _kinds()
    reader, writer = known.get(file_ending(file), (None, None))
    if reader is None:
        raise InvalidInputError(
            f"{file} should end in one of {', '.join(known)} (text also in .gz); "
            f"got {repr(file.suffix.lower()) if file.suffix else 'no ending'}"
        )
    return reader, None if is_packed(file) else writer


def is_packed(file: Path) -> bool:
    """Whether the ending says that a file is compressed."""
    return file.suffix.lower() in COMPRESSED_ENDINGS


def file_ending(file: Path) -> str:
    """The ending that tells the kind of a file; only text is read from a compressed one."""
    if not is_packed(file):
        return file.suffix.lower()
    inner = Path(file.stem).suffix.lower()
    return inner if inner in TEXT else file.suffix.lower()


def _read_npz(file: Path, choices: Choices, _options: TextOptions) -> Observations:
    entries, levels = _load_npz(file)
    blocks = {name: as_block(held, name) for name, held in entries.items()}
    if len({len(block) for block in blocks.values()}) != 1:
        raise FileFormatError(
            f"{file} should hold arrays with the same number of rows; got "
            + (", ".join(f"{name!r}: {len(held)}" for name, held in blocks.items()) or "no array")
        )
    flat_levels = [
        held
        for name, block in blocks.items()
        for held in _levels_of(levels, name, block.shape[1], file)
    ]
    return Observations(*gathered_blocks(blocks, choices, flat_levels))


def _load_npz(file: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    levels: dict[str, Any] = {}
    entry = "the archive"
    try:
        with zipfile.ZipFile(file) as archive:
            repeated = [name for name, n in Counter(archive.namelist()).items() if n > 1]
            if repeated:
                raise FileFormatError(
                    f"{file} should hold each array once; it repeats {repeated[0]!r}"
                )
            for entry in archive.namelist():
                with archive.open(entry) as stream:
                    if entry == _LEVELS_ENTRY:
                        levels = json.loads(stream.read().decode("utf-8"))
                    elif entry.endswith(".npy"):
                        array = np.lib.format.read_array(stream, allow_pickle=False)
                        arrays[entry.removesuffix(".npy")] = array
                    else:
                        raise FileFormatError(f"{file} should hold arrays only; it holds {entry!r}")
    except zipfile.BadZipFile as error:
        raise FileFormatError(f"{file} is cut off or not an .npz archive: {error}") from error
    except (ValueError, EOFError, OSError, zlib.error, NotImplementedError, RuntimeError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{entry!r} in {file} is cut off or pickled, not a plain array: {error}; save numbers "
            "or text, never objects"
        ) from error
    return arrays, levels


def _levels_of(levels: Any, name: str, width: int, file: Path) -> list[Levels | None]:
    held = levels.get(name, [None] * width) if isinstance(levels, dict) else None
    if (
        not isinstance(held, list)
        or len(held) != width
        or not all(labels is None or isinstance(labels, list) for labels in held)
    ):
        raise FileFormatError(
            f"{_LEVELS_ENTRY} in {file} should list the levels of the {width} columns of {name!r}; "
            "write the file again"
        )
    return [None if labels is None else tuple(labels) for labels in held]


def _write_npz(observations: Observations, stream: BinaryIO) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in observations.names:
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_ZIP_EPOCH)
            # An entry's size is not known beforehand; without this flag 2 GiB are the limit.
            with archive.open(info, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, observations[name], allow_pickle=False)
        levels = {
            name: block
            for name, block in zip(observations.names, observations.levels, strict=True)
            if any(held is not None for held in block)
        }
        if levels:
            info = zipfile.ZipInfo(_LEVELS_ENTRY, date_time=_ZIP_EPOCH)
            archive.writestr(info, json.dumps(levels, ensure_ascii=False))


def read_chunks(
    path: str | PathLike[str],
    wanted: Callable[[Sequence[str]], Iterable[str]],
    spelling: Spelling,
    options: TextOptions,
    rows: int,
) -> Iterator[tuple[pd.DataFrame, Spelling]]:
    """Read some columns of a file a few rows at a time, so that it may be of any size.

    ``wanted`` is called with the names of all columns and returns those to read. With each chunk
    comes how its text is spelled.
    """
    file = checked_file(path)
    ending = file_ending(file)
    if ending in TEXT:
        yield from text_chunks(file, wanted, spelling, options, rows, delimiter=TEXT[ending])
    elif ending == ".parquet":
        arrow, parquet = pyarrow_modules()
        try:
            with parquet.ParquetFile(file) as source:
                columns = list(wanted(source.schema_arrow.names))
                for batch in source.iter_batches(rows, columns=columns):
                    yield batch.to_pandas(), spelling
        except (arrow.ArrowException, OSError) as error:
            raise FileFormatError(f"{file} is cut off or not a .parquet file: {error}") from error
    else:
        readers = {".feather": _feather_frame, ".xlsx": _excel_frame}
        frame = (
            readers[ending](file) if ending in readers else read_file(file, Choices()).to_frame()
        )
        frame.columns = frame.columns.map(str)
        held: pd.DataFrame = frame[list(wanted(list(frame.columns)))]
        for start in range(0, len(held), rows):
            yield held.iloc[start : start + rows], spelling


def _read_parquet(file: Path, choices: Choices, _options: TextOptions) -> Observations:
    arrow, parquet = pyarrow_modules()
    try:
        # One file as it is: read_table would take folder names for columns.
        with parquet.ParquetFile(file) as source:
            is_ours = OUR_METADATA.items() <= (source.schema_arrow.metadata or {}).items()
            frame = source.read().to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{file} is cut off or not a .parquet file: {error}") from error
    # All columns of a file that we wrote are measurements, whatever they look like.
    return Observations(*gathered_frame(frame, replace(choices, keep=is_ours or choices.keep)))


def _read_feather(file: Path, choices: Choices, _options: TextOptions) -> Observations:
    return Observations(*gathered_frame(_feather_frame(file), choices))


def _feather_frame(file: Path) -> pd.DataFrame:
    arrow, _ = pyarrow_modules(".feather")
    from pyarrow import feather

    try:
        frame: pd.DataFrame = feather.read_table(file).to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{file} is cut off or not a .feather file: {error}") from error
    return frame


def _read_excel(file: Path, choices: Choices, _options: TextOptions) -> Observations:
    return Observations(*gathered_frame(_excel_frame(file), choices))


def _excel_frame(file: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_excel(file, engine="openpyxl")
    except ImportError as error:
        raise MissingDependencyError(
            ".xlsx files need openpyxl, which is not installed: install mixoracle[excel], or save "
            "the sheet as .csv"
        ) from error
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise FileFormatError(f"{file} is cut off or not an .xlsx file: {error}") from error


def _write_parquet(observations: Observations, stream: BinaryIO) -> None:
    arrow, parquet = pyarrow_modules()
    levels = [held for block in observations.levels for held in block]
    arrays = []
    for column, held in zip(observations.values.T, levels, strict=True):
        if held is None:
            arrays.append(arrow.array(column, from_pandas=True))
        else:
            missing = np.isnan(column)
            codes = np.where(missing, 0, column).astype(np.int32)
            arrays.append(
                arrow.DictionaryArray.from_arrays(
                    arrow.array(codes, mask=missing), arrow.array(held, type=arrow.string())
                )
            )
    table = arrow.table(arrays, names=list(observations.column_names), metadata=OUR_METADATA)
    parquet.write_table(table, stream)


def pyarrow_modules(ending: str = ".parquet") -> tuple[Any, Any]:
    """The package and its parquet module, or which extra is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError(
            f"{ending} files need pyarrow, which is not installed: install mixoracle[parquet]"
        ) from error
    return pyarrow, pyarrow.parquet
