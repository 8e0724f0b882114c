"""The joint probability table of the latents: the tensor J of ``thm:Ph``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import Floats, FrozenArrays, Integers, frozen_array
from mixoracle.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

# Sums of thousands of rounded products stray by a few ulp each; a sum further off than this was
# not meant to be a distribution.
_SUM_TOLERANCE = 1e-8
_ROWS_SHOWN = 24
# A joint state is nearly empty below this share of what independent latents would give it. One
# alone that falls short of more is just rare; where many do, the latents may not be what they seem.
_HOLE = 0.05
_HOLE_AMONG_MANY = 0.25
MANY_EMPTY = 0.25
# Below this share nondegeneracy (a) begins to be implausible.
_IMPLAUSIBLE = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(FrozenArrays):
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
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise InvalidInputError(
                f"a joint table should sum to 1; it sums to {total:.10g} (divide it by its sum)"
            )
        self._keep(table=table)

    @property
    def n_latent(self) -> int:
        """How many latents the table is over."""
        return self.table.ndim

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each latent."""
        return self.table.shape

    def marginal(self, latents: Any) -> JointTable:
        """P of some latents, in the order in which they are named."""
        kept = [int(latent) for latent in latents]
        if len(set(kept)) != len(kept) or any(not 0 <= j < self.n_latent for j in kept):
            raise InvalidInputError(
                f"a marginal needs distinct latents from 0 to {self.n_latent - 1}; got {kept}"
            )
        dropped = tuple(j for j in range(self.n_latent) if j not in kept)
        ascending = self.table.sum(axis=dropped)
        return JointTable(np.transpose(ascending, np.argsort(np.argsort(kept)) if kept else ()))

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
            short = self.table < _HOLE * expected
        return np.argwhere(short).astype(np.int64)

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

    def __repr__(self) -> str:
        sizes = "×".join(map(str, self.domain_sizes)) or "no latents"
        empty = int(np.sum(self.table == 0))
        note = f", {empty} of {self.table.size} joint states empty" if empty else ""
        return f"JointTable({sizes}, smallest {self.table.min():.3g}{note})"

    def _repr_html_(self) -> str:
        order = np.argsort(-self.table, axis=None, kind="stable")[:_ROWS_SHOWN]
        head = "".join(f"<th>H{j + 1}</th>" for j in range(self.n_latent))
        rows = []
        for flat in order:
            cell = np.unravel_index(flat, self.table.shape)
            states = "".join(f"<td>{int(state)}</td>" for state in cell)
            rows.append(f"<tr>{states}<td>{self.table[cell]:.4f}</td></tr>")
        cut = self.table.size - len(order)
        note = f"<caption>{cut} rarer joint states not shown</caption>" if cut > 0 else ""
        return f"<table>{note}<tr>{head}<th>P</th></tr>{''.join(rows)}</table>"


def independent(table: Floats) -> Floats:
    """The table with the same margins and independent latents."""
    total = float(table.sum())
    expected = np.full(table.shape, total)
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        expected = expected * (table.sum(axis=others, keepdims=True) / total)
    return expected


def emptiness(rows: Floats) -> float:
    """How far so many rows in each joint state speak against every state being possible, in nats.

    Nondegeneracy (a) is taken to mean that no state is rarer than a tenth of what independent
    latents would give it; a state that is costs the log-likelihood (Poisson) that it falls short
    by.

    Examples
    --------
    >>> round(emptiness(np.array([[400.0, 0.0], [0.0, 400.0]])), 3)
    40.0
    >>> emptiness(np.array([[300.0, 100.0], [100.0, 300.0]]))
    0.0
    """
    least = _IMPLAUSIBLE * independent(rows)
    short = rows < least
    seen, needed = rows[short], least[short]
    ratio = np.where(seen > 0, seen / needed, 1.0)
    return float((needed - seen + seen * np.log(ratio)).sum())
