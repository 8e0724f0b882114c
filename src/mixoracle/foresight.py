"""What can be said before anything is learned: how columns are read, and what a fit may take."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from mixoracle._clock import Clock
from mixoracle._cost import Cost, cost_of
from mixoracle.mixtures.understood import understood
from mixoracle.observations import Columns, Observations
from mixoracle.observations.described import Said
from mixoracle.observations.grouping import Groups
from mixoracle.observations.source import Source
from mixoracle.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from mixoracle.families.choice import Families

    Rows = Observations | ArrayLike | pd.DataFrame

logger = logging.getLogger(__name__)


class Foresight:
    """Looks at a table as the learner would, and learns nothing."""

    exposure: str | None
    families: Families
    time_limit: float | None
    memory_limit: float | None
    _settings: ClassVar[Settings]

    def understood(self, X: Rows, *, groups: Groups | None = None, columns: Said = None) -> Columns:
        """What each column of ``X`` is taken for; correct it, and give it to :meth:`fit`."""
        _, read = Source.read(X, groups, self.exposure, columns)
        return understood(read, self.families, self.exposure)

    def cost(self, X: Rows, *, groups: Groups | None = None, columns: Said = None) -> Cost:
        """The most that :meth:`fit` may take for ``X``: ``seconds`` of one core, ``memory``."""
        _, read = Source.read(X, groups, self.exposure, columns)
        return self._cost(read)

    def _cost(self, observations: Observations) -> Cost:
        return cost_of(observations.n_samples, sum(observations.widths), self._settings)

    def _within_limits(self, observations: Observations) -> Settings:
        """The settings with a clock for this table, unless it may need too much memory."""
        cost = self._cost(observations)
        logger.info("%s", cost)
        cost.check_memory(self.memory_limit)
        return replace(self._settings, clock=Clock(self.time_limit, cost.seconds))
