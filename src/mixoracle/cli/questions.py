"""``mixoracle query | do | effect``: questions to a model that was learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mixoracle.cli.terminal import answer, example, output_options
from mixoracle.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.table import Table

    from mixoracle.model import LatentModel

_Command = TypeVar("_Command", bound=Callable[..., Any])
_DIGITS = 6


def _given_option(command: _Command) -> _Command:
    return click.option(
        "--given",
        multiple=True,
        metavar="NAME=VALUE",
        help="What is known: a state of a hidden cause, or a value of a measurement (its columns "
        "separated by commas, levels by their names); repeatable.",
    )(command)


@click.command("query", epilog=example("mixoracle query result H1 --given H2=1 --given pulse=85"))
@click.argument("result", type=click.Path())
@click.argument("of", nargs=-1, required=True)
@_given_option
@output_options
def query(
    result: str, of: tuple[str, ...], given: tuple[str, ...], quiet: bool, as_json: bool
) -> None:
    """How likely the states OF hidden causes, or what to expect of measurements.

    RESULT is a folder that learn made.
    """
    from mixoracle.model import LatentModel

    model = LatentModel.load(result)
    found = model.query(list(of), given=_pairs(model, given, "--given"))
    document = {
        "variables": list(found.variables),
        "states": _axes(model, found.variables, found.table.shape),
        "probabilities": _rounded(found.table),
        "mean": None
        if found.mean is None
        else dict(zip(found.mean_of, _rounded(found.mean), strict=True)),
    }
    terminal = answer(document, quiet, as_json)
    if found.mean is None:
        terminal.print(_cells(model, found.variables, found.table, found.table))
    else:
        terminal.print(_means(found.mean_of, ["expected"], [found.mean], [found.mean]))


@click.command("do", epilog=example("mixoracle do result H1=0 --of H2 --of pulse"))
@click.argument("result", type=click.Path())
@click.argument("targets", nargs=-1, required=True, metavar="LATENT=STATE...")
@click.option("--of", multiple=True, required=True, help="What to ask for; repeatable.")
@_given_option
@output_options
def do(
    result: str,
    targets: tuple[str, ...],
    of: tuple[str, ...],
    given: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Set hidden causes from outside, and ask what follows.

    The answer is a range where the graph leaves directions open.
    """
    from mixoracle.model import LatentModel

    model = LatentModel.load(result)
    found = model.do(_pairs(model, targets, "a target")).query(
        list(of), given=_pairs(model, given, "--given")
    )
    _show_bounds(model, found, quiet, as_json)


@click.command("effect", epilog=example("mixoracle effect result H1 H2"))
@click.argument("result", type=click.Path())
@click.argument("cause")
@click.argument("effect_on", metavar="EFFECT")
@output_options
def effect(result: str, cause: str, effect_on: str, quiet: bool, as_json: bool) -> None:
    """What follows for EFFECT from setting CAUSE to each of its states."""
    from mixoracle.model import LatentModel

    model = LatentModel.load(result)
    _show_bounds(model, model.effect(cause, effect_on), quiet, as_json)


def _show_bounds(model: LatentModel, found: Any, quiet: bool, as_json: bool) -> None:
    document = {
        "variables": list(found.variables),
        "states": _axes(model, found.variables, found.lower.shape),
        "identified": found.identified,
        "lower": _rounded(found.lower),
        "upper": _rounded(found.upper),
        "mean_of": list(found.mean_of),
        "mean_lower": None if found.mean_lower is None else _rounded(found.mean_lower),
        "mean_upper": None if found.mean_upper is None else _rounded(found.mean_upper),
    }
    terminal = answer(document, quiet, as_json)
    lower, upper = found.mean_lower, found.mean_upper
    if lower is None:
        terminal.print(_cells(model, found.variables, found.lower, found.upper))
    elif lower.ndim == 1:
        terminal.print(_means(found.mean_of, ["expected"], [lower], [upper]))
    else:
        states = _states(model, found.variables[0], len(lower))
        titles = [f"{found.variables[0]} = {state}" for state in states]
        terminal.print(_means(found.mean_of, titles, lower, upper))
    if not found.identified:
        terminal.print("The data leave the graph open, so these are ranges.", markup=False)


