"""The exposure that counts of a model are out of, kept with the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mixoracle.errors import InvalidInputError

TOTAL = "total"


@dataclass(frozen=True)
class Exposure:
    """Which column holds the exposure, and which observed variables are out of it.

    Without a ``column`` it is the total of the columns ``totalled``, by the names that they have in
    their variables (``X1[0]``). ``typical`` stands in where a question does not give it.
    """

    column: str | None
    variables: tuple[str, ...]
    totalled: tuple[str, ...] = ()
    typical: float = 1.0

    def to_json(self) -> dict[str, Any]:
        """Plain lists."""
        return {
            "column": self.column,
            "variables": list(self.variables),
            "totalled": list(self.totalled),
            "typical": self.typical,
        }

    @staticmethod
    def from_json(document: Any) -> Exposure | None:
        """Read what :meth:`to_json` gave; None stays None."""
        if document is None:
            return None
        if not isinstance(document["typical"], float) or not document["typical"] > 0:
            raise InvalidInputError("a typical exposure should be a number above 0")
        return Exposure(
            document["column"],
            tuple(document["variables"]),
            tuple(document["totalled"]),
            document["typical"],
        )
