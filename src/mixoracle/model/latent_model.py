"""The whole model: the causal graph, and how likely each joint hidden state is."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixoracle._arrays import (
    Bools,
    Floats,
    FrozenArrays,
    Integers,
    frozen_bools,
    frozen_domain_sizes,
)
from mixoracle.errors import InvalidInputError
from mixoracle.families import ComponentSet
from mixoracle.model import export, frames, inference, storage
from mixoracle.model.cpdag import CPDAG
from mixoracle.model.joint import Joint
from mixoracle.model.joint_states import codes_of_parents
from mixoracle.model.reading import Reading
from mixoracle.model.state_names import StateNames, checked_state_names, rename, states_of

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LatentModel(FrozenArrays):
    """G = Γ ∪ Λ with P(H), and with the components where they are known.

    Parameters
    ----------
    observed_names, latent_names : sequences of str
        Distinct and not empty.
    bipartite : (n_observed, n_latent) bool array
        Γ: row i is pa(X_i).
    domain_sizes : sequence of int
        dim(H_j), at least 2 each.
    joint : JointTable or JointNetwork
        P(H), over latents with these ``domain_sizes``.
    latent_graph : CPDAG
        Λ over the latents.
    components : sequence of ComponentSet, or None
        For each observed variable its distribution in each configuration of its parents
        (see :mod:`mixoracle.families.base` for their order).
    state_names : for each latent the names of its states, or None
        Left out, states go by their numbers.
    reading : Reading, or None
        How a table becomes the observed variables, for a model that was learned from one.
    """

    observed_names: tuple[str, ...]
    latent_names: tuple[str, ...]
    bipartite: Bools
    domain_sizes: tuple[int, ...]
    joint: Joint
    latent_graph: CPDAG
    components: tuple[ComponentSet, ...] | None = None
    reading: Reading | None = None
    state_names: StateNames = ()

    def __post_init__(self) -> None:
        observed = _checked_names(self.observed_names, "observed")
        latent = _checked_names(self.latent_names, "latent")
        bipartite = frozen_bools(self.bipartite, "Γ")
        if bipartite.shape != (len(observed), len(latent)):
            raise InvalidInputError(
                f"Γ should have a row for each of the {len(observed)} observed variables and a "
                f"column for each of the {len(latent)} latents; got shape {bipartite.shape}"
            )
        if not isinstance(self.joint, Joint) or not isinstance(self.latent_graph, CPDAG):
            raise InvalidInputError(
                "a model needs joint as a JointTable or JointNetwork and latent_graph as a CPDAG; "
                f"got {type(self.joint).__name__} and {type(self.latent_graph).__name__}"
            )
        sizes = frozen_domain_sizes(self.domain_sizes, len(latent), "domain sizes")
        if self.joint.domain_sizes != sizes:
            raise InvalidInputError(
                f"P(H) should have shape {sizes}, the domain sizes; got {self.joint.domain_sizes}"
            )
        if self.latent_graph.n_nodes != len(latent):
            raise InvalidInputError(
                f"Λ should have one node for each of the {len(latent)} latents; "
                f"got {self.latent_graph.n_nodes}"
            )
        self._keep(observed_names=observed, latent_names=latent)
        self._keep(bipartite=bipartite, domain_sizes=sizes)
        self._keep(state_names=checked_state_names(self.state_names, latent, sizes))
        if self.components is not None:
            self._keep(components=tuple(self.components))
            self._check_components(tuple(self.components))
        if self.reading is not None:
            self._check_reading(self.reading)

    def _check_reading(self, reading: Reading) -> None:
        if self.components is None:
            raise InvalidInputError(
                "a reading says in which columns the components are; got one without components"
            )
        exposed = () if reading.exposure is None else reading.exposure.variables
        widths = tuple(
            held.width - (name in exposed)
            for name, held in zip(self.observed_names, self.components, strict=True)
        )
        if tuple(map(len, reading.columns)) != widths:
            raise InvalidInputError(
                f"a reading should hold the columns of each observed variable, {widths}; got "
                f"{tuple(map(len, reading.columns))}"
            )

    def _check_components(self, components: tuple[ComponentSet, ...]) -> None:
        if len(components) != self.n_observed:
            raise InvalidInputError(
                f"components should hold one entry for each of the {self.n_observed} observed "
                f"variables; got {len(components)}"
            )
        for i, held in enumerate(components):
            if not isinstance(held, ComponentSet):
                raise InvalidInputError(
                    f"the components of {self.observed_names[i]} should be a ComponentSet; "
                    f"got {type(held).__name__}"
                )
            expected = self.n_components(i)
            if held.n_components != expected:
                raise InvalidInputError(
                    f"{self.observed_names[i]} needs {expected} components, one for each "
                    f"configuration of its parents; got {held.n_components}"
                )

    @property
    def n_observed(self) -> int:
        """The number of observed variables, n."""
        return len(self.observed_names)

    @property
    def n_latent(self) -> int:
        """The number of latents, m."""
        return len(self.latent_names)

    def parents(self, observed: int) -> tuple[int, ...]:
        """pa(X_i) in ascending order."""
        return tuple(int(j) for j in np.flatnonzero(self.bipartite[observed]))

    def children(self, latent: int) -> tuple[int, ...]:
        """ne(H_j) in Γ, in ascending order."""
        return tuple(int(i) for i in np.flatnonzero(self.bipartite[:, latent]))

    @property
    def private_latents(self) -> tuple[int, ...]:
        """Latents that drive one measurement and are independent of all others.

        Nothing but the shape of that measurement speaks for them.
        """
        joined = frozenset[int]().union(*self.latent_graph.skeleton)
        alone = [j for j in range(self.n_latent) if j not in joined]
        return tuple(j for j in alone if len(self.children(j)) == 1)

    def n_components(self, observed: int) -> int:
        """k(X_i) by ``obs:counting``."""
        return int(np.prod([self.domain_sizes[j] for j in self.parents(observed)], dtype=int))

    def component_of_states(self, states: Integers) -> Integers:
        """The component of each X_i in each row of latent states: (N, m) to (N, n_observed)."""
        return codes_of_parents(states, self.bipartite, self.domain_sizes)

    def to_networkx(self) -> nx.DiGraph[str | int]:
        """G as a DiGraph over names; nodes carry ``kind`` and latents their ``domain_size``.

        Undirected edges of Λ become pairs of arrows marked ``undirected=True``.
        """
        clash = set(self.observed_names) & set(self.latent_names)
        if clash:
            raise InvalidInputError(
                f"a latent and an observed variable share the name {sorted(clash)[0]!r}; "
                "rename one to make a graph over names"
            )
        graph = self.latent_graph.to_networkx(self.latent_names)
        for name, size in zip(self.latent_names, self.domain_sizes, strict=True):
            graph.nodes[name].update(kind="latent", domain_size=size)
        graph.add_nodes_from(self.observed_names, kind="observed")
        graph.add_edges_from(
            (self.latent_names[j], self.observed_names[i], {"undirected": False})
            for i, j in np.argwhere(self.bipartite)
        )
        return graph

    def predict(self, table: Any) -> Integers:
        """The most likely state of each latent in each row of a new table, (N, m).

        Parameters
        ----------
        table : frame, mapping of arrays, Observations or array
            Read as the one that was learned from: named columns in any order, further ones left
            alone; columns of an array by place. Values may be missing, and levels that were never
            seen count as missing; a warning (DataWarning) says how many are.
        """
        from mixoracle.observations.new_rows import new_rows

        return new_rows(self, table).states()

    def predict_proba(self, table: Any) -> list[Floats]:
        """For each latent the probability of each of its states, an (N, dim_j) array each."""
        from mixoracle.observations.new_rows import new_rows

        return new_rows(self, table).probabilities()

    def unlike(self, table: Any) -> Bools:
        """Which rows of a new table no state explains, (N,): their states mean little."""
        from mixoracle.observations.new_rows import new_rows

        return np.asarray(new_rows(self, table).unlike().any(axis=1))

    # Names, questions, formats and files, each a function of the model.
    rename = rename
    states_of = states_of
    query = inference.query
    do = inference.do
    effect = inference.effect
    to_bif = export.to_bif
    to_xmlbif = export.to_xmlbif
    to_graphml = export.to_graphml
    to_dot = export.to_dot
    to_dagitty = export.to_dagitty
    to_json = export.to_json
    to_pyagrum = export.to_pyagrum
    to_pgmpy = export.to_pgmpy
    to_dowhy = export.to_dowhy
    state_means = frames.state_means
    effects_frame = frames.effects_frame
    joint_frame = frames.joint_frame
    save = storage.save_model
    load = staticmethod(storage.load_model)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw G with matplotlib, into ``ax`` or into new axes, and return them."""
        from mixoracle.report.figures import plot

        return plot(self, ax)

    def __repr__(self) -> str:
        lines = [f"LatentModel: {self.n_latent} latents behind {self.n_observed} observed"]
        for name, size, driven in self._described():
            lines.append(f"  {name} ({size}) → {driven or 'nothing'}")
        edges = self.latent_graph.described(self.latent_names)
        return "\n".join([*lines, f"  among the latents: {edges}"])

    def _described(self) -> Iterator[tuple[str, str, str]]:
        """The name, the states and the children of each latent."""
        for j, (name, size) in enumerate(zip(self.latent_names, self.domain_sizes, strict=True)):
            states = (
                f"{size} states" if self.state_names[j] is None else ", ".join(states_of(self, j))
            )
            yield name, states, ", ".join(self.observed_names[i] for i in self.children(j))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(size)}</td><td>{html.escape(driven)}</td></tr>"
            for name, size, driven in self._described()
        )
        edges = html.escape(self.latent_graph.described(self.latent_names))
        return (
            "<table><tr><th>latent</th><th>states</th><th>drives</th></tr>"
            f"{rows}</table><p>Among the latents: {edges}</p>"
        )


def _checked_names(names: Sequence[str], kind: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InvalidInputError(f"{kind} names should be a sequence of strings; got one string")
    checked = tuple(names)
    if not all(isinstance(name, str) and name for name in checked):
        raise InvalidInputError(f"{kind} names should be strings that are not empty")
    if any("\ud800" <= letter <= "\udfff" for name in checked for letter in name):
        raise InvalidInputError(f"{kind} names should be whole Unicode text, without surrogates")
    repeated = {name for name in checked if checked.count(name) > 1}
    if repeated:
        raise InvalidInputError(
            f"{kind} names should be distinct; {sorted(repeated)[0]!r} occurs more than once"
        )
    return checked
