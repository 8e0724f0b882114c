"""GraphML: the whole graph with kinds and domain sizes, for Gephi, yEd, Cytoscape, networkx.

An undirected edge of Λ is two arrows marked ``undirected``, because few readers take mixed
graphs. Nodes are called h0, h1, … and x0, x1, …; their names are data, so any name will do.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model import LatentModel
from mixoracle.model.export.graph import CausalGraph
from mixoracle.model.export.names import escaped, unescaped

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_KEYS = {
    "name": ("node", "string"),
    "kind": ("node", "string"),
    "domain_size": ("node", "int"),
    "undirected": ("edge", "boolean"),
}


def to_graphml(model: LatentModel) -> str:
    """Write G as GraphML."""
    root = ET.Element("graphml", xmlns=_NAMESPACE)
    for key, (domain, kind) in _KEYS.items():
        ET.SubElement(root, "key", {"id": key, "for": domain, "attr.name": key, "attr.type": kind})
    graph = ET.SubElement(root, "graph", id="G", edgedefault="directed")
    for j, (name, size) in enumerate(zip(model.latent_names, model.domain_sizes, strict=True)):
        _node(graph, f"h{j}", name=escaped(name), kind="latent", domain_size=str(size))
    for i, name in enumerate(model.observed_names):
        _node(graph, f"x{i}", name=escaped(name), kind="observed")
    for i, j in sorted(model.latent_graph.directed):
        _edge(graph, f"h{i}", f"h{j}", undirected=False)
    for i, j in sorted(sorted(pair) for pair in model.latent_graph.undirected):
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
            observed,
            latent,
            [(first, second) for first, second, is_open in edges if not is_open],
            [(first, second) for first, second, is_open in edges if is_open],
            tuple(int(nodes[key]["domain_size"]) for key in latent),
        )
        return CausalGraph(
            tuple(unescaped(nodes[key]["name"]) for key in observed),
            tuple(unescaped(nodes[key]["name"]) for key in latent),
            built.bipartite,
            built.latent_graph,
            built.domain_sizes,
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
