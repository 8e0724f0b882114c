"""The records of the decoder: a proposal, its completion to an explanation, and moves between them.

A proposal says in which states some latents are in some components over X, and nothing more. An
explanation is complete: Γ, the domain sizes, and a joint state for every component over X, with
the evidence of all that. A move records how one explanation became a better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixoracle._arrays import Bools, Integers

Latent = tuple[tuple[int, ...], int]
"""The variables that a latent drives, ne(H), and how many states it has."""

Structure = tuple[tuple[bytes, int], ...]
"""Γ and the domain sizes, whatever the order of the latents."""


@dataclass(frozen=True)
class Proposal:
    """States (kept components, m) of some latents in the components over X that are ``kept``."""

    kept: Bools
    states: Integers

    @classmethod
    def of_all(cls, states: Integers) -> Proposal:
        """A proposal that leaves nothing out."""
        return cls(np.ones(len(states), dtype=bool), states)

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """dim(H_j) of each latent."""
        return tuple(int(size) for size in self.states.max(axis=0, initial=-1) + 1)


@dataclass(frozen=True)
class Move:
    """A change of an explanation that raised its log evidence by ``gain`` nats.

    ``before`` are the latents that the change took away and ``after`` those that it put in their
    place; edges of Γ that changed with them show in the variables that they drive.
    """

    action: str
    before: tuple[Latent, ...]
    after: tuple[Latent, ...]
    gain: float

    def describe(self, names: Sequence[str]) -> str:
        """The move in words; ``names`` are those of the variables in the decoder's order.

        Examples
        --------
        >>> move = Move("merged states", (((0, 2), 4),), (((0, 2), 3),), 12.34)
        >>> move.describe(["X1", "X2", "X3"])
        'merged states: X1, X3 (4 states) became X1, X3 (3 states): +12.3'
        """
        before, after = (_in_words(latents, names) for latents in (self.before, self.after))
        return f"{self.action}: {before} became {after}: +{self.gain:.1f}"


@dataclass(frozen=True)
class Explanation:
    """One consistent explanation of all labels.

    Attributes
    ----------
    adjacency : (n, m) bool array
        Γ: row i is pa(X_i).
    domain_sizes : tuple of int
        dim(H_j).
    assignment : (T,) int array
        The joint state (flat, C order) of each component over X.
    log_evidence : float
        Of the whole model; comparable between explanations of the same table.
    is_consistent : bool
        Whether the labels fit as they are: nothing had to be repaired.
    moves : tuple of Move
        What led to it from a proposal.
    n_agreed, n_proposals : int
        How many of the proposals that were completed had this structure at once.
    """

    adjacency: Bools
    domain_sizes: tuple[int, ...]
    assignment: Integers
    log_evidence: float
    is_consistent: bool
    moves: tuple[Move, ...] = ()
    n_agreed: int = 1
    n_proposals: int = 1

    @property
    def structure(self) -> Structure:
        """What two explanations share if they differ in the order of the latents only."""
        return structure_of(self.adjacency, self.domain_sizes)

    @property
    def latents(self) -> tuple[Latent, ...]:
        """ne(H_j) and dim(H_j) of each latent."""
        columns = zip(self.adjacency.T, self.domain_sizes, strict=True)
        return tuple((tuple(map(int, np.flatnonzero(column))), size) for column, size in columns)

    @property
    def states(self) -> Integers:
        """The state of each latent in each component over X, (T, m)."""
        if not self.domain_sizes:
            return np.zeros((len(self.assignment), 0), dtype=np.int64)
        states = np.unravel_index(self.assignment, self.domain_sizes)
        return np.stack(states, axis=1).astype(np.int64)


def structure_of(adjacency: Bools, domain_sizes: tuple[int, ...]) -> Structure:
    """Γ (n, m) and the domain sizes in an order that does not depend on that of the latents."""
    columns = zip(adjacency.T, domain_sizes, strict=True)
    return tuple(sorted((column.tobytes(), size) for column, size in columns))


def _in_words(latents: tuple[Latent, ...], names: Sequence[str]) -> str:
    described = (f"{', '.join(names[i] for i in ne)} ({size} states)" for ne, size in latents)
    return " and ".join(described) or "none"
