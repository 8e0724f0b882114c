"""Passes over all rows of a table that does not fit into memory.

A random sample has told the structure, and where EM ended on it. From there EM goes on over all
rows: each chunk is read, brought into the coordinates of the sample, and leaves the sums of its
E-step, which are added in the order of the chunks. So memory is bounded by a chunk, whatever N is,
and the answer is the same, to the last bit, wherever the chunks were worked on.

New values are read as a finished model reads new rows (:mod:`~mixoracle.observations.new_rows`):
levels that no row of the sample has, numbers that only repeat and values that stand alone count as
missing. Assumes that the sample is large enough to hold rows of every joint state that matters; a
joint state without any stays without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, TypeVar

from mixoracle._arrays import Bools, Floats, Integers
from mixoracle._checks import n_workers
from mixoracle._memory import freed_memory_kept
from mixoracle._threads import one_thread
from mixoracle.errors import InvalidInputError
from mixoracle.families.encoding import Encoder
from mixoracle.inference.refine import AnyMixture, Refinement, joint_of, mixture_of
from mixoracle.inference.structured import Expected, climb
from mixoracle.mixtures.coded import Chunk
from mixoracle.mixtures.preparation import Prepared
from mixoracle.mixtures.ties import spread_by
from mixoracle.model import LatentModel
from mixoracle.observations.chunked import ChunkedObservations, Mapped
from mixoracle.observations.columns import Spelling
from mixoracle.observations.new_rows import new_rows, reading_of
from mixoracle.observations.table_chunks import TableChunk
from mixoracle.settings import Settings

# Says how far the passes are: a sentence.
Tell = Callable[[str], None]
PASSES = "passes over all rows"
# Passes of EM that there usually are, to forecast the time.
_USUAL_PASSES = 3
# Seconds between two reports.
_REPORT_EVERY = 2.0
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Passes:
    """What the passes over all rows did: how many rows and passes, and where EM ended.

    ``log_likelihood`` is that of all rows, in the units of the observations.
    """

    n_rows: int
    n_passes: int
    log_likelihood: float
    converged: bool


@dataclass(frozen=True, eq=False)
class ChunkReader:
    """How a table becomes coordinates, the same for all chunks.

    ``model`` is that of the sample, with its reading; ``encoders`` and ``steps``, by which rounded
    columns are spread, are in the order of the prepared ``variables``.
    """

    model: LatentModel
    encoders: tuple[Encoder, ...]
    variables: Integers
    steps: tuple[Floats, ...]
    spelling: Spelling

    @classmethod
    def of(cls, model: LatentModel, prepared: Prepared, spelling: Spelling) -> ChunkReader:
        """Read as the sample was prepared."""
        steps = tuple(prepared.rounding[i] for i in prepared.variables)
        return cls(model, prepared.encoders, prepared.variables, steps, spelling)

    def coded(self, table: Any, *numbers: int) -> Chunk:
        """The rows of a table as coordinates; ``numbers`` tell it from all others."""
        rows = new_rows(self.model, table, self.spelling, _pass_over, missing=None)
        kept, blocks, log_units = rows.kept, [], 0.0
        for place, (i, encoder) in enumerate(zip(self.variables, self.encoders, strict=True)):
            own = spread_by(kept[i], self.steps[place], *numbers, place)
            blocks.append(encoder.encode(own))
            log_units += encoder.log_units(own, blocks[-1])
        return Chunk(self.encoders, tuple(blocks), log_units)


def _pass_over(_name: str, _lost: int, _cells: int, _level: str) -> None:
    """Levels that the sample has not are counted where states are written."""


@dataclass(frozen=True)
class _Sums:
    """The sums of an E-step, and the log density of what the coordinates leave out."""

    expected: Expected
    log_units: float

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(self.expected + other.expected, self.log_units + other.log_units)


def _sums_of(
    mixture: AnyMixture, reader: ChunkReader, rows: int, numbered: tuple[int, TableChunk]
) -> _Sums:
    """The E-step over one chunk, some rows at a time."""
    number, chunk = numbered

    def sums() -> Iterator[_Sums]:
        for part, table in enumerate(chunk.tables(reading_of(reader.model).table_columns, rows)):
            coded = reader.coded(table, number, part)
            yield _Sums(mixture.expect(coded)[0], coded.log_units)

    with working_on(chunk):
        return reduce(add, sums())


@contextmanager
def working_on(chunk: TableChunk) -> Iterator[None]:
    """On one thread, as in a fit; say in which file or partition something was wrong."""
    try:
        with one_thread(), freed_memory_kept():
            yield
    except InvalidInputError as error:
        if chunk.title in str(error):
            raise
        raise type(error)(f"in {chunk.title}, {error}") from error


def over_all_rows(
    chunked: ChunkedObservations,
    reader: ChunkReader,
    start: Refinement,
    adjacency: Bools,
    domain_sizes: tuple[int, ...],
    settings: Settings,
    tell: Tell,
    mapped: Mapped,
) -> tuple[Refinement, Passes]:
    """Run EM over all rows from where it ended on the sample.

    ``adjacency`` has the prepared order of the variables. The refinement that comes back holds P(H)
    and the components of all rows; all else of it is still about the sample.
    """
    families = tuple(encoder.family for encoder in reader.encoders)
    mixture = mixture_of(families, adjacency, start, settings)
    rows = chunked.rows_at_once(len(reading_of(reader.model).table_columns))
    progress = Progress(PASSES, len(chunked.chunks), tell)
    log_units = 0.0

    def expect(mixture: AnyMixture) -> Expected:
        nonlocal log_units
        work = partial(_sums_of, mixture, reader, rows)
        sums: _Sums = reduce(add, progress.over(mapped(work, enumerate(chunked.chunks))))
        log_units = sums.log_units
        return sums.expected

    climbed = climb(mixture, expect, settings.budget.passes, settings, f"further {PASSES}")
    found = climbed.mixture
    all_rows = replace(start, joint=joint_of(found, domain_sizes), components=found.components)
    return all_rows, Passes(
        n_rows=climbed.expected.n_rows,
        n_passes=len(climbed.history),
        log_likelihood=climbed.expected.log_likelihood + log_units,
        converged=climbed.converged,
    )


class Progress:
    """Says after some chunks how many are done, and about how long the rest will take."""

    def __init__(self, what: str, n_chunks: int, tell: Tell, usual: int = _USUAL_PASSES) -> None:
        self._what, self._n_chunks, self._tell, self._usual = what, n_chunks, tell, usual
        self._began = self._told = time.monotonic()
        self._pass = 0

    def over(self, results: Iterable[_Result]) -> Iterator[_Result]:
        """Pass the results of one more pass on as they come."""
        self._pass += 1
        for done, result in enumerate(results, 1):
            yield result
            now = time.monotonic()
            if now - self._told >= _REPORT_EVERY or done == self._n_chunks:
                self._told = now
                self._tell(self._sentence(done, now - self._began))

    def _sentence(self, done: int, spent: float) -> str:
        n_done = (self._pass - 1) * self._n_chunks + done
        left = spent / n_done * (max(self._usual, self._pass) * self._n_chunks - n_done)
        which = f"pass {self._pass}, " if self._usual > 1 else ""
        return f"{self._what}: {which}{done} of {self._n_chunks} chunks (about {left:.0f} s left)"


def spread_over(n_jobs: int) -> Mapped:
    """Work on chunks in so many processes, or where joblib's settings say (a Dask cluster).

    Results come in order, and no more than a few chunks are under way at a time.
    """
    from joblib import Parallel, delayed

    def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterable[Any]:
        parallel = Parallel(
            n_jobs=None if n_jobs == 1 else n_workers(n_jobs), batch_size=1, return_as="generator"
        )
        results: Iterable[Any] = parallel(delayed(function)(item) for item in items)
        return results

    return mapped
