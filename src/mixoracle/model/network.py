"""P(H) as a network: a DAG over the latents with one conditional table for each.

With thirty latents the table of P(H) has 2^30 entries or more; ∏ P(H_j | pa(H_j)) has as many as
its families need. :class:`JointNetwork` answers what :class:`~mixoracle.model.joint.JointTable`
does, and tables of a few latents are made from it when they are asked for.

Assumption: each latent has few parents, and few latents are asked about at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixoracle._arrays import Floats, Integers, frozen_array, frozen_whole_numbers
from mixoracle.errors import InvalidInputError
from mixoracle.model.cpdag import CPDAG, refuse_cycles
from mixoracle.model.elimination import Factor, eliminate, refuse_large
from mixoracle.model.graphs import Edge
from mixoracle.model.joint import (
    SUM_TOLERANCE,
    Joint,
    JointTable,
    checked_latents,
    checked_states,
)
from mixoracle.model.joint_states import flat

# A table of more joint states than this is not what one meant to look at: 8 MB.
_MAX_TABLE = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class JointNetwork(Joint):
    """P(H) = ∏ P(H_j | pa(H_j)) along a DAG.

    Parameters
    ----------
    parents : for each latent its parents, in ascending order
        They form a DAG.
    conditionals : for each latent an array of shape (sizes of its parents …, its own size)
        P(H_j | pa(H_j)): non-negative, and sums to one along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> switch, lamp = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> joint = JointNetwork([(), (0,)], [switch, lamp])
    >>> joint
    JointNetwork(2 latents, 2×2 joint states, 1 arrow)
    >>> joint.marginal([1]).table.round(2).tolist()
    [0.55, 0.45]
    """

    parents: tuple[tuple[int, ...], ...]
    conditionals: tuple[Floats, ...]

    def __post_init__(self) -> None:
        parents = tuple(
            tuple(frozen_whole_numbers(list(held), "parents").tolist()) for held in self.parents
        )
        tables = tuple(
            frozen_array(held, np.float64, "a conditional table") for held in self.conditionals
        )
        if len(parents) != len(tables):
            raise InvalidInputError(
                "a network needs parents and a conditional table for each latent; got "
                f"{len(parents)} and {len(tables)}"
            )
        for node, held in enumerate(parents):
            if list(held) != sorted(set(held)) or any(not 0 <= j < len(parents) for j in held):
                raise InvalidInputError(
                    f"the parents of latent {node} should be distinct latents from 0 to "
                    f"{len(parents) - 1} in ascending order; got {held}"
                )
        refuse_cycles((i, j) for j, held in enumerate(parents) for i in held)
        for node, table in enumerate(tables):
            _check_axes(node, table, parents[node])
        sizes = [table.shape[-1] for table in tables]
        for node, table in enumerate(tables):
            _check_conditional(node, table, tuple(sizes[j] for j in parents[node]))
        self._keep(parents=parents, conditionals=tables)

    @classmethod
    def from_states(
        cls,
        states: Any,
        domain_sizes: Sequence[int],
        edges: Iterable[Edge],
        weights: Any = None,
        prior: float = 0.5,
    ) -> JointNetwork:
        """The conditional tables along a DAG that rows of states show.

        Parameters
        ----------
        states : (N, m) array of int
        domain_sizes : the number of states of each latent
        edges : the arrows (i, j) of the DAG
        weights : (N,) array, optional
            How much each row counts; one each if left out.
        prior : float
            Added to the count of every entry. A half is Jeffreys' prior: its estimates are off by
            the least for the worst table (the redundancy is minimax up to a constant), it is
            outweighed by the first rows, and no state becomes impossible because it was not seen,
            which nondegeneracy (a) rules out. With 0 the result is the maximum-likelihood estimate,
            uniform where a configuration of parents was never seen.
        """
        sizes = tuple(int(size) for size in domain_sizes)
        rows = checked_states(states, sizes)
        if not prior >= 0:
            raise InvalidInputError(f"prior should be a number from 0 on; got {prior!r}")
        counted = _checked_weights(weights, len(rows))
        above = parents_of(CPDAG(len(sizes), frozenset(edges)).directed, len(sizes))
        tables = []
        for node, size in enumerate(sizes):
            shape = [sizes[j] for j in (*above[node], node)]
            refuse_large((*above[node], node), sizes)
            codes = flat(rows[:, [*above[node], node]], shape)
            counts = np.bincount(codes, counted, minlength=prod(shape)).astype(np.float64)
            counts = counts.reshape(shape) + prior
            total = counts.sum(axis=-1, keepdims=True)
            seen = np.broadcast_to(total > 0, counts.shape)
            tables.append(np.divide(counts, total, out=np.full(shape, 1 / size), where=seen))
        return cls(tuple(map(tuple, above)), tuple(tables))

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """The number of states of each latent."""
        return tuple(table.shape[-1] for table in self.conditionals)

    @property
    def n_parameters(self) -> int:
        """How many of the probabilities are free: each row sums to one."""
        return sum(table.size - table.size // table.shape[-1] for table in self.conditionals)

    @property
    def edges(self) -> frozenset[Edge]:
        """The arrows (i, j) of the DAG."""
        return frozenset((i, j) for j, held in enumerate(self.parents) for i in held)

    def factors(self, latents: Iterable[int] | None = None) -> tuple[Factor, ...]:
        """The conditional tables of some latents and their ancestors; of all, if left out."""
        needed = range(self.n_latent) if latents is None else sorted(self._with_ancestors(latents))
        return tuple(Factor((*self.parents[j], j), self.conditionals[j]) for j in needed)

    def marginal(self, latents: Any) -> JointTable:
        """P of some latents, in the order in which they are named.

        Only they and their ancestors take part. Refused where it would need a table of more than
        some 10^7 entries.
        """
        kept = checked_latents(latents, self.n_latent)
        table = eliminate(self.factors(kept), kept, self.domain_sizes)
        # Each row sums to one up to rounding, and a product of many strays by more than each.
        return JointTable(table / table.sum())

    def conditional(self, node: int, parents: Sequence[int], *, unseen: float = 0.0) -> Floats:
        """P(H_node | parents) of shape (sizes of the parents …, size of the node)."""
        if tuple(parents) != self.parents[node]:
            return super().conditional(node, parents, unseen=unseen)
        if all(table.all() for table in self.conditionals):
            return self.conditionals[node]  # every configuration occurs
        seen = self.marginal(parents).table > 0
        return np.where(seen[..., np.newaxis], self.conditionals[node], unseen)

    def families(self) -> tuple[tuple[int, ...], ...]:
        """Each latent with its parents: P(H) is positive where all their tables are."""
        return tuple((*held, node) for node, held in enumerate(self.parents))

    def relabelled(self, order: Sequence[int], states: Sequence[Sequence[int]]) -> JointNetwork:
        """The same with latent a the old ``order[a]``, and its state s the old ``states[a][s]``."""
        place = {old: new for new, old in enumerate(order)}
        parents, tables = [], []
        for new, old in enumerate(order):
            held = [place[j] for j in self.parents[old]]
            parents.append(tuple(sorted(held)))
            table = np.transpose(self.conditionals[old], [*np.argsort(held), len(held)])
            tables.append(table[np.ix_(*(states[a] for a in (*parents[-1], new)))])
        return JointNetwork(tuple(parents), tuple(tables))

    def _with_ancestors(self, latents: Iterable[int]) -> set[int]:
        found: set[int] = set()
        waiting = list(latents)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting.extend(self.parents[node])
        return found

    def log_probability(self, states: Any) -> Floats:
        """Log P of each row of states: (N, m) to (N,)."""
        rows = checked_states(states, self.domain_sizes)
        total = np.zeros(len(rows))
        with np.errstate(divide="ignore"):
            for factor in self.factors():
                total += np.log(factor.values)[tuple(rows[:, factor.latents].T)]
        return total

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Rows of states (n, m), each latent after its parents."""
        states = np.zeros((n, self.n_latent), dtype=np.int64)
        for node in self._causes_first():
            held = np.cumsum(self.conditionals[node], axis=-1)
            own = held[tuple(states[:, self.parents[node]].T)] if self.parents[node] else held
            # Times the last sum: rounding leaves no gap below 1.
            levels = rng.random((n, 1)) * own[..., -1:]
            states[:, node] = (levels >= own).sum(axis=-1)
        return states

    def _causes_first(self) -> list[int]:
        """The latents, each after its parents."""
        order: list[int] = []
        done: set[int] = set()
        while len(order) < self.n_latent:
            ready = [
                j for j in range(self.n_latent) if j not in done and done >= {*self.parents[j]}
            ]
            order += ready
            done.update(ready)
        return order

    def to_table(self) -> JointTable:
        """The same distribution as a table, where that has at most 10^6 joint states."""
        if self.n_joint > _MAX_TABLE:
            raise InvalidInputError(
                f"a table of P(H) would have {self.n_joint:,} joint states, more than "
                f"{_MAX_TABLE:,}: ask for the marginal of a few latents"
            )
        return self.marginal(range(self.n_latent))

    def arrays(self) -> dict[str, Floats]:
        """The conditional tables; the parents stand in the header."""
        return {_array_name(node): table for node, table in enumerate(self.conditionals)}

    def to_json(self) -> Any:
        """The parents and the conditional tables, as nested lists."""
        return {**self.header(), "conditionals": [table.tolist() for table in self.conditionals]}

    def header(self) -> dict[str, Any]:
        """The parents of each latent."""
        return {"parents": list(map(list, self.parents))}

    @property
    def table(self) -> Floats:
        """P of each joint state, of shape ``domain_sizes``; see :meth:`to_table`."""
        return self.to_table().table

    def __repr__(self) -> str:
        n_edges = len(self.edges)
        return (
            f"JointNetwork({self.n_latent} latents, {self.sizes_in_words} joint states, "
            f"{n_edges} arrow{'s' * (n_edges != 1)})"
        )


