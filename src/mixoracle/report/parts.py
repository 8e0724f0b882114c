"""The states of all rows of a large table, part by part, as parquet.

Each chunk of the table becomes one part, with the state of each latent in each row and how likely
that state is, as ``predict`` would give them. Parts are written by this process alone, in the order
of the rows; whoever reads a folder of parquet reads them as one table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats, Integers
from mixoracle.inference.passes import Progress, Tell, working_on
from mixoracle.model import LatentModel
from mixoracle.model.posterior import Posterior, posterior_chunks
from mixoracle.observations.chunked import ChunkedObservations, Mapped
from mixoracle.observations.columns import Spelling, row_names
from mixoracle.observations.files import pyarrow_modules
from mixoracle.observations.new_rows import new_rows, reading_of
from mixoracle.observations.table_chunks import TableChunk

WRITING_STATES = "writing the states of all rows"
_PART = "part-{:05d}.parquet"


@dataclass(frozen=True, eq=False)
class Part:
    """The states of the rows of one chunk.

    ``states`` (r, m) and ``probabilities`` (r, m) are as small as they can be, ``names`` what the
    rows are called, ``unseen`` how many cells of each column hold a level that was not learned.
    """

    first_row: int
    names: list[str] | None
    states: NDArray[np.int16]
    probabilities: NDArray[np.float32]
    unseen: Counter[str]


def write_parts(
    folder: Path, model: LatentModel, chunked: ChunkedObservations, mapped: Mapped, tell: Tell
) -> Counter[str]:
    """Fill a folder with the states of all rows; return how many unseen levels a column has."""
    arrow, parquet = pyarrow_modules()
    folder.mkdir(parents=True, exist_ok=True)
    own = chunked.choices.id
    wanted = list(reading_of(model).table_columns)
    if isinstance(own, str) and own not in wanted:
        wanted.append(own)
    id_column = own if isinstance(own, str) else None
    rows = chunked.rows_at_once(len(wanted))
    work = partial(_part_of, model, chunked.choices.spelling, id_column, wanted, rows)
    starts = accumulate((chunk.n_rows for chunk in chunked.chunks), initial=0)
    asked = zip(starts, chunked.chunks, strict=False)
    progress = Progress(WRITING_STATES, len(chunked.chunks), tell, usual=1)
    unseen: Counter[str] = Counter()
    for number, part in enumerate(progress.over(mapped(work, asked)), 1):
        table = arrow.table(_columns(model, part, id_column or "row"))
        parquet.write_table(table, folder / _PART.format(number))
        unseen += part.unseen
    return unseen


def _part_of(
    model: LatentModel,
    spelling: Spelling,
    id_column: str | None,
    wanted: Sequence[str],
    rows: int,
    asked: tuple[int, TableChunk],
) -> Part:
    """The states of one chunk, some rows at a time."""
    first_row, chunk = asked
    unseen: Counter[str] = Counter()
    names: list[str] = []

    def count(name: str, lost: int, _cells: int, _level: str) -> None:
        unseen[name] += lost

    def judged() -> Iterator[tuple[Integers, Floats]]:
        for table in chunk.tables(wanted, rows):
            if id_column is not None:
                names.extend(row_names(table[id_column].tolist(), f"column {id_column!r}"))
            blocks = new_rows(model, table, spelling, count, missing=None).kept
            for _, posterior in posterior_chunks(model, blocks):
                yield posterior.best, _certainty(model, posterior)

    with working_on(chunk):
        found = list(judged())
    return Part(
        first_row,
        None if id_column is None else names,
        np.concatenate([states for states, _ in found]).astype(np.int16),
        np.concatenate([sure for _, sure in found]).astype(np.float32),
        unseen,
    )


def _certainty(model: LatentModel, posterior: Posterior) -> Floats:
    """How likely the most likely state of each latent is in each row, (N, m)."""
    best = posterior.best
    sure = np.empty(best.shape)
    for j, held in enumerate(posterior.probabilities(model.domain_sizes)):
        sure[:, j] = np.take_along_axis(held, best[:, [j]], axis=1)[:, 0]
    return sure


def _columns(model: LatentModel, part: Part, title: str) -> dict[str, Any]:
    """The columns of a part: what the rows are called, states, probabilities."""
    numbers = np.arange(part.first_row, part.first_row + len(part.states))
    columns: dict[str, Any] = {title: numbers if part.names is None else part.names}
    for j, name in enumerate(model.latent_names):
        columns[name] = _called(model, j, part.states[:, j])
    for j, name in enumerate(model.latent_names):
        columns[f"P({name})"] = part.probabilities[:, j]
    return columns


def _called(model: LatentModel, latent: int, states: NDArray[np.int16]) -> Any:
    """States by their names, where they have any."""
    names = model.state_names[latent]
    if names is None:
        return states
    arrow, _ = pyarrow_modules()
    return arrow.DictionaryArray.from_arrays(arrow.array(states), arrow.array(list(names)))


def rewrite_parts(folder: Path, old: LatentModel, new: LatentModel) -> None:
    """Put the names of ``new``, the same model as ``old``, into the parts of a folder."""
    arrow, parquet = pyarrow_modules()
    for path in sorted(folder.glob(_PART.replace("{:05d}", "*"))):
        table = parquet.ParquetFile(path).read()
        columns = {table.column_names[0]: table.column(0)}
        for j, name in enumerate(old.latent_names):
            held = table.column(name).combine_chunks()
            states = held.indices if old.state_names[j] is not None else held
            columns[new.latent_names[j]] = _called(new, j, np.asarray(states, dtype=np.int16))
        for j, name in enumerate(old.latent_names):
            columns[f"P({new.latent_names[j]})"] = table.column(f"P({name})")
        parquet.write_table(arrow.table(columns), path)
