"""Which family the components of a column have: by the kind of its values, or as declared.

Levels are categorical; numbers are of the first family that recognises them, and normal where none
does. That amounts are Gamma, that tails are heavy or that columns are independent cannot be told
from a column alone: it is declared. Whole numbers of which only a few differ are levels already
when they come here (see ``observations.answers``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mixoracle._arrays import Floats, without_missing
from mixoracle.errors import InvalidInputError
from mixoracle.families.registry import LEVELS, NUMBERS, entries, entry, names, purposes

Families = str | Mapping[str, str] | None


def checked_families(
    families: Families, variables: Sequence[str], columns: Sequence[str] = ()
) -> dict[str, str]:
    """The declared family of each variable or column that has one; a single name is for all."""
    if families is None:
        return {}
    if not isinstance(families, str | Mapping):
        raise InvalidInputError(
            f"families should be one name, or names by observed variable; got {families!r}: "
            f"write families={{{variables[0]!r}: 'gamma'}}, for one"
        )
    declared = dict.fromkeys(variables, families) if isinstance(families, str) else dict(families)
    for variable, family in declared.items():
        if variable not in variables and variable not in columns:
            raise InvalidInputError(
                f"families are declared for observed variables ({', '.join(variables[:5])}…); "
                f"there is none called {variable!r}"
            )
        if not isinstance(family, str) or family not in names():
            raise InvalidInputError(
                f"the family of {variable} should be one of {', '.join(names())}; got {family!r}: "
                f"{purposes()}"
            )
    return declared


def column_kinds(
    variable: str, block: Floats, has_levels: Sequence[bool], declared: Sequence[str | None]
) -> list[str]:
    """The family of each column of a variable; what the values cannot be is refused."""
    kinds = []
    for column, with_levels, family in zip(block.T, has_levels, declared, strict=True):
        seen = without_missing(column)
        if with_levels:
            kinds.append(LEVELS)
        elif family is None:
            found = (known.name for known in entries() if known.recognises(seen))
            kinds.append(next(found, NUMBERS))
        else:
            entry(family).check(seen, variable)
            kinds.append(family)
    return kinds
