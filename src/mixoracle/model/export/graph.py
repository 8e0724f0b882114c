"""G = Γ ∪ Λ with its names but without probabilities, as graph formats hold it.

**DAGitty** (for its adjustment sets and testable implications): latents carry ``[latent]``; a graph
with open edges is a ``pdag`` and has ``--`` between their ends. There is no place for domain sizes.

**GraphML** (networkx, igraph) has kinds, domain sizes and names of states. An
undirected edge of Λ is two arrows marked ``undirected``, because few readers take mixed graphs.
Nodes are called h0, h1, … and x0, x1, …; their names are data, so any name will do.

**DOT** (Graphviz) is a drawing, latents round and observed variables boxed. It is written only:
reading it back would need its whole grammar, and GraphML holds more.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mixoracle._arrays import Bools, FrozenArrays, frozen_bools
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model.cpdag import CPDAG
from mixoracle.model.export.names import escaped, unescaped

if TYPE_CHECKING:
    import networkx as nx

    from mixoracle.model.latent_model import LatentModel

_FRAME = re.compile(r"\s*(dag|pdag)\s*\{(.*)\}\s*", re.DOTALL)
_NODE = re.compile(r'"([^"]*)"(\s*\[latent\])?')
_EDGE = re.compile(r'"([^"]*)"\s*(->|--)\s*"([^"]*)"')

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_KEYS = {
    "name": ("node", "string"),
    "kind": ("node", "string"),
    "domain_size": ("node", "int"),
    "states": ("node", "string"),
    "undirected": ("edge", "boolean"),
}


@dataclass(frozen=True, eq=False)
class CausalGraph(FrozenArrays):
    """A named graph over latents and observed variables."""

    observed_names: tuple[str, ...]
    latent_names: tuple[str, ...]
    bipartite: Bools  # Γ, (n_observed, n_latent): row i is pa(X_i)
    latent_graph: CPDAG  # Λ
    domain_sizes: tuple[int, ...] | None = None  # None where the format has no place for them

    def __post_init__(self) -> None:
        bipartite = frozen_bools(self.bipartite, "Γ")
        if bipartite.shape != (len(self.observed_names), len(self.latent_names)):
            raise InvalidInputError(f"Γ has shape {bipartite.shape}, which does not fit the names")
        self._keep(bipartite=bipartite)

    @classmethod
    def from_edges(
        cls,
        observed: Iterable[str],
        latent: Iterable[str],
        edges: Iterable[tuple[str, str, bool]],
        domain_sizes: tuple[int, ...] | None = None,
    ) -> CausalGraph:
        """Put a graph together from named edges, refusing those that the model has no place for.

        An edge is (first, second, whether its direction is open).
        """
        observed_names, latent_names = tuple(observed), tuple(latent)
        row = {name: i for i, name in enumerate(observed_names)}
        column = {name: j for j, name in enumerate(latent_names)}
        bipartite = np.zeros((len(row), len(column)), dtype=bool)
        directed, undirected = set(), set()
        for first, second, is_open in edges:
            among_latents = first in column and second in column
            if among_latents and is_open:
                undirected.add(frozenset((column[first], column[second])))
            elif among_latents:
                directed.add((column[first], column[second]))
            elif is_open:
                raise FileFormatError(f"{first!r} — {second!r} does not join two latents")
            elif first in column and second in row:
                bipartite[row[second], column[first]] = True
            else:
                raise FileFormatError(
                    f"{first!r} → {second!r} is no edge from a latent of this file"
                )
        graph = CPDAG(len(column), frozenset(directed), frozenset(undirected))
        return cls(observed_names, latent_names, bipartite, graph, domain_sizes)


def from_networkx(graph: nx.DiGraph[str | int]) -> CausalGraph:
    """Read back what :meth:`LatentModel.to_networkx` made."""
    kinds = {str(name): data.get("kind") for name, data in graph.nodes(data=True)}
    unknown = [name for name, kind in kinds.items() if kind not in ("latent", "observed")]
    if unknown:
        raise FileFormatError(f"node {unknown[0]!r} is marked neither latent nor observed")
    latent = [name for name, kind in kinds.items() if kind == "latent"]
    sizes = [graph.nodes[name].get("domain_size") for name in latent]
    return CausalGraph.from_edges(
        [name for name, kind in kinds.items() if kind == "observed"],
        latent,
        [(str(i), str(j), bool(data.get("undirected"))) for i, j, data in graph.edges(data=True)],
        None if None in sizes else tuple(int(size) for size in sizes if size is not None),
    )


def to_dagitty(model: LatentModel) -> str:
    """Write G in DAGitty's format."""
    shared = sorted(set(model.observed_names) & set(model.latent_names))
    if shared:
        raise InvalidInputError(
            f"a latent and an observed variable share the name {shared[0]!r}; rename one, "
            "because this format knows variables by name only"
        )
    graph = model.latent_graph
    h, x = ([*map(_quoted, names)] for names in (model.latent_names, model.observed_names))
    lines = ["pdag {" if graph.undirected else "dag {"]
    lines += [*(f"{name} [latent]" for name in h), *x]
    lines += [f"{h[i]} -> {h[j]}" for i, j in sorted(graph.directed)]
    lines += [f"{h[j]} -> {x[i]}" for i, j in np.argwhere(model.bipartite)]
    lines += [f"{h[i]} -- {h[j]}" for i, j in graph.links]
    return "\n".join([*lines, "}"]) + "\n"


