"""JSON documents from disk: parsed without surprise, and turned into the records that wrote them.

A file may be cut off, edited by hand or made by somebody else. :func:`parse_json` refuses what is
not plain JSON of a sensible depth, and :func:`typed` refuses a value that does not have the type
that a record's annotation says. Both say where the damage is, so that what follows need not look
again.

Assumes records whose annotations are plain: numbers, text, tuples, mappings, literals, enumerations
of text, records.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from mixoracle.errors import FileFormatError

_Record = TypeVar("_Record")
# Our own documents are a dozen levels deep; a table over many latents has a level for each.
_DEEPEST = 200
# Beyond this a whole number is no count of anything, and no float holds it.
_LARGEST = 2**53
_SHOWN = 40


def parse_json(content: bytes | str, what: str) -> Any:
    """The document in some text; ``what`` names it in messages."""
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        document = json.loads(text, parse_constant=_refuse_constant)
    # A number of more digits than Python reads is a plain ValueError.
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FileFormatError(f"{what} is cut off or not JSON: {reason}") from error
    if "\\ud" in text.lower() and _has_half_letters(json.dumps(document, ensure_ascii=False)):
        raise FileFormatError(f"{what} holds half of a surrogate pair, which is no text")
    if _is_deeper(document, _DEEPEST):
        raise FileFormatError(f"{what} is nested more than {_DEEPEST} levels deep")
    return document


def finite(value: Any) -> Any:
    """The document with null for each number that is none, which every reader knows."""
    if isinstance(value, dict):
        return {key: finite(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [finite(held) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def record(made: type[_Record], document: Any, where: str, **given: Any) -> _Record:
    """The record that a mapping of its fields describes; fields with a default may be left out.

    ``given`` fields are ready already. Further keys are refused.
    """
    if not isinstance(document, Mapping):
        _refuse(where, "a JSON object", document)
    hints = _hints(made)  # type: ignore[arg-type]
    for key in document:
        if key not in hints:
            raise FileFormatError(f"{where} has an unknown entry {_shown(key)}")
    held = dict(given)
    for field in fields(made):  # type: ignore[arg-type]
        if field.name in document:
            place = f"{where}.{field.name}"
            held[field.name] = typed(document[field.name], hints[field.name], place)
        elif (
            field.name not in held and field.default is MISSING and field.default_factory is MISSING
        ):
            raise FileFormatError(f"{where} lacks {field.name!r}")
    return made(**held)


def typed(value: Any, annotation: Any, where: str) -> Any:
    """The value as the annotation says: lists become tuples, null a float that is not a number."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        return typed(value, next(one for one in arguments if one is not NoneType), where)
    if origin is not None:
        return _NESTED[origin](value, arguments, where)
    if is_dataclass(annotation) and isinstance(annotation, type):
        return record(annotation, value, where)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return annotation(_typed_literal(value, tuple(map(str, annotation)), where))
    return value if annotation is Any else _PLAIN[annotation](value, where)


def _typed_literal(value: Any, arguments: tuple[Any, ...], where: str) -> Any:
    return value if value in arguments else _refuse(where, f"one of {arguments}", value)


def _typed_mapping(value: Any, arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(where, "a JSON object", value)
    return {key: typed(held, arguments[1], f"{where}.{key}") for key, held in value.items()}


def _typed_tuple(value: Any, arguments: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        _refuse(where, "a list", value)
    if arguments[-1] is Ellipsis:
        return tuple(typed(held, arguments[0], f"{where}[{i}]") for i, held in enumerate(value))
    if len(value) != len(arguments):
        _refuse(where, f"a list of {len(arguments)}", value)
    pairs = zip(value, arguments, strict=True)
    return tuple(typed(held, one, f"{where}[{i}]") for i, (held, one) in enumerate(pairs))


def _whole(value: Any, where: str) -> int:
    if type(value) is not int or abs(value) > _LARGEST:
        _refuse(where, "a whole number", value)
    return value


def _number(value: Any, where: str) -> float:
    # Our writer has no other word for a number that is not one.
    if value is None:
        return math.nan
    if type(value) is int and abs(value) <= _LARGEST:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        _refuse(where, "a finite number", value)
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        _refuse(where, "text", value)
    return value


def _switch(value: Any, where: str) -> bool:
    return value if isinstance(value, bool) else _refuse(where, "true or false", value)


_NESTED: dict[Any, Any] = {tuple: _typed_tuple, dict: _typed_mapping, Literal: _typed_literal}
_PLAIN: dict[Any, Any] = {int: _whole, float: _number, str: _text, bool: _switch}


def _has_half_letters(text: str) -> bool:
    """Whether half of a surrogate pair stands alone, which no file can hold."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


@cache
def _hints(made: Any) -> dict[str, Any]:
    return get_type_hints(made)


def _is_deeper(document: Any, limit: int) -> bool:
    layer = [document]
    for _ in range(limit):
        layer = [
            held
            for entry in layer
            if isinstance(entry, dict | list)
            for held in (entry.values() if isinstance(entry, dict) else entry)
            if isinstance(held, dict | list)
        ]
        if not layer:
            return False
    return True


def _refuse(where: str, expected: str, value: Any) -> NoReturn:
    raise FileFormatError(f"{where} should be {expected}; got {_shown(value)}")


def _shown(value: Any) -> str:
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
