"""How rows came to be learned from, so that new rows are read in the same way.

Rows may come as Observations, as a frame or as an array; new rows may come as any of them. The
columns of a frame go by name, those of an array by place, and both are grouped as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.observations.record import Observations

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """How the rows came to fit, so that new rows are read in the same way.

    ``columns`` are the names in a frame; ``widths`` those of Observations, for arrays after them.
    """

    groups: Any
    columns: tuple[str, ...] | None = None
    widths: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, groups: Any) -> Source:
        if isinstance(X, Observations):
            if groups is not None:
                raise InvalidInputError("Observations are grouped already; leave groups out")
            return cls(None, widths=X.widths, names=X.names)
        if _is_frame(X):
            return cls(groups, columns=tuple(X.columns))
        return cls(groups)

    def observe(self, X: Any) -> Observations:
        """Rows of any kind as Observations, with the variables that fit saw."""
        if isinstance(X, Observations):
            return X
        if _is_frame(X):
            return self._observe_frame(X)
        if self.columns is not None:
            import pandas as pd

            array = np.asarray(X)
            if array.ndim != 2 or array.shape[1] != len(self.columns):
                raise InvalidInputError(
                    f"new rows should have the {len(self.columns)} columns of the frame that was "
                    f"learned from; got shape {array.shape}"
                )
            return Observations.from_frame(pd.DataFrame(array, columns=self.columns), self.groups)
        if self.widths is None:
            return Observations.from_array(X, self.groups)
        ends = np.cumsum(self.widths)
        places = [
            list(range(end - width, end)) for end, width in zip(ends, self.widths, strict=True)
        ]
        return Observations.from_array(X, dict(zip(self.names or (), places, strict=True)))

    def _observe_frame(self, frame: pd.DataFrame) -> Observations:
        if self.columns is None:
            return Observations.from_frame(frame)
        unknown = [column for column in self.columns if column not in frame.columns]
        if unknown:
            raise InvalidInputError(
                f"new rows should have the columns that were learned from; {unknown[0]!r} is "
                "missing"
            )
        return Observations.from_frame(frame[list(self.columns)], self.groups)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "iloc")
