"""The data that a command was given, and what each of their columns is taken for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mixoracle._cost import Cost, cost_in_chunks, cost_of
from mixoracle.mixtures.columns import Column, read_columns
from mixoracle.mixtures.understood import with_families
from mixoracle.model.exposure import TOTAL, Exposure
from mixoracle.observations import ChunkedObservations, Columns, Observations
from mixoracle.observations.exposure import with_exposure


@dataclass(frozen=True)
class Input:
    """The observations, the names of the cases where there are any, and what to point out."""

    observations: Observations
    ids: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    # The family of each variable for which one was declared.
    families: Mapping[str, str] = field(default_factory=dict)
    exposure: Exposure | None = None
    # The files that the rows are from, where there are several or they do not fit into memory.
    files: tuple[Path, ...] = ()
    chunked: ChunkedObservations | None = None
    # Processes that learn from them.
    jobs: int = 1

    @cached_property
    def learned(self) -> Observations:
        """The observations as they are learned from, with the exposure of their counts."""
        if self.exposure is None:
            return self.observations
        return with_exposure(self.observations, self.exposure)

    @property
    def cost(self) -> Cost:
        """The most that learning from them may take."""
        if self.chunked is not None:
            cost = cost_in_chunks(self.chunked.n_rows, self.chunked.n_columns)
            return cost.with_workers(self.jobs, self.chunked.n_rows)
        cost = cost_of(self.learned.n_samples, sum(self.learned.widths))
        return cost.with_workers(self.jobs, len(self.learned.names))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What each column is taken for."""
        exposed = () if self.exposure is None else self.exposure.variables
        return read_columns(self.learned, self.families, exposed)[1]

    @cached_property
    def described(self) -> Columns:
        """What each column of the table is taken for, in the form in which it can be corrected."""
        held = None if self.exposure is None else self.exposure.column or TOTAL
        return with_families(self.observations, self.columns, held)
