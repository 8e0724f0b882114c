"""What can be said before anything is learned: how columns are read, and what a fit may take."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from mixoracle._checks import check_jobs
from mixoracle._clock import Clock
from mixoracle._cost import Cost, cost_in_chunks, cost_of
from mixoracle.mixtures.understood import understood
from mixoracle.observations import ChunkedObservations, Columns, Observations
from mixoracle.observations.chunked import as_chunked
from mixoracle.observations.described import Said
from mixoracle.observations.grouping import Groups
from mixoracle.observations.source import Source
from mixoracle.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from mixoracle.families.choice import Families

    Rows = Observations | ChunkedObservations | ArrayLike | pd.DataFrame

logger = logging.getLogger(__name__)


class Foresight:
    """Looks at a table as the learner would, and learns nothing."""

    exposure: str | None
    families: Families
    time_limit: float | None
    memory_limit: float | None
    n_jobs: int | None
    _settings: ClassVar[Settings]

    def understood(self, X: Rows, *, groups: Groups | None = None, columns: Said = None) -> Columns:
        """What each column of ``X`` is taken for; correct it, and give it to :meth:`fit`."""
        _, read = Source.read(X, groups, self.exposure, columns)
        return understood(read, self.families, self.exposure)

    def cost(self, X: Rows, *, groups: Groups | None = None, columns: Said = None) -> Cost:
        """The most that :meth:`fit` may take for ``X``: ``seconds`` of one core, ``memory``."""
        chunked = as_chunked(X, groups, columns)
        if chunked is not None:
            return self._cost(chunked)
        _, read = Source.read(X, groups, self.exposure, columns)
        return self._cost(read)

    def _cost(self, rows: Observations | ChunkedObservations) -> Cost:
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        check_jobs(n_jobs)
        if isinstance(rows, ChunkedObservations):
            cost = cost_in_chunks(rows.n_rows, rows.n_columns, self._settings)
            return cost.with_workers(n_jobs, rows.n_rows)
        cost = cost_of(rows.n_samples, sum(rows.widths), self._settings)
        return cost.with_workers(n_jobs, len(rows.names))

    def _within_limits(self, rows: Observations | ChunkedObservations) -> Settings:
        """The settings with a clock for this table, unless it may need too much memory."""
        cost = self._cost(rows)
        logger.info("%s", cost)
        cost.check_memory(self.memory_limit)
        return replace(self._settings, clock=Clock(self.time_limit, cost.seconds))
