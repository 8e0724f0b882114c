"""From what the user typed to observations that can be learned from.

Whatever is wrong with what was typed or with the data is said in one sentence before anything is
learned. What each column was taken for is found out here as well, so that it can be shown before
and after.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mixoracle._arrays import without_missing
from mixoracle.cli.choices import InputChoices, read_families, read_groups, read_types
from mixoracle.cli.given import Input
from mixoracle.errors import DataWarning, InvalidInputError
from mixoracle.families import registry
from mixoracle.mixtures.columns import Column
from mixoracle.mixtures.exposure import find_exposure
from mixoracle.model.exposure import TOTAL
from mixoracle.observations import ColumnKind, Observations
from mixoracle.observations.choosing import text_options, with_description
from mixoracle.observations.columns import Spelling
from mixoracle.observations.dialects import TextOptions
from mixoracle.observations.exposure import with_own_group
from mixoracle.observations.files import read_file
from mixoracle.observations.grouping import Choices
from mixoracle.observations.input_columns import did_you_mean
from mixoracle.report.words import listed, missing_note

if TYPE_CHECKING:
    from mixoracle.observations.grouping import Groups

_Held = TypeVar("_Held")
Read = Callable[[str, Choices, TextOptions], Observations]
# Fewer rows than this cannot show two components in one variable and tell it from chance.
FEWEST_ROWS = 30


def read_input(path: str, choices: InputChoices, read: Read = read_file) -> Input:
    """Read a file, apply what the user said, and refuse what cannot be learned from.

    ``read`` may take the rows from elsewhere.
    """
    groups = with_own_group(read_groups(choices.groups), choices.exposure)
    kinds = _all_kinds(choices)
    everywhere, declared = read_families(choices.family)
    labels = [name for name, kind in kinds.items() if kind is ColumnKind.CATEGORICAL]
    labels += [name for name, family in declared.items() if family == registry.LEVELS]
    categorical = True if everywhere == registry.LEVELS else list(dict.fromkeys(labels))
    named = [] if choices.exposure in (None, TOTAL) else [choices.exposure]
    observations, notes = _read(
        path, groups, categorical, [*kinds, *declared, *named], choices, read
    )
    _check_continuous(observations, kinds)
    notes += _check_usable(observations)
    families = _families(observations, kinds, everywhere, declared)
    exposure = None
    with _in_options(choices):
        if choices.exposure is not None:
            families.pop(choices.exposure, None)
            exposure = find_exposure(observations, choices.exposure, families)
            notes.append(
                f"counts are out of the exposure {choices.exposure!r}, which is no measurement"
            )
        given = Input(observations, observations.ids, families=families, exposure=exposure)
        columns = given.columns
    said = (
        missing_note(columns, observations.n_samples),
        _guess_note(columns),
        *notes,
        *_duplicates(observations),
    )
    return replace(given, notes=tuple(note for note in said if note))


def _read(
    path: str,
    groups: Groups,
    categorical: list[str] | bool,
    described: Sequence[str],
    choices: InputChoices,
    read: Read,
) -> tuple[Observations, list[str]]:
    """The observations, and what was noted while they were read, in words of the command line."""
    with _in_options(choices), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        chosen = Choices(
            groups,
            categorical=categorical,
            drop=choices.drop,
            keep=choices.keep,
            id=choices.id_column,
            spelling=Spelling.of(choices.decimal, choices.na),
            described=described,
        )
        sep = SEPARATOR_NAMES.get(choices.sep or "", choices.sep)
        options = TextOptions(sep, choices.header, choices.encoding)
        observations = read(
            path,
            with_description(chosen, choices.columns),
            text_options(options, choices.columns),
        )
    notes = [in_options(str(warning.message), choices) for warning in caught]
    return observations, notes


def _guess_note(columns: Sequence[Column]) -> str:
    """What to say where numbers were taken for anything special; empty where none were."""
    guessed = {
        known.words: [
            column.title for column in columns if column.guessed and column.family == known.name
        ]
        for known in reversed(registry.entries())
    }
    parts = [f"{listed(titles, 3)} as {word}" for word, titles in guessed.items() if titles]
    if not parts:
        return ""
    return (
        f"whole numbers were recognised by their values: {' and '.join(parts)}; "
        "--family NAME=gaussian treats them as continuous"
    )


def _all_kinds(choices: InputChoices) -> dict[str, ColumnKind]:
    """What ``--types`` and ``--categorical`` say; they must not contradict each other."""
    kinds = read_types(choices.types)
    for name in choices.categorical:
        if kinds.get(name, ColumnKind.CATEGORICAL) is not ColumnKind.CATEGORICAL:
            raise InvalidInputError(
                f"{name!r} should be declared once; --types says continuous, and --categorical "
                "names it too: leave one of them out"
            )
        kinds[name] = ColumnKind.CATEGORICAL
    return kinds


def _families(
    observations: Observations,
    kinds: Mapping[str, ColumnKind],
    everywhere: str | None,
    declared: Mapping[str, str],
) -> dict[str, str]:
    """The family of each variable that has a declared one.

    Numbers that were declared continuous are not to be taken for levels or counts.
    """
    names = observations.names
    for name in declared:
        if name not in names:
            raise InvalidInputError(
                f"--family names {name!r}, which is no variable of the data"
                + did_you_mean(name, names)
            )
    owners = np.repeat(names, observations.widths).tolist()
    described = {} if observations.columns is None else observations.columns.families
    own = {
        owner
        for owner, title in zip(owners, observations.titles, strict=True)
        if title in described
    }
    families = {} if everywhere is None else {n: everywhere for n in names if n not in own}
    by_column = _by_column(observations, owners)
    for name, kind in kinds.items():
        if kind is ColumnKind.CONTINUOUS:
            families.setdefault(name if name in names else by_column[name], registry.NUMBERS)
    return {**families, **declared}


# Where messages name arguments of Python, the user of the command line has typed these.
_OPTIONS = {
    "drop names": "--drop names",
    "groups names": "--groups names",
    "groups should": "--groups should",
    "groups=": "--groups ",
    "with drop=": "with --drop",
    "in groups": "in --groups",
    "of groups": "of --groups",
    "in drop;": "in --drop;",
    "by groups": "by --groups",
    "or declare the column categorical": "or declare the column with --categorical",
    "keep names": "--keep names",
    "id names": "--id names",
    "with keep=": "with --keep",
    "keep= brings a column back": "--keep COLUMN brings a column back",
    "with na=": "with --na",
    "with decimal='.' or decimal=','": "with --decimal . or --decimal ,",
    "with decimal=',' or decimal='.'": "with --decimal , or --decimal .",
    "decimal should": "--decimal should",
    "sep should": "--sep should",
    "encoding should": "--encoding should",
    "encoding=": "--encoding",
    "header=True": "--header",
    "header=False": "--no-header",
    "sep=": "--sep ",
    "drop= leaves": "--drop leaves",
    "keep= makes": "--keep makes",
    "id= makes": "--id makes",
    "id= names": "--id names",
    "categorical= makes": "--categorical makes",
    "decimal= and": "--decimal and",
    "header= and": "--header and",
    "encoding= and": "--encoding and",
    "families says": "--family says",
    "columns says": "--columns says",
    "columns takes": "--columns takes",
    "columns describes": "--columns describes",
    "and columns": "and --columns",
    "in columns": "in --columns",
}
# A tab is hard to type.
SEPARATOR_NAMES = {"tab": "\t", "\\t": "\t", "space": " ", "semicolon": ";", "comma": ","}


@contextmanager
def _in_options(choices: InputChoices) -> Iterator[None]:
    """Errors in the words of the command line."""
    try:
        yield
    except InvalidInputError as error:
        raise type(error)(in_options(str(error), choices)) from error


def in_options(message: str, choices: InputChoices) -> str:
    """The message in the words of the command line."""
    said = {
        "--categorical": choices.categorical,
        "--family": [entry.rpartition("=")[0] for entry in choices.family],
    }
    option = next(
        (
            option
            for option, names in said.items()
            if any(f"categorical names {name!r}" in message for name in names)
        ),
        "--types",
    )
    for word, typed in {**_OPTIONS, "categorical names": f"{option} names"}.items():
        message = message.replace(word, typed)
    return message


def _check_continuous(observations: Observations, kinds: Mapping[str, ColumnKind]) -> None:
    """A column that was declared continuous should have been read as numbers."""
    for name, kind in kinds.items():
        if kind is not ColumnKind.CONTINUOUS:
            continue
        found = _kinds_of(observations, name)
        if not found:
            raise InvalidInputError(
                f"--types names {name!r}, which is no column and no variable of the data"
            )
        if ColumnKind.CATEGORICAL in found:
            raise InvalidInputError(
                f"{name!r} was declared continuous, but it holds text; correct the cells or "
                "declare it categorical"
            )


def _by_column(observations: Observations, held: Sequence[_Held]) -> dict[str, _Held]:
    """Something of each column, by both names that it has: of its table, and of its variable."""
    names = (*observations.column_names, *observations.titles)
    return dict(zip(names, (*held, *held), strict=True))


def _kinds_of(observations: Observations, name: str) -> set[ColumnKind]:
    """The kinds of the columns that a name stands for: a variable, or one of its columns."""
    flat = [kind for block in observations.kinds for kind in block]
    by_column = _by_column(observations, flat)
    if name in observations.names:
        return set(observations.kinds[observations.index(name)])
    return {by_column[name]} if name in by_column else set()


def _check_usable(observations: Observations) -> list[str]:
    """Refuse what says nothing; return what is worth knowing."""
    if observations.n_samples < FEWEST_ROWS:
        raise InvalidInputError(
            f"learning needs at least {FEWEST_ROWS} rows; got {observations.n_samples}: collect "
            "more cases"
        )
    set_aside: list[str] = []
    place = 0
    for name, levels in zip(observations.names, observations.levels, strict=True):
        constant = []
        for _ in levels:
            column, title = observations.values[:, place], observations.titles[place]
            place += 1
            known = without_missing(column)
            if not known.size:
                raise InvalidInputError(
                    f"column {title!r} should hold values; it is empty: leave it out with "
                    f"--drop {title!r}"
                )
            if known.min() == known.max():
                constant.append(title)
        if len(constant) == len(levels):
            raise InvalidInputError(
                f"{name!r} should vary from case to case; it is constant and says nothing: leave "
                f"it out with {' '.join(f'--drop {title!r}' for title in constant)}"
            )
        set_aside += map(repr, constant)
    if len(set_aside) == 1:
        return [f"{set_aside[0]} is constant and is set aside"]
    if set_aside:
        return [f"{len(set_aside)} columns are constant and are set aside: {listed(set_aside, 4)}"]
    return []


def _duplicates(observations: Observations) -> list[str]:
    """Columns that say nothing new: equal to an earlier one in every row, gaps included."""
    first: dict[tuple[object, bytes], str] = {}
    copies = []
    levels = [held for block in observations.levels for held in block]
    for title, column, held in zip(observations.titles, observations.values.T, levels, strict=True):
        # Adding 0 makes -0.0 and 0.0 the same bytes; codes are equal only with their levels.
        earlier = first.setdefault((held, (column + 0.0).tobytes()), title)
        if earlier != title:
            copies.append((title, earlier))
    if len(copies) > 1:
        shown = listed([f"{title!r} as {earlier!r}" for title, earlier in copies], 4)
        return [
            f"{len(copies)} columns say nothing new, because they equal another one in every row: "
            f"{shown}; leave them out with --drop"
        ]
    return [
        f"{title!r} equals {earlier!r} in every row and says nothing new; leave one out "
        f"with --drop {title!r}"
        for title, earlier in copies
    ]