def _pairs(model: LatentModel, given: tuple[str, ...], what: str) -> dict[str | int, Any]:
    """``NAME=VALUE`` pairs: states as whole numbers, values as numbers or levels."""
    pairs: dict[str | int, Any] = {}
    for entry in given:
        name, found, value = entry.partition("=")
        if not found or not value:
            raise InvalidInputError(
                f"{what} should be written NAME=VALUE, as in H1=0; got {entry!r}"
            )
        if name in pairs:
            raise InvalidInputError(f"{what} should name {name} once; it is named twice")
        if name in model.latent_names:
            named = value in model.states_of(model.latent_names.index(name))
            pairs[name] = value if named or not value.lstrip("-").isdigit() else int(value)
        else:
            cells = [value] if _is_one(model, name) else value.split(",")
            values = [
                _value(cell.strip(), levels)
                for cell, levels in zip(cells, _levels(model, name, len(cells)), strict=True)
            ]
            pairs[name] = values if name in model.observed_names else values[0]
    return pairs


def _levels(model: LatentModel, name: str, n_cells: int) -> list[tuple[str, ...] | None]:
    """The levels of the columns of a measurement, as many as there are cells."""
    reading = model.reading
    held: tuple[tuple[str, ...] | None, ...] = ()
    if reading is not None and name in model.observed_names:
        held = reading.levels[model.observed_names.index(name)]
    elif reading is not None and name in reading.flat_columns:
        every = [levels for block in reading.levels for levels in block]
        held = (every[reading.flat_columns.index(name)],)
    return [held[place] if place < len(held) else None for place in range(n_cells)]


def _is_one(model: LatentModel, name: str) -> bool:
    """Whether a measurement is one column wide, so that a comma in its value is its own."""
    if model.components is None or name not in model.observed_names:
        return model.reading is not None and name in model.reading.flat_columns
    return model.components[model.observed_names.index(name)].width == 1


def _value(cell: str, levels: tuple[str, ...] | None) -> Any:
    """A number, a level by its label, or a missing value."""
    from mixoracle.observations.columns import MISSING_WORDS, number_label, spelled_number

    if cell in MISSING_WORDS:
        return float("nan")
    number = spelled_number(cell)
    if levels is not None:
        return cell if number is None or cell in levels else number_label(number)
    return cell if number is None else number


def _rounded(values: Any) -> Any:
    import numpy as np

    held = np.round(np.asarray(values), _DIGITS).astype(object)
    held[~np.isfinite(np.asarray(values))] = None
    return held.tolist()


def _range(low: float, high: float, form: str) -> str:
    shown = (format(low, form), format(high, form))
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} to {shown[1]}"


def _states(model: LatentModel, variable: str, size: int) -> list[str]:
    """What the states along an axis are called: of a latent, or of one that is set."""
    name = (
        variable.removeprefix("do(").removesuffix(")") if variable.startswith("do(") else variable
    )
    for known in (variable, name):
        if known in model.latent_names:
            return list(model.states_of(model.latent_names.index(known)))
    return list(map(str, range(size)))


def _axes(
    model: LatentModel, variables: tuple[str, ...], shape: tuple[int, ...]
) -> list[list[str]]:
    """The states along each axis of a table."""
    return [_states(model, name, size) for name, size in zip(variables, shape, strict=True)]


def _cells(model: LatentModel, variables: tuple[str, ...], lower: Any, upper: Any) -> Table:
    """One line for each combination of states."""
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    states = _axes(model, variables, lower.shape)
    table = Table()
    for title in (*variables, "probability"):
        table.add_column(Text(title))
    for cell in np.ndindex(lower.shape):
        called = [axis[place] for axis, place in zip(states, cell, strict=True)]
        table.add_row(*map(Text, called), _range(lower[cell], upper[cell], ".4f"))
    return table


def _means(entries: tuple[str, ...], titles: list[str], lower: Any, upper: Any) -> Table:
    """A line for each column or level, and a column for each question."""
    from rich.table import Table

    table = Table("mean or share of", *titles)
    for place, entry in enumerate(entries):
        ranges = [
            _range(low[place], high[place], ".4g") for low, high in zip(lower, upper, strict=True)
        ]
        table.add_row(entry, *ranges)
    return table
