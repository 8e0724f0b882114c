"""P(H), the distribution of the latents, as one table: the tensor J of ``thm:Ph``.

:class:`Joint` says what every form of P(H) answers. There are two: :class:`JointTable`, and
:class:`~mixoracle.model.network.JointNetwork` where a table would be too large.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Floats, FrozenArrays, Integers, frozen_array, frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.model.elimination import Factor, likeliest
from mixoracle.model.emptiness import HOLE, independent
from mixoracle.model.joint_states import states_of_cells

if TYPE_CHECKING:
    import pandas as pd

# Sums of thousands of rounded products stray by a few ulp each; a sum further off than this was
# not meant to be a distribution.
SUM_TOLERANCE = 1e-8
_ROWS_SHOWN = 24
_SIZES_SHOWN = 12
# A joint state is nearly empty below this share of what independent latents would give it, where
# many are: the latents may then not be what they seem.
_HOLE_AMONG_MANY = 0.25
MANY_EMPTY = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class Joint(FrozenArrays, ABC):
    """P(H) in any form.

    Examples
    --------
    >>> isinstance(JointTable(np.full((2, 2), 0.25)), Joint)
    True
    """

    @property
    @abstractmethod
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each latent."""

    @property
    def n_latent(self) -> int:
        """How many latents there are."""
        return len(self.domain_sizes)

    @property
    def n_joint(self) -> int:
        """The number of joint states, ∏ dim(H_j), exactly."""
        return prod(self.domain_sizes)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many of the probabilities are free."""

    @abstractmethod
    def to_table(self) -> JointTable:
        """The same as a table; refused where that has more than some 10^6 joint states."""

    if TYPE_CHECKING:
        # At run time a field of the one and a property of the other.
        @property
        def table(self) -> Floats:
            """P of each joint state, of shape ``domain_sizes``."""

    @abstractmethod
    def factors(self, latents: Iterable[int] | None = None) -> tuple[Factor, ...]:
        """Factors whose product is P(H), or has the same margin over some latents."""

    @abstractmethod
    def marginal(self, latents: Any) -> JointTable:
        """P of some latents, in the order in which they are named."""

    def conditional(self, node: int, parents: Sequence[int], *, unseen: float = 0.0) -> Floats:
        """P(H_node | parents) of shape (sizes of the parents …, size of the node).

        Rows for configurations of the parents that never occur hold ``unseen`` in every entry.
        """
        family = self.marginal([*parents, node]).table
        below = family.sum(axis=-1, keepdims=True)
        shares = np.divide(family, below, out=np.full_like(family, unseen), where=below > 0)
        return np.asarray(shares)

    @abstractmethod
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Sets of latents whose marginals say which joint states are possible, and which rare."""

    def likeliest(self, most: int) -> tuple[Integers, Floats]:
        """The likeliest joint states (k, m), k at most ``most``, and their probabilities (k,)."""
        return likeliest(self.factors(), self.domain_sizes, most)

    @abstractmethod
    def relabelled(self, order: Sequence[int], states: Sequence[Sequence[int]]) -> Joint:
        """The same with latent a the old ``order[a]``, and its state s the old ``states[a][s]``."""

    @abstractmethod
    def log_probability(self, states: Any) -> Floats:
        """Log P of each row of states: (N, m) to (N,)."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Rows of states, (n, m)."""

    def to_frame(
        self, names: Sequence[str] | None = None, states: Sequence[Sequence[Any]] | None = None
    ) -> pd.DataFrame:
        """A pandas frame with a row for each joint state and its probability.

        ``names`` are those of the latents (H1, H2, …), ``states`` those of the states of each (0,
        1, …). :meth:`LatentModel.joint_frame` knows them.
        """
        from mixoracle.model.frames import table_frame

        return table_frame(self, names, states)

    def to_xarray(
        self, names: Sequence[str] | None = None, states: Sequence[Sequence[Any]] | None = None
    ) -> Any:
        """An ``xarray.DataArray`` with a dimension for each latent (extra ``xarray``)."""
        from mixoracle.model.frames import table_xarray

        return table_xarray(self, names, states)

    @abstractmethod
    def arrays(self) -> dict[str, Floats]:
        """The numbers that a file of arrays keeps, by names."""

    @abstractmethod
    def to_json(self) -> Any:
        """All of it as lists; :func:`~mixoracle.model.network.joint_from_json` reads them."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """What a file says beside its arrays."""

    @property
    def sizes_in_words(self) -> str:
        """How many joint states there are, as a product: ``2×3``, or ``2^30`` for many."""
        sizes = self.domain_sizes
        if len(sizes) <= _SIZES_SHOWN:
            return "×".join(map(str, sizes)) or "no latents"
        powers = [(size, sizes.count(size)) for size in sorted(set(sizes))]
        return "·".join(f"{size}^{n}" if n > 1 else f"{size}" for size, n in powers)


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Joint):
    """P(H) as an array with one axis for each latent.

    Parameters
    ----------
    table : array of shape ``domain_sizes``
        Non-negative, sums to one. With no latents it is the 0-d array 1.

    Examples
    --------
    >>> import numpy as np
    >>> joint = JointTable(np.array([[0.4, 0.1], [0.2, 0.3]]))
    >>> joint.domain_sizes
    (2, 2)
    >>> joint.marginal([1]).table.tolist()
    [0.6000000000000001, 0.4]
    """

    table: Floats

    def __post_init__(self) -> None:
        table = frozen_array(self.table, np.float64, "a joint table")
        if any(size < 1 for size in table.shape):
            raise InvalidInputError(
                f"a joint table needs at least one state for each latent; got shape {table.shape}"
            )
        if not np.all(np.isfinite(table)):
            raise InvalidInputError("a joint table should hold finite numbers; got NaN or inf")
        if np.any(table < 0):
            raise InvalidInputError(
                f"a joint table cannot be negative; its smallest entry is {table.min():.6g}"
            )
        total = float(table.sum())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise InvalidInputError(
                f"a joint table should sum to 1; it sums to {total:.10g} (divide it by its sum)"
            )
        self._keep(table=table)

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each latent."""
        return self.table.shape

    @property
    def n_parameters(self) -> int:
        """How many of the probabilities are free: they sum to one."""
        return self.table.size - 1

    def arrays(self) -> dict[str, Floats]:
        """The table, under one name."""
        return {"joint": self.table}

    def to_json(self) -> Any:
        """The table as nested lists."""
        return self.table.tolist()

    def header(self) -> dict[str, Any]:
        """Nothing: the table says all."""
        return {}

    def to_table(self) -> JointTable:
        """Itself."""
        return self

    def factors(self, latents: Iterable[int] | None = None) -> tuple[Factor, ...]:
        """The table, as one factor, whichever latents are meant."""
        return (Factor(tuple(range(self.n_latent)), self.table),)

    def marginal(self, latents: Any) -> JointTable:
        """P of some latents, in the order in which they are named."""
        kept = checked_latents(latents, self.n_latent)
        dropped = tuple(j for j in range(self.n_latent) if j not in kept)
        ascending = self.table.sum(axis=dropped)
        return JointTable(np.transpose(ascending, np.argsort(np.argsort(kept)) if kept else ()))

    def families(self) -> tuple[tuple[int, ...], ...]:
        """All latents together."""
        return (tuple(range(self.n_latent)),)

    def likeliest(self, most: int) -> tuple[Integers, Floats]:
        """The likeliest joint states (k, m), k at most ``most``, and their probabilities (k,)."""
        cells = np.argsort(-self.table, axis=None, kind="stable")[:most]
        return states_of_cells(cells, self.domain_sizes), self.table.ravel()[cells]

    def relabelled(self, order: Sequence[int], states: Sequence[Sequence[int]]) -> JointTable:
        """The same with latent a the old ``order[a]``, and its state s the old ``states[a][s]``."""
        return JointTable(np.transpose(self.table, order)[np.ix_(*states)])

    def log_probability(self, states: Any) -> Floats:
        """Log P of each row of states: (N, m) to (N,)."""
        rows = checked_states(states, self.domain_sizes)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.broadcast_to(self.table[tuple(rows.T)], len(rows))))

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Rows of states, (n, m)."""
        cumulative = np.cumsum(self.table)
        # Dividing by the last sum keeps rounding from leaving a gap below 1; the side skips the
        # joint states of probability zero.
        cells = np.searchsorted(cumulative / cumulative[-1], rng.random(n), side="right")
        return states_of_cells(cells, self.domain_sizes)

    def nearly_empty(self) -> Integers:
        """The joint states that hardly occur, given how frequent their parts are, (c, m).

        Less than a twentieth of what independent latents would give a state, or less than a
        quarter where that goes for a quarter of all states.

        Examples
        --------
        >>> JointTable(np.array([[0.5, 0.01], [0.2, 0.29]])).nearly_empty().tolist()
        [[0, 1]]
        """
        expected = independent(self.table)
        short = self.table < _HOLE_AMONG_MANY * expected
        if short.sum() < MANY_EMPTY * short.size:
            short = self.table < HOLE * expected
        return np.argwhere(short).astype(np.int64)

    def __repr__(self) -> str:
        empty = int(np.sum(self.table == 0))
        note = f", {empty} of {self.table.size} joint states empty" if empty else ""
        return f"JointTable({self.sizes_in_words}, smallest {self.table.min():.3g}{note})"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>H{j + 1}</th>" for j in range(self.n_latent))
        rows = []
        for joint_state, probability in zip(*self.likeliest(_ROWS_SHOWN), strict=True):
            states = "".join(f"<td>{state}</td>" for state in joint_state)
            rows.append(f"<tr>{states}<td>{probability:.4f}</td></tr>")
        cut = self.table.size - len(rows)
        note = f"<caption>{cut} rarer joint states not shown</caption>" if cut > 0 else ""
        return f"<table>{note}<tr>{head}<th>P</th></tr>{''.join(rows)}</table>"


def checked_latents(latents: Any, n_latent: int) -> list[int]:
    """The latents that a marginal names."""
    kept = [int(latent) for latent in latents]
    if len(set(kept)) != len(kept) or any(not 0 <= j < n_latent for j in kept):
        raise InvalidInputError(
            f"a marginal needs distinct latents from 0 to {n_latent - 1}; got {kept}"
        )
    return kept


def checked_states(states: Any, domain_sizes: Sequence[int]) -> Integers:
    """Rows of states (N, m), each below its domain size."""
    rows = frozen_whole_numbers(states, "states")
    if rows.ndim != 2 or rows.shape[1] != len(domain_sizes):
        raise InvalidInputError(
            f"states should have a column for each of the {len(domain_sizes)} latents; "
            f"got shape {rows.shape}"
        )
    if np.any(rows < 0) or np.any(rows >= np.asarray(domain_sizes, dtype=np.int64)):
        raise InvalidInputError(
            f"states count from 0 and stay below the domain sizes {tuple(domain_sizes)}"
        )
    return rows
