"""Names that survive every format: characters that a format cannot hold are escaped.

Latents and observed variables may be called anything: quotes, line breaks, other scripts. A
backslash followed by ``u`` and four hexadecimal digits stands for a character, as in JSON; the
backslash itself is escaped too, so that reading undoes writing exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mixoracle.errors import FileFormatError

# XML 1.0 has no place for these, and line breaks are changed by its readers.
_UNPRINTABLE = re.compile(r"[\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def escaped(name: str, also: str = "") -> str:
    """Write a name in printable characters, without any of ``also``."""
    plain = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", name)
    return "".join(f"\\u{ord(letter):04x}" if letter in also else letter for letter in plain)


def unescaped(text: str) -> str:
    """Undo :func:`escaped`."""
    if "\\" in _ESCAPE.sub("", text):
        raise FileFormatError(f"{text!r} has a backslash that starts no \\uXXXX escape")
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def identifiers(names: Sequence[str], reserved: Sequence[str] = ()) -> list[str]:
    """Distinct identifiers close to some names; a name that is one already is kept."""
    taken = {name for name in names if _IDENTIFIER.fullmatch(name)} | set(reserved)
    result = []
    for position, name in enumerate(names, start=1):
        if _IDENTIFIER.fullmatch(name) and name not in reserved:
            result.append(name)
            continue
        base = "v_" + re.sub(r"[^A-Za-z0-9_]", "_", name)
        candidate = base
        while candidate in taken:
            candidate = f"{base}_{position}"
            base += "_"
        taken.add(candidate)
        result.append(candidate)
    return result
