"""What each column of a table is, in one place: read, corrected, given back.

A table is described by a line for each of its columns: a measurement (of a family, of a variable,
in a unit), the names of the rows, an exposure, or left out. The same description is what the reader
found, what a file in TOML holds, and what the caller gives to correct it::

    [table]
    decimal = ","
    na = ["n.d."]

    [columns]
    "Part ID" = "id"
    Timestamp = "drop"                              # dates or times
    temperature = { as = "gaussian", unit = "°C" }
    visits = { as = "counts", variable = "use" }

Columns that are not described are read as ever. The arguments of readers and the options of the
command line say the same column by column; what is said twice has to agree.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.families import registry
from mixoracle.model.exposure import TOTAL
from mixoracle.model.storage import write_atomically
from mixoracle.observations.columns import check_text
from mixoracle.observations.input_columns import InputColumns, did_you_mean

MEASUREMENT, DROP, ID, EXPOSURE = "measurement", "drop", "id", "exposure"
_ROLES = (MEASUREMENT, DROP, ID, EXPOSURE)
_OF_COLUMN = ("as", "variable", "unit")
_ONE_OF_A_TABLE = (ID, EXPOSURE)
# What may be said of the table as a whole, and what each is: text, several texts, a truth value.
_OF_TABLE: dict[str, type] = {
    "decimal": str,
    "na": list,
    "sep": str,
    "header": bool,
    "encoding": str,
    "exposure": str,
}


@dataclass(frozen=True)
class Described:
    """One column: what it is taken as, the variable that it belongs to, its unit.

    ``taken_as`` is "measurement" (of the family that its values show), "drop", "id", "exposure" or
    a family; ``variable`` is empty where the column stands for itself. ``remark`` says why.
    """

    taken_as: str = MEASUREMENT
    variable: str = ""
    unit: str = ""
    remark: str = field(default="", compare=False)

    @property
    def family(self) -> str | None:
        """The family that was declared, if any."""
        return None if self.taken_as in _ROLES else self.taken_as


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are, by name, and how the table is written.

    Examples
    --------
    >>> said = Columns.of({"Part ID": "id", "heat": {"as": "gaussian", "unit": "K"}})
    >>> said.described["heat"].unit
    'K'
    >>> print(said)
    [columns]
    "Part ID" = "id"
    heat = { as = "gaussian", unit = "K" }
    """

    described: Mapping[str, Described] = field(default_factory=dict)
    table: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(said: Said) -> Columns:
        """What the caller says: a mapping from names of columns, or the name of a file of it."""
        if said is None:
            return Columns()
        if isinstance(said, Columns):
            return said
        if isinstance(said, Mapping):
            return Columns(_all_described(said))
        if isinstance(said, str | PathLike):
            return Columns.read(said)
        raise InvalidInputError(
            "columns should be a mapping from names of columns, or the name of a .toml file; got "
            f"{type(said).__name__}"
        )

    @staticmethod
    def read(path: str | PathLike[str]) -> Columns:
        """The description in a TOML file, as :meth:`write` leaves it."""
        file = Path(path)
        if file.suffix.lower() != ".toml":
            raise InvalidInputError(
                f"columns should be described in a file that ends in .toml; got {file}"
            )
        if not file.is_file():
            raise InvalidInputError(f"columns should be described in {file}; there is no such file")
        try:
            document = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FileFormatError(f"{file} should be TOML, as its ending says: {error}") from error
        try:
            return _from_document(document)
        except InvalidInputError as error:
            raise type(error)(f"{file}: {error}") from error

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file that :meth:`read` reads, in one step."""
        file = Path(path)
        if file.suffix.lower() != ".toml":
            raise InvalidInputError(f"columns are written to a file that ends in .toml; got {file}")
        if not file.absolute().parent.is_dir():
            raise InvalidInputError(f"{file.parent} should be a folder to write to; make it first")
        families = ", ".join(registry.names())
        head = (
            "# How the columns were read. Correct a line, and give the file back: --columns FILE,\n"
            '# in Python columns="FILE". A column may be "measurement" (of the family that its\n'
            f"# values show), a family ({families}),\n"
            '# "id" (names the rows), "exposure" (counts are out of it) or "drop" (left out).\n'
            '# Columns of one measurement share a variable: { as = "counts", variable = "x" }.\n'
        )
        write_atomically(file, f"{head}\n{self}\n".encode())

    def __str__(self) -> str:
        parts = [f"{key} = {_toml(value)}" for key, value in self.table.items()]
        if parts:
            parts = ["[table]", *parts, ""]
        return "\n".join([*parts, "[columns]", *map(_line, self.described.items())])

    @property
    def families(self) -> dict[str, str]:
        """The declared family of each column that has one."""
        held = {name: column.family for name, column in self.described.items()}
        return {name: family for name, family in held.items() if family is not None}

    @property
    def variables(self) -> dict[str, str]:
        """The variable of each column that was put into one."""
        return {name: held.variable for name, held in self.described.items() if held.variable}

    @property
    def exposure(self) -> str | None:
        """The column that counts are out of, or the total of all counts."""
        total: str | None = self.table.get("exposure")
        return self.taken(EXPOSURE)[0] if self.taken(EXPOSURE) else total

    def taken(self, role: str) -> list[str]:
        """The columns that are taken as something."""
        return [name for name, held in self.described.items() if held.taken_as == role]

    def unit(self, column: str) -> str:
        """The unit of a column, empty where it has none."""
        held = self.described.get(column)
        return "" if held is None else held.unit

    def check(self, columns: InputColumns) -> None:
        """Refuse the description of a column that the table does not have."""
        if self.described and columns.labels is None:
            raise InvalidInputError(
                "columns describes columns by their names; an array has none: give a frame"
            )
        for name in self.described:
            if name not in (columns.labels or ()):
                raise InvalidInputError(
                    f"columns describes {name!r}, which is not there"
                    + did_you_mean(name, columns.labels or ())
                )

    def updated(self, changes: Mapping[str, Described]) -> Columns:
        """The same description, some columns being described anew."""
        return replace(self, described={**self.described, **changes})


Said = Columns | Mapping[str, Any] | str | PathLike[str] | None


def _from_document(document: Mapping[str, Any]) -> Columns:
    for key in document:
        if key not in ("table", "columns"):
            raise InvalidInputError(
                f"a description of columns has the tables [columns] and [table]; it has {key!r}"
            )
    held, table = document.get("columns", {}), document.get("table", {})
    if not isinstance(held, Mapping) or not isinstance(table, Mapping):
        raise InvalidInputError("[columns] and [table] should be tables; one of them is not")
    for key, value in table.items():
        if key not in _OF_TABLE:
            raise InvalidInputError(
                f"[table] may say {', '.join(_OF_TABLE)}; it says {key!r}"
                + did_you_mean(key, list(_OF_TABLE))
            )
        words = value if isinstance(value, list) else []
        texts = all(isinstance(word, str | int | float) for word in words)
        if not isinstance(value, _OF_TABLE[key]) or not texts:
            example = {str: '"…"', list: '["n.d."]', bool: "true"}[_OF_TABLE[key]]
            raise InvalidInputError(f"[table] should say {key} = {example}; got {value!r}")
    if table.get("exposure", TOTAL) != TOTAL:
        raise InvalidInputError(
            f"[table] may say exposure = {TOTAL!r}; a column that counts are out of is taken as "
            f"{EXPOSURE!r} in [columns]"
        )
    described = _all_described(held)
    if "exposure" in table and any(held.taken_as == EXPOSURE for held in described.values()):
        raise InvalidInputError("[table] and [columns] both name an exposure; leave one out")
    return Columns(described, dict(table))


def _all_described(said: Mapping[Any, Any]) -> dict[str, Described]:
    described = {str(name): _described(str(name), held) for name, held in said.items()}
    for role in _ONE_OF_A_TABLE:
        named = [name for name, held in described.items() if held.taken_as == role]
        if len(named) > 1:
            raise InvalidInputError(
                f"one column may be taken as {role!r}; got {' and '.join(map(repr, named))}"
            )
    return described


def _described(name: str, said: Any) -> Described:
    if isinstance(said, Described):
        return said
    held = {"as": said} if isinstance(said, str) else said
    if not isinstance(held, Mapping):
        raise InvalidInputError(
            f"{name!r} should be described by a word or by {{ as = …, variable = …, unit = … }}; "
            f"got {said!r}"
        )
    for key, value in held.items():
        if key not in _OF_COLUMN:
            raise InvalidInputError(
                f"the description of {name!r} may say {', '.join(_OF_COLUMN)}; it says {key!r}"
                + did_you_mean(key, _OF_COLUMN)
            )
        check_text(value, f"{key!r} of {name!r}")
    taken_as = held.get("as", MEASUREMENT)
    known = (*_ROLES, *registry.names())
    if taken_as not in known:
        raise InvalidInputError(
            f"{name!r} may be taken as {', '.join(known)}; got {taken_as!r}"
            + did_you_mean(taken_as, known)
        )
    if taken_as in (DROP, ID) and len(held) > 1:
        raise InvalidInputError(
            f"{name!r} is taken as {taken_as!r}, so it has no variable and no unit: leave them out"
        )
    return Described(taken_as, held.get("variable", ""), held.get("unit", ""))


def _line(entry: tuple[str, Described]) -> str:
    name, held = entry
    parts = {"as": held.taken_as, "variable": held.variable, "unit": held.unit}
    said = ", ".join(f"{key} = {_toml(text)}" for key, text in parts.items() if text)
    value = f"{{ {said} }}" if held.variable or held.unit else _toml(held.taken_as)
    return f"{_key(name)} = {value}" + (f"  # {held.remark}" if held.remark else "")


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _toml(name)


def _toml(value: Any) -> str:
    """A value as TOML has it: but for one letter, JSON is the same."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
