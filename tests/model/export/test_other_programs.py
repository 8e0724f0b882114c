"""Each export is read by a program that it is for; those that are not installed are skipped."""

import importlib
import io
import re
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from mixoracle.model.export import (
    read_bif,
    read_xmlbif,
    to_bif,
    to_dagitty,
    to_dot,
    to_graphml,
    to_xmlbif,
)
from mixoracle.model.export.agrum import load_pyagrum

# Other programs call each other by names that are going to go.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def program(name):
    """A module of another program, or skip; they warn of themselves when they are loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name.split(".")[0], exc_type=ImportError)
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def named(models):
    """A model whose latents and states have names, some with blanks."""
    states = [[f"state {s}" for s in range(size)] for size in models[3].domain_sizes]
    states[0] = [f"level{s}" for s in range(models[3].domain_sizes[0])]
    latents = ["wear", "seal leaks", *models[3].latent_names[2:]]
    return models[3].rename(latents, dict(enumerate(states)))


@pytest.mark.parametrize(("writer", "reader"), [(to_bif, read_bif), (to_xmlbif, read_xmlbif)])
def test_names_of_states_come_back(models, named, writer, reader):
    assert reader(writer(named)).state_names == named.state_names
    assert reader(writer(models[3])).state_names == (None,) * 4
    size = named.domain_sizes[0]
    for odd in ([f"s{s}" for s in range(size)], [f"a, {s}\n%" for s in range(size)]):
        again = reader(writer(models[3].rename(states={0: odd})))
        assert again.state_names[0] == tuple(odd)


def test_pyagrum_reads_the_names_of_states(named, tmp_path):
    path = tmp_path / "model.bif"
    path.write_text(to_bif(named))
    network = load_pyagrum().loadBN(str(path))  # its variables live only as long as it does
    assert network.variable("wear").labels() == named.state_names[0]


@pytest.mark.parametrize(("writer", "kind"), [(to_bif, "BIF"), (to_xmlbif, "XMLBIF")])
def test_pgmpy_reads_the_network(models, named, writer, kind, tmp_path):
    reader = getattr(program("pgmpy.readwrite"), f"{kind}Reader")
    for model in (*models[:4], named):
        path = tmp_path / "model.txt"
        path.write_text(writer(model))
        network = reader(str(path)).get_model()
        own = read_bif(to_bif(model))
        place = {name: j for j, name in enumerate(re.findall(r"variable (\w+)", to_bif(model)))}
        assert {(place[a], place[b]) for a, b in network.edges} == own.edges
        joint = np.ones(model.domain_sizes)
        for held in network.get_cpds():
            factor = held.to_factor()
            axes = [place[name] for name in factor.variables]
            table = np.transpose(factor.values, np.argsort(axes))
            joint = joint * np.expand_dims(
                table, [j for j in range(model.n_latent) if j not in axes]
            )
        assert np.abs(joint - model.joint.table).max() < 1e-6


def test_pgmpy_takes_the_model(named):
    program("pgmpy.models")
    network = named.to_pgmpy()
    assert network.check_model()
    assert network.get_cpds("wear").state_names["wear"] == list(named.state_names[0])


def test_pgmpy_reads_dagitty(models):
    base = program("pgmpy.base")
    for model in models[:6]:
        if model.latent_graph.undirected:
            continue
        graph = base.DAG.from_dagitty(to_dagitty(model))
        assert set(graph.edges) == set(model.to_networkx().edges)
        assert set(graph.latents) == set(model.latent_names)


def test_dowhy_takes_the_graph(models):
    dowhy = program("dowhy")
    model = models[3]
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.normal(size=50) for name in model.observed_names})
    graph = model.to_dowhy()
    cause, effect = model.observed_names[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = dowhy.CausalModel(data, cause, effect, graph=graph)._graph._graph
    assert set(known.edges) >= set(graph.edges)


def test_pydot_reads_the_drawing(models, named):
    pydot = program("pydot")
    for model in (*models, named):
        (graph,) = pydot.graph_from_dot_data(to_dot(model))
        assert len(graph.get_nodes()) == model.n_latent + model.n_observed
        open_edges = [edge for edge in graph.get_edges() if edge.get("dir") == "none"]
        assert len(open_edges) == len(model.latent_graph.undirected)
        n_edges = len(model.latent_graph.skeleton) + int(model.bipartite.sum())
        assert len(graph.get_edges()) == n_edges


def test_networkx_reads_the_names_of_states(named):
    graph = nx.read_graphml(io.BytesIO(to_graphml(named).encode()))
    assert graph.nodes["h0"]["states"] == ", ".join(named.state_names[0])