def read_dagitty(text: str) -> CausalGraph:
    """Read what :func:`to_dagitty` wrote: one quoted node or edge a line."""
    frame = _FRAME.fullmatch(text)
    if frame is None:
        raise FileFormatError("DAGitty text should look like 'dag { … }' or 'pdag { … }'")
    latent: list[str] = []
    observed: list[str] = []
    edges: list[tuple[str, str, bool]] = []
    for line in filter(None, map(str.strip, frame[2].splitlines())):
        node, edge = _NODE.fullmatch(line), _EDGE.fullmatch(line)
        if node:
            (latent if node[2] else observed).append(unescaped(node[1]))
        elif edge:
            edges.append((unescaped(edge[1]), unescaped(edge[3]), edge[2] == "--"))
        else:
            raise FileFormatError(
                f"expected one quoted node or edge a line in DAGitty text; got {line!r}"
            )
    return CausalGraph.from_edges(observed, latent, edges)


def _quoted(name: str) -> str:
    return f'"{escaped(name, also=chr(34))}"'


def to_graphml(model: LatentModel) -> str:
    """Write G as GraphML."""
    root = ET.Element("graphml", xmlns=_NAMESPACE)
    for key, (domain, kind) in _KEYS.items():
        ET.SubElement(root, "key", {"id": key, "for": domain, "attr.name": key, "attr.type": kind})
    graph = ET.SubElement(root, "graph", id="G", edgedefault="directed")
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        named = model.state_names[j]
        states = {} if named is None else {"states": ", ".join(map(escaped, named))}
        _node(graph, f"h{j}", name=escaped(name), kind="latent", domain_size=str(size), **states)
    for i, name in enumerate(model.observed_names):
        _node(graph, f"x{i}", name=escaped(name), kind="observed")
    for i, j in sorted(model.latent_graph.directed):
        _edge(graph, f"h{i}", f"h{j}", undirected=False)
    for i, j in model.latent_graph.links:
        _edge(graph, f"h{i}", f"h{j}", undirected=True)
        _edge(graph, f"h{j}", f"h{i}", undirected=True)
    for i in range(model.n_observed):
        for j in model.parents(i):
            _edge(graph, f"h{j}", f"x{i}", undirected=False)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def read_graphml(text: str) -> CausalGraph:
    """Read what :func:`to_graphml` wrote."""
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise FileFormatError(f"this is not XML: {error}") from error
    graph = root.find(f"{{{_NAMESPACE}}}graph")
    if graph is None:
        raise FileFormatError("this XML holds no GraphML graph")
    nodes = {node.get("id", ""): _data(node) for node in graph.findall(f"{{{_NAMESPACE}}}node")}
    edges = [
        (edge.get("source", ""), edge.get("target", ""), _data(edge).get("undirected") == "true")
        for edge in graph.findall(f"{{{_NAMESPACE}}}edge")
    ]
    try:
        latent = [key for key, data in nodes.items() if data["kind"] == "latent"]
        observed = [key for key, data in nodes.items() if data["kind"] == "observed"]
        built = CausalGraph.from_edges(
            observed, latent, edges, tuple(int(nodes[key]["domain_size"]) for key in latent)
        )
        return replace(
            built,
            observed_names=tuple(unescaped(nodes[key]["name"]) for key in observed),
            latent_names=tuple(unescaped(nodes[key]["name"]) for key in latent),
        )
    except (KeyError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise FileFormatError(
            f"this GraphML was not written by mixoracle: a node lacks a proper {error}"
        ) from error


def _node(graph: ET.Element, identifier: str, **data: str) -> None:
    node = ET.SubElement(graph, "node", id=identifier)
    for key, value in data.items():
        ET.SubElement(node, "data", key=key).text = value


def _edge(graph: ET.Element, source: str, target: str, *, undirected: bool) -> None:
    edge = ET.SubElement(graph, "edge", source=source, target=target)
    ET.SubElement(edge, "data", key="undirected").text = "true" if undirected else "false"


def _data(element: ET.Element) -> dict[str, str]:
    return {
        data.get("key", ""): data.text or "" for data in element.findall(f"{{{_NAMESPACE}}}data")
    }


def to_dot(model: LatentModel) -> str:
    """Write G as a DOT digraph; open edges of Λ have no arrowhead."""
    lines = ["digraph G {"]
    for j, name in enumerate(model.latent_names):
        named = model.state_names[j]
        states = f"{model.domain_sizes[j]} states" if named is None else ", ".join(named)
        lines.append(f"  h{j} [shape=ellipse, label={_dot_string(f'{name} ({states})')}];")
    for i, name in enumerate(model.observed_names):
        lines.append(f"  x{i} [shape=box, label={_dot_string(name)}];")
    lines += [f"  h{i} -> h{j};" for i, j in sorted(model.latent_graph.directed)]
    lines += [f"  h{i} -> h{j} [dir=none];" for i, j in model.latent_graph.links]
    lines += [f"  h{j} -> x{i};" for i in range(model.n_observed) for j in model.parents(i)]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_string(text: str) -> str:
    """A DOT string: lines kept, other unprintable characters shown as escapes."""
    # A backslash starts an escape such as \n, so those of the text itself are doubled.
    lines = [escaped(line).replace("\\", "\\\\") for line in text.split("\n")]
    body = "\\n".join(lines).replace('"', '\\"')
    return f'"{body}"'
