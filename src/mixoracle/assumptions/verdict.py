"""The answer to one assumption, and the words that its messages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixoracle.errors import InvalidInputError
from mixoracle.model import Bipartite, LatentModel

# A message names this many offenders; ``Verdict.offenders`` holds them all.
_NAMED = 3


@dataclass(frozen=True)
class Verdict:
    """The answer to one assumption, with its reasons.

    Parameters
    ----------
    name : str
        The assumption in plain words.
    label : str
        Its LaTeX label in the paper.
    holds : bool or None
        None where these data, or this model, cannot show it; ``message`` says why.
    message : str
        One sentence or two, naming latents, observed variables and states.
    offenders : tuple of tuples of str
        What breaks it, one tuple for each breach; empty unless ``holds`` is False.
    strength : float or None
        How strongly it is broken, where that can be measured: a correlation, from 0 to 1.

    Examples
    --------
    >>> print(Verdict("no twins", "assm:twins", True, "no two latents drive the same"))
    no twins: holds. no two latents drive the same
    """

    name: str
    label: str
    holds: bool | None
    message: str
    offenders: tuple[tuple[str, ...], ...] = ()
    strength: float | None = None

    def __post_init__(self) -> None:
        if (self.holds is False) != bool(self.offenders):
            raise InvalidInputError(
                "a verdict names offenders exactly when the assumption fails; "
                f"{self.name!r} has holds={self.holds} and {len(self.offenders)} offenders"
            )

    def __str__(self) -> str:
        word = {True: "holds", False: "fails", None: "cannot be checked with these data"}[
            self.holds
        ]
        return f"{self.name}: {word}. {self.message}"


def named_graph(
    graph: LatentModel | Bipartite,
) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[str, ...]]:
    """Γ with names: the model's own, or H1, H2, … and X1, X2, … for a bare graph."""
    if isinstance(graph, LatentModel):
        return graph.bipartite, graph.latent_names, graph.observed_names
    latents = tuple(f"H{j + 1}" for j in range(graph.n_latent))
    return graph.adjacency, latents, tuple(f"X{i + 1}" for i in range(graph.n_observed))


def state_names(
    model: LatentModel, latents: Iterable[int], states: Sequence[int] | NDArray[np.int64]
) -> tuple[str, ...]:
    """The states of some latents in words: ``H1=0``."""
    return tuple(
        f"{model.latent_names[j]}={model.states_of(j)[int(state)]}"
        for j, state in zip(latents, states, strict=True)
    )


def listed(names: Iterable[str]) -> str:
    """Names in one line."""
    return ", ".join(names)


def few(names: Sequence[str], most: int = 4) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return listed(names[:most]) + more


def sentences_of(clauses: Sequence[str]) -> str:
    """Join the first few clauses into sentences and count the rest."""
    shown = [f"{clause[0].upper()}{clause[1:]}." for clause in clauses[:_NAMED]]
    if len(clauses) > _NAMED:
        shown.append(f"And {len(clauses) - _NAMED} more like it.")
    return " ".join(shown)
