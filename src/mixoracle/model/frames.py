"""A model as tables with names: means in each state, effects of acting, P(H).

Each function takes a model and returns a pandas frame whose index and columns are the names of
latents, states, columns and levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle.errors import InvalidInputError, MissingDependencyError
from mixoracle.model.inference import Effects, query
from mixoracle.model.state_names import states_of
from mixoracle.model.variables import Variable, latent_index

if TYPE_CHECKING:
    import pandas as pd

    from mixoracle.model.inference import Bounds
    from mixoracle.model.joint import Joint
    from mixoracle.model.latent_model import LatentModel

_EFFECT_COLUMNS = ("cause", "set_to", "effect", "of", "lower", "upper", "identified")


def state_means(model: LatentModel) -> pd.DataFrame:
    """What each state does: a row for each state of each latent, a column for each mean.

    Columns are the columns of the latents' children, and for columns of levels the probability of
    each level (``colour = red``). An entry is E[column | state]; NaN where the latent does not
    drive the column.
    """
    import pandas as pd

    if model.components is None:
        raise InvalidInputError(
            "means of states need a model with components; this one has none: learn it from data"
        )
    rows, index = [], []
    for j, name in enumerate(model.latent_names):
        for number, state in enumerate(states_of(model, j)):
            row: dict[str, float] = {}
            for i in model.children(j):
                answer = query(model, model.observed_names[i], given={j: number})
                assert answer.mean is not None  # there are components
                row.update(zip(answer.mean_of, answer.mean.tolist(), strict=True))
            rows.append(row)
            index.append((name, state))
    titles = list(dict.fromkeys(title for row in rows for title in row))
    labels = pd.MultiIndex.from_tuples(index, names=["latent", "state"]) if index else None
    return pd.DataFrame(rows, index=labels, columns=titles, dtype=float)


def effects_frame(model: LatentModel) -> pd.DataFrame:
    """What follows from setting each latent to each state, a row for each number that follows.

    ``effect`` is another latent, ``of`` its state, and ``lower`` to ``upper`` the range of its
    probability; or it is an observed variable, and ``of`` one of its means or levels. The range is
    a point (``identified``) where all members of the class agree.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for j, cause in enumerate(model.latent_names):
        effects = Effects(model, j)
        for k, other in enumerate(model.latent_names):
            if k != j:
                found = effects.on(k)
                of = states_of(model, k)
                rows += _effect_rows(model, j, cause, other, of, found.lower, found.upper)
        if model.components is not None:
            for name in model.observed_names:
                found = effects.on(name)
                rows += _effect_rows(model, j, cause, name, found.mean_of, *_means(found))
    return pd.DataFrame(rows, columns=list(_EFFECT_COLUMNS))


def _means(found: Bounds) -> tuple[Any, Any]:
    return found.mean_lower, found.mean_upper


def _effect_rows(
    model: LatentModel,
    j: int,
    cause: str,
    name: str,
    of: Sequence[str],
    lower: Any,
    upper: Any,
) -> list[tuple[Any, ...]]:
    return [
        (
            *(cause, state, name, what, float(lower[s, o]), float(upper[s, o])),
            bool(np.isclose(lower[s, o], upper[s, o], rtol=1e-9, atol=1e-9, equal_nan=True)),
        )
        for s, state in enumerate(states_of(model, j))
        for o, what in enumerate(of)
    ]


def joint_frame(model: LatentModel, latents: Sequence[Variable] | None = None) -> pd.DataFrame:
    """P(H) with the names of latents and states; see :meth:`JointTable.to_frame`.

    ``latents``, by name or number, are those that it is over: all, if left out. Of dozens only a
    few at a time make a table.
    """
    if latents is None:
        joint, asked = model.joint, list(range(model.n_latent))
    else:
        asked = [latent_index(model, latent) for latent in latents]
        joint = model.joint.marginal(asked)
    names = [model.latent_names[j] for j in asked]
    return table_frame(joint, names, [states_of(model, j) for j in asked])


def table_frame(
    joint: Joint,
    names: Sequence[str] | None = None,
    states: Sequence[Sequence[Any]] | None = None,
) -> pd.DataFrame:
    """A row for each joint state, its parts as columns, and ``probability``.

    ``names`` are those of the latents, H1, H2, … if left out, ``states`` those of the states of
    each, their numbers if left out.
    """
    import pandas as pd

    called, labels = _axes(joint, names, states)
    if "probability" in called:
        raise InvalidInputError(
            "a latent called 'probability' leaves no name for the column of probabilities; rename "
            "it"
        )
    table = joint.table
    places = np.indices(table.shape).reshape(table.ndim, table.size)
    columns: dict[str, Any] = {
        name: [labels[j][place] for place in places[j]] for j, name in enumerate(called)
    }
    return pd.DataFrame({**columns, "probability": table.ravel()})


def table_xarray(
    joint: Joint,
    names: Sequence[str] | None = None,
    states: Sequence[Sequence[Any]] | None = None,
) -> Any:
    """An ``xarray.DataArray`` with a dimension for each latent (extra ``xarray``)."""
    try:
        import xarray
    except ImportError as error:
        raise MissingDependencyError(
            "to_xarray needs xarray; install the extra 'xarray' (mixoracle[xarray])"
        ) from error
    called, labels = _axes(joint, names, states)
    coords = dict(zip(called, map(list, labels), strict=True))
    return xarray.DataArray(joint.table, coords=coords, dims=called, name="probability")


def _axes(
    joint: Joint, names: Sequence[str] | None, states: Sequence[Sequence[Any]] | None
) -> tuple[list[str], list[Sequence[Any]]]:
    called = [f"H{j + 1}" for j in range(joint.n_latent)] if names is None else list(names)
    numbers: list[Sequence[Any]] = [range(size) for size in joint.domain_sizes]
    labels = numbers if states is None else list(states)
    if len(called) != joint.n_latent or tuple(map(len, labels)) != joint.domain_sizes:
        raise InvalidInputError(
            f"a table over {joint.n_latent} latents needs as many names, and states of the numbers "
            f"{joint.domain_sizes}; got {len(called)} and {tuple(map(len, labels))}"
        )
    return called, labels
