"""Tables in many files, and tables that do not fit into memory.

One file that fits is read as ever. Several files, a folder of parquet or a pattern are one table;
where that fits into memory it is put together there. Otherwise, or with ``--chunks``, the learner
gets a random sample for the structure, and passes over all rows for the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixoracle.cli.choices import InputChoices
from mixoracle.cli.inputs import read_input
from mixoracle.inference.passes import spread_over
from mixoracle.learner import LatentGraphLearner
from mixoracle.observations import ChunkedObservations, Observations
from mixoracle.observations.files import TEXT, checked_file, file_ending
from mixoracle.observations.many_files import Files, listed_files

if TYPE_CHECKING:
    from mixoracle.cli.given import Input
    from mixoracle.observations.dialects import TextOptions
    from mixoracle.observations.grouping import Choices

# What learning needs at its peak for each byte of the table: a million rows of 40 columns, 320 MB,
# take 1.9 GB.
_PEAK = 6.0
# The share of the machine's memory that may be used without being asked.
_SHARE = 0.5


def read_table(
    paths: Sequence[str], choices: InputChoices, chunks: bool | None, seed: int, jobs: int
) -> Input:
    """Read files as one table; ``chunks`` says whether in chunks, None that memory decides."""
    if _is_plain(paths) and not chunks:
        file = checked_file(paths[0])
        if chunks is False or not _may_be_chunked(file) or _fits(Files((file,))):
            return read_input(str(file), choices)
    files = listed_files(paths)
    in_chunks = chunks if chunks is not None else not _fits(files)
    held: list[ChunkedObservations] = []

    def read(_path: str, chosen: Choices, options: TextOptions) -> Observations:
        held.append(ChunkedObservations.of_files(files, chosen, options))
        n_rows = held[0].n_rows
        if in_chunks:
            settings = LatentGraphLearner._settings
            n_rows = min(n_rows, settings.sample_of(held[0].n_columns))
        return held[0].sample(n_rows, np.random.default_rng(seed), spread_over(jobs))

    given = read_input(str(files.paths[0]), choices, read)
    given = replace(given, files=files.paths)
    if not in_chunks:
        return given
    chunked = replace(held[0], drawn=given.observations)
    return replace(given, chunked=chunked, notes=(*given.notes, *_notes(chunked)))


def _notes(chunked: ChunkedObservations) -> list[str]:
    """Which findings are from which rows."""
    assert chunked.drawn is not None  # read_table drew them
    n_drawn = chunked.drawn.n_samples
    if n_drawn == chunked.n_rows:
        return []
    return [
        "structure, verdicts, counts of cases and pictures are from a random sample of "
        f"{n_drawn:,} of {chunked.n_rows:,} cases; probabilities, components and the graph among "
        "the causes are from all of them, and states/ holds the states of all"
    ]


def _is_plain(paths: Sequence[str]) -> bool:
    """Whether one file was named, by its name."""
    return len(paths) == 1 and not Path(paths[0]).is_dir() and not _is_pattern(paths[0])


def _is_pattern(path: str) -> bool:
    return not Path(path).exists() and any(letter in path for letter in "*?[")


def _may_be_chunked(file: Path) -> bool:
    return file_ending(file) == ".parquet" or file_ending(file) in TEXT


def _fits(files: Files) -> bool:
    """Whether learning from the whole table leaves half of the memory free."""
    return files.n_bytes() * _PEAK <= _SHARE * memory()


def memory() -> float:
    """The bytes of memory of this machine; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


@contextmanager
def working(jobs: int, dask: str | None) -> Iterator[None]:
    """While the workers of a Dask cluster are there, if one was named."""
    if dask is None:
        yield
        return
    from mixoracle.experiments.runner import workers

    with workers(jobs, dask):
        yield