def joint_from_json(document: Any) -> Joint:
    """Undo :meth:`Joint.to_json`."""
    if isinstance(document, dict):
        return JointNetwork(document["parents"], document["conditionals"])
    return JointTable(document)


def joint_from_arrays(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Joint:
    """Undo :meth:`Joint.header` and :meth:`Joint.arrays`."""
    if not header:
        return JointTable(arrays["joint"])
    parents = header["parents"]
    tables = tuple(arrays[_array_name(node)] for node in range(len(parents)))
    return JointNetwork(parents, tables)


def _array_name(node: int) -> str:
    return f"joint_{node}_conditional"


def room_for_joint(header: Mapping[str, Any], domain_sizes: Sequence[int]) -> dict[str, int]:
    """How many entries the arrays of P(H) can have, by names."""
    if not header:
        return {"joint": prod(domain_sizes)}
    return {
        _array_name(node): prod(domain_sizes[j] for j in (*held, node))
        for node, held in enumerate(header["parents"])
    }


def parents_of(edges: Iterable[Edge], n_nodes: int) -> list[list[int]]:
    """The parents of each node, in ascending order."""
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    for i, j in sorted(edges):
        parents[j].append(i)
    return parents


def _checked_weights(weights: Any, n_rows: int) -> Floats | None:
    if weights is None:
        return None
    counted = frozen_array(weights, np.float64, "weights")
    if counted.shape != (n_rows,) or not np.all(np.isfinite(counted) & (counted >= 0)):
        raise InvalidInputError(
            f"weights should be {n_rows} numbers from 0 on, one for each row; got shape "
            f"{counted.shape}"
        )
    return counted


def _check_axes(node: int, table: Floats, parents: tuple[int, ...]) -> None:
    if table.ndim != len(parents) + 1 or table.shape[-1] < 1:
        raise InvalidInputError(
            f"the conditional table of latent {node} should have an axis for each of its "
            f"{len(parents)} parents and one for its own states; got shape {table.shape}"
        )


def _check_conditional(node: int, table: Floats, sizes_of_parents: tuple[int, ...]) -> None:
    if table.shape[:-1] != sizes_of_parents:
        raise InvalidInputError(
            f"the conditional table of latent {node} should begin with the sizes of its parents, "
            f"{sizes_of_parents}; got shape {table.shape}"
        )
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise InvalidInputError(
            f"the conditional table of latent {node} should hold finite numbers from 0 on"
        )
    off = table.sum(axis=-1) - 1.0
    if np.any(np.abs(off) > SUM_TOLERANCE):
        raise InvalidInputError(
            f"the rows of the conditional table of latent {node} should sum to 1; one sums to "
            f"{1.0 + float(off.flat[np.abs(off).argmax()]):.10g}"
        )
