"""Exports keep to the published grammar of their format, for programs that cannot be run here.

DAGitty is held to the grammar of its language (``GraphDotParser.pegjs``), XMLBIF to the document
type definition of its version 0.3, which SamIam, GeNIe and Weka go by, GraphML to the order of
elements that its schema asks for, which Gephi and yEd go by.
"""

import re
import xml.etree.ElementTree as ET

import pytest

from mixoracle.model.export import to_dagitty, to_graphml, to_xmlbif

# A name is a bare word, or stands in quotes without control characters; an escape is a backslash.
_NAME = r'(?:[0-9a-zA-Z_.]+|"(?:[^"\\\x00-\x1f\x7f]|\\"|\\(?!"))*")'
_OPTIONS = rf"\[[ ]*(?:{_NAME}(?:[ ]*=[ ]*{_NAME})?[,; ]*)*\]"
_EDGE = rf"{_NAME}[ ]*(?:->|--|<->|<-)[ ]*{_NAME}"
_STATEMENT = rf"[\n\r\t ;]*(?:{_EDGE}|{_NAME})[ ]*(?:{_OPTIONS})?"
DAGITTY = re.compile(rf"\s*(?:dag|pdag)\s*\{{(?:{_STATEMENT})*[\n\r\t ;]*\}}\s*")

# Of each element of XMLBIF, the children that it has, in their order.
XMLBIF = {
    "BIF": "(NETWORK )*",
    "NETWORK": "NAME ((PROPERTY|VARIABLE|DEFINITION) )*",
    "VARIABLE": "NAME ((OUTCOME|PROPERTY) )*",
    "DEFINITION": "((FOR|GIVEN|TABLE|PROPERTY) )*",
    **dict.fromkeys(("NAME", "OUTCOME", "FOR", "GIVEN", "TABLE", "PROPERTY"), ""),
}
GRAPHML = {
    "graphml": "(desc )?(key )*((data|graph) )*",
    "key": "(desc )?(default )?",
    "graph": "(desc )?((data|node|edge|hyperedge) )*",
    "node": "(desc )?((data|port) )*(graph )?",
    "edge": "(desc )?(data )*(graph )?",
    "data": "",
}


def check_children(element, grammar):
    """Each element has the children that the grammar allows, in their order."""
    name = element.tag.rpartition("}")[2]
    children = "".join(f"{child.tag.rpartition('}')[2]} " for child in element)
    assert re.fullmatch(grammar[name], children), (name, children)
    for child in element:
        check_children(child, grammar)


def test_dagitty_keeps_to_its_grammar(models):
    for model in models:
        assert DAGITTY.fullmatch(to_dagitty(model)), to_dagitty(model)
    for wrong in (
        'dag { "a\nb" }',
        "dag { a -> }",
        'dag { "a" [latent }',
        "net { a }",
        'dag { "a" ',
    ):
        assert not DAGITTY.fullmatch(wrong)


def test_xmlbif_keeps_to_its_definition(models):
    for model in models:
        root = ET.fromstring(to_xmlbif(model))
        check_children(root, XMLBIF)
        assert root.attrib == {"VERSION": "0.3"}
        outcomes = {
            held.findtext("NAME"): len(held.findall("OUTCOME")) for held in root.iter("VARIABLE")
        }
        for held in root.iter("DEFINITION"):
            # The table goes through the outcomes of the variable fastest, the first parent slowest.
            names = [held.findtext("FOR"), *(given.text for given in held.findall("GIVEN"))]
            size = 1
            for name in names:
                size *= outcomes[name]
            assert len(held.findtext("TABLE").split()) == size


def test_graphml_keeps_to_its_schema(models):
    for model in models:
        root = ET.fromstring(to_graphml(model))
        check_children(root, GRAPHML)
        space = "{http://graphml.graphdrawing.org/xmlns}"
        keys = {key.get("id"): key.get("attr.type") for key in root.iter(f"{space}key")}
        assert set(keys.values()) <= {"boolean", "int", "long", "float", "double", "string"}
        nodes = [node.get("id") for node in root.iter(f"{space}node")]
        assert len(set(nodes)) == len(nodes)
        for edge in root.iter(f"{space}edge"):
            assert {edge.get("source"), edge.get("target")} <= set(nodes)
        assert {data.get("key") for data in root.iter(f"{space}data")} <= set(keys)


def test_igraph_reads_the_graphml(models, tmp_path):
    igraph = pytest.importorskip("igraph")
    for model in models:
        path = tmp_path / "model.graphml"
        path.write_text(to_graphml(model), encoding="utf-8")
        graph = igraph.Graph.Read_GraphML(str(path))
        assert graph.vs["kind"].count("latent") == model.n_latent
        assert graph.vcount() == model.n_latent + model.n_observed
        # An edge whose direction is open is there both ways, and marked.
        n_open = len(model.latent_graph.undirected)
        n_edges = len(model.latent_graph.skeleton) + int(model.bipartite.sum())
        assert graph.ecount() == n_edges + n_open
        assert sum(map(bool, graph.es["undirected"])) == 2 * n_open
