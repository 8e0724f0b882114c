"""Damaged JSON documents: one place of a document replaced, removed or doubled."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 10**30, 1.5, -2.5, "", "x", "\ud800", [], [[]], [1, [2, 3]], {}),
    *({"x": 1}, [None], "1e999", "[" * 5),
)
# As many of these as one likes are too deep for any parser.
_DEEPEST = 5.5


def places_of(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values in a document."""
    yield path
    if isinstance(document, dict | list):
        entries = document.items() if isinstance(document, dict) else enumerate(document)
        for key, held in entries:
            yield from places_of(held, (*path, key))


def damaged(document: Any, rng: np.random.Generator) -> str:
    """The text of a copy with one change, or the text itself cut or overwritten."""
    kind = rng.integers(8)
    if kind == 0:
        text = json.dumps(document)
        return text[: rng.integers(len(text))]
    if kind == 1:
        return "[" * int(10 ** rng.uniform(0, _DEEPEST))
    changed = copy.deepcopy(document)
    places = list(places_of(document))[1:]
    # The depth first: long lists of points would otherwise be all that is ever damaged.
    depth = rng.integers(1, max(map(len, places)) + 1)
    places = [path for path in places if len(path) == depth]
    *path, last = places[rng.integers(len(places))]
    holder = changed
    for key in path:
        holder = holder[key]
    if kind == 2:
        del holder[last]
    elif kind == 3 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[last]))
    else:
        holder[last] = HOSTILE[rng.integers(len(HOSTILE))]
    return json.dumps(changed).replace('"1e999"', "1e999")
