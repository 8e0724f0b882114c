import io
import xml.etree.ElementTree as ET
from dataclasses import replace

import networkx as nx
import pytest

from mixoracle.datasets import single_latent
from mixoracle.errors import FileFormatError, InvalidInputError
from mixoracle.model.export import (
    CausalGraph,
    from_networkx,
    read_dagitty,
    read_graphml,
    to_dagitty,
    to_dot,
    to_graphml,
)


def graph_of(model):
    names = (model.observed_names, model.latent_names)
    return CausalGraph(*names, model.bipartite, model.latent_graph, model.domain_sizes)


def test_graphml_gives_the_graph_back(models):
    for model in models:
        assert read_graphml(to_graphml(model)) == graph_of(model)


def test_networkx_reads_the_graphml(models):
    for model in models:
        graph = nx.read_graphml(io.BytesIO(to_graphml(model).encode()))
        kinds = nx.get_node_attributes(graph, "kind")
        assert sorted(kinds.values()).count("latent") == model.n_latent
        expected = nx.relabel_nodes(
            model.to_networkx(),
            {name: f"h{j}" for j, name in enumerate(model.latent_names)}
            | {name: f"x{i}" for i, name in enumerate(model.observed_names)},
        )
        assert set(graph.edges(data="undirected")) == set(expected.edges(data="undirected"))


def test_networkx_gives_the_graph_back(models):
    for model in models:
        assert from_networkx(model.to_networkx()) == graph_of(model)


def test_dagitty_gives_the_graph_back_without_domain_sizes(models):
    for model in models:
        graph = graph_of(model)
        expected = CausalGraph(
            graph.observed_names, graph.latent_names, graph.bipartite, graph.latent_graph
        )
        text = to_dagitty(model)
        assert text.startswith("pdag" if model.latent_graph.undirected else "dag")
        assert read_dagitty(text) == expected


def test_dot_has_one_line_for_each_node_and_edge(models):
    for model in models:
        lines = to_dot(model).splitlines()
        n_edges = len(model.latent_graph.skeleton) + int(model.bipartite.sum())
        assert len(lines) == model.n_latent + model.n_observed + n_edges + 2
        assert sum("dir=none" in line for line in lines) == len(model.latent_graph.undirected)
        for line in lines:
            # Quotes inside a label are escaped, so an even number is left that delimit.
            assert line.replace("\\\\", "").replace('\\"', "").count('"') in (0, 2)


def test_names_that_a_format_cannot_tell_apart_are_refused():
    model = single_latent()
    shared = replace(model, latent_names=model.observed_names[:1])
    with pytest.raises(InvalidInputError, match="share the name 'X1'"):
        to_dagitty(shared)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<graphml", "not XML"),
        ("<other/>", "no GraphML graph"),
        (
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node id="a"/></graph>'
            "</graphml>",
            "not written by mixoracle",
        ),
    ],
)
def test_broken_graphml_is_refused(text, words):
    with pytest.raises(FileFormatError, match=words):
        read_graphml(text)


def test_graphml_with_an_edge_into_a_latent_is_refused(models):
    root = ET.fromstring(to_graphml(models[2]))
    namespace = "{http://graphml.graphdrawing.org/xmlns}"
    edge = root.find(f"{namespace}graph/{namespace}edge")
    edge.set("source", "x0")
    with pytest.raises(FileFormatError, match="'x0'"):
        read_graphml(ET.tostring(root, encoding="unicode"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("graph { }", "should look like"),
        ('dag {\n"A" -> \n}', "one quoted node or edge"),
        ('dag {\n"A"\n"B"\n"A" -> "B"\n}', "no edge from a latent"),
        ('pdag {\n"A" [latent]\n"B"\n"A" -- "B"\n}', "does not join two latents"),
    ],
)
def test_broken_dagitty_is_refused(text, words):
    with pytest.raises(FileFormatError, match=words):
        read_dagitty(text)


def test_a_networkx_graph_without_kinds_is_refused():
    with pytest.raises(FileFormatError, match="neither latent nor observed"):
        from_networkx(nx.DiGraph([("a", "b")]))
