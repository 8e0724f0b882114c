"""The variables that a question to a model names, and where they stand in P(H).

A question calls latents by name or number and observed variables by name. The states of an observed
variable are its components, one for each configuration of its parents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Floats
from mixoracle.errors import InvalidInputError
from mixoracle.model.elimination import Factor, eliminate
from mixoracle.model.joint_states import flat
from mixoracle.model.state_names import state_number

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel
    from mixoracle.model.reading import Reading

Variable = str | int
Resolved = tuple[bool, int]  # whether it is a latent, and which
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def resolve_all(model: LatentModel, of: Variable | Sequence[Variable]) -> list[Resolved]:
    """Each variable of a question, named once."""
    listed = [of] if isinstance(of, str | int) else list(of)
    wanted = [resolve(model, variable) for variable in listed]
    if len(set(wanted)) != len(wanted):
        raise InvalidInputError(f"a question should name each variable once; got {listed!r}")
    return wanted


def resolve(model: LatentModel, variable: Variable) -> Resolved:
    """A name of a latent or of an observed variable; a number counts the latents from 0."""
    if not isinstance(variable, str):
        if not 0 <= variable < model.n_latent:
            raise InvalidInputError(
                f"latents are counted from 0 to {model.n_latent - 1}; got {variable!r}"
            )
        return True, int(variable)
    is_latent, is_observed = variable in model.latent_names, variable in model.observed_names
    if is_latent and is_observed:
        raise InvalidInputError(
            f"{variable!r} names both a latent and an observed variable; call the latent by number"
        )
    if is_latent:
        return True, model.latent_names.index(variable)
    if is_observed:
        return False, model.observed_names.index(variable)
    known = ", ".join((*model.latent_names, *model.observed_names))
    raise InvalidInputError(f"the model has no variable {variable!r}; it has {known}")


def latent_index(model: LatentModel, variable: Variable) -> int:
    """The number of a latent; raise where the variable is observed."""
    is_latent, index = resolve(model, variable)
    if not is_latent:
        raise InvalidInputError(
            f"{variable!r} is observed and causes nothing in this model; only latents can be set"
        )
    return index


def name_of(model: LatentModel, variable: Resolved) -> str:
    """The name of a variable."""
    is_latent, index = variable
    return model.latent_names[index] if is_latent else model.observed_names[index]


def given_latents(model: LatentModel, given: Mapping[Variable, Any] | None) -> list[int]:
    """The latents whose state is given, each once: a name and a number may mean the same."""
    named = [name for name in given or {} if _column_place(model, name) is None]
    latents = [index for is_latent, index in (resolve(model, n) for n in named) if is_latent]
    for index in latents:
        if latents.count(index) > 1:
            raise InvalidInputError(
                f"a question should give {model.latent_names[index]!r} once; it is given twice"
            )
    return latents


def likelihood_of(model: LatentModel, given: Mapping[Variable, Any] | None) -> list[Factor]:
    """How likely the evidence is, up to a constant factor: a factor for each variable given."""
    given_latents(model, given)
    likelihood = []
    values: dict[int, Any] = {}
    for name, value in (given or {}).items():
        place = _column_place(model, name)
        if place is not None:
            _add_cell(model, values, place, value)
            continue
        is_latent, index = resolve(model, name)
        if is_latent:
            seen = np.eye(model.domain_sizes[index])[state_number(model, index, value)]
            likelihood.append(Factor((index,), seen))
        elif index in values:
            raise InvalidInputError(f"a question should give {name!r} or its columns, not both")
        else:
            values[index] = value
    for index, value in values.items():
        parents = model.parents(index)
        sizes = [model.domain_sizes[j] for j in parents]
        likelihood.append(Factor(parents, _density(model, index, value).reshape(sizes)))
    return likelihood


def _column_place(model: LatentModel, name: Variable) -> tuple[int, int] | None:
    """The observed variable and the place in it of a column that goes by a name of its own."""
    taken = name in model.latent_names or name in model.observed_names
    if taken or model.reading is None or not isinstance(name, str):
        return None
    for i, columns in enumerate(model.reading.columns):
        if name in columns:
            return i, columns.index(name)
    return None


def _add_cell(
    model: LatentModel, values: dict[int, Any], place: tuple[int, int], value: Any
) -> None:
    """One column of a variable is known; the others are missing until they are given too."""
    observed, column = place
    name = model.observed_names[observed]
    assert model.reading is not None  # it has the column
    row = values.setdefault(observed, _Cells([np.nan] * len(model.reading.columns[observed])))
    if not isinstance(row, _Cells):
        raise InvalidInputError(f"a question should give {name!r} or its columns, not both")
    row[column] = value


class _Cells(list[Any]):
    """The columns of one variable that are given one by one."""


def _density(model: LatentModel, observed: int, value: Any) -> Floats:
    """P(value | component) for each component, divided by the largest."""
    name = model.observed_names[observed]
    if model.components is None:
        raise InvalidInputError(
            f"the model has no components, so a value of {name} says nothing; give latents"
        )
    held = model.components[observed]
    coded = _coded(model, observed, value)
    try:
        row = np.atleast_1d(np.asarray(coded, dtype=float))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"a value of {name} should be given in numbers, levels by their labels or codes 0, 1, "
            f"… and missing values by NaN; got {value!r}"
        ) from error
    exposure = None if model.reading is None else model.reading.exposure
    if exposure is not None and name in exposure.variables and row.shape == (held.width - 1,):
        row = np.append(row, exposure.typical)
    if row.shape != (held.width,):
        raise InvalidInputError(
            f"a value of {name} should have {held.width} numbers; got shape {row.shape}"
        )
    log_density = held.log_density(row[None, :])[0]
    if np.all(log_density == -np.inf):
        return np.zeros(held.n_components)
    return np.asarray(np.exp(log_density - log_density.max()))


def _coded(model: LatentModel, observed: int, value: Any) -> Any:
    """The value with codes in place of the labels of levels, where the model knows them."""
    cells = [value] if isinstance(value, str) else value
    reading = model.reading
    if reading is None or not isinstance(cells, list | tuple):
        return value
    coded = []
    for place, cell in enumerate(cells[: len(reading.columns[observed])]):
        code = reading.code(observed, place, cell) if isinstance(cell, str) else cell
        levels = reading.levels[observed][place]
        if code is None and levels is not None:
            raise InvalidInputError(
                f"{reading.columns[observed][place]} has the levels {', '.join(levels)}; got "
                f"{cell!r}"
            )
        spelled = code is None and isinstance(cell, str)
        coded.append(_number(reading, observed, place, cell) if spelled else code)
    return [*coded, *cells[len(coded) :]]


def _number(reading: Reading, observed: int, place: int, cell: str) -> float:
    """A number that is spelled, with the unit of its column or without, its comma decimal."""
    unit = reading.units[observed][place]
    bare = cell.strip().removeprefix(unit).removesuffix(unit).strip()
    # '1,234' may set thousands apart: it is refused.
    decimal = _DECIMAL_COMMA.fullmatch(bare) and not _THOUSANDS.fullmatch(bare)
    try:
        return float(bare.replace(",", ".") if decimal else bare)
    except ValueError as error:
        raise InvalidInputError(
            f"{reading.columns[observed][place]} should be given as a number"
            + (f", with or without its unit {unit}" if unit else "")
            + f"; got {cell!r}"
            + (": write a decimal point" if "," in bare else "")
        ) from error


def latents_of(model: LatentModel, variables: Iterable[Resolved]) -> list[int]:
    """The latents that say the states of variables: themselves, or the parents of observed ones."""
    found = [(i,) if is_latent else model.parents(i) for is_latent, i in variables]
    return sorted(set().union(*found))


def tabulate(model: LatentModel, factors: Iterable[Factor], wanted: Sequence[Resolved]) -> Floats:
    """Sum a product of factors over H into a table over the wanted variables."""
    latents = latents_of(model, wanted)
    table = eliminate(factors, latents, model.domain_sizes)
    states = np.indices(table.shape).reshape(len(latents), table.size)
    shape, labels = [], []
    for variable in wanted:
        places = [latents.index(j) for j in latents_of(model, [variable])]
        sizes = [table.shape[place] for place in places]
        shape.append(prod(sizes))
        labels.append(flat(states[places].T, sizes))
    cells = flat(np.stack(labels, axis=1), shape) if labels else np.zeros(1, dtype=np.int64)
    summed = np.bincount(cells, weights=table.ravel(), minlength=prod(shape))
    return np.asarray(summed, dtype=np.float64).reshape(shape)
