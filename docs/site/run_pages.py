"""Runs the programs and commands of pages, and compares what they print with what the pages say.

``python docs/site/run_pages.py`` runs all pages below; ``make tutorials`` does so. With ``--write``
it writes down what was printed, and keeps the pictures that pages make, in ``docs/images``. The
blocks of a page run in order, share their variables, and work in an empty folder.
"""

import argparse
import io
import os
import re
import shlex
import shutil
import sys
import warnings
from collections.abc import Sequence
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import matplotlib as mpl

DOCS = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(DOCS).as_posix()
    for path in (
        DOCS / "getting-started.md",
        DOCS / "gallery.md",
        *DOCS.glob("tutorials/*.md"),
        *DOCS.glob("how-to/*.md"),
    )
    if "```python" in path.read_text(encoding="utf-8")
)
BLOCK = re.compile(
    r"^```(python|console)\n(.*?)^```\n(?:(?=```text\n)```text\n(.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def run_page(page: str, folder: Path, check: bool = True) -> str:
    """Run a page inside a folder; its text with what was really printed.

    Raises
    ------
    AssertionError
        If ``check`` and a block prints something else than the page says.
    """
    shared: dict[str, Any] = {"__name__": "page"}

    def ran(match: re.Match[str]) -> str:
        language, body, expected = match.groups()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            printed = _python(body, page, shared) if language == "python" else _console(body)
        if expected is None:
            return match[0]
        if check and printed != expected:
            raise AssertionError(f"{page} says\n{expected}\nand this was printed\n{printed}")
        return f"```{language}\n{body}```\n```text\n{printed}```\n"

    with chdir(folder):
        return BLOCK.sub(ran, (DOCS / page).read_text(encoding="utf-8"))


def _python(body: str, page: str, shared: dict[str, Any]) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(body, page, "exec"), shared)
    return _without_trailing_blanks(printed.getvalue())


def _console(body: str) -> str:
    from click.testing import CliRunner

    from mixoracle.cli import main

    printed = ""
    for line in body.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        if program != "mixoracle":
            raise AssertionError(f"only commands of mixoracle are run, got {line!r}")
        done = CliRunner().invoke(main, arguments)
        if done.exit_code:
            raise AssertionError(f"{line}\n{done.output}")
        printed += done.stdout
    return _without_trailing_blanks(printed)


def _without_trailing_blanks(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def main(argv: Sequence[str] | None = None) -> None:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--write", action="store_true", help="write down what was printed")
    choices = parser.parse_args(argv)
    os.environ.setdefault("MPLBACKEND", "agg")
    # The same picture from the same program: no date, and identifiers that do not change.
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    mpl.rcParams.update({"svg.hashsalt": "mixoracle", "svg.fonttype": "none"})
    for page in choices.pages:
        start = perf_counter()
        with TemporaryDirectory() as scratch:
            try:
                text = run_page(page, Path(scratch), check=not choices.write)
            except AssertionError as error:
                sys.exit(str(error))
            if choices.write:
                (DOCS / page).write_text(text, encoding="utf-8")
                for picture in Path(scratch).glob("*.svg"):
                    shutil.copy(picture, DOCS / "images" / picture.name)
        print(f"{page}: {perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
