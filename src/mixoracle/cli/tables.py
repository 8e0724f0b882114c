"""Options that say how a table is written, and tables from standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from mixoracle.errors import InvalidInputError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_STANDARD_INPUT = "-"


def dialect_options(command: _Command) -> _Command:
    """``--sep``, ``--decimal``, ``--na``, ``--header`` and ``--encoding`` of text files."""
    options = (
        click.option(
            "--sep",
            metavar="CHARACTER",
            help="What separates the cells of a text file: ',', ';', tab, '|', space. Left out, "
            "it is found.",
        ),
        click.option(
            "--decimal",
            metavar="MARK",
            help="The decimal mark, . or , of numbers in text. Left out, it is found.",
        ),
        click.option(
            "--na",
            multiple=True,
            metavar="WORD",
            help="What else stands for a missing value, such as n.d. or -999; repeatable.",
        ),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first line of a text file holds names. Left out, it is found.",
        ),
        click.option(
            "--encoding", metavar="NAME", help="Of a text file, such as latin-1 or utf-16."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: _Command) -> _Command:
    """All that can be said about the columns of a table, and how it is written."""
    options = (
        click.option(
            "--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable."
        ),
        click.option(
            "--keep",
            multiple=True,
            metavar="COLUMN",
            help="Learn from a column that would be set aside as no measurement: a date, an "
            "identifier, a row number; repeatable.",
        ),
        click.option(
            "--id",
            "--id-column",
            "id_column",
            metavar="COLUMN",
            help="Column that names the cases; not learned.",
        ),
    )
    command = dialect_options(command)
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def data_files(given: Sequence[str]) -> Iterator[list[str]]:
    """The files that were named; standard input, which is a table alone, is put into one."""
    if _STANDARD_INPUT not in given:
        yield list(given)
        return
    if len(given) > 1:
        raise InvalidInputError("- reads a table from standard input; give it alone")
    with data_file(given[0]) as file:
        yield [str(file)]


@contextmanager
def data_file(given: str) -> Iterator[Path]:
    """The file that was named; standard input is put into a file for as long as it is needed."""
    if given != _STANDARD_INPUT:
        yield Path(given)
        return
    if sys.stdin.isatty():
        raise InvalidInputError(
            "- reads a table from standard input, but nothing is piped into it: name a file"
        )
    with tempfile.TemporaryDirectory(prefix="mixoracle-") as folder:
        file = Path(folder) / "standard-input.csv"
        with file.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield file
