"""Which family the components of a column have: by the kind of its values, or as declared.

Levels are categorical; whole numbers from 0 or 1 on are counts; all other numbers are normal. That
amounts are Gamma, that tails are heavy or that columns are independent cannot be told from a
column alone: it is declared. Whole numbers of which only a few differ are levels already when
they come here (see ``observations.answers``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mixoracle.errors import InvalidInputError
from mixoracle.families.base import Floats
from mixoracle.observations import Observations

# What may be declared, and what each is for.
FAMILIES = {
    "gaussian": "numbers, with any dependence between the columns",
    "diagonal": "numbers, columns independent within a component",
    "student": "numbers with heavy tails",
    "gamma": "positive amounts",
    "counts": "whole numbers from 0 on",
    "categorical": "levels",
}
# Counts of events usually include a case with none or one; sizes and readings hardly do.
_SMALLEST_COUNT = 1
# Rows that are looked at first: most numbers are not whole, and that shows at once.
_FEW_ROWS = 100

Families = str | Mapping[str, str] | None


def checked_families(families: Families, names: Sequence[str]) -> dict[str, str]:
    """The declared family of each variable that has one; a single name is for all."""
    if families is None:
        return {}
    if not isinstance(families, str | Mapping):
        raise InvalidInputError(
            f"families should be one name, or names by observed variable; got {families!r}: "
            f"write families={{{names[0]!r}: 'gamma'}}, for one"
        )
    declared = dict.fromkeys(names, families) if isinstance(families, str) else dict(families)
    for name, family in declared.items():
        if name not in names:
            raise InvalidInputError(
                f"families are declared for observed variables ({', '.join(names[:5])}…); there "
                f"is none called {name!r}"
            )
        if not isinstance(family, str) or family not in FAMILIES:
            raise InvalidInputError(
                f"the family of {name} should be one of {', '.join(FAMILIES)}; got {family!r}"
            )
    return declared


def column_kinds(observations: Observations, name: str, declared: str | None) -> list[str]:
    """The family of each column of a variable; what the values cannot be is refused."""
    levels = observations.levels[observations.index(name)]
    block = observations[name]
    kinds = []
    for c, held in enumerate(levels):
        seen = block[:, c][~np.isnan(block[:, c])]
        if held is not None:
            kinds.append("categorical")
        elif declared is None:
            kinds.append("counts" if _are_counts(seen) else "gaussian")
        else:
            _check_declared(seen, declared, name)
            kinds.append(declared)
    return kinds


def _are_counts(seen: Floats) -> bool:
    few = seen[:_FEW_ROWS]
    if not np.array_equal(few, np.floor(few)):
        return False
    smallest = seen.min()
    return bool(
        0 <= smallest <= _SMALLEST_COUNT
        and seen.max() > smallest
        and np.array_equal(seen, np.floor(seen))
    )


def _check_declared(seen: Floats, declared: str, name: str) -> None:
    if declared == "categorical":
        raise InvalidInputError(
            f"{name} is declared categorical, but holds numbers: make Observations with "
            f"categorical=[{name!r}]"
        )
    if declared == "counts" and (seen.min() < 0 or not np.array_equal(seen, np.floor(seen))):
        raise InvalidInputError(
            f"counts should be whole numbers from 0 on; {name} is declared so and holds "
            f"{seen[(seen < 0) | (seen != np.floor(seen))][0]:g}"
        )
    if declared == "gamma" and seen.min() <= 0:
        raise InvalidInputError(
            f"amounts of the family gamma should be above 0; {name} is declared so and holds "
            f"{seen.min():g}: leave zeros missing, or add a small amount"
        )
