"""Makes notebooks of pages: their text and programs, with the output that `make tutorials` checks.

A page stays the one source, so that a change can be read in review; a notebook is made of it when
the site is built. Pictures and links inside the site are left out, as nothing is there for them.
"""

import json
import re
from typing import Any

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+://)[^)]*\)")
INSTALL = "This notebook needs mixoracle: `pip install .` in a clone of its repository.\n"


def notebook(page: str) -> str:
    """The text of a notebook, by the text of a page."""
    cells: list[dict[str, Any]] = []
    end = 0
    for block in BLOCK.finditer(page):
        _add_text(cells, page[end : block.start()])
        _add_code(cells, block["code"], block["printed"])
        end = block.end()
    _add_text(cells, page[end:])
    cells.insert(1, _cell(1, "markdown", INSTALL))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    document = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    source = text.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "id": f"{kind}-{number}", "metadata": {}, "source": source}


def _add_text(cells: list[dict[str, Any]], text: str) -> None:
    plain = LINK.sub(r"\1", PICTURE.sub("", text))
    if plain.strip():
        cells.append(_cell(len(cells) + 2, "markdown", plain))


def _add_code(cells: list[dict[str, Any]], code: str, printed: str | None) -> None:
    shown = {"output_type": "stream", "name": "stdout"}
    outputs = [] if printed is None else [{**shown, "text": printed.splitlines(keepends=True)}]
    count = 1 + sum(cell["cell_type"] == "code" for cell in cells)
    cell = _cell(len(cells) + 2, "code", code)
    cells.append({**cell, "execution_count": count, "outputs": outputs})
