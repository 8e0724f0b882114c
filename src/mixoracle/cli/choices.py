"""What the user typed about columns, taken apart: groups, types and families.

Groups and types come as text, as a number or as a small TOML or JSON file, families as text. What
the description of the columns says of the whole table stands where the user typed nothing.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.families import registry
from mixoracle.observations import ColumnKind, Columns
from mixoracle.observations.described import ID
from mixoracle.observations.grouping import PREFIX

if TYPE_CHECKING:
    from mixoracle.observations.grouping import Groups


@dataclass(frozen=True)
class InputChoices:
    """What the user said about the columns."""

    groups: str | None = None
    types: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id_column: str | None = None
    sep: str | None = None
    decimal: str | None = None
    na: tuple[str, ...] = ()
    header: bool | None = None
    encoding: str | None = None
    exposure: str | None = None
    columns: Columns = field(default_factory=Columns)

    def completed(self) -> InputChoices:
        """The same choices with what the description of the columns says of the whole table."""
        table, own = self.columns.table, self.columns.taken(ID)
        if self.exposure is not None and self.columns.exposure not in (None, self.exposure):
            raise InvalidInputError(
                f"there may be one exposure: --columns says {self.columns.exposure!r}, and "
                f"--exposure names {self.exposure!r}; leave one of them out"
            )
        return replace(
            self,
            id_column=self.id_column or (own[0] if own else None),
            decimal=self.decimal or table.get("decimal"),
            na=tuple(dict.fromkeys((*self.na, *table.get("na", ())))),
            exposure=self.exposure or self.columns.exposure,
        )


def read_families(given: tuple[str, ...]) -> tuple[str | None, dict[str, str]]:
    """``name=family`` pairs, and the family of all other variables where one stands alone."""
    everywhere: str | None = None
    declared: dict[str, str] = {}
    for entry in given:
        name, found, family = entry.rpartition("=")
        if family not in registry.names():
            raise InvalidInputError(
                f"--family should name one of {', '.join(registry.names())}, as in visits=counts; "
                f"got {entry!r}"
            )
        if declared.get(name, family) != family or (not found and everywhere not in (None, family)):
            raise InvalidInputError(
                f"--family should be said once for {name or 'all variables'}; got "
                f"{declared.get(name, everywhere)} and {family}"
            )
        if found:
            declared[name] = family
        else:
            everywhere = family
    return everywhere, declared


def read_groups(given: str | None) -> Groups:
    """None, a width, or the mapping in a TOML or JSON file."""
    if given is None or given == PREFIX:
        return given
    try:
        return int(given)
    except ValueError:
        groups = _read_mapping(given, "--groups")
    for name, columns in groups.items():
        listed = columns if isinstance(columns, list) else [columns]
        if not all(isinstance(column, str | int) for column in listed):
            raise InvalidInputError(
                f"--groups should give each variable a list of columns; {name!r} has {columns!r}"
            )
    return groups


def read_types(given: tuple[str, ...]) -> dict[str, ColumnKind]:
    """``name=kind`` pairs, or a TOML or JSON file of them."""
    kinds: dict[str, ColumnKind] = {}
    known = [kind.value for kind in ColumnKind]
    for entry in given:
        name, found, kind = entry.rpartition("=")
        pairs = {name: kind} if found else _read_mapping(entry, "--types")
        for column, word in pairs.items():
            if word not in known:
                raise InvalidInputError(
                    f"--types should say {' or '.join(known)}, as in mode=categorical; "
                    f"{column!r} has {word!r}"
                )
            kinds[column] = ColumnKind(word)
    return kinds


def _read_mapping(given: str, option: str) -> dict[str, Any]:
    file = Path(given)
    readers = {".toml": tomllib.loads, ".json": json.loads}
    if file.suffix.lower() not in readers:
        wanted = "a width, prefix or a file" if option == "--groups" else "name=kind or a file"
        raise InvalidInputError(
            f"{option} should be {wanted} that ends in .toml or .json; got {given!r}"
        )
    try:
        document = readers[file.suffix.lower()](file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInputError(f"{option} names {given}; there is no such file") from error
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"{given} should be {file.suffix.lower()[1:].upper()}, as its ending says: {error}"
        ) from error
    if not isinstance(document, Mapping):
        raise FileFormatError(f"{given} should map names to columns; it is no such table")
    return dict(document)
