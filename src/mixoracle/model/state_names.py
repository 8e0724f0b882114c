"""What the states of the latents are called, and how a question may call them.

A latent without names of its own has the states ``0``, ``1``, …. A state may be given by its number
or by its name; numbers come first, so that a name that looks like another number is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Integers
from mixoracle.errors import InvalidInputError, KnowledgeConflictError

if TYPE_CHECKING:
    from mixoracle.model.latent_model import LatentModel

StateNames = tuple[tuple[str, ...] | None, ...]


def checked_states(latent: str, states: Sequence[str], size: int | None) -> tuple[str, ...]:
    """Names for all states of a latent, each once; ``size`` is their number where it is known."""
    called = () if isinstance(states, str) else tuple(states)
    if not called or not all(isinstance(name, str) and name.strip() for name in called):
        raise InvalidInputError(
            f"the states of {latent!r} should be a sequence of names that are not empty; got "
            f"{states!r}"
        )
    if any("\ud800" <= letter <= "\udfff" for name in called for letter in name):
        raise InvalidInputError(f"the states of {latent!r} should be whole Unicode text")
    if len(set(called)) != len(called) or len(called) < 2:
        raise InvalidInputError(
            f"{latent!r} should have two or more states with names of their own; got "
            f"{', '.join(called)}"
        )
    if any(name.isdecimal() and name != str(place) for place, name in enumerate(called)):
        raise InvalidInputError(
            f"a state of {latent!r} should not be called by the number of another one; got "
            f"{', '.join(called)}"
        )
    if size is not None and size != len(called):
        raise KnowledgeConflictError(
            f"{latent!r} has {size} states, and {len(called)} names for them: "
            f"{', '.join(called)}; name each state once"
        )
    return called


def checked_state_names(
    held: Sequence[Sequence[str] | None], names: Sequence[str], sizes: Sequence[int]
) -> StateNames:
    """An entry for each latent: the names of its states, or None."""
    entries = tuple(held) or (None,) * len(names)
    if len(entries) != len(names):
        raise InvalidInputError(
            f"state names should have an entry for each of the {len(names)} latents; got "
            f"{len(entries)}"
        )
    return tuple(
        None if states is None else checked_states(name, states, size)
        for name, size, states in zip(names, sizes, entries, strict=True)
    )


def states_of(model: LatentModel, latent: int) -> tuple[str, ...]:
    """What the states of a latent are called; their numbers where they have no names."""
    return model.state_names[latent] or tuple(map(str, range(model.domain_sizes[latent])))


def joint_state_names(model: LatentModel, states: Sequence[int]) -> tuple[str, ...]:
    """What the parts of a joint state are called, one for each latent."""
    return tuple(states_of(model, j)[int(state)] for j, state in enumerate(states))


def state_labels(model: LatentModel, states: Integers) -> list[list[str]]:
    """The names of states (N, m), row by row."""
    columns = [
        np.array(states_of(model, j), dtype=object)[states[:, j]] for j in range(model.n_latent)
    ]
    return np.stack(columns, axis=1).tolist() if columns else [[] for _ in states]


def state_number(model: LatentModel, latent: int, state: Any) -> int:
    """The number of a state that is given by its number or its name."""
    size, called = model.domain_sizes[latent], states_of(model, latent)
    if isinstance(state, str) and state in called:
        return called.index(state)
    whole = isinstance(state, int | np.integer) and not isinstance(state, bool)
    if not whole or not 0 <= state < size:
        named = model.state_names[latent] is not None
        known = f"the states {', '.join(called)}" if named else f"states 0 to {size - 1}"
        raise InvalidInputError(f"{model.latent_names[latent]} has {known}; got {state!r}")
    return int(state)


def rename(
    model: LatentModel,
    latents: Mapping[str | int, str] | Sequence[str] | None = None,
    states: Mapping[str | int, Sequence[str] | Mapping[str | int, str]] | None = None,
) -> LatentModel:
    """The same model under other names.

    Parameters
    ----------
    latents : mapping from latents, by name or number, to names; or a name for each
    states : mapping from latents, by their new or old name or number, to the names of their states
        Names for all states in their order, or a mapping from states to names.

    Examples
    --------
    >>> from mixoracle.datasets import random_model
    >>> model = random_model(2, 4, 2, random_state=0)
    >>> model = model.rename(latents={"H1": "wear"}, states={"wear": ["new", "worn"]})
    >>> model.latent_names, model.state_names
    (('wear', 'H2'), (('new', 'worn'), None))
    """
    old, new = model.latent_names, list(model.latent_names)
    if isinstance(latents, Mapping):
        for latent, name in latents.items():
            new[_place(latent, old)] = name
    elif latents is not None:
        if isinstance(latents, str) or len(latents) != len(old):
            raise InvalidInputError(
                f"latents should be a name for each of {', '.join(old)}, or a mapping from them "
                f"to names; got {latents!r}"
            )
        new = list(latents)
    called: list[tuple[str, ...] | None] = list(model.state_names)
    for latent, given in (states or {}).items():
        place = _place(latent, new, old)
        names = _renamed_states(model, place, given) if isinstance(given, Mapping) else given
        called[place] = checked_states(new[place], names, model.domain_sizes[place])
    return replace(model, latent_names=tuple(new), state_names=tuple(called))


def _renamed_states(
    model: LatentModel, latent: int, given: Mapping[str | int, str]
) -> tuple[str, ...]:
    names = list(states_of(model, latent))
    for state, name in given.items():
        names[state_number(model, latent, state)] = name
    return tuple(names)


def _place(latent: str | int, *names: Sequence[str]) -> int:
    """Where a latent is, by number or by a name that it has in one of several lists."""
    if isinstance(latent, str):
        for known in names:
            if latent in known:
                return list(known).index(latent)
    elif not isinstance(latent, bool) and 0 <= latent < len(names[0]):
        return int(latent)
    raise InvalidInputError(f"the model has no latent {latent!r}; it has {', '.join(names[-1])}")
